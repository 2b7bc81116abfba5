"""Verdicts -> what is kept and shown: one report as plain values, tables for a terminal.

In: Verdicts. Out: a Report for JSON, HTML (evals/page.py) and comparison (evals/compare.py). Never: judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from evals.compare import marks
from evals.judge import Verdict
from evals.measures import CHECKS, RATIOS, TIMES, bins, summarise

Report = dict[str, Any]
KEPT = ("cases", "languages", "kinds", "matrix")  # of a report, beside what was measured: the baseline
COLUMNS = {
    "right": "right", "outcome": "outcome", "states": "states", "citation_precision": "cited right",
    "citation_recall": "cited all", "figures": "figures", "language": "language",
    "abstention_precision": "refused right", "abstention_recall": "refused all", "calibration_error": "cal. error",
    "exact": "exact", "faithful": "faithful",
}  # fmt: skip


def make_report(
    verdicts: Sequence[Verdict],
    what: Mapping[str, Any],
    known: Mapping[str, str] | None = None,
    matrix: Mapping[str, Mapping[str, float]] | None = None,
) -> Report:
    """The report as plain values.

    Args:
        what: what was measured: set, articles, model.
        known: ids of cases that are known to fail, with the reason.
        matrix: recall by language of the question and of the articles.
    """
    known = known or {}
    failed = sorted((verdict for verdict in verdicts if reasons(verdict)), key=_badness, reverse=True)
    return {
        **what,
        "languages": summarise(verdicts, lambda one: one.case.language),
        "kinds": summarise(verdicts, lambda one: one.case.kind),
        "bins": bins(verdicts),
        "times": [[round(one.first_ms, 2), one.answer.timings_ms.get("total", 0.0)] for one in verdicts],
        "matrix": dict(matrix or {}),
        "cases": {one.case.id: _as_case(one) for one in verdicts},
        "passing": sorted(one.case.id for one in verdicts if one.case.id in known and one.is_right),
        "failed": [_as_row(verdict, known.get(verdict.case.id, "")) for verdict in failed],
    }


def baseline_of(report: Report, what: Mapping[str, Any]) -> Report:
    """What a later run is compared with."""
    return {**what, **{name: report[name] for name in KEPT}}


def reasons(verdict: Verdict) -> list[str]:
    """What is wrong with a reply, in words; nothing where all is well."""
    case, answer = verdict.case, verdict.answer
    wanted = " or ".join(case.facts or case.anchors)
    found = []
    if not case.is_answerable and verdict.claims and not verdict.fits:
        found.append("claims an answer; the articles hold none")
    elif case.is_answerable and verdict.claims and not verdict.holds:
        missing = f"states {verdict.cited} of {verdict.needed} things asked" if case.needs else "states none of"
        found.append(f"{missing}: {wanted}")
    elif case.is_answerable and not verdict.claims and not verdict.fits:
        shown = "the right fact is shown" if verdict.holds else f"none of {wanted} is shown"
        found.append(f"holds back ({answer.outcome}); {shown}")
    elif not verdict.fits:
        found.append(f"is {answer.outcome}, not {' or '.join(sorted(case.allowed))}")
    found += verdict.lacks
    if not verdict.exact:
        found.append("a quote is no exact part of its passage")
    if not verdict.faithful:
        found.append("a figure stands in no quote")
    if answer.language != case.language:
        found.append(f"speaks {answer.language}, not {case.language}")
    return found


def tables(report: Report) -> list[Table]:
    """The measures by language and by kind, and the recall matrix, for a terminal."""
    title = f"{report['set']} cases over {report['articles']}, model {report['model']}"
    drawn = [_drawn(title, "language", report["languages"]), _drawn("by kind of message", "kind", report["kinds"])]
    if report["matrix"]:
        drawn.append(_drawn_matrix(report["matrix"]))
    return drawn


def _drawn(title: str, first: str, groups: Mapping[str, Mapping[str, Any]]) -> Table:
    table = Table(title=title, padding=(0, 0), pad_edge=False)
    table.add_column(first, no_wrap=True)
    for name in ("cases", *COLUMNS.values(), "first ms", "total ms", "p95 ms"):
        table.add_column(name, justify="right")
    for name, row in groups.items():
        times = [f"{row[key]:.1f}" for key in TIMES]
        table.add_row(
            name, str(row["cases"]), *(share(row[key]) for key in COLUMNS), *times, style="bold" * (name == "all")
        )
    return table


def share(value: float | None) -> str:
    """A share as text; "-" where it can't be measured."""
    return "-" if value is None else f"{value:.3f}"


def _drawn_matrix(matrix: Mapping[str, Mapping[str, float]]) -> Table:
    table = Table(title="recall: question in (rows), articles only in (columns)")
    columns = sorted({code for row in matrix.values() for code in row})
    table.add_column("")
    for code in columns:
        table.add_column(code, justify="right")
    for asked, row in matrix.items():
        table.add_row(asked, *(share(row.get(code)) for code in columns))
    return table


def meanings() -> dict[str, str]:
    """What each measure says, by its column's name."""
    words = {name: words for name, (words, _) in CHECKS.items()} | RATIOS | TIMES
    return {COLUMNS.get(name, name.replace("_", " ")): text for name, text in words.items()}


def _badness(verdict: Verdict) -> tuple[bool, bool, float]:
    """Broken guarantees first, then wrong claims by confidence, then what was held back, least trusted first."""
    wrong_claim = verdict.claims and not verdict.is_right
    surprise = verdict.answer.confidence if verdict.claims else 1 - verdict.answer.confidence
    return not (verdict.exact and verdict.faithful), wrong_claim, surprise


def _as_case(verdict: Verdict) -> dict[str, str]:
    checks = marks([check(verdict) for _, check in CHECKS.values()])
    return {"language": verdict.case.language, "kind": verdict.case.kind, "checks": checks}


def _as_row(verdict: Verdict, known: str) -> dict[str, Any]:
    case, answer = verdict.case, verdict.answer
    return {
        "id": case.id,
        "language": case.language,
        "kind": case.kind,
        "history": case.history,
        "question": case.text,
        "outcome": answer.outcome,
        "confidence": answer.confidence,
        "reply": answer.text,
        "evidence": [{"passage": citation.passage_id, "quote": citation.quote} for citation in answer.citations],
        "why": reasons(verdict),
        "known": known,
    }
