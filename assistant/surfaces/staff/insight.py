"""The page Insight: how questions end, how long replies take, which sections are asked for, helpful, or never needed;
how drafts ended.

In: `GET /staff/insight`, `/staff/insight.csv`, `/api/v1/staff/insight`. Out: charts with their tables; the same as CSV
and JSON. Never: shows a word that a customer wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from html import escape

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from assistant.endings import Endings
from assistant.insight import OUTCOMES, Insight, Overview, SectionUse, Tally
from assistant.surfaces.articles import Shelf
from assistant.surfaces.staff.access import Agent, StaffParts
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
    took,
    totals,
)
from assistant.surfaces.staff.draft_counts import HEADS, DraftsBody, draft_cells, drafts_body, drafts_view
from assistant.surfaces.staff.filters import Filtered, channel_name, filter_form, shown
from assistant.surfaces.staff.headings import Heading, headings_of
from assistant.surfaces.staff.sheets import download
from assistant.surfaces.staff.shell import staff_page, wording_of
from assistant.wording import Wording

LISTED = 10


@dataclass(frozen=True, slots=True)
class UnusedBody:
    """A section (`name#anchor`) that no answer of the time cited; when one did last, and its article's revision."""

    section: str
    last_cited: datetime | None
    revised: str


@dataclass(frozen=True, slots=True)
class InsightBody:
    """The page's numbers; latencies in milliseconds."""

    total: Tally
    days: list[DayBody[Tally]]
    languages: list[PartBody[Tally]]
    channels: list[PartBody[Tally]]
    sections: list[SectionUse]
    unused: list[UnusedBody]
    drafts: DraftsBody


def add_insight(staff: StaffParts) -> APIRouter:
    """The routes."""
    router, insight, endings = APIRouter(), Insight(staff.store.engine), Endings(staff.store.engine)
    shelf = Shelf(staff.settings.corpus, staff.settings.file_limit_mb)

    def unused(sections: Sequence[SectionUse], headings: dict[str, Heading]) -> list[UnusedBody]:
        cited, last = {one.section for one in sections}, insight.last_cited()
        revised: dict[str, str] = {}
        for article in shelf.articles():
            revised[article.name] = max(article.revised, revised.get(article.name, ""))
        found = [
            UnusedBody(
                name,
                datetime.fromtimestamp(last[name], UTC) if name in last else None,
                revised.get(heading.article, ""),
            )
            for name, heading in headings.items()
            if name not in cited
        ]
        return sorted(found, key=lambda one: (last.get(one.section, 0.0), one.revised, one.section))

    @router.get("/staff/insight", response_class=HTMLResponse, include_in_schema=False)
    def show(request: Request, member: Agent, filters: Filtered) -> HTMLResponse:
        wording = wording_of(request)
        overview, sections = insight.overview(filters.selection), insight.sections(filters.selection)
        headings = headings_of(staff.backend, staff.wordings.chain(wording.language))
        languages, _ = insight.choices()
        main = filter_form(filters, (*languages, *endings.languages()), wording, "/staff/insight.csv")
        main += f'<p class="soft">{escape(wording.staff_insight["insight_intro"])}</p>'
        main += _overview(overview, wording) if overview.total.asked else _nothing(wording)
        main += drafts_view(endings.overview(filters.selection), wording)
        main += _sections(sections, unused(sections, headings), headings, wording)
        return staff_page(request, member, "insight", main, styles=("insight.css",))

    @router.get("/staff/insight.csv", include_in_schema=False)
    def sheet(request: Request, member: Agent, filters: Filtered) -> Response:
        text = wording_of(request).staff_insight
        heads = [text[name] for name in ("day", "asked", *OUTCOMES, "median", "slow", *HEADS)]
        asked, drafted = insight.overview(filters.selection).days, endings.overview(filters.selection).days
        rows: list[list[str | float]] = [
            [date_of(day).isoformat(), *_plain(tally), *draft_cells(own)]
            for (day, tally), (_, own) in zip(asked, drafted, strict=True)
        ]
        return download("insight.csv", [heads, *rows])

    @router.get("/api/v1/staff/insight", summary="How questions end, by day, language and channel; sections")
    def read(member: Agent, filters: Filtered) -> InsightBody:
        overview, sections = insight.overview(filters.selection), insight.sections(filters.selection)
        return InsightBody(
            overview.total,
            day_bodies(overview.days),
            part_bodies(overview.languages),
            part_bodies(overview.channels),
            sections,
            unused(sections, headings_of(staff.backend, staff.wordings.chain(staff.settings.default_language))),
            drafts_body(endings.overview(filters.selection)),
        )

    return router


