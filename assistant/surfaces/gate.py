"""Who may use the API from a page: admitted sites, at the rate their key and their visitors are allowed.

In: a request's path, Origin, key and client. Out: a refusal, or the headers that let the browser hand the answer over.
Never: lets a page of another origin near anything but what the widget needs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from assistant.settings import Settings
from assistant.surfaces.guard import error_response
from assistant.surfaces.metrics import Metrics
from assistant.surfaces.sites import Limiter, Sites, is_local, is_same_origin, network_of

API = "/api/"
EMBEDDED = ("/api/v1/chat", "/api/v1/feedback", "/api/v1/suggestions", "/api/v1/interface")
READING = 0.1  # what a GET costs of the requests a minute, and what is asked by staff, whose drafts are checked live
DESK, STAFF, SIGN_IN = "/staff", "/api/v1/staff/", "/api/v1/staff/sign-in"
FOREIGN = (
    "this page may not use the assistant; list its address under its key in ASSISTANT_SITES, "
    "and give the tag that key as data-key"
)
TOO_MANY = "too many requests; try again in {seconds} s"
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Content-Type, Last-Event-ID",
    "Access-Control-Max-Age": "7200",
}


class SiteGate:
    """Admits by site and rate; see the module."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings, self._metrics = settings, metrics
        self._sites, self._limiter = Sites(settings.sites), Limiter()

    def check(self, scope: Scope) -> tuple[Response | None, Mapping[str, str]]:
        """A refusal or the answer to a preflight, or None; and the headers of the response."""
        path: str = scope["path"]
        if path == DESK or path.startswith((f"{DESK}/", STAFF)):
            refusal, headers = self._check_api(scope) if path.startswith(API) else (None, {})
            return refusal, {"Cache-Control": "no-store", **headers}
        return self._check_api(scope) if path.startswith(API) else (None, {})

    def _check_api(self, scope: Scope) -> tuple[Response | None, Mapping[str, str]]:
        path: str = scope["path"]
        headers = Headers(scope=scope)
        origin = headers.get("origin", "")
        is_foreign = bool(origin) and not is_same_origin(origin, headers.get("host", ""))
        key = _key(scope) if is_foreign else ""
        if is_foreign and not (path in EMBEDDED and self._sites.admits(origin, key)):
            self._metrics.refused.labels("origin").inc()
            return error_response(403, FOREIGN), {"Vary": "Origin"}
        admitted = _headers(origin) if is_foreign else {}
        if is_foreign and scope["method"] == "OPTIONS":
            return Response(status_code=204, headers=PREFLIGHT), admitted
        return self._limit(scope, key, bool(origin)), admitted

    def _limit(self, scope: Scope, key: str, is_page: bool) -> Response | None:
        """429 where the client or the site has used its requests up; programs on this machine have no limit."""
        address = scope["client"][0] if scope.get("client") else ""
        if not is_page and is_local(address):
            return None
        is_staff = scope["path"].startswith(STAFF) and scope["path"] != SIGN_IN
        cost = READING if scope["method"] == "GET" or is_staff else 1.0
        limits = ((f"{key} {network_of(address)}", self._settings.rate_per_client), (key, self._settings.rate_per_site))
        waits = [self._limiter.wait(name, per_minute, cost) for name, per_minute in limits]
        if not any(waits):
            return None
        self._metrics.refused.labels("rate").inc()
        seconds = math.ceil(max(waits))
        return error_response(429, TOO_MANY.format(seconds=seconds), {"Retry-After": str(seconds)})


def _key(scope: Scope) -> str:
    query: str = scope["query_string"][:4000].decode("ascii", "replace")
    try:
        return parse_qs(query, max_num_fields=50).get("key", [""])[0]
    except ValueError:  # more fields than any page of ours sends
        return ""


def _headers(origin: str) -> dict[str, str]:
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Expose-Headers": "Retry-After, X-Request-Id",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Vary": "Origin",
    }
