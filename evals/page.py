"""A report as one HTML page that needs nothing else: no script, no font, no link.

In: a Report, what got worse. Out: HTML. Never: puts a text of a case or reply into it without escaping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from assistant.language import is_right_to_left
from evals.plots import bars, reliability, times
from evals.report import COLUMNS, Report, meanings, share

TIMES = {"first_ms": "first ms", "total_ms": "total ms", "total_p95_ms": "p95 ms"}


def as_html(report: Report, worse: Sequence[str], judged: Mapping[str, Any] | None = None) -> str:
    """The page.

    Args:
        worse: one sentence for each regression.
        judged: what a language model made of the replies, where one was asked (evals/opinion.py).
    """
    title = f"{report['set']} cases over {report['articles']}"
    parts = [
        _worse(worse),
        _list("Known failures that pass: remove them from known_failures.yaml", report["passing"]),
        '<section class="plots">',
        reliability(report["bins"]),
        times(report["times"]),
        bars("Right replies by language", report["languages"], "right"),
        bars("Right replies by kind of message", report["kinds"], "right"),
        "</section>",
        _measures("By language", "language", report["languages"]),
        _measures("By kind of message", "kind", report["kinds"]),
        _matrix(report["matrix"]),
        _judged(judged or {}),
        "<details><summary>What the columns say</summary><dl>",
        *(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in meanings().items()),
        "</dl></details>",
        f"<h2>Worst cases ({len(report['failed'])})</h2>",
        _failed(report["failed"]),
    ]
    about = f"{report['model']}, {report['made']}"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width, initial-scale=1"><title>{escape(title)}</title><style>{STYLE}</style></head>\n'
        f"<body><h1>{escape(title)}</h1><p>{escape(about)}</p>\n{chr(10).join(parts)}\n</body></html>\n"
    )


def _worse(worse: Sequence[str]) -> str:
    return _list("Worse than the baseline", worse, "worse")


def _list(title: str, lines: Sequence[str], style: str = "") -> str:
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<section class="{style}"><h2>{escape(title)}</h2><ul>{items}</ul></section>'


def _measures(title: str, first: str, groups: Mapping[str, Mapping[str, Any]]) -> str:
    heads = "".join(
        f'<th scope="col">{escape(name)}</th>' for name in (first, "cases", *COLUMNS.values(), *TIMES.values())
    )
    rows = []
    for name, row in groups.items():
        shares = "".join(_shaded(row[key], inverted=key == "calibration_error") for key in COLUMNS)
        spent = "".join(f"<td>{row[key]:.1f}</td>" for key in TIMES)
        rows.append(f'<tr><th scope="row">{escape(name)}</th><td>{row["cases"]}</td>{shares}{spent}</tr>')
    return (
        f'<h2>{escape(title)}</h2><div class="wide" tabindex="0"><table class="measures"><thead><tr>{heads}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _matrix(matrix: Mapping[str, Mapping[str, float]]) -> str:
    if not matrix:
        return ""
    columns = sorted({code for row in matrix.values() for code in row})
    heads = "".join(f'<th scope="col">{escape(code)}</th>' for code in columns)
    rows = "".join(
        f'<tr><th scope="row">{escape(asked)}</th>{"".join(_shaded(row.get(code)) for code in columns)}</tr>'
        for asked, row in matrix.items()
    )
    return (
        "<h2>Recall by language of the question (rows) and of the articles (columns)</h2>"
        "<p>Share of answerable questions with a place of what is asked among the first three passages, the index "
        'holding articles of one language alone.</p><div class="wide" tabindex="0"><table class="measures"><thead><tr>'
        f"<th></th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _judged(judged: Mapping[str, Any]) -> str:
    if not judged:
        return ""
    means = ", ".join(f"{escape(name)} {share(value)}" for name, value in judged["means"].items())
    return f"<h2>As a language model judges</h2><p>{escape(judged['model'])}: {means}</p>"


def _shaded(value: float | None, inverted: bool = False) -> str:
    """A share gets a shade, the darker the further it is from perfect."""
    if value is None:
        return "<td>-</td>"
    gap = value if inverted else 1 - value
    return f'<td style="--gap:{min(1.0, max(0.0, 1.5 * gap)):.2f}">{share(value)}</td>'


def _failed(rows: Sequence[Mapping[str, Any]]) -> str:
    names = ("case", "question", "answer", "evidence", "why it failed")
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        f'<table class="failed"><thead><tr>{heads}</tr></thead><tbody>{"".join(map(_failed_row, rows))}</tbody></table>'
    )


def _failed_row(row: Mapping[str, Any]) -> str:
    spoken = f'lang="{escape(row["language"])}" dir="{"rtl" if is_right_to_left(row["language"]) else "ltr"}"'
    earlier = "".join(f'<p class="earlier" {spoken}>{escape(text)}</p>' for text in row["history"])
    evidence = "".join(
        f'<p><code>{escape(one["passage"])}</code><br><q dir="auto">{escape(one["quote"])}</q></p>'
        for one in row["evidence"]
    )
    known = f'<p class="known">known: {escape(row["known"])}</p>' if row["known"] else ""
    return (
        f'<tr><td data-name="case">{escape(row["id"])}<br>{escape(row["kind"])}</td>'
        f'<td data-name="question">{earlier}<p {spoken}>{escape(row["question"])}</p></td>'
        f'<td data-name="answer"><p {spoken}>{escape(row["reply"])}</p></td>'
        f'<td data-name="evidence">{evidence or "-"}</td>'
        f'<td data-name="why it failed"><p>{escape("; ".join(row["why"]))}</p>'
        f"<p>{escape(row['outcome'])}, confidence {row['confidence']:.2f}</p>{known}</td></tr>"
    )


STYLE = """
:root { color-scheme: light dark; --ink: #1c1f23; --soft: #5b6470; --paper: #fff; --edge: #c9cfd6; --mark: #1f6feb;
  --bad: 200 60 40; font: 15px/1.5 system-ui, sans-serif }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #a3acb8; --paper: #14171b; --edge: #3a424c;
  --mark: #6ea8fe; --bad: 240 100 80 } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 84rem; padding: 1.5rem 1rem 4rem; color: var(--ink); background: var(--paper) }
