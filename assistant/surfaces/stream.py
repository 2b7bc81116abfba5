"""A reply -> Server-Sent Events: `progress`, `sentence`, `answer`, `error` where it breaks off, `moved` at a shutdown.

In: a Reply and the number of the last event its reader has seen. Out: a response that sends each event as it comes,
with its number, and heartbeats in between.
Never: keeps a stream open for a client that does not read, or ends one without a word.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import asdict

import regex
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.types import Receive, Scope, Send

from assistant.records import Event, Progress, Spoken
from assistant.surfaces.metrics import Metrics
from assistant.surfaces.render import answer_json
from assistant.surfaces.replies import Reply

HEARTBEAT_S = 5.0
LINGER_S = 60  # a client that does not read is dropped this long after its stream began
WEIGHTLESS = regex.compile(r"q\s*=\s*0(\.0{0,3})?")
HEADERS = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}


def accepts_stream(accept: str) -> bool:
    """Whether an `Accept` header asks for an event stream; with the weight q=0 it refuses one (RFC 9110, 12.5.1)."""
    for choice in accept.lower().split(","):
        kind, *parameters = (part.strip() for part in choice.split(";"))
        if kind == "text/event-stream":
            return not any(WEIGHTLESS.fullmatch(parameter) for parameter in parameters)
    return False


class EventStream(EventSourceResponse):
    """Server-Sent Events of one reply for one reader."""

    def __init__(self, reply: Reply, after: int, metrics: Metrics) -> None:
        super().__init__(_frames(reply, after), headers=HEADERS)
        self._reply, self._metrics = reply, metrics
        reply.readers += 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the events until they end or the client goes."""
        try:
            with suppress(TimeoutError), self._metrics.streams.track_inprogress():
                async with asyncio.timeout(LINGER_S):
                    await super().__call__(scope, receive, send)
        finally:
            self._reply.leave()


async def _frames(reply: Reply, after: int) -> AsyncGenerator[bytes]:
    async for numbered in reply.follow(after, HEARTBEAT_S):
        yield format_sse_event(comment="still here") if numbered is None else _frame(*numbered)
    if reply.is_moving and not reply.is_done:
        yield format_sse_event(data_str="{}", event="moved")


def _frame(number: int, event: Event | str) -> bytes:
    name, data = _named(event)
    return format_sse_event(data_str=json.dumps(data, ensure_ascii=False), event=name, id=str(number))


def _named(event: Event | str) -> tuple[str, dict[str, object]]:
    if isinstance(event, str):
        return "error", {"error": event}
    if isinstance(event, Progress):
        return "progress", {"stage": event.stage}
    if isinstance(event, Spoken):
        return "sentence", {"text": event.text, "citations": [asdict(citation) for citation in event.citations]}
    return "answer", answer_json(event)
