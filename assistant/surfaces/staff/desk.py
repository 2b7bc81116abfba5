"""All that is reachable under /staff and /api/v1/staff, and that none of it is without sign-in.

In: the application and the parts of the desk. Out: its routes. Never: leaves the check of who asks to a page: every
router of PAGES gets it here.

To add a page: write a function `add_…(staff: StaffParts) -> APIRouter` in a module of your own, whose routes take
`member: Agent` (or `Editor`) and whose page ends in `return staff_page(request, member, "name", html)`; name it in
PAGES, which is the navigation too; its label is `page_name` (drafts, gaps, insight, parity are in phrases/ already).
A page's scripts import `call` (adds what protects from other sites' pages) and `labels` from "./staff.js".
What a member does goes into `staff.audit.add(member, "draft.sent", draft_id)`; its label is `did_draft_sent`.
"""

from __future__ import annotations

import asyncio
from html import escape
from urllib.parse import urlencode

from fastapi import Depends, FastAPI, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from assistant.errors import AccessRefused, LockedOut
from assistant.surfaces.chat import ErrorBody
from assistant.surfaces.guard import error_response
from assistant.surfaces.staff.access import API, SAFE, Agent, SignInNeeded, StaffParts, agent, editor
from assistant.surfaces.staff.audit import add_audit
from assistant.surfaces.staff.drafts import add_drafts
from assistant.surfaces.staff.drafts_page import add_drafts_page
from assistant.surfaces.staff.forgetting import add_forgetting
from assistant.surfaces.staff.gaps import add_gaps
from assistant.surfaces.staff.insight import add_insight
from assistant.surfaces.staff.parity import add_parity
from assistant.surfaces.staff.shell import StaffPage, pages_for, staff_page, wording_of
from assistant.surfaces.staff.sign_in import add_sign_in

# In the navigation's order.
PAGES: tuple[StaffPage, ...] = (
    StaffPage("drafts", "/staff/drafts", add_drafts_page),
    StaffPage("drafts_api", "", add_drafts),
    StaffPage("gaps", "/staff/gaps", add_gaps),
    StaffPage("insight", "/staff/insight", add_insight),
    StaffPage("parity", "/staff/parity", add_parity),
    StaffPage("audit", "/staff/audit", add_audit, "editor"),
    StaffPage("forgetting", "", add_forgetting, "editor"),
)  # fmt: skip
SIGN_IN = "/staff/sign-in"
EXPIRY_EVERY_S = 3600.0


def add_staff(app: FastAPI, staff: StaffParts) -> None:
    """Puts the desk into the application."""
    app.state.staff, app.state.staff_pages = staff, PAGES
    app.include_router(add_sign_in(staff))
    refusals: dict[int | str, dict[str, object]] = {code: {"model": ErrorBody} for code in (401, 403, 429)}
    for page in PAGES:
        needed = Depends(editor if page.role == "editor" else agent)
        app.include_router(page.build(staff), dependencies=[needed], responses=refusals, tags=["staff"])
    _add_entrance(app)
    _add_refusals(app)


async def expire_staff(staff: StaffParts) -> None:
    """Deletes ended sessions, old attempts and old entries of the audit log, now and every hour, until cancelled."""
    while True:
        for part in (staff.sessions, staff.attempts, staff.audit):
            await asyncio.to_thread(part.expire)
        await asyncio.sleep(EXPIRY_EVERY_S)


def _add_entrance(app: FastAPI) -> None:
    @app.get("/staff", include_in_schema=False)
    @app.head("/staff", include_in_schema=False)
    def enter(request: Request, member: Agent) -> Response:
        """Leads to the first page that the member may see."""
        pages = pages_for(request, member)
        if not pages:
            return staff_page(request, member, "", f"<p>{escape(wording_of(request).staff['no_page'])}</p>")
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{pages[0].path}{query}", 303, {"Cache-Control": "no-store"})


def _add_refusals(app: FastAPI) -> None:
    @app.exception_handler(SignInNeeded)
    async def signed_out(request: Request, error: SignInNeeded) -> Response:
        wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        language = request.query_params.get("language", "")[:35]
        query = urlencode({"next": wanted} | ({"language": language} if language else {}))
        return RedirectResponse(f"{SIGN_IN}?{query}", 303, {"Cache-Control": "no-store"})

    @app.exception_handler(AccessRefused)
    async def refused(request: Request, error: AccessRefused) -> Response:
        headers = {"Retry-After": str(error.seconds)} if isinstance(error, LockedOut) else {}
        member = getattr(request.state, "member", None)
        if member and request.method in SAFE and not request.url.path.startswith(API):  # somebody looks at a page
            refusal = staff_page(request, member, "", f"<p>{escape(wording_of(request).staff['no_page'])}</p>")
            refusal.status_code = error.status
            return refusal
        if error.status == 401 and request.url.path.startswith(API):
            headers["WWW-Authenticate"] = "Bearer"
        return error_response(error.status, str(error), headers)
