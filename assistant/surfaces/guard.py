"""The outermost layer of the web server: what every request and response has in common.

In: any HTTP request. Out: the application's response with security headers and one access line; a JSON error where the
application fails, the page that asks is not admitted, or the body is of a kind or size that is never taken.
Never: logs what people write: access lines hold the route, not the address as sent, and no query or body.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import traceback
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Protocol

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_LIMIT = 64 * 1024
SLACK_LIMIT = 1024 * 1024  # a message of 40,000 characters comes twice, each as up to twelve bytes of escaped Unicode
TOO_LARGE = "the body is too large; {limit} KB is the most that is taken"
BODY_SECONDS = 10
TOO_SLOW = f"the body did not arrive within {BODY_SECONDS} seconds; send it again"
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
access = logging.getLogger("assistant.access")
log = logging.getLogger("assistant.web")


def error_response(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The one shape of every 4xx and 5xx."""
    readable = sentence.encode("utf-8", "replace").decode("utf-8")
    return JSONResponse({"error": readable}, status, headers={"Cache-Control": "no-store", **(headers or {})})


class Gate(Protocol):
    """Decides who may use the API."""

    def check(self, scope: Scope) -> tuple[Response | None, Mapping[str, str]]:
        """A response that ends the request, or None; and headers for any response to it."""


class Guard:
    """ASGI middleware; see the module. `count` gets route, method and status of each request."""

    def __init__(self, app: ASGIApp, gate: Gate, count: Callable[[str, str, int], None]) -> None:
        self.app, self.gate, self.count = app, gate, count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or refuses it; in either case one access line."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, request_id, status, size = time.perf_counter(), uuid.uuid4().hex, 0, 0
        is_complete = False
        limit = _limit(scope)

        async def decorated(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                for name, value in {**SECURITY_HEADERS, **admitted}.items():
                    headers.setdefault(name, value)
            await send(message)

        async def limited() -> Message:
            nonlocal size, is_complete
            if is_complete:  # what is waited for now is the visitor's leaving
                return await receive()
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, TOO_SLOW) from None
            is_complete = not message.get("more_body", False)
            size += len(message.get("body", b""))
            if size > limit:
                raise HTTPException(413, TOO_LARGE.format(limit=limit // 1024))
            return message

        admitted: dict[str, str] = {}
        try:
            verdict, given = self.gate.check(scope)
            admitted.update(given)
            refusal = verdict or self._refusal(scope)
            await (refusal or self.app)(scope, limited, decorated)
        except Exception as error:
            log_failure(error, request_id)
            if not status:
                broken = error_response(500, f"something went wrong on our side; request {request_id} is in the log")
                await broken(scope, receive, decorated)
        finally:
            route = getattr(scope.get("route"), "path", "-")
            elapsed = round((time.perf_counter() - started) * 1000, 1)
            self.count(route, scope["method"], status or 499)
            access.info(
                "request",
                extra={"request": {"id": request_id, "method": scope["method"], "route": route, "status": status or 499,
                                   "ms": elapsed}},
            )  # fmt: skip

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        limit = _limit(scope)
        if not length.isascii() or not length.isdigit() or int(length) > limit:
            return error_response(413, TOO_LARGE.format(limit=limit // 1024))
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if scope["method"] == "POST" and scope["path"].startswith("/api/") and media_type != "application/json":
            return error_response(415, "the body must be JSON; send it with Content-Type: application/json")
        return None


def _limit(scope: Scope) -> int:
    return SLACK_LIMIT if scope["path"].startswith("/slack/") else BODY_LIMIT


def log_failure(error: Exception, request_id: str = "-") -> None:
    """Logs where something broke; not the error's own words, which may hold what a visitor wrote."""
    log.error("%s in request %s\n%s", type(error).__name__, request_id, _places(error))


def _places(error: BaseException) -> str:
    return "".join(traceback.format_tb(error.__traceback__))


class JsonLines(logging.Formatter):
    """One JSON object a log record."""

    def format(self, record: logging.LogRecord) -> str:
        """Time (UTC), level, logger, message, and for access lines the request."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        request = getattr(record, "request", None)
        if isinstance(request, dict):
            line.update(request)
        if record.exc_info and record.exc_info[1]:
            line["error"] = type(record.exc_info[1]).__name__
            line["places"] = _places(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False)
