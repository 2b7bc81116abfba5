"""The Makefile and .ci/run on a machine that is not ready."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent
FAKE_PIP = """#!/bin/sh
case "$*" in
  *" pip --version"*|*"-m pip --version"*) exit 0 ;;
  *" install "*) echo "$*" >> "{log}" ;;
esac
"""
FAKE_ASSISTANT = """#!/bin/sh
echo "assistant $* port=$ASSISTANT_PORT" >> "{log}"
"""


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs make there, as from a shell."""
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS", "ASSISTANT_"))
    }
    return subprocess.run(
        ["make", *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone whose environment only writes down what it is told to do."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(CHECKOUT / name, tmp_path)
    (tmp_path / "corpus").mkdir()
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, script in (("python", FAKE_PIP), ("assistant", FAKE_ASSISTANT)):
        (programs / name).write_text(script.format(log=tmp_path / "log"))
        (programs / name).chmod(0o755)
    return tmp_path


def told(clone: Path) -> list[str]:
    """What the environment was told to do since the last look."""
    log = clone / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return lines


@pytest.mark.parametrize("python", ["no-such-python", "false"], ids=["missing", "too old"])
def test_unusable_python_is_one_sentence(tmp_path: Path, python: str) -> None:
    """A Python that is missing or too old stops make with one sentence that says which and what to do."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(CHECKOUT / name, tmp_path)
    done = make(tmp_path, "run", f"PYTHON={python}")
    assert done.returncode != 0
    assert f"Python 3.11 or newer is needed, and '{python}' is none; name one with make PYTHON=" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_run_installs_and_ingests_once(clone: Path) -> None:
    """The first run installs without extras, ingests and serves; the second only serves; a new article is ingested."""
    assert make(clone, "run", "PORT=8123").returncode == 0
    install, ingest, serve = told(clone)
    assert install.endswith("-c constraints.txt -e .[staff]")
    assert (ingest, serve) == ("assistant ingest corpus port=8123", "assistant serve port=8123")
    make(clone, "run")
    assert told(clone) == ["assistant serve port="]
    (clone / "corpus" / "ja").mkdir()
    os.utime(clone / "corpus", (2e9, 2e9))
    make(clone, "run")
    assert told(clone) == ["assistant ingest corpus port=", "assistant serve port="]


def test_changed_requirements_are_installed(clone: Path) -> None:
    """After a change of the constraints the next run installs again."""
    make(clone, "run")
    told(clone)
    os.utime(clone / "constraints.txt", (2e9, 2e9))
    make(clone, "run")
    assert told(clone)[0].endswith("-c constraints.txt -e .[staff]")


def test_setup_includes_serving(clone: Path) -> None:
    """After `make setup`, which installs all extras, `make run` installs nothing."""
    make(clone, "setup")
    assert told(clone)[0].endswith("-e .[staff,oidc,huggingface,postgres,slack,evals,dev]")
    make(clone, "run")
    assert told(clone) == ["assistant ingest corpus port=", "assistant serve port="]


def test_constraints_are_exact_and_portable() -> None:
    """Every constraint names one public version: no path, address, editable install or local build."""
    lines = [line for line in (CHECKOUT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert lines
    for line in lines:
        name, _, version = line.partition("==")
        assert name, line
        assert version, line
        assert not set(line) & set("@/+ :"), line


def test_ci_script_is_valid() -> None:
    """The CI script is executable and parses."""
    script = CHECKOUT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
