"""`python -m evals`: what it writes, what it exits with, and what the benchmark relies on."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import evals.__main__ as command
import evals.matrix
import evals.run
from assistant.errors import AssistantError, IndexUnavailable, InputError
from evals.bench import free_port, mixed_questions, peak_memory, wait_until
from tests.test_compare import asked

Run = Callable[..., int]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command with so many right and wrong Japanese replies, and its files in a temporary folder."""
    parts = SimpleNamespace(settings=None, embedder=SimpleNamespace(name="a model"))
    monkeypatch.setattr(command, "REPORT", tmp_path / "report")
    monkeypatch.setattr(command, "BASELINE", tmp_path / "baseline.json")
    monkeypatch.setattr(command, "prepare", lambda *_: parts)
    monkeypatch.setattr(command, "build", lambda *_, **__: None)
    monkeypatch.setattr(command, "read_known_failures", lambda _: {"ja-0": "slang"} if "known" in flags else {})
    monkeypatch.setattr(evals.matrix, "recall_matrix", lambda *_: {"ja": {"en": 0.5, "ja": 1.0}})
    flags: set[str] = set()

    def run(right: int, wrong: int, *options: str, known: bool = False) -> int:
        flags.clear()
        flags.update({"known"} if known else ())
        monkeypatch.setattr(evals.run, "run_cases", lambda *_: asked("ja", right, wrong))
        return command.main(list(options))

    return run


def test_regression_fails_the_run(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a baseline a run passes and says so; once one is accepted, only a real drop fails and is named."""
    assert run(90, 10) == 0
    assert "not compared" in capsys.readouterr().out
    assert run(90, 10, "--accept") == 0
    assert run(88, 12) == 0
    assert "worse" not in capsys.readouterr().out
    assert run(60, 40) == 1
    assert "worse ja: right got worse in 30 of 100 cases and better in 0" in capsys.readouterr().out
    assert "Worse than the baseline" in (tmp_path / "report" / "report.html").read_text(encoding="utf-8")


def test_known_failure_that_passes_fails_the_run(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """A case listed as a known failure must fail; once it passes, the run fails until the entry is removed."""
    assert run(0, 5, known=True) == 0
    assert run(1, 4, known=True) == 1
    assert "passes ja-0: remove it from known_failures.yaml" in capsys.readouterr().out


def test_report_is_written(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON holds measures by language and kind, the matrix and every failed case; the baseline no failed case."""
    run(3, 2, "--accept")
    report = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert report["languages"]["ja"]["right"] == report["kinds"]["short"]["right"] == 0.6
    assert report["matrix"] == {"ja": {"en": 0.5, "ja": 1.0}}
    assert [row["why"] for row in report["failed"]] == [["states none of: amount"]] * 2
    assert "failed" not in json.loads((tmp_path / "baseline.json").read_text(encoding="utf-8"))
    said = capsys.readouterr()
    assert "by kind of message" in said.out
    assert "asking" in said.err


@pytest.mark.parametrize("options", [["--set", "tuning"], ["--articles", "x"]], ids=" ".join)
def test_other_measurements_are_not_compared(run: Run, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A run over other cases or other articles is not held against the baseline."""
    run(10, 0, "--accept")
    assert run(0, 10, *options) == 0
    assert "not compared" in capsys.readouterr().out


@pytest.mark.parametrize("options", [["--slice"], ["--slice", "0.5"], ["--language", "ja"]], ids=" ".join)
def test_part_of_the_cases_is_compared(run: Run, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A slice is held against the baseline case by case, but can't become one."""
    run(20, 0, "--accept")
    assert run(0, 20, *options) == 1
    assert run(20, 0, *options, "--accept") == 2
    assert "--accept keeps a whole run" in capsys.readouterr().err


def test_cases_can_be_checked_alone(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """`--check` reads every case file and asks nothing."""
    assert run(0, 9, "--check") == 0
    assert "cases are in order" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "code"),
    [(InputError("no such file"), 2), (IndexUnavailable("no index"), 1), (KeyboardInterrupt(), 130)],
    ids=["misuse", "failure", "interrupted"],
)
def test_errors_are_one_line(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What goes wrong is one line on stderr and an exit code, never a traceback."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(command, "prepare", fail)
    assert command.main([]) == code
    said = capsys.readouterr().err
    assert said == (f"error: {error}\n" if code < 3 else "")


def test_bench_questions_are_mixed() -> None:
    """The benchmark asks at least 60 different questions, in turn from at least ten languages."""
    questions = mixed_questions(80)
    assert len(set(questions)) == 80
    for low, high in [("ぁ", "ヿ"), ("가", "힣"), ("а", "я"), ("ء", "ي"), ("ऀ", "ॿ")]:
        assert any(low <= character <= high for text in questions[:24] for character in text)


def test_waiting_ends() -> None:
    """Waiting for what never comes ends with a sentence that says what was waited for."""
    with pytest.raises(AssistantError, match="the server was not ready within 0 seconds"):
        wait_until(lambda: False, "the server", limit=0.05)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells a process's peak memory")
def test_peak_memory_is_plausible() -> None:
    """The peak memory of this process is between 10 MB and the machine's; that of no process is unknown."""
    peak = peak_memory(os.getpid())
    assert peak is not None
    assert 10 < peak < os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
    assert peak_memory(2**31 - 1) is None


def test_port_is_free() -> None:
    """A free port is one that can be listened on."""
    assert 1024 <= free_port() <= 65535
