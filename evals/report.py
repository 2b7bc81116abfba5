"""Verdicts -> what a person reads: a table by language, the worst cases, and what got worse.

In: Verdicts, and an earlier report to compare with. Out: JSON, one HTML file that needs nothing else, and regressions.
Never: judges.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rich.table import Table

from evals.judge import Verdict
from evals.run import summarise

MEASURES = {
    "right": "answered with a right fact, or no claim where the articles say nothing",
    "holds": "answerable: the reply states a right fact, whatever it claims",
    "answered": "answerable: the reply claims to answer",
    "refused": "not answerable: the reply claims nothing",
    "refused_near": "not answerable although on the subject: the reply claims nothing",
    "exact": "every quote is an exact part of its passage",
    "faithful": "every figure stands in a quote",
    "language": "the reply speaks the asker's language",
}
GUARANTEES = ("exact", "faithful")  # one lapse is one too many: no allowance for noise
ERRORS = 2.0  # standard errors that a share may drop by chance
Report = dict[str, Any]


def make_report(verdicts: Sequence[Verdict], what: Mapping[str, Any]) -> Report:
    """The report as plain values; `what` says what was measured: set, articles, model.

    `languages` holds each language's measures ("all" last) with `sizes`, the number of cases behind each share.
    """
    summary = summarise(verdicts)
    languages = {}
    for name in [*sorted(name for name in summary if name != "all"), "all"]:
        group = [verdict for verdict in verdicts if name in ("all", verdict.case.language)]
        languages[name] = {**summary[name], "sizes": _sizes(group)}
    failed = sorted((verdict for verdict in verdicts if reasons(verdict)), key=_badness, reverse=True)
    return {**what, "languages": languages, "failed": [_as_row(verdict) for verdict in failed]}


def reasons(verdict: Verdict) -> list[str]:
    """What is wrong with a reply, in words; nothing where all is well."""
    case, answer = verdict.case, verdict.answer
    found = []
    if not case.facts and verdict.claims:
        found.append("claims an answer; the articles hold none")
    if case.facts and verdict.claims and not verdict.holds:
        found.append(f"states none of: {', '.join(case.facts)}")
    if case.facts and not verdict.claims:
        shown = "the right fact is shown" if verdict.holds else f"none of {', '.join(case.facts)} is shown"
        found.append(f"holds back ({answer.outcome}); {shown}")
    if not verdict.exact:
        found.append("a quote is no exact part of its passage")
    if not verdict.faithful:
        found.append("a figure stands in no quote")
    if answer.language != case.language:
        found.append(f"speaks {answer.language}, asked in {case.language}")
    return found


def regressions(now: Report, before: Report) -> list[str]:
    """One sentence for each share that fell by more than chance explains.

    Chance is two standard errors of a share p of n cases, sqrt(p (1 - p) / n), p being the earlier one with a success
    and a failure added (Agresti and Coull 1998), so that a perfect score on few cases has an error too.
    """
    found = []
    for language, earlier in before["languages"].items():
        current = now["languages"].get(language)
        if current is None:
            found.append(f"{language}: no longer measured")
            continue
        for measure in MEASURES:
            size = min(earlier["sizes"][measure], current["sizes"][measure])
            share = (earlier[measure] * size + 1) / (size + 2)
            noise = 0.0 if measure in GUARANTEES else ERRORS * math.sqrt(share * (1 - share) / max(size, 1))
            if size and earlier[measure] - current[measure] > noise + 1e-9:
                found.append(
                    f"{language}: {measure} fell from {earlier[measure]:.3f} to {current[measure]:.3f} (n={size})"
                )
    return found


def table(report: Report) -> Table:
    """The measures by language, for a terminal."""
    drawn = Table(title=f"{report['set']} cases over {report['articles']}, model {report['model']}")
    drawn.add_column("language")
    for name in ("cases", *MEASURES, "citations"):
        drawn.add_column(name, justify="right")
    for language, row in report["languages"].items():
        drawn.add_row(language, *_cells(row), style="bold" if language == "all" else "")
    return drawn


def as_html(report: Report, worse: Sequence[str]) -> str:
    """The report as one page without scripts, fonts or links."""
    meanings = "".join(f"<li><b>{name}</b>: {escape(meaning)}</li>" for name, meaning in MEASURES.items())
    head = "".join(f"<th>{name}</th>" for name in ("language", "cases", *MEASURES, "citations"))
    rows = "".join(
        f"<tr><th>{escape(language)}</th>{''.join(_shaded(cell) for cell in _cells(row))}</tr>"
        for language, row in report["languages"].items()
    )
    changes = "".join(f"<li>{escape(line)}</li>" for line in worse)
    title = f"{report['set']} cases over {report['articles']}"
    return PAGE.format(
        title=escape(title),
        model=escape(f"{report['model']}, {report['made']}"),
        changes=f"<h2>Worse than the baseline</h2><ul>{changes}</ul>" if worse else "",
        head=head,
        rows=rows,
        meanings=meanings,
        count=len(report["failed"]),
        failed="".join(_failed_row(row) for row in report["failed"]),
    )


def _sizes(group: Sequence[Verdict]) -> dict[str, int]:
    answerable = sum(bool(verdict.case.facts) for verdict in group)
    near = sum(verdict.case.kind == "unanswerable" for verdict in group)
    own = {"holds": answerable, "answered": answerable, "refused": len(group) - answerable, "refused_near": near}
    return {measure: own.get(measure, len(group)) for measure in MEASURES}


def _badness(verdict: Verdict) -> tuple[bool, bool, float]:
    """Broken guarantees first, then wrong claims by confidence, then what was held back, least trusted first."""
    wrong_claim = verdict.claims and not verdict.is_right
    surprise = verdict.answer.confidence if verdict.claims else 1 - verdict.answer.confidence
    return not (verdict.exact and verdict.faithful), wrong_claim, surprise


def _as_row(verdict: Verdict) -> dict[str, Any]:
    case, answer = verdict.case, verdict.answer
    return {
        "id": case.id,
        "language": case.language,
        "kind": case.kind,
        "question": case.text,
        "outcome": answer.outcome,
        "confidence": answer.confidence,
        "reply": answer.text,
        "evidence": [{"passage": citation.passage_id, "quote": citation.quote} for citation in answer.citations],
        "why": reasons(verdict),
    }


def _cells(row: Mapping[str, Any]) -> list[str]:
    shares = [f"{row[name]:.3f}" if row["sizes"][name] else "-" for name in MEASURES]
    return [str(row["cases"]), *shares, f"{row['citations']:.2f}"]


def _shaded(cell: str) -> str:
    """A share below one gets a shade, the darker the lower; counts get none."""
    share = float(cell) if cell[:2] in ("0.", "1.") and len(cell) == 5 else 1.0
    return f'<td style="background:rgb(200 60 40 / {min(1.0, 1.5 * (1 - share)):.2f})">{cell}</td>'


def _failed_row(row: Mapping[str, Any]) -> str:
    evidence = "".join(
        f"<p><code>{escape(one['passage'])}</code> <q dir=auto>{escape(one['quote'])}</q></p>"
        for one in row["evidence"]
    )
    spoken = f"dir=auto lang={row['language']}"
    return (
        f"<tr><td>{escape(row['id'])}<br>{row['kind']}</td><td {spoken}>{escape(row['question'])}</td>"
        f"<td {spoken}>{escape(row['reply'])}</td><td>{evidence}</td>"
        f"<td>{escape('; '.join(row['why']))}<br>{row['outcome']}, {row['confidence']:.2f}</td></tr>"
    )


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }}
body {{ margin: 2rem auto; max-width: 80rem; padding: 0 1rem }}
table {{ border-collapse: collapse; width: 100%; margin: 1rem 0 }}
th, td {{ border: 1px solid #8884; padding: .3rem .5rem; text-align: start; vertical-align: top }}
.measures td {{ text-align: end; font-variant-numeric: tabular-nums }}
.failed td {{ white-space: pre-line; overflow-wrap: anywhere; width: 20% }}
.failed td:first-child {{ width: 8% }}
p {{ margin: 0 0 .5rem }}
</style>
<h1>{title}</h1><p>{model}</p>
{changes}
<table class="measures"><tr>{head}</tr>{rows}</table>
<ul>{meanings}</ul>
<h2>Worst cases ({count})</h2>
<table class="failed"><tr><th>case</th><th>question</th><th>reply</th><th>evidence</th><th>why</th></tr>{failed}</table>
</html>
"""
