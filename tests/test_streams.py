"""Streams, homes and disks that are closed, full, in the way or held: one sentence and the right exit code."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from assistant.database import Database
from assistant.engine import Engine
from assistant.errors import IndexUnavailable, InputError

CHECKOUT = Path(__file__).parent.parent
LANGUAGES = {"zh-Hans": "退款说明", "ja": "返金について", "es": "¿Cuánto tarda?", "en": "Refunds"}
ASKING = """
import os, pathlib, sys
from assistant import bootstrap, cli
from tests.fakes import FakeAssistant
record, leave = pathlib.Path(sys.argv[1]), os._exit
def measure_and_leave(code):
    # The peak of this process alone, in KiB: what the system counts for children takes in what came before them.
    status = pathlib.Path("/proc/self/status").read_text().splitlines()
    record.write_text(next(line.split()[1] for line in status if line.startswith("VmHWM")))
    leave(code)
os._exit = measure_and_leave
bootstrap.build = lambda *_, **__: FakeAssistant()
sys.argv = ["assistant", "ask", "--batch", "-"]
cli.main()
"""
PRINTING = ["--help", "--version", "staff invite Ana", "slack manifest", "check {corpus}"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for code, text in LANGUAGES.items():
        path = tmp_path / "corpus" / code / "refunds.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"---\ntitle: {text}\nlanguage: {code}\n---\n## {text} {{#a}}\n\n{text}\n", encoding="utf-8")
    return tmp_path / "corpus"


def run(
    *arguments: str, shell: str = "", home: Path, setup: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """A command, under a shell's redirections where some are given."""
    command: list[str] = [sys.executable, "-m", "assistant", *arguments]
    if shell:
        command = ["sh", "-c", f'exec "$@" {shell}', "sh", *command]
    environment = {**os.environ, "ASSISTANT_HOME": str(home), "ASSISTANT_CORPUS": str(home / "none")}
    return subprocess.run(
        command,
        cwd=CHECKOUT,
        env=environment,
        timeout=60,
        check=False,
        preexec_fn=setup,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )


def one_sentence(written: bytes) -> str:
    """The one line of an error."""
    text = written.decode()
    assert text.startswith("error: "), text
    assert len(text.splitlines()) == 1, text
    assert "unexpected" not in text
    return text


@pytest.mark.parametrize("arguments", PRINTING)
@pytest.mark.parametrize(("shell", "words"), [(">&-", "is closed"), ("> /dev/full", "No space left on device")])
def test_output_that_takes_nothing(tmp_path: Path, corpus: Path, arguments: str, shell: str, words: str) -> None:
    """Where standard output is closed or full, a command says so once and ends with code 1."""
    done = run(*arguments.format(corpus=corpus).split(), shell=shell, home=tmp_path / "home")
    assert done.returncode == 1
    assert one_sentence(done.stderr).startswith("error: standard output ")
    assert words in done.stderr.decode()


def test_no_file_takes_a_closed_streams_place(tmp_path: Path) -> None:
    """With all streams closed nothing is written into the files that would get their numbers."""
    done = run("staff", "invite", "Ana", shell="<&- >&- 2>&-", home=tmp_path / "home")
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    done = run("staff", "invite", "Ana", shell="<&- 2>&-", home=tmp_path / "home")
    assert done.returncode == 0
    assert done.stdout.startswith(b"staff_")
    assert b"Ana" in run("staff", "list", home=tmp_path / "home").stdout


@pytest.mark.parametrize("shell", ["2>&-", "2> /dev/full"])
def test_errors_that_nobody_takes(tmp_path: Path, shell: str) -> None:
    """Where standard error takes nothing, the exit code still tells."""
    done = run("check", "/nowhere", shell=shell, home=tmp_path / "home")
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize(
    ("shell", "words"),
    [("<&-", "is closed"), ("< /dev/zero", "does not end")],
    ids=["closed", "endless"],
)
def test_rows_from_nowhere(tmp_path: Path, shell: str, words: str) -> None:
    """`--batch -` with no usable standard input ends with one sentence, in bounded memory."""
    command = ["sh", "-c", f'exec "$@" {shell}', "sh", sys.executable, "-c", ASKING, str(tmp_path / "peak")]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, timeout=60, check=False)
    assert done.returncode == 2
    assert words in one_sentence(done.stderr)
    assert 0 < int((tmp_path / "peak").read_text(encoding="utf-8")) < 1_000_000


