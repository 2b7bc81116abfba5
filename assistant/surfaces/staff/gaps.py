"""The page Gaps: what customers ask and get no good answer to, one row a topic, in whatever languages it is asked.

In: `GET /staff/gaps`, `/staff/gaps.csv`, `/api/v1/staff/gaps`. Out: the topics with size, trend, examples and nearest
section, and a button that begins a draft with the topic's question. Never: embeds or gathers while a page is opened:
`keep_gathering` does that in the background.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from html import escape
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from assistant.errors import AssistantError
from assistant.gaps import Example, Gap, GapReader, Gaps
from assistant.gather import Gatherer
from assistant.insight import Insight
from assistant.pipeline import Assistant
from assistant.surfaces.backend import NotReady
from assistant.surfaces.page import own_name
from assistant.surfaces.staff.access import Agent, StaffParts
from assistant.surfaces.staff.charts import stacked_bars
from assistant.surfaces.staff.filters import Filtered, channel_name, filter_form, shown
from assistant.surfaces.staff.headings import Heading, headings_of
from assistant.surfaces.staff.sheets import download
from assistant.surfaces.staff.shell import staff_page, wording_of
from assistant.wording import Wording

SHOWN, MOST = 50, 500
EVERY_S, LEASE_S = 60.0, 55.0
RISING = 0.2  # a topic grows or shrinks where its halves differ by more than this share of it
Limit = Annotated[int, Query(ge=1, le=MOST)]
log = logging.getLogger("assistant.gaps")


def add_gaps(staff: StaffParts) -> APIRouter:
    """The routes."""
    router = APIRouter()
    reader, insight = GapReader(staff.store.engine), Insight(staff.store.engine)

    @router.get("/staff/gaps", response_class=HTMLResponse, include_in_schema=False)
    def show(request: Request, member: Agent, filters: Filtered) -> HTMLResponse:
        wording = wording_of(request)
        gaps = reader.gaps(filters.selection, wording.language, SHOWN)
        headings = headings_of(staff.backend, staff.wordings.chain(wording.language))
        languages, _ = insight.choices()
        main = filter_form(filters, languages, wording, "/staff/gaps.csv") + _list(gaps, headings, wording)
        labels = {"failed": wording.staff_insight["draft_failed"]}
        return staff_page(request, member, "gaps", main, scripts=("gaps.js",), styles=("insight.css",), labels=labels)

    @router.get("/staff/gaps.csv", include_in_schema=False)
    def sheet(request: Request, member: Agent, filters: Filtered) -> Response:
        text = wording_of(request).staff_insight
        names = ("topic", "question", "asked", "unhelpful", "growth", "languages", "channels", "nearest", "examples")
        rows: list[list[str | float]] = [
            [
                gap.topic, gap.title.text, gap.size, gap.rated, round(gap.growth, 2), _counts(gap.languages),
                _counts(gap.channels), gap.section, "\n".join(one.text for one in gap.examples),
            ]
            for gap in reader.gaps(filters.selection, limit=MOST).shown
        ]  # fmt: skip
        return download("gaps.csv", [[text[name] for name in names], *rows])

    @router.get("/api/v1/staff/gaps", summary="Topics without a good answer, the largest first")
    def read(member: Agent, filters: Filtered, limit: Limit = SHOWN, language: str = "", topic: str = "") -> Gaps:
        return reader.gaps(filters.selection, language[:35], limit, topic[:64])

    return router


async def keep_gathering(staff: StaffParts) -> None:
    """Gathers what is new every minute, in one of the processes that share the store, until cancelled."""
    gatherer: Gatherer | None = None
    while True:
        await asyncio.sleep(EVERY_S)
        try:
            assistant = staff.backend.now()
            if isinstance(assistant, Assistant):
                retriever = assistant.retriever
                gatherer = gatherer or Gatherer(staff.store.engine, retriever.embedder, retriever.topics)
                if await asyncio.to_thread(staff.store.claim, "gaps", "gather", LEASE_S):
                    await asyncio.to_thread(gatherer.update)
        except NotReady:
            continue
        except AssistantError as error:
            log.error("gaps were not gathered: %s", error)


def _list(gaps: Gaps, headings: dict[str, Heading], wording: Wording) -> str:
    text = wording.staff_insight
    intro = f'<p class="soft">{escape(text["gaps_intro"])}</p>'
    if not gaps.shown:
        return f"{intro}<p>{escape(text['no_gaps'])}</p>"
    found = text["found"].format(topics=shown(gaps.topics, wording), questions=shown(gaps.questions, wording))
    rows = "".join(_row(gap, headings.get(gap.section), wording) for gap in gaps.shown)
    problem = '<p id="problem" class="problem" role="alert"></p>'
    return f'{intro}<p>{escape(found)}</p>{problem}<ol class="gap-list">{rows}</ol>'


def _row(gap: Gap, heading: Heading | None, wording: Wording) -> str:
    text = {name: escape(value) for name, value in wording.staff_insight.items()}
    trend = wording.staff_insight[_trend(gap)]
    bars = stacked_bars([[part] for part in gap.trend], ["asked"], f"{wording.staff_insight['trend']}: {trend}")
    rated = f"<li>{text['unhelpful']}: {shown(gap.rated, wording)}</li>" if gap.rated else ""
    examples = "".join(_example(one, wording) for one in gap.examples)
    title = escape(gap.title.text, quote=True)
    return (
        f'<li class="card"><h2 id="g-{gap.topic}" lang="{escape(gap.title.language)}" dir="auto">{title}</h2>'
        f'<div class="trend">{bars}<span aria-hidden="true">{escape(trend)}</span></div>'
        f'<ul class="facts"><li><strong>{text["asked"]}: {shown(gap.size, wording)}</strong></li>{rated}'
        f"<li>{_named(gap.languages, wording, own_name)}</li>"
        f"<li>{_named(gap.channels, wording, lambda name: channel_name(name, wording))}</li></ul>"
        f'<p><span class="soft">{text["nearest"]}:</span> {_section(gap.section, heading, text["no_section"])}</p>'
        f"<details><summary>{text['examples']}</summary><ul>{examples}</ul></details>"
        f'<button type="button" class="draft" aria-describedby="g-{gap.topic}" data-question="{title}"'
        f' data-language="{escape(gap.title.language)}">{text["draft_entry"]}</button></li>'
    )


def _example(one: Example, wording: Wording) -> str:
    often = f'&nbsp;<bdi class="soft">×{shown(one.count, wording)}</bdi>' if one.count > 1 else ""
    return f'<li><span lang="{escape(one.language)}" dir="auto">{escape(one.text)}</span>{often}</li>'


def _trend(gap: Gap) -> str:
    if abs(gap.growth) <= RISING:
        return "steady"
    return "rising" if gap.growth > 0 else "falling"


def _section(name: str, heading: Heading | None, nothing: str) -> str:
    if heading is None:
        return f'<code dir="ltr">{escape(name)}</code>' if name else nothing
    shown_text = f'<bdi lang="{escape(heading.language)}">{escape(heading.text)}</bdi>'
    return f'<a href="{escape(heading.url)}">{shown_text}</a>' if heading.url else shown_text


def _named(counts: tuple[tuple[str, int], ...], wording: Wording, name_of: Callable[[str], str]) -> str:
    return " · ".join(f"<bdi>{escape(name_of(name))}</bdi> {shown(number, wording)}" for name, number in counts)


def _counts(counts: tuple[tuple[str, int], ...]) -> str:
    return " ".join(f"{name}:{number}" for name, number in counts)
