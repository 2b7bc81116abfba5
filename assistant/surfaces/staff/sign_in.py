"""Signing in with a token or through an OpenID provider, and out again: the only staff routes that are open.

In: `GET /staff/sign-in`, `POST /api/v1/staff/sign-in {token, next?}`, `POST /api/v1/staff/sign-out`, and
`GET /staff/openid`, `GET /staff/openid/return`, which lead to the provider and back.
Out: a page; a session's cookie and where to go. Never: leads to another site afterwards, shows a token again, or keeps
the session that was there before.
"""

from __future__ import annotations

import asyncio
import logging
from html import escape
from urllib.parse import quote, unquote, urlencode

import regex
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, ConfigDict, Field

from assistant.errors import AccessRefused, LockedOut
from assistant.members import Member
from assistant.surfaces.chat import ErrorBody
from assistant.surfaces.staff.access import (
    Agent,
    StaffParts,
    check_origin,
    client_of,
    cookie_name,
    drop_cookie,
    session_secret,
    set_cookie,
)
from assistant.surfaces.staff.openid import FLOW_S, Provider, ProviderFailed, new_flow
from assistant.surfaces.staff.shell import open_page, wording_of

HOME = "/staff"
WAITING = 16  # attempts that wait at once when many fail; more are told to come again
CROWDED = "many tokens are being tried just now; try again in a few seconds"
PROBLEMS = ("sso_failed", "sso_refused", "locked_out")
log = logging.getLogger("assistant.staff")
INSIDE = regex.compile(r"/staff(?:[/?][\x21-\x7e]*)?")


class SignInRequest(BaseModel):
    """What the sign-in page sends."""

    model_config = ConfigDict(extra="forbid", strict=True)

    token: str = Field(
        min_length=1, max_length=200, description="a member's token, as `assistant staff invite` gave it"
    )
    next: str = Field("", max_length=2000, description="the page of the staff desk to go to")


class SignedIn(BaseModel):
    """The cookie is set; `next` is where to go."""

    next: str


def add_sign_in(staff: StaffParts) -> APIRouter:
    """The routes."""
    router = APIRouter(tags=["staff"])
    waiting = asyncio.Semaphore(WAITING)
    refusals: dict[int | str, dict[str, object]] = {code: {"model": ErrorBody} for code in (401, 403, 429)}

    @router.get("/staff/sign-in", response_class=HTMLResponse, include_in_schema=False)
    def show(request: Request) -> Response:
        target = inside(request.query_params.get("next", ""))
        if staff.sessions.member(session_secret(request)):
            return RedirectResponse(target, 303, {"Cache-Control": "no-store"})
        html = _form(staff, request, target)
        return open_page(request, wording_of(request).staff["sign_in"], html, ("sign_in.js",))

    @router.post("/api/v1/staff/sign-in", summary="Sign a browser in", responses=refusals)
    async def sign_in(request: Request, response: Response, body: SignInRequest) -> SignedIn:
        check_origin(request)
        pause = await asyncio.to_thread(staff.attempts.wait_s)
        if pause:
            await _wait(waiting, pause)
        member = await asyncio.to_thread(staff.attempts.try_token, body.token.strip(), client_of(request))
        await asyncio.to_thread(admit, staff, request, response, member)
        response.headers["Cache-Control"] = "no-store"
        return SignedIn(next=inside(body.next))

    @router.post("/api/v1/staff/sign-out", summary="Sign a browser out", responses=refusals)
    def sign_out(request: Request, response: Response, member: Agent) -> SignedIn:
        staff.sessions.end(session_secret(request))
        staff.audit.add(member, "signed_out")
        drop_cookie(request, response, "session")
        response.headers["Cache-Control"] = "no-store"
        return SignedIn(next="/staff/sign-in")

    if staff.provider:
        _add_openid(router, staff, staff.provider)
    return router


