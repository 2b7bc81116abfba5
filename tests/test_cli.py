"""The command line: what it prints, in which form, and how it ends."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest

from assistant import bootstrap, cli
from assistant.errors import IndexUnavailable, ModelError
from assistant.wording import Wordings
from tests.fakes import REPLIES, FakeAssistant, answer

CHECKOUT = Path(__file__).parent.parent
LANGUAGES = list(REPLIES)
ARTICLE = "---\ntitle: {title}\nlanguage: {language}\n---\n\n## {question} {{#time}}\n\n{text}\n"
HEAVY = {"chromadb", "fastapi", "langchain_core", "lingua", "numpy", "onnxruntime", "uvicorn", "yaml"}


@dataclass(frozen=True)
class Ended:
    """A command's exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fake: FakeAssistant
) -> Callable[..., Ended]:
    """Runs a command in this process, with the fake instead of the real assistant."""
    monkeypatch.setattr(bootstrap, "build", lambda *_, **__: fake)
    monkeypatch.setattr(os, "_exit", sys.exit)

    def start(*arguments: str, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "argv", ["assistant", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return Ended(int(ended.value.code or 0), out, err)

    return start


def start_process(arguments: Sequence[str | bytes], **changes: str) -> subprocess.Popen[bytes]:
    command: list[str | bytes] = [sys.executable, "-m", "assistant", *arguments]
    environment = {**os.environ, **changes}
    return subprocess.Popen(command, cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def lines(*rows: object) -> bytes:
    return "".join(
        (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows
    ).encode()


@pytest.mark.parametrize("language", LANGUAGES)
def test_ask_prints_answer_and_sources(run: Callable[..., Ended], language: str) -> None:
    """A question in any language prints the answer and its numbered sources, and nothing on stderr."""
    ended = run("ask", REPLIES[language][0])
    assert (ended.code, ended.err) == (0, "")
    assert answer(language).text in ended.out
    assert all(f"[{one.n}] {one.title} › {one.heading}" in ended.out for one in answer(language).citations)


@pytest.mark.parametrize("language", LANGUAGES)
def test_ask_gives_json(run: Callable[..., Ended], language: str) -> None:
    """With --json a question gives the contract's Answer on one line, in readable UTF-8."""
    ended = run("ask", REPLIES[language][0], "--json")
    assert [row["language"] for row in ended.rows] == [language]
    assert answer(language).text in ended.out


def test_ask_passes_the_pages_language(run: Callable[..., Ended], fake: FakeAssistant) -> None:
    """--language is the page's language: a hint for the answer."""
    run("ask", "OK?", "--language", "ja")
    assert fake.asked == [("OK?", "", "ja", ())]


def test_batch_answers_in_order(run: Callable[..., Ended], fake: FakeAssistant, tmp_path: Path) -> None:
    """Each row gets one line in the same order under its own id, with its own history and conversation."""
    rows = [
        {"id": f"{code}-{number}", "text": REPLIES[code][0], "history": [f"earlier {number}"], "page_language": code}
        for number, code in enumerate(LANGUAGES * 3)
    ]
    file = tmp_path / "質問.jsonl"
    file.write_bytes(lines(*rows))
    ended = run("ask", "--batch", str(file), "--json")
    assert ended.code == 0
    assert [row["id"] for row in ended.rows] == [row["id"] for row in rows]
    assert [row["language"] for row in ended.rows] == LANGUAGES * 3
    assert fake.asked == [(row["text"], "", row["page_language"], tuple(row["history"])) for row in rows]


def test_batch_survives_bad_rows(run: Callable[..., Ended]) -> None:
    """A row that can't be used gets a line with its id and one sentence; the others are answered; the code is 1."""
    good = {"id": "good", "text": REPLIES["ja"][0]}
    bad = [
        "not json", {"id": "no text"}, {"id": "empty", "text": " "}, {"id": "long", "text": "長" * 300}, '["a list"]',
        {"id": "history", "text": "a", "history": "b"}, {"id": "control", "text": "a\0"}, {"text": "no id"},
        '{"id": "surrogate", "text": "\\ud800"}', {"id": "deep", "text": 0}, "[" * 5000,
    ]  # fmt: skip
    ended = run("ask", "--batch", "-", "--json", stdin=b"\xef\xbb\xbf" + lines(good, *bad, "", good) + b'{"id": "\xff')
    assert ended.code == 1
    assert ended.rows[0]["id"] == ended.rows[-2]["id"] == "good"
    refused = ended.rows[1:-2] + ended.rows[-1:]
    assert [row["id"] for row in refused] == [
        None, "no text", "empty", "long", None, "history", "control", None, "surrogate", "deep", None, None,
    ]  # fmt: skip
    assert all(set(row) == {"id", "error"} and str(row["error"]).startswith("line ") for row in refused)


@pytest.mark.parametrize("code", ["klingon", "../..", "日本語"])
def test_batch_takes_known_languages_only(run: Callable[..., Ended], code: str) -> None:
    """A page's language that is none is refused for its row, as `--language` is."""
    row = {"id": "x", "text": REPLIES["ja"][0], "page_language": code}
    ended = run("ask", "--batch", "-", stdin=lines(row))
    assert (ended.code, ended.rows[0]["id"]) == (1, "x")
    assert str(ended.rows[0]["error"]).startswith("line 1: page_language: ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("staff", "invite", "Ana", "--role", "boss"), "'boss' is not one of 'agent', 'editor'; see `assistant staff"),
        (("ingest", ".", "--language", "klingon"), "phrases/ has ar, de, en"),
        (("ask", "x", "--language", "klingon"), "give one such as en, ja or zh-Hans"),
        (("frobnicate",), "see `assistant --help`"),
        (("serve", "--port", "many"), "see `assistant serve --help`"),
    ],
    ids=["role", "language of files", "language", "command", "number"],
)
def test_what_is_unknown_is_told_from_what_is_known(
    run: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    """A choice that there is none of says which there are, or where it stands."""
    database = SimpleNamespace(query=lambda *_: [])
    index = SimpleNamespace(database=database)
    parts = SimpleNamespace(wordings=Wordings(), detector=None, settings=None, index=index)
    monkeypatch.setattr(bootstrap, "build_parts", lambda *_, **__: parts)
    ended = run(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err
    assert "Value error" not in ended.err


def test_batch_keeps_ids_as_they_are(run: Callable[..., Ended]) -> None:
    """A number stays a number, and repeated ids are answered each."""
    ended = run("ask", "--batch", "-", stdin=lines({"id": 7, "text": "a"}, {"id": 7, "text": "b"}))
    assert [row["id"] for row in ended.rows] == [7, 7]


@pytest.mark.parametrize(
    "arguments",
    [
        (), ("ask",), ("ask", ""), ("ask", "a", "--batch", "b"), ("ask", "--batch", "/nowhere"), ("ask", "--wrong"),
        ("frobnicate",), ("ask", "長" * 2001), ("ask", "a\x07b"), ("check", "/nowhere"), ("serve", "--port", "many"),
        ("slack", "frobnicate"), ("staff", "frobnicate"), ("ask", "--batch", "/"), ("ask", "--batch", "/dev/zero"),
        ("serve", "--port", "70000"), ("serve", "--host", "203.0.113.1"), ("ingest", "/nowhere"),
        ("ask", "a", "--language", "klingon"), ("ask", "a", "--language", "日本語"),
    ],
    ids=lambda arguments: " ".join(arguments)[:30] or "nothing",
)  # fmt: skip
def test_misuse_gets_one_sentence(
    run: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """Bad input ends with code 2, one line on stderr that begins with `error:`, and nothing on stdout."""
    database = SimpleNamespace(query=lambda *_: [])
    parts = SimpleNamespace(wordings=None, detector=None, settings=None, index=SimpleNamespace(database=database))
    monkeypatch.setattr(bootstrap, "build_parts", lambda *_, **__: parts)
    ended = run(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: ")
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ModelError("no model; delete the folder"), 1, "error: no model; delete the folder\n"),
        (IndexUnavailable("no index; ingest"), 1, "error: no index; ingest\n"),
        (ZeroDivisionError("by zero"), 1, "error: something unexpected broke (ZeroDivisionError: by zero); run"),
        (KeyboardInterrupt(), 130, ""),
    ],
    ids=["model", "index", "defect", "Ctrl-C"],
)  # fmt: skip
def test_failures_get_one_sentence(
    run: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, words: str
) -> None:
    """Other failures end with code 1 and one sentence; Ctrl-C with 130 and none; neither shows a traceback."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(bootstrap, "build", fail)
    ended = run("ask", "a")
    assert (ended.code, ended.out) == (code, "")
    assert ended.err.startswith(words)
    assert len(ended.err.splitlines()) == bool(words)


def test_unusable_setting_is_named(run: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that can't be used is named in the error."""
    monkeypatch.setenv("ASSISTANT_PORT", "eighty")
    ended = run("check")
    assert ended.code == 2
    assert ended.err.startswith("error: ASSISTANT_PORT")


def write_article(folder: Path, language: str, name: str = "refunds.md") -> Path:
    question, first, second = REPLIES[language]
    path = folder / language / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = ARTICLE.format(title=f"FAQ {language}", language=language, question=question, text=first + second)
    path.write_text(text, encoding="utf-8")
    return path


def test_check_passes_good_files(run: Callable[..., Ended], tmp_path: Path) -> None:
    """Articles in every language that can be read pass, with their number."""
    for language in LANGUAGES:
        write_article(tmp_path, language)
    ended = run("check", str(tmp_path))
    assert (ended.code, ended.out) == (0, "5 files checked, 0 with problems\n")


def test_check_names_every_problem(run: Callable[..., Ended], tmp_path: Path) -> None:
    """Every unusable file is named with line and reason, in text and in JSON; the code is 1."""
    write_article(tmp_path / "a", "ja")
    write_article(tmp_path / "b", "ja")
    (tmp_path / "empty.md").write_bytes(b"")
    (tmp_path / "latin.md").write_bytes(b"---\ntitle: a\nlanguage: es\n---\n## \xbfQu\xe9? {#a}\n\nNada.\n")
    ended = run("check", str(tmp_path))
    *problems, summary = ended.out.splitlines()
    assert (ended.code, summary) == (1, "5 files checked, 3 with problems".replace("5", "4"))
    assert any("has the same folder and file name, ja/refunds" in problem for problem in problems)
    assert f"{tmp_path}/empty.md:1: is empty" in problems
    assert any(problem.startswith(f"{tmp_path}/latin.md:5: is not UTF-8") for problem in problems)
    found = json.loads(run("check", str(tmp_path), "--json").out)
    assert found["files"] == 4
    assert [set(problem) for problem in found["problems"]] == [{"path", "line", "reason"}] * 3


def test_check_leaves_no_trace(run: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Checking touches neither index nor model: the home is not even made."""
    monkeypatch.setenv("ASSISTANT_HOME", str(tmp_path / "home"))
    write_article(tmp_path / "corpus", "zh-Hans")
    assert run("check", str(tmp_path / "corpus")).code == 0
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("arguments", ["--help", "--version", "ask --help", "serve --help"])
def test_help_loads_nothing_heavy(arguments: str) -> None:
    """Help and version come without loading a model, the store or the web framework, and `import assistant.cli` too."""
    code = (
        "import sys; from assistant.cli import main; sys.argv = ['assistant', *sys.argv[1:]]\n"
        "try: main()\nexcept SystemExit as ended: print(ended.code, *sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *arguments.split()]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=True)
    ended, *loaded = done.stderr.split()
    assert ended == "0"
    assert "assistant" in done.stdout
    assert not HEAVY.intersection(loaded)


@pytest.mark.parametrize("locale", ["C", "en_US.ISO-8859-1", "ja_JP.SJIS"])
def test_output_is_utf8_in_any_locale(tmp_path: Path, locale: str) -> None:
    """Whatever the locale says, arguments are read and lines written as UTF-8."""
    path = write_article(tmp_path, "ja", "返金.md")
    path.write_bytes(b"")
    process = start_process(
        ["check", str(tmp_path).encode() + "/ja/返金.md".encode()],
        LC_ALL=locale, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii",
    )  # fmt: skip
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert out.decode("utf-8").startswith(f"{tmp_path}/ja/返金.md:1: is empty\n")


def test_closed_pipe_is_quiet(tmp_path: Path) -> None:
    """A reader that goes away ends the command without a word."""
    for number in range(3000):
        (tmp_path / f"{number}.md").write_bytes(b"")
    process = start_process(["check", str(tmp_path)])
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 1
    process.stderr.close()


def test_serve_refuses_a_taken_port(
    run: Callable[..., Ended], start_server: Callable[..., str], fake: FakeAssistant
) -> None:
    """A port in use is bad input: one sentence, code 2."""
    port = start_server(fake).rpartition(":")[2]
    ended = run("serve", "--port", port)
    assert (ended.code, ended.out) == (2, "")
    assert f"error: can't listen on 127.0.0.1 port {port}" in ended.err


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that holds the model and no index."""
    models = Path(os.environ.get("ASSISTANT_TEST_MODEL_HOME") or CHECKOUT / ".assistant") / "models"
    models.mkdir(parents=True, exist_ok=True)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "models").symlink_to(models)
    return tmp_path / "home"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_serve_from_nothing_to_the_end(home: Path, tmp_path: Path, number: int, code: int) -> None:
    """With no index `serve` listens at once, ingests the corpus, answers, and ends quietly on a signal."""
    for language in ("zh-Hans", "ja", "es", "en"):
        write_article(tmp_path / "corpus", language)
    process = start_process(
        ["serve", "--port", "0"], ASSISTANT_HOME=str(home), ASSISTANT_CORPUS=str(tmp_path / "corpus")
    )
    assert process.stdout is not None
    address = process.stdout.readline().decode().removeprefix("listening on ").strip()
    assert process.stdout.readline().decode().startswith(f"staff desk: {address}staff, first token, shown only now: ")
    try:
        assert httpx2.get(f"{address}healthz").status_code == 200
        for language in ("zh-Hans", "ja", "es", "en"):
            body = {"message": REPLIES[language][0]}
            for _ in range(20):
                response = httpx2.post(f"{address}api/v1/chat", json=body, timeout=30)
                if response.status_code != 503:
                    break
            assert response.json()["language"] == language
            assert response.json()["text"]
    finally:
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert out == b""
    assert {json.loads(line)["message"] for line in err.splitlines()} <= {"request", "answer"}


def test_serve_ends_while_it_loads(home: Path, tmp_path: Path) -> None:
    """Ctrl-C ends a server that is still ingesting at once and quietly."""
    process = start_process(
        ["serve", "--port", "0"], ASSISTANT_HOME=str(home), ASSISTANT_CORPUS=str(CHECKOUT / "corpus")
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == b""
