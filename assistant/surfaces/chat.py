"""POST /api/v1/chat: a message in, the Answer out, whole or as it grows.

In: `{message, conversation_id?, page_language?}`. Out: the contract's Answer as JSON, or Server-Sent Events
(`progress`, `sentence`, `answer`, `error`) for a client that accepts `text/event-stream`.
Never: works on more requests than the settings allow, longer than they allow, or for a client that has gone.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AsyncExitStack, aclosing, contextmanager, suppress
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response
from fastapi.responses import JSONResponse
from fastapi.sse import EventSourceResponse, format_sse_event
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import Receive, Scope, Send

from assistant.errors import AssistantError
from assistant.records import Answer, Event, Progress, Spoken, Turn
from assistant.settings import Settings
from assistant.surfaces.backend import Backend, whole_answer
from assistant.surfaces.guard import error_response, log_failure
from assistant.surfaces.render import answer_json

PATIENCE_S = 10.0  # a chat waits this long for an assistant that is still loading
HEARTBEAT_S = 5.0
LINGER_S = 60  # a client that does not read is dropped this long after its request came
CONVERSATIONS, TURNS = 2000, 6  # kept in memory: the last questions of the latest conversations
TOO_SLOW = "the answer took too long; try again, perhaps with a shorter question"
QUESTIONS = {
    "zh": "Trainium额度最高能拿到多少？",
    "ja": "Trainiumクレジットは最大いくらですか？",
    "es": "¿Hasta cuánto llegan los créditos de Trainium?",
    "en": "How much are Trainium credits worth?",
}
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


class CitationBody(BaseModel):
    """A source; `quote` is an exact part of the article."""

    n: int
    passage_id: str
    title: str
    heading: str
    url: str
    language: str
    quote: str


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


class Conversations:
    """The last user messages of the latest conversations, in memory only."""

    def __init__(self) -> None:
        self._turns: OrderedDict[str, tuple[Turn, ...]] = OrderedDict()

    def history(self, conversation_id: str) -> tuple[Turn, ...]:
        """Earlier turns, the oldest first."""
        return self._turns.get(conversation_id, ())

    def remember(self, conversation_id: str, message: str) -> None:
        """Adds a message; the conversation unused for longest is forgotten where there are too many."""
        self._turns[conversation_id] = (*self.history(conversation_id), Turn("user", message))[-TURNS:]
        self._turns.move_to_end(conversation_id)
        if len(self._turns) > CONVERSATIONS:
            self._turns.popitem(last=False)


class EventStream(EventSourceResponse):
    """Server-Sent Events; lets go of what it holds however the response ends, even if it never begins."""

    def __init__(self, frames: AsyncIterator[bytes], held: AsyncExitStack) -> None:
        super().__init__(frames, headers={"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"})
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the events until they end or the client goes."""
        with suppress(TimeoutError):
            async with self._held, asyncio.timeout(LINGER_S):
                await super().__call__(scope, receive, send)


def chat_router(backend: Backend, settings: Settings) -> APIRouter:
    """The route, with its own count of requests in work and its own memory of conversations."""
    router = APIRouter()
    slots, conversations = Slots(settings.concurrency), Conversations()
    errors: dict[int | str, dict[str, Any]] = {code: {"model": ErrorBody} for code in (400, 413, 415, 422, 503, 504)}
    stream = {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "model": AnswerBody}

    @router.post("/api/v1/chat", summary="Ask a question", response_model=AnswerBody, responses={200: stream, **errors})
    async def chat(request: Request, body: Annotated[ChatRequest, Body(openapi_examples=EXAMPLES)]) -> Response:
        deadline = asyncio.get_running_loop().time() + settings.request_timeout_s
        async with AsyncExitStack() as held:
            held.enter_context(slots.take())
            assistant = await backend.soon(min(PATIENCE_S, settings.request_timeout_s))
            conversation = body.conversation_id or ""
            history = conversations.history(conversation) if conversation else ()
            asked = assistant.ask(body.message, conversation, body.page_language or "", history)
            events = _remembered(_until(asked, deadline), conversations, body.message)
            held.push_async_callback(events.aclose)
            if "text/event-stream" not in request.headers.get("accept", ""):
                return await _whole(request, events)
            first = await anext(events)  # what can't be answered at all gets its own status, not a stream
            return EventStream(_with_heartbeats(_frames(first, events)), held.pop_all())

    return router


async def _until(events: AsyncIterator[Event], deadline: float) -> AsyncGenerator[Event]:
    """The events, as long as each comes before the deadline (on the loop's clock).

    Raises:
        TimeoutError: one did not.
    """
    try:
        while True:
            async with asyncio.timeout_at(deadline):
                event = await anext(events, None)
            if event is None:
                return
            yield event
    finally:
        if close := getattr(events, "aclose", None):
            await close()


async def _remembered(
    events: AsyncGenerator[Event], conversations: Conversations, message: str
) -> AsyncGenerator[Event]:
    async with aclosing(events) as open_events:
        async for event in open_events:
            if isinstance(event, Answer):
                conversations.remember(event.conversation_id, message)
            yield event


async def _whole(request: Request, events: AsyncIterator[Event]) -> Response:
    """The Answer as JSON; the work stops when the client goes."""
    work = asyncio.create_task(whole_answer(events))
    gone = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            return Response(status_code=499)  # nobody reads it
        return JSONResponse(answer_json(await work))
    finally:
        for task in (work, gone):
            task.cancel()
        await asyncio.gather(work, gone, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


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


def busy_response() -> Response:
    """What Busy becomes."""
    return error_response(503, "too many questions at once; try again in a moment", {"Retry-After": "1"})