def _add_openid(router: APIRouter, staff: StaffParts, provider: Provider) -> None:
    @router.get("/staff/openid", include_in_schema=False)
    async def leave(request: Request) -> Response:
        flow, language = new_flow(), wording_of(request).language
        try:
            address = await provider.address(flow, _returns_to(request), language)
        except ProviderFailed as error:
            return _back(error)
        response = RedirectResponse(address, 303, {"Cache-Control": "no-store"})
        target = quote(inside(request.query_params.get("next", "")), safe="")
        set_cookie(request, response, "flow", f"{flow}.{target}", FLOW_S)
        return response

    @router.get("/staff/openid/return", include_in_schema=False)
    async def arrive(request: Request) -> Response:
        flow, _, target = request.cookies.get(cookie_name(request, "flow"), "")[:8000].partition(".")
        state, code = (request.query_params.get(name, "")[:4000] for name in ("state", "code"))
        client = client_of(request)
        if not code:  # whoever changed their mind at the provider comes back without one
            return _back(ProviderFailed("the provider sent somebody back without a code"))
        try:
            await asyncio.to_thread(staff.attempts.check, client)
            found = await provider.vouched(flow, state, code, _returns_to(request))
            member = await asyncio.to_thread(staff.members.recognise, found.subject, found.name, found.role)
            response: Response = RedirectResponse(inside(unquote(target)), 303, {"Cache-Control": "no-store"})
            await asyncio.to_thread(admit, staff, request, response, member)
        except AccessRefused as error:
            if not isinstance(error, LockedOut):
                await asyncio.to_thread(staff.attempts.fail, client)
            response = _back(error)
        drop_cookie(request, response, "flow")
        return response


def _returns_to(request: Request) -> str:
    return f"{request.url.scheme}://{request.url.netloc}/staff/openid/return"


def _back(error: AccessRefused) -> Response:
    log.warning("a sign-in failed: %s", error)
    problem = "sso_failed" if isinstance(error, ProviderFailed) else "sso_refused"
    problem = "locked_out" if isinstance(error, LockedOut) else problem
    return RedirectResponse(f"/staff/sign-in?problem={problem}", 303, {"Cache-Control": "no-store"})


def admit(staff: StaffParts, request: Request, response: Response, member: Member) -> None:
    """Begins a session in a new cookie; one that the browser had before ends. Blocking."""
    secret = staff.sessions.begin(member, session_secret(request))
    set_cookie(request, response, "session", secret, int(staff.sessions.longest_s))
    staff.audit.add(member, "signed_in")


def inside(target: str) -> str:
    """The target where it lies in the staff desk, else the desk's start; never another host's address."""
    is_ours = INSIDE.fullmatch(target) and "\\" not in target and not target.startswith("/staff/sign-in")
    return target if is_ours else HOME


async def _wait(waiting: asyncio.Semaphore, seconds: float) -> None:
    if waiting.locked():
        raise AccessRefused(CROWDED, 429)
    async with waiting:
        await asyncio.sleep(seconds)


def _form(staff: StaffParts, request: Request, target: str) -> str:
    text = {key: escape(value) for key, value in wording_of(request).staff.items()}
    problem = request.query_params.get("problem", "")
    shown = text[problem] if problem in PROBLEMS else ""
    link = f"/staff/openid?{urlencode({'next': target})}"
    openid = f'<p><a class="button" href="{escape(link)}">{text["single_sign_on"]}</a></p>' if staff.provider else ""
    quiet = ' class="quiet"' if openid else ""
    return (
        f'<form id="sign-in" class="card">{openid}'
        f'<p id="explained">{text["sign_in_intro"]}</p>'
        f'<label for="token">{text["token"]}</label>'
        '<input id="token" name="token" type="password" autocomplete="current-password" autocapitalize="off" dir="ltr"'
        ' spellcheck="false" maxlength="200" required aria-describedby="explained problem">'
        f'<p id="problem" class="problem" role="alert">{shown}</p>'
        f'<input type="hidden" name="next" value="{escape(target)}">'
        f"<button{quiet}>{text['sign_in']}</button></form>"
    )
