"""An event stream -> Server-Sent Events: `progress`, `sentence`, `answer`, and `error` where it breaks off.

In: the events of one reply. Out: a response that sends each as it comes, numbered, with heartbeats in between.
Never: keeps working for a client that has gone, or lets a failure end the stream without a word.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict

from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.types import Receive, Scope, Send

from assistant.errors import AssistantError
from assistant.records import Event, Progress, Spoken
from assistant.surfaces.guard import log_failure
from assistant.surfaces.render import answer_json

HEARTBEAT_S = 5.0
LINGER_S = 60  # a client that does not read is dropped this long after its stream began
TOO_SLOW = "the answer took too long; try again, perhaps with a shorter question"


class EventStream(EventSourceResponse):
    """Server-Sent Events; lets go of what it holds however the response ends, even if it never begins."""

    def __init__(self, first: Event, events: AsyncIterator[Event], held: AsyncExitStack) -> None:
        frames = _with_heartbeats(_frames(first, events))
        super().__init__(frames, headers={"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"})
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the events until they end or the client goes."""
        with suppress(TimeoutError):
            async with self._held, asyncio.timeout(LINGER_S):
                await super().__call__(scope, receive, send)


async def _frames(first: Event, events: AsyncIterator[Event]) -> AsyncGenerator[bytes]:
    """Each event as a numbered Server-Sent Event, and an `error` event where they break off."""
    number, failure = 1, ""
    yield _frame(number, *_named(first))
    try:
        async for event in events:
            number += 1
            yield _frame(number, *_named(event))
    except TimeoutError:
        failure = TOO_SLOW
    except AssistantError as error:
        failure = str(error)
    except Exception as error:
        log_failure(error)
        failure = "something went wrong on our side; try again"
    if failure:
        yield _frame(number + 1, "error", {"error": failure})


async def _with_heartbeats(frames: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """The frames, and a comment whenever none comes for HEARTBEAT_S, so that no proxy takes the line for dead."""
    coming = asyncio.ensure_future(anext(frames, b""))
    try:
        while True:
            done, _ = await asyncio.wait({coming}, timeout=HEARTBEAT_S)
            if done and not (frame := coming.result()):
                return
            yield frame if done else format_sse_event(comment="still here")
            if done:
                coming = asyncio.ensure_future(anext(frames, b""))
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
        await frames.aclose()


def _named(event: Event) -> tuple[str, dict[str, object]]:
    if isinstance(event, Progress):
        return "progress", {"stage": event.stage}
    if isinstance(event, Spoken):
        return "sentence", {"text": event.text, "citations": [asdict(citation) for citation in event.citations]}
    return "answer", answer_json(event)


def _frame(number: int, name: str, data: dict[str, object]) -> bytes:
    return format_sse_event(data_str=json.dumps(data, ensure_ascii=False), event=name, id=str(number))
