"""How drafts ended, on the page Insight: a chart by day, a table by language; the same for JSON and CSV.

In: a DraftOverview. Out: HTML, bodies, cells. Never: shows a word of a letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from assistant.endings import ENDINGS, DraftOverview, DraftTally
from assistant.surfaces.staff.charts import stacked_bars
from assistant.surfaces.staff.count_views import (
    DayBody,
    PartBody,
    Table,
    date_of,
    day_bodies,
    day_name,
    figure,
    heading,
    language_view,
    part_bodies,
    percent,
    table_view,
    titled,
    totals,
)
from assistant.surfaces.staff.filters import shown
from assistant.wording import Wording

QUARTILES = ("quarter", "half", "three_quarters")
LABELS = {"unedited": "sent_unedited", "edited": "sent_edited", "rejected": "rejected", "open": "still_open"}
HEADS = ("drafts_written", *LABELS.values(), *(f"changed_{name}" for name in QUARTILES))


@dataclass(frozen=True, slots=True)
class DraftsBody:
    """How drafts ended; a draft counts on the day it was begun."""

    total: DraftTally
    days: list[DayBody[DraftTally]]
    languages: list[PartBody[DraftTally]]


def drafts_body(overview: DraftOverview) -> DraftsBody:
    """The counts as JSON gives them."""
    return DraftsBody(overview.total, day_bodies(overview.days), part_bodies(overview.languages))


def draft_cells(tally: DraftTally) -> list[str | float]:
    """The cells below HEADS in a sheet: counts, then shares of 0..1, empty where nothing was sent."""
    shares: list[str | float] = [getattr(tally.changed, name) if tally.changed else "" for name in QUARTILES]
    return [tally.written, *(tally.endings[name] for name in ENDINGS), *shares]


def drafts_view(overview: DraftOverview, wording: Wording) -> str:
    """The part of the page."""
    text = wording.staff_insight
    top = heading(text["drafts"]) + f'<p class="soft">{escape(text["drafts_intro"])}</p>'
    if not overview.total.written:
        return f"{top}<p>{escape(text['no_drafts'])}</p>"
    days = [(day_name(date_of(day), wording), tally) for day, tally in overview.days]
    bars = stacked_bars(
        [[tally.endings[name] for name in ENDINGS] for _, tally in days], ENDINGS, text["drafts_by_day"]
    )
    parts = {name: text[LABELS[name]] for name in ENDINGS}
    most = shown(max(tally.written for _, tally in days), wording)
    by_day = table_view(text["drafts_by_day"], _counted("day", days, wording), is_long=True)
    languages = [(language_view(code), tally) for code, tally in overview.languages]
    return (
        top
        + totals([(text[name], value) for name, value in zip(HEADS, _values(overview.total, wording), strict=True)])
        + figure(text["drafts_by_day"], bars, parts, most, (days[0][0], days[-1][0]), by_day, text["as_table"])
        + titled(text["drafts_by_language"], _counted("language", languages, wording))
    )


def _counted(first: str, rows: Sequence[tuple[str, DraftTally]], wording: Wording) -> Table:
    heads = [escape(wording.staff_insight[name]) for name in (first, *HEADS)]
    return heads, [[name, *_values(tally, wording)] for name, tally in rows]


def _values(tally: DraftTally, wording: Wording) -> list[str]:
    counts = [shown(tally.written, wording), *(shown(tally.endings[name], wording) for name in ENDINGS)]
    return counts + [percent(getattr(tally.changed, name), wording) if tally.changed else "–" for name in QUARTILES]
