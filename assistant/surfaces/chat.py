"""POST /api/v1/chat: a message in, the Answer out, whole or as it grows.

In: `{message, conversation_id?, page_language?, request_id?}`. Out: the contract's Answer as JSON, or as Server-Sent
Events (`progress`, `sentence`, `answer`, `error`, `moved`) for a client that accepts `text/event-stream`; one that asks
again with the same `request_id` gets the same reply, from the event after its `Last-Event-ID` on.
Never: works on more requests than the settings allow, longer than they allow, or for a client that has gone for good.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Body, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from assistant.errors import AssistantError
from assistant.records import Answer, Event
from assistant.settings import Settings
from assistant.store import Channel, Store
from assistant.surfaces.asking import history_of, remembered, until
from assistant.surfaces.backend import Backend
from assistant.surfaces.guard import error_response
from assistant.surfaces.metrics import Metrics
from assistant.surfaces.render import answer_json
from assistant.surfaces.replies import BROKEN, Replies, Reply, identity
from assistant.surfaces.stream import EventStream, accepts_stream

if TYPE_CHECKING:
    from assistant.handover import Courier

PATIENCE_S = 10.0  # a chat waits this long for an assistant that is still loading
log = logging.getLogger("assistant.chat")
QUESTIONS = {
    "zh": "Trainium额度最高能拿到多少？",
    "ja": "Trainiumクレジットは最大いくらですか？",
    "es": "¿Hasta cuánto llegan los créditos de Trainium?",
    "en": "How much are Trainium credits worth?",
}
SEEN = re.compile(r"[0-9]{1,9}", re.ASCII)
EXAMPLES: dict[str, Any] = {
    code: {"value": {"message": text, "page_language": code}} for code, text in QUESTIONS.items()
}


class ChatRequest(BaseModel):
    """A message with its surroundings."""

    model_config = ConfigDict(extra="forbid", strict=True)

    message: str = Field(description="the question, in any language")
    conversation_id: str | None = Field(
        None, pattern=r"^[\x21-\x7e]{0,128}$", description="from an earlier Answer, to go on with that conversation"
    )
    page_language: str | None = Field(
        None, pattern=r"^([A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,4})?$", description="language of the page, such as `ja`"
    )
    request_id: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_-]{16,64}$",
        description="drawn at random by the client; a question that comes again with its id is not asked again",
    )


class CitationBody(BaseModel):
    """A source; `quote` is an exact part of the article."""

    n: int
    passage_id: str
    title: str
    heading: str
    url: str
    language: str
    quote: str


class HandoverBody(BaseModel):
    """The way to a person: why it is offered, and an `https:` or `mailto:` address or ""."""

    reason: str
    url: str


class AnswerBody(BaseModel):
    """The whole reply; `text` is Markdown with a marker [n] for each citation, `html` the same, safe to insert."""

    id: str
    conversation_id: str
    outcome: str
    language: str
    text: str
    html: str
    confidence: float
    citations: list[CitationBody]
    suggestions: list[str]
    timings_ms: dict[str, float]
    handover: HandoverBody | None = Field(None, description="left out where none is offered")


class ErrorBody(BaseModel):
    """What went wrong, in one sentence."""

    error: str


class Busy(Exception):
    """As many requests are in work as the settings allow."""


class Slots:
    """Counts the requests in work."""

    def __init__(self, limit: int) -> None:
        self.limit, self.taken = limit, 0

    @contextmanager
    def take(self) -> Iterator[None]:
        """A place for one request.

        Raises:
            Busy: there is none.
        """
        if self.taken >= self.limit:
            raise Busy
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1


def chat_router(
    backend: Backend,
    settings: Settings,
    store: Store,
    replies: Replies,
    metrics: Metrics,
    courier: Courier | None = None,
) -> APIRouter:
    """The route, with its own count of requests in work."""
    router, slots = APIRouter(), Slots(settings.concurrency)
    codes = (400, 403, 413, 415, 422, 429, 503, 504)
    errors: dict[int | str, dict[str, Any]] = {code: {"model": ErrorBody} for code in codes}
    stream = {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "model": AnswerBody}

    async def events_of(body: ChatRequest, channel: Channel, held: AsyncExitStack) -> AsyncGenerator[Event]:
        deadline = asyncio.get_running_loop().time() + settings.request_timeout_s
        held.enter_context(slots.take())
        assistant = await backend.soon(min(PATIENCE_S, settings.request_timeout_s))
        conversation = body.conversation_id or ""
        history = await history_of(store, conversation) if conversation else ()
        asked = assistant.ask(body.message, conversation, body.page_language or "", history)
        return remembered(until(asked, deadline), store, courier, body.message, channel)

    @router.post("/api/v1/chat", summary="Ask a question", response_model=AnswerBody, responses={200: stream, **errors})
    async def chat(request: Request, body: Annotated[ChatRequest, Body(openapi_examples=EXAMPLES)]) -> Response:
        name = identity(body.request_id, body.message, body.conversation_id, body.page_language)
        channel: Channel = "widget" if "origin" in request.headers else "api"  # a page's POST says where it is from
        reply, is_known = replies.get(name, lambda held: events_of(body, channel, held))
        if is_known:
            metrics.resumed.inc()
        await reply.begun()  # what can't be answered at all gets its own status, not a stream
        if not accepts_stream(request.headers.get("accept", "")):
            return await _whole(request, reply)
        seen = request.headers.get("last-event-id", "")
        return EventStream(reply, int(seen) if is_known and SEEN.fullmatch(seen) else 0, metrics)

    return router


async def _whole(request: Request, reply: Reply) -> Response:
    """The Answer as JSON; the work stops when the client goes."""
    reply.readers += 1
    work = asyncio.create_task(_answer_of(reply))
    gone = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            return Response(status_code=499)  # nobody reads it
        answer = await work
    finally:
        reply.leave()
        for task in (work, gone):
            task.cancel()
        await asyncio.gather(work, gone, return_exceptions=True)
    if answer is not None:
        return JSONResponse(answer_json(answer))
    if isinstance(reply.failure, AssistantError | TimeoutError):
        raise reply.failure
    return error_response(500, BROKEN)


async def _answer_of(reply: Reply) -> Answer | None:
    """The Answer; None where the reply broke off."""
    async for numbered in reply.follow(0, PATIENCE_S):
        if numbered is not None and isinstance(numbered[1], Answer):
            return numbered[1]
    return None


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def busy_response() -> Response:
    """What Busy becomes."""
    return error_response(503, "too many questions at once; try again in a moment", {"Retry-After": "1"})
