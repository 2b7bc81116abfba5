"""The drafts page at `/staff/drafts`: an empty frame that its modules fill from the drafts' API.

In: a request by somebody who is signed in. Out: HTML with the page's words and the languages that staff may read.
Never: holds a customer's word: those travel by the API alone.
"""

from __future__ import annotations

import json
from html import escape

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from assistant.surfaces.page import own_name
from assistant.surfaces.staff.access import Agent, StaffParts
from assistant.surfaces.staff.shell import staff_page, wording_of
from assistant.wording import Wording


def add_drafts_page(staff: StaffParts) -> APIRouter:
    """The route."""
    router = APIRouter()

    @router.get("/staff/drafts", response_class=HTMLResponse, include_in_schema=False)
    def show(request: Request, member: Agent) -> HTMLResponse:
        languages = {code: own_name(code) for code in staff.wordings.languages}
        kept = escape(json.dumps(languages, ensure_ascii=False))
        main = f'<div id="drafts" data-role="{member.role}" data-languages="{kept}"></div>'
        labels = _labels(wording_of(request))
        return staff_page(
            request, member, "drafts", main, scripts=("drafts.js",), styles=("drafts.css",), labels=labels
        )

    return router


def _labels(wording: Wording) -> dict[str, str]:
    common = {"copied": wording.interface.copied, "close": wording.widget.close, "new_tab": wording.widget.new_tab}
    return {**wording.staff_drafts, **common}
