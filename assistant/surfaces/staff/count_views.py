"""Counts as HTML: tables, totals, charts with their legend; shares, days and languages as the reader writes them. The
same by day, language and channel as JSON.

In: numbers and escaped texts. Out: HTML, bodies. Never: counts anything, or shows a word that a customer wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from html import escape
from typing import Generic, TypeVar

from babel import Locale
from babel.dates import format_date
from babel.numbers import format_percent

from assistant.store import DAY_S
from assistant.surfaces.page import own_name
from assistant.surfaces.staff.filters import shown
from assistant.wording import Wording

Counts = TypeVar("Counts")
Table = tuple[Sequence[str], Sequence[Sequence[str]]]  # headings; rows of escaped HTML, the first cell a heading


@dataclass(frozen=True, slots=True)
class DayBody(Generic[Counts]):
    """One day's counts."""

    day: date
    counts: Counts


@dataclass(frozen=True, slots=True)
class PartBody(Generic[Counts]):
    """The counts of a language or channel; "" is a channel that is not known."""

    name: str
    counts: Counts


def day_bodies(days: Iterable[tuple[int, Counts]]) -> list[DayBody[Counts]]:
    """The counts of days since 1970."""
    return [DayBody(date_of(day), counts) for day, counts in days]


def part_bodies(parts: Iterable[tuple[str, Counts]]) -> list[PartBody[Counts]]:
    """The counts of languages or channels."""
    return [PartBody(name, counts) for name, counts in parts]


def heading(text: str) -> str:
    """The heading of a part of the page."""
    return f"<h2>{escape(text)}</h2>"


def titled(name: str, table: Table) -> str:
    """A table below a heading of its own."""
    return heading(name) + table_view(name, table)


def table_view(name: str, table: Table, is_long: bool = False) -> str:
    """A table that scrolls within the page, by keyboard too; on phones the rows of one that is not long are cards."""
    heads, rows = table
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = "".join(f'<tr><th scope="row">{first}</th>{"".join(_cells(heads[1:], rest))}</tr>' for first, *rest in rows)
    shape = "counts long" if is_long else "counts"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(name)}">'
        f'<table class="{shape}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _cells(heads: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Cells that know their heading, which stands beside them where there is no room for columns."""
    return [f'<td data-head="{head}">{cell}</td>' for head, cell in zip(heads, cells, strict=True)]


def totals(facts: Sequence[tuple[str, str]]) -> str:
    """Names with their numbers."""
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)
    return f'<dl class="totals">{items}</dl>'


def figure(
    name: str, bars: str, parts: Mapping[str, str], top: str, ends: tuple[str, str], table: str, as_table: str
) -> str:
    """A chart with its legend and the ends of its axes; the table of the same numbers, to be opened.

    Args:
        parts: the classes of the bars' parts, each with its label.
        ends: the first and the last moment, escaped, as is `top`.
        table: its HTML; "" where there is none.
    """
    legend = "".join(f'<li><span class="swatch {part}"></span>{escape(label)}</li>' for part, label in parts.items())
    opened = f"<details><summary>{escape(as_table)}</summary>{table}</details>" if table else ""
    return (
        f'{heading(name)}<figure class="card"><div class="top" aria-hidden="true">{top}</div>{bars}'
        f'<div class="axis" aria-hidden="true"><span>{ends[0]}</span><span>{ends[1]}</span></div>'
        f'<figcaption><ul class="legend">{legend}</ul></figcaption>{opened}</figure>'
    )


def locale_of(wording: Wording) -> Locale:
    """How the page's language writes numbers and days."""
    return Locale.parse(wording.language.replace("-", "_"))


def percent(share: float, wording: Wording) -> str:
    """A share, 0..1."""
    return format_percent(share, locale=locale_of(wording))


def took(milliseconds: float, wording: Wording) -> str:
    """A span of time."""
    return wording.staff_insight["milliseconds"].format(number=shown(round(milliseconds), wording))


def date_of(day: int) -> date:
    """The date of a day since 1970."""
    return datetime.fromtimestamp(day * DAY_S, UTC).date()


def day_name(day: date, wording: Wording) -> str:
    """A date, escaped."""
    return escape(format_date(day, "medium", locale_of(wording)))


def language_view(code: str) -> str:
    """A language's own name for itself, marked as being in it."""
    return f'<bdi lang="{escape(code)}">{escape(own_name(code))}</bdi>'