def _overview(overview: Overview, wording: Wording) -> str:
    text = wording.staff_insight
    days = [(day_name(date_of(day), wording), tally) for day, tally in overview.days]
    ends, speeds = (days[0][0], days[-1][0]), ("median", "slow")
    outcomes = stacked_bars(
        [[tally.outcomes.get(name, 0) for name in OUTCOMES] for _, tally in days], OUTCOMES, text["by_day"]
    )
    times = stacked_bars(
        [[tally.p50_ms, max(tally.p95_ms - tally.p50_ms, 0.0)] for _, tally in days], speeds, text["latency"]
    )
    languages = [(language_view(code), tally) for code, tally in overview.languages]
    channels = [(escape(channel_name(name, wording)), tally) for name, tally in overview.channels]
    by_day = table_view(text["by_day"], _counted("day", days, wording), is_long=True)
    most = shown(max(tally.asked for _, tally in days), wording)
    slowest = took(max(tally.p95_ms for _, tally in days), wording)
    return (
        _totals(overview.total, wording)
        + figure(text["by_day"], outcomes, _labels(OUTCOMES, text), most, ends, by_day, text["as_table"])
        + figure(text["latency"], times, _labels(speeds, text), slowest, ends, "", text["as_table"])
        + titled(text["by_language"], _counted("language", languages, wording))
        + titled(text["by_channel"], _counted("channel", channels, wording))
    )


def _labels(names: Sequence[str], text: dict[str, str]) -> dict[str, str]:
    return {name: text[name] for name in names}


def _totals(total: Tally, wording: Wording) -> str:
    text = wording.staff_insight
    facts = [(text["asked"], shown(total.asked, wording))]
    facts += [(text[name], percent(total.share(name), wording)) for name in OUTCOMES]
    facts += [(text["median"], took(total.p50_ms, wording)), (text["slow"], took(total.p95_ms, wording))]
    return totals(facts)


def _nothing(wording: Wording) -> str:
    return f"<p>{escape(wording.staff_insight['nothing'])}</p>"


def _counted(first: str, rows: Sequence[tuple[str, Tally]], wording: Wording) -> Table:
    text = wording.staff_insight
    heads = [escape(text[name]) for name in (first, "asked", *OUTCOMES, "median", "slow")]
    return heads, [
        [
            name,
            shown(tally.asked, wording),
            *(percent(tally.share(outcome), wording) for outcome in OUTCOMES),
            took(tally.p50_ms, wording),
            took(tally.p95_ms, wording),
        ]
        for name, tally in rows
    ]


def _sections(
    used: Sequence[SectionUse], unused: Sequence[UnusedBody], headings: dict[str, Heading], wording: Wording
) -> str:
    text = wording.staff_insight

    def name(section: str) -> str:
        heading = headings.get(section)
        if heading is None:
            return f'<code dir="ltr">{escape(section)}</code>'
        return f'<bdi lang="{escape(heading.language)}">{escape(heading.text)}</bdi>'

    def rated(rows: Sequence[SectionUse]) -> Table:
        heads = [escape(text[key]) for key in ("section", "citations", "helpful", "unhelpful")]
        return heads, [[name(one.section), *(shown(n, wording) for n in (one.cited, one.up, one.down))] for one in rows]

    disliked = sorted((one for one in used if one.down), key=lambda one: (-one.down / (one.up + one.down), -one.down))
    heads = [escape(text[key]) for key in ("section", "last_cited", "revised")]
    rows = [[name(one.section), _when(one.last_cited, wording), _revised(one.revised, wording)] for one in unused]
    tables: list[tuple[str, Table]] = [
        ("most_asked", rated(used[:LISTED])), ("least_helpful", rated(disliked[:LISTED])), ("unused", (heads, rows)),
    ]  # fmt: skip
    nothing = f"<p>{escape(text['none'])}</p>"
    return "".join(titled(text[key], table) if table[1] else heading(text[key]) + nothing for key, table in tables)


def _plain(tally: Tally) -> list[float]:
    return [tally.asked, *(tally.outcomes.get(name, 0) for name in OUTCOMES), round(tally.p50_ms), round(tally.p95_ms)]


def _when(at: datetime | None, wording: Wording) -> str:
    return day_name(at.date(), wording) if at else escape(wording.staff_insight["never"])


def _revised(day: str, wording: Wording) -> str:
    return day_name(date.fromisoformat(day), wording) if day else ""
