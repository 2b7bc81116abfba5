"""Charts as inline SVG, drawn by the server: bars in time, without a word in them.

In: numbers. Out: an `svg` element that a screen reader takes for one picture with a name; the numbers themselves stand
in a table beside it. Never: holds a script, a style, a text or a colour: those come from insight.css by class.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH, GAP, HEIGHT = 10.0, 2.0, 100.0  # of a column, between columns, of the picture


def stacked_bars(columns: Sequence[Sequence[float]], classes: Sequence[str], name: str) -> str:
    """A column for each moment, its parts on top of each other, as high as the largest column.

    Args:
        columns: the parts of each column, in the order of `classes`; the first lies at the bottom.
        name: what the picture shows, in a sentence.
    """
    most = max((sum(parts) for parts in columns), default=0) or 1
    drawn = "".join(_column(place, parts, classes, most) for place, parts in enumerate(columns))
    width = max(len(columns), 1) * WIDTH
    return (
        f'<svg class="bars" role="img" aria-label="{escape(name)}" viewBox="0 0 {width:g} {HEIGHT:g}"'
        f' preserveAspectRatio="none">{drawn}</svg>'
    )


def _column(place: int, parts: Sequence[float], classes: Sequence[str], most: float) -> str:
    top, drawn = HEIGHT, ""
    for part, name in zip(parts, classes, strict=True):
        height = part / most * HEIGHT
        top -= height
        if part > 0:
            left = place * WIDTH + GAP / 2
            drawn += f'<rect class="{name}" x="{left:g}" y="{top:.2f}" width="{WIDTH - GAP:g}" height="{height:.2f}"/>'
    return drawn