def test_silent_input_is_no_prison(tmp_path: Path) -> None:
    """Rows are answered while more are waited for, and Ctrl-C ends a command whose pipe stays silent."""
    process = subprocess.Popen(
        [sys.executable, "-c", ASKING, str(tmp_path / "peak")],
        cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write('{"id": 1, "text": "返金は？"}\n'.encode())
    process.stdin.flush()
    assert process.stdout.readline().startswith(b'{"id": ')
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    assert process.stderr is not None
    assert process.stderr.read() == b""
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def in_the_way(home: Path) -> None:
    home.write_bytes(b"")


def under_a_file(home: Path) -> None:
    home.symlink_to("/dev/null/home")


def unlinked(home: Path) -> None:
    home.symlink_to(home)


def store_is_a_folder(home: Path) -> None:
    (home / "conversations.sqlite3").mkdir(parents=True)
    (home / "index.sqlite3").mkdir()


def store_is_no_store(home: Path) -> None:
    home.mkdir()
    for name in ("conversations.sqlite3", "index.sqlite3"):
        (home / name).write_bytes(b"no database, but long enough to be looked at" * 100)


HOMES = [in_the_way, under_a_file, unlinked, store_is_a_folder, store_is_no_store]


@pytest.mark.parametrize("arguments", ["staff list", "ingest {corpus}", "ask OK?", "serve --port 0"])
@pytest.mark.parametrize("spoil", HOMES, ids=lambda spoil: spoil.__name__)
def test_a_home_that_can_t_be_used(tmp_path: Path, corpus: Path, arguments: str, spoil: Callable[[Path], None]) -> None:
    """A home that is no folder, leads nowhere or holds something else is named in one sentence, with code 1."""
    home = tmp_path / "home"
    spoil(home)
    done = run(*arguments.format(corpus=corpus).split(), home=home)
    assert (done.returncode, done.stdout) == (1, b"")
    assert str(home) in one_sentence(done.stderr)


@pytest.mark.parametrize("arguments", ["staff list", "ingest {corpus}"])
def test_a_disk_without_room(tmp_path: Path, corpus: Path, arguments: str) -> None:
    """Where files can't grow any more, the sentence names the file and speaks of room."""
    home = tmp_path / "home"
    limit = (20_000, 20_000)
    done = run(
        *arguments.format(corpus=corpus).split(),
        home=home,
        setup=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )
    assert done.returncode == 1
    words = one_sentence(done.stderr)
    assert str(home) in words
    assert "room" in words


def test_an_index_that_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that another program has locked is said to be held, not to lack room; it works when that has ended."""
    database = Database(tmp_path / "index.sqlite3")
    database.query("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(tmp_path / "index.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(IndexUnavailable, match="another program holds it"), database.transaction():
        pass
    other.execute("ROLLBACK")
    with database.transaction() as connection:
        connection.execute("INSERT INTO meta VALUES ('a', 'b')")
    assert database.meta("a") == "b"
    other.close()
    database.close()


def test_a_disk_that_fills_in_a_transaction(tmp_path: Path) -> None:
    """A transaction that finds no room says so, leaves nothing behind, and the next one works."""
    database = Database(tmp_path / "index.sqlite3")
    database.query("PRAGMA max_page_count = 20")
    with pytest.raises(IndexUnavailable, match="full"), database.transaction() as connection:
        connection.execute("INSERT INTO meta VALUES ('a', ?)", (b"x" * 1_000_000,))
    assert database.meta("a") == ""
    with database.transaction() as connection:
        connection.execute("INSERT INTO meta VALUES ('b', 'c')")
    assert database.meta("b") == "c"
    database.close()


def test_a_killed_writer_leaves_the_old_state(tmp_path: Path) -> None:
    """A process killed with -9 in the middle of a switch leaves what was there, and no lock."""
    code = (
        "import sys, time; from pathlib import Path; from assistant.database import Database\n"
        "with Database(Path(sys.argv[1])).transaction() as connection:\n"
        "    connection.execute(\"INSERT INTO meta VALUES ('a', 'new')\"); print('in', flush=True); time.sleep(60)"
    )
    path = tmp_path / "index.sqlite3"
    database = Database(path)
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=CHECKOUT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"in\n"
    process.kill()
    process.wait()
    process.stdout.close()
    started = time.monotonic()
    with database.transaction() as connection:
        assert connection.execute("SELECT count(*) FROM meta WHERE name = 'a'").fetchone() == (0,)
    assert time.monotonic() - started < 5
    database.close()


def test_a_database_without_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the driver of a store's database is not installed, the extra that brings it is named."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InputError, match="extra `postgres`"):
        Engine("postgresql://user:secret@127.0.0.1/x")
