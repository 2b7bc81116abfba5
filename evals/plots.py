"""Plots as inline SVG: no script, no font, no colour of their own beyond the page's variables.

In: plain values of a report. Out: SVG elements as text, each with a title that says in words what it shows.
Never: text that is not escaped, or a meaning that only colour carries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from scipy.stats import binomtest

WIDTH, HEIGHT, LEFT, BOTTOM = 360, 300, 44, 40
ROW = 22
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def reliability(bins: Sequence[Mapping[str, float]]) -> str:
    """Confidence against the share that has an answer; a point's area is its number of questions."""
    most = max((one["questions"] for one in bins), default=1)
    points = "".join(
        f'<circle class="point" cx="{_x(one["confidence"]):.1f}" cy="{_y(one["answerable"]):.1f}" '
        f'r="{3 + 9 * (one["questions"] / most) ** 0.5:.1f}"><title>{one["questions"]:.0f} questions: confidence '
        f"{one['confidence']:.2f}, {one['answerable']:.2f} have an answer</title></circle>"
        for one in bins
    )
    line = " ".join(f"{_x(one['confidence']):.1f},{_y(one['answerable']):.1f}" for one in bins)
    ideal = f'<line class="ideal" x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}"/>'
    body = f'{ideal}<polyline class="line" points="{line}"/>{points}'
    return _framed("Reliability", body, "confidence", "share that has an answer", [f"{tick:.2f}" for tick in TICKS])


def times(pairs: Sequence[Sequence[float]]) -> str:
    """Share of replies whose first sentence (dashed) and whose whole text (solid) is there within a time."""
    firsts, totals = (sorted(pair[place] for pair in pairs) for place in (0, 1))
    most = _ceiling(totals[int(len(totals) * 0.95)] if totals else 1.0)
    body = "".join(
        f'<polyline class="line {name}" points="{_steps(values, most)}"><title>{title}</title></polyline>'
        for name, title, values in (("first", "first sentence", firsts), ("total", "whole reply", totals))
    )
    ticks = [f"{tick * most:.0f}" for tick in TICKS]
    return _framed("Time to the first sentence (dashed) and to the reply", body, "milliseconds", "share", ticks)


def bars(title: str, groups: Mapping[str, Mapping[str, Any]], check: str) -> str:
    """One bar a group with the share of cases that pass the check, and its 95 % interval (Wilson)."""
    rows = [(name, row[check], row["sizes"][check]) for name, row in groups.items() if row["sizes"][check]]
    height, left = ROW * len(rows) + 10, 96
    scale = WIDTH - left - 46
    drawn = []
    for number, (name, share, size) in enumerate(rows):
        top = ROW * number + 6
        span = binomtest(round(share * size), size).proportion_ci(method="wilson")
        low, high = (left + scale * edge for edge in (span.low, span.high))
        words = f"{escape(name)}: {share:.3f} of {size}, between {span.low:.2f} and {span.high:.2f}"
        drawn.append(
            f'<g><title>{words}</title><text x="{left - 6}" y="{top + 12}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="bar" x="{left}" y="{top}" width="{scale * share:.1f}" height="{ROW - 7}"/>'
            f'<line class="span" x1="{low:.1f}" x2="{high:.1f}" y1="{top + 7.5}" y2="{top + 7.5}"/>'
            f'<text x="{WIDTH - 4}" y="{top + 12}" text-anchor="end">{share:.2f}</text></g>'
        )
    return _svg(title, "".join(drawn), height)


def _framed(title: str, body: str, below: str, beside: str, ticks: Sequence[str]) -> str:
    marks = "".join(
        f'<line class="grid" x1="{_x(tick)}" x2="{_x(tick)}" y1="{_y(0)}" y2="{_y(1)}"/>'
        f'<line class="grid" x1="{_x(0)}" x2="{_x(1)}" y1="{_y(tick)}" y2="{_y(tick)}"/>'
        f'<text x="{_x(tick)}" y="{_y(0) + 16}" text-anchor="middle">{escape(text)}</text>'
        f'<text x="{LEFT - 5}" y="{_y(tick) + 4}" text-anchor="end">{tick:.2f}</text>'
        for tick, text in zip(TICKS, ticks, strict=True)
    )
    labels = (
        f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 4}" text-anchor="middle">{escape(below)}</text>'
        f'<text x="{LEFT + 6}" y="12">{escape(beside)}</text>'
    )
    return _svg(title, marks + body + labels, HEIGHT)


def _svg(title: str, body: str, height: float) -> str:
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(title)}">{body}</svg></figure>'
    )


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - 16)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - 24)


def _steps(values: Sequence[float], most: float) -> str:
    """Corner points of the cumulative share, at most a hundred."""
    shown = range(0, len(values), max(1, len(values) // 100))
    points = [(min(1.0, values[place] / most), (place + 1) / len(values)) for place in shown]
    return " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in points)


def _ceiling(value: float) -> float:
    """The next number of the form 1, 2 or 4 times a power of ten."""
    size = 1.0
    while True:
        for factor in (1, 2, 4):
            if factor * size >= value:
                return factor * size
        size *= 10
