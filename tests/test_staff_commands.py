"""`assistant staff …`: inviting, listing and revoking from the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assistant.attempts import Attempts
from assistant.audit import Audit
from assistant.engine import Engine
from assistant.errors import AccessRefused

CHECKOUT = Path(__file__).parents[1]
NAMES = {"zh": "李小明", "ja": "佐藤 花子", "es": "José Núñez", "en": "Ann Lee"}


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "assistant", "staff", *arguments],
        cwd=CHECKOUT,
        env={**os.environ, "ASSISTANT_HOME": str(home)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_member_comes_and_goes(tmp_path: Path, name: str) -> None:
    """An invited name gets a token that works, is listed, and after revoking has a token that does not."""
    invited = run(tmp_path, "invite", name, "--role", "editor")
    assert (invited.returncode, invited.stderr) == (0, "")
    token = invited.stdout.strip()
    engine = Engine(f"sqlite:///{tmp_path / 'conversations.sqlite3'}")
    try:
        assert Attempts(engine).try_token(token, "a").role == "editor"
        assert run(tmp_path, "list").stdout.split("\t")[:3] == [name, "editor", "token"]
        assert run(tmp_path, "revoke", name).returncode == 0
        assert "revoked" in run(tmp_path, "list").stdout
        with pytest.raises(AccessRefused):
            Attempts(engine).try_token(token, "a")
        deeds = [(deed.name, deed.action, deed.target) for deed in Audit(engine, 1).deeds()]
    finally:
        engine.close()
    target = name.replace(" ", "_")
    assert deeds == [("command line", "member.revoked", target), ("command line", "member.invited", target)]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("invite", "Ann", "--role", "boss"), "'agent', 'editor'"),
        (("invite", " "), "a name has"),
        (("revoke", "Ann"), "nobody called Ann"),
        (("invite",), "'name'"),
        ((), "command"),
    ],
    ids=["unknown role", "no name", "unknown name", "name missing", "nothing"],
)
def test_misuse_gets_one_sentence(tmp_path: Path, arguments: tuple[str, ...], named: str) -> None:
    """What can't be done is said in one line, with an exit code."""
    done = run(tmp_path, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert named in done.stderr
