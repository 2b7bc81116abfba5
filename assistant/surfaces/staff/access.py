"""Who may use a staff route: the cookie of a session, or the token of a program, judged before anything else.

In: a request. Out: a Member, as a dependency of every route; cookies. Never: changes anything because another site's
page asked (CSRF), trusts a cookie where a token was shown, or says why a cookie was refused.

A route takes `member: Agent` or `member: Editor`; the pages' list in `desk` asks for the same once more.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from starlette.responses import Response

from assistant.attempts import Attempts
from assistant.audit import Audit
from assistant.errors import AccessRefused
from assistant.members import Member, Members
from assistant.sessions import Sessions, request_token
from assistant.settings import Settings
from assistant.store import Store
from assistant.surfaces.backend import Backend
from assistant.surfaces.sites import is_same_origin, network_of
from assistant.surfaces.staff.openid import Provider
from assistant.wording import Wordings

SAFE = ("GET", "HEAD", "OPTIONS")
API = "/api/"
TOKEN_HEADER = "X-Request-Token"  # noqa: S105 - a header's name
SIGNED_OUT = "sign in to use the staff desk"
FOREIGN = "this was asked by another site's page; open the staff desk itself"
STALE = f"the page is too old, or not ours; load it again, or send its {TOKEN_HEADER}"
EDITORS_ONLY = "only editors may do this; ask one"
BEARER = HTTPBearer(  # only describes it in /openapi.json
    auto_error=False, scheme_name="staff", description="a member's token, from `assistant staff invite`"
)
NOT_BEARER = "the Authorization header must be `Bearer` and a member's token"


@dataclass(frozen=True)
class StaffParts:
    """What staff routes work with; `request.app.state.staff` holds it."""

    settings: Settings
    store: Store
    backend: Backend
    wordings: Wordings
    members: Members
    sessions: Sessions
    attempts: Attempts
    audit: Audit
    provider: Provider | None


def build_staff(settings: Settings, store: Store, backend: Backend, wordings: Wordings) -> StaffParts:
    """The parts over one store.

    Raises:
        InputError: the settings of the OpenID provider don't suffice.
    """
    engine = store.engine
    sessions = Sessions(engine, settings.staff_idle_minutes * 60, settings.staff_session_hours * 3600)
    audit = Audit(engine, settings.staff_audit_days)
    provider = Provider(settings) if settings.staff_oidc_issuer else None
    return StaffParts(settings, store, backend, wordings, Members(engine), sessions, Attempts(engine), audit, provider)


class SignInNeeded(AccessRefused):
    """A browser without a session asked for a page: it is sent to the sign-in page."""


def staff_of(request: Request) -> StaffParts:
    """The parts, in a route."""
    parts: StaffParts = request.app.state.staff
    return parts


def agent(request: Request, _: Annotated[object, Depends(BEARER)] = None) -> Member:
    """Whoever is signed in (blocking: FastAPI calls it in a thread).

    Raises:
        SignInNeeded: nobody is, and a page was asked for.
        AccessRefused, LockedOut: nobody is, or another site's page asks.
    """
    known: Member | None = getattr(request.state, "member", None)
    if known is None:
        known = request.state.member = _identify(request)
    return known


def editor(member: Annotated[Member, Depends(agent)]) -> Member:
    """Whoever is signed in as an editor.

    Raises:
        AccessRefused: an agent is.
    """
    if not member.may_act_as("editor"):
        raise AccessRefused(EDITORS_ONLY, 403)
    return member


Agent = Annotated[Member, Depends(agent)]
Editor = Annotated[Member, Depends(editor)]


def session_secret(request: Request) -> str:
    """The secret in the session's cookie, or ""."""
    return request.cookies.get(cookie_name(request, "session"), "")[:200]


def client_of(request: Request) -> str:
    """The network a request comes from, which wrong tokens are counted for."""
    return network_of(request.client.host if request.client else "")


def cookie_name(request: Request, name: str) -> str:
    """Over https the prefix makes browsers refuse a cookie that another host of the domain has set."""
    return f"__Host-staff_{name}" if request.url.scheme == "https" else f"staff_{name}"


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    """A cookie that no script reads and no foreign page's request carries, except a link that is followed."""
    response.set_cookie(
        cookie_name(request, name),
        value,
        max_age=seconds,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def drop_cookie(request: Request, response: Response, name: str) -> None:
    """The browser is to forget it."""
    set_cookie(request, response, name, "", 0)


def check_origin(request: Request) -> None:
    """That a change is asked by a page of this server, or by no page.

    Raises:
        AccessRefused: another site's page asks.
    """
    site = request.headers.get("sec-fetch-site", "none")
    origin = request.headers.get("origin", "")
    if site not in ("same-origin", "none") or (origin and not is_same_origin(origin, request.headers.get("host", ""))):
        raise AccessRefused(FOREIGN, 403)


def _identify(request: Request) -> Member:
    shown = request.headers.get("authorization")
    if shown is not None:
        return _by_token(request, shown)
    is_api, secret = request.url.path.startswith(API), session_secret(request)
    if is_api or request.method not in SAFE:
        check_origin(request)
    member = staff_of(request).sessions.member(secret) if secret else None
    if member is None:
        raise AccessRefused(SIGNED_OUT) if is_api or request.method not in SAFE else SignInNeeded(SIGNED_OUT)
    if request.method not in SAFE:
        sent = request.headers.get(TOKEN_HEADER, "").encode("utf-8", "replace")
        if not hmac.compare_digest(sent, request_token(secret).encode()):
            raise AccessRefused(STALE, 403)
    return member


def _by_token(request: Request, shown: str) -> Member:
    scheme, _, token = shown.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise AccessRefused(NOT_BEARER)
    return staff_of(request).attempts.try_again(token.strip()[:200], client_of(request))