h1 { font-size: 1.5rem; line-height: 1.25 } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem }
p { margin: 0 0 .5rem } dt { font-weight: 600 } dd { margin: 0 0 .4rem 1rem }
.worse { border-inline-start: 4px solid rgb(var(--bad)); padding-inline-start: 1rem }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); gap: 1.5rem }
figure { margin: 0 } figcaption { font-weight: 600; margin-bottom: .25rem }
svg { width: 100%; max-width: 30rem; overflow: visible }
svg text { fill: var(--soft); font-size: 11px } .grid { stroke: var(--edge); stroke-width: .5 }
.ideal { stroke: var(--soft); stroke-dasharray: 4 4 } .line { fill: none; stroke: var(--mark); stroke-width: 2 }
.line.first { stroke-dasharray: 5 4 } .point, .bar { fill: var(--mark) } .bar { opacity: .7 }
.span { stroke: var(--ink); stroke-width: 1.5 }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { border: 1px solid var(--edge); padding: .3rem .5rem; text-align: start; vertical-align: top }
.measures { font-variant-numeric: tabular-nums; white-space: nowrap }
.measures td { text-align: end; background: rgb(var(--bad) / calc(var(--gap, 0) * .6)) }
.measures thead th { white-space: normal; vertical-align: bottom; font-size: .85rem }
.measures tbody tr:last-child { font-weight: 600 }
.failed { table-layout: fixed } .failed td { overflow-wrap: anywhere; white-space: pre-line }
.failed th:first-child { width: 8rem }
.failed q, .earlier, .known { color: var(--soft) } code { font-size: .8rem }
@media (max-width: 50rem) {
  .failed, .failed tbody, .failed tr, .failed td { display: block; width: 100% }
  .failed thead { display: none }
  .failed tr { border: 1px solid var(--edge); margin-bottom: 1rem } .failed td { border: 0 }
  .failed td::before { content: attr(data-name); display: block; font-size: .8rem; color: var(--soft) }
}
"""
