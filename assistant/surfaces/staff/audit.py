"""The audit log as editors see it: `/staff/audit`, `GET /api/v1/staff/audit`.

In: a page's number. Out: who did what to which thing, and when. Never: shows a word of a message; the log has none.
"""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from typing import Annotated

from babel import Locale
from babel.dates import format_datetime
from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel

from assistant.audit import Deed
from assistant.surfaces.staff.access import Editor, StaffParts
from assistant.surfaces.staff.shell import staff_page, wording_of
from assistant.wording import Wording

SHOWN = 100
Before = Annotated[int, Query(ge=0, description="only entries before the one with this id")]


class DeedBody(BaseModel):
    """One entry."""

    id: int
    at: datetime
    name: str
    role: str
    action: str
    target: str


def add_audit(staff: StaffParts) -> APIRouter:
    """The routes."""
    router = APIRouter()

    @router.get("/staff/audit", response_class=HTMLResponse, include_in_schema=False)
    def show(request: Request, member: Editor, before: Before = 0) -> HTMLResponse:
        deeds = staff.audit.deeds(before, SHOWN)
        return staff_page(request, member, "audit", _table(wording_of(request), deeds))

    @router.get("/api/v1/staff/audit", summary="Who did what at the staff desk, the newest first")
    def read(member: Editor, before: Before = 0, limit: Annotated[int, Query(ge=1, le=1000)] = SHOWN) -> list[DeedBody]:
        return [
            DeedBody(
                id=deed.id,
                at=datetime.fromtimestamp(deed.at, UTC),
                name=deed.name,
                role=deed.role,
                action=deed.action,
                target=deed.target,
            )
            for deed in staff.audit.deeds(before, limit)
        ]

    return router


def _table(wording: Wording, deeds: list[Deed]) -> str:
    text = {key: escape(value) for key, value in wording.staff.items()}
    if not deeds:
        return f"<p>{text['audit_empty']}</p>"
    heads = "".join(f'<th scope="col">{text[name]}</th>' for name in ("audit_when", "audit_who", "audit_what"))
    rows = "".join(_row(wording, deed) for deed in deeds)
    older = f'<p><a href="?before={deeds[-1].id}">{text["audit_older"]}</a></p>' if len(deeds) == SHOWN else ""
    return (
        f'<p class="soft">{text["audit_intro"]}</p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text["page_audit"]}">'
        f'<table class="stacked"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{older}'
    )


def _row(wording: Wording, deed: Deed) -> str:
    at = datetime.fromtimestamp(deed.at, UTC)
    shown = format_datetime(at, "medium", locale=Locale.parse(wording.language.replace("-", "_")))
    done = wording.staff.get(f"did_{deed.action.replace('.', '_')}", deed.action)
    role = wording.staff[f"role_{deed.role}"]
    target = f' <code dir="ltr">{escape(deed.target)}</code>' if deed.target else ""
    return (
        f'<tr><td><time datetime="{at.isoformat(timespec="seconds")}">{escape(shown)} UTC</time></td>'
        f"<td><bdi>{escape(deed.name)}</bdi> <small>{escape(role)}</small></td><td>{escape(done)}{target}</td></tr>"
    )
