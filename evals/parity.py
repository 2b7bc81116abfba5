"""`python -m evals parity`: how many drifts the parity ledger finds, and how many alarms are false.

In: the corpus, evals/drifts. Out: for each set the share of drifts found, by kind and language, those missed, and the
findings that no drift explains. Never: counts a finding as found that points at another section.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from assistant.ingest import find_files, read_article
from assistant.language import Detector
from assistant.ledger import Finding
from assistant.records import Article
from evals.drifts import Drift, drift_corpus

LEAST_FOUND, MOST_FALSE = 0.95, 2
SEEDS = 3
Check = Callable[[Sequence[Article]], list[Finding]]


@dataclass(frozen=True, slots=True)
class Measured:
    """One drifted copy: its drifts, those not found, and what was found that is none."""

    name: str
    drifted: str
    seed: int
    drifts: tuple[Drift, ...]
    missed: tuple[Drift, ...]
    false: tuple[Finding, ...]


def measure_parity(
    corpus: Path, check: Check, detector: Detector, sets: Sequence[str], seeds: int = SEEDS
) -> dict[str, Any]:
    """The findings on the clean corpus and on its drifted copies."""
    clean = check(_read(corpus, detector))
    languages = sorted({article.language for article in _read(corpus, detector)})
    runs = [
        _drifted(corpus, check, detector, name, seed, language)
        for name in sets
        for seed in range(1, seeds + 1)
        for language in (*languages, "")
    ]
    return {"clean": [_finding(finding) for finding in clean], "runs": [_as_json(run) for run in runs]}


def _drifted(corpus: Path, check: Check, detector: Detector, name: str, seed: int, language: str) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "corpus"
        drifts = drift_corpus(corpus, target, name, seed, language)
        return _judge(name, language or "all", seed, drifts, check(_read(target, detector)))


def _as_json(run: Measured) -> dict[str, Any]:
    every, missed = (Counter(drift.kind for drift in drifts) for drifts in (run.drifts, run.missed))
    return {
        "set": run.name,
        "drifted": run.drifted,
        "seed": run.seed,
        "drifts": len(run.drifts),
        "found": len(run.drifts) - len(run.missed),
        "missed": [f"{drift.language} #{drift.anchor} {drift.kind}: {drift.after[:80]}" for drift in run.missed],
        "by_kind": {kind: f"{count - missed[kind]}/{count}" for kind, count in every.items()},
        "false": [_finding(finding) for finding in run.false],
    }


def _read(folder: Path, detector: Detector) -> list[Article]:
    return [read_article(file, detector) for file in find_files([folder])]


def _judge(name: str, drifted: str, seed: int, drifts: Sequence[Drift], found: Sequence[Finding]) -> Measured:
    places = {(drift.language, drift.anchor) for drift in drifts}
    missed = tuple(drift for drift in drifts if not any(_points_at(one, drift) for one in found))
    anchors = {anchor for _, anchor in places}
    false = tuple(one for one in found if one.place.anchor not in anchors and one.what not in anchors)
    return Measured(name, drifted, seed, tuple(drifts), missed, false)


def _points_at(finding: Finding, drift: Drift) -> bool:
    """Whether a finding is in the drifted section, or names the one that is missing, in the language that drifted."""
    return finding.place.language == drift.language and drift.anchor in (finding.place.anchor, finding.what)


def _finding(finding: Finding) -> str:
    return f"{finding.place.language} #{finding.place.anchor} {finding.kind} {finding.what}: {finding.reason}"


def parity_shares(result: dict[str, Any]) -> dict[tuple[str, str], tuple[int, int]]:
    """(set, what drifted) -> drifts found and made: with one language drifted at a time, and with all at once."""
    shares: dict[tuple[str, str], tuple[int, int]] = {}
    for run in result["runs"]:
        key = (run["set"], "all at once" if run["drifted"] == "all" else "one language a copy")
        found, made = shares.get(key, (0, 0))
        shares[key] = (found + run["found"], made + run["drifts"])
    return shares


def parity_reached(result: dict[str, Any]) -> bool:
    """Whether enough of the held-out drifts is found, and the clean corpus is quiet."""
    found, made = parity_shares(result).get(("held", "one language a copy"), (0, 0))
    return found >= LEAST_FOUND * max(made, 1) and len(result["clean"]) <= MOST_FALSE


def parity_table(result: dict[str, Any]) -> Table:
    """The shares as a table, and by kind."""
    drawn = Table("set", "drifted", "found", "missed")
    for (name, how), (found, made) in parity_shares(result).items():
        runs = [run for run in result["runs"] if run["set"] == name and (run["drifted"] == "all") == (how[0] == "a")]
        missed = Counter(line.split(":")[0] for run in runs for line in run["missed"])
        shown = "; ".join(f"{line} ({count}×)" for line, count in missed.most_common())
        drawn.add_row(name, how, f"{found}/{made} = {found / made:.3f}", shown)
    false = sum(len(run["false"]) for run in result["runs"])
    drawn.caption = f"{len(result['clean'])} findings on the clean corpus, {false} beside the drifts in all copies"
    return drawn
