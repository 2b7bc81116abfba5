"""The assistant behind the web surfaces: being loaded, ready, or failed for a stated reason.

In: an assistant, or a function that builds one (slow, blocking). Out: the assistant, or NotReady with one sentence.
Never: blocks the event loop, or gives up: a failed load is tried again, since a model server or a disk may come back.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Protocol

from assistant.errors import AssistantError
from assistant.records import Answer, Event, Turn

FIRST_DELAY_S, LONGEST_DELAY_S = 2.0, 60.0
LOADING = "the assistant is still loading; try again in a moment"
log = logging.getLogger("assistant.backend")


class Answers(Protocol):
    """What the surfaces need of an assistant."""

    def ask(
        self, message: str, conversation_id: str = "", page_language: str = "", history: Sequence[Turn] = ()
    ) -> AsyncIterator[Event]:
        """The events of one reply, the Answer last."""

    def sample_questions(self, language: str, count: int) -> list[str]:
        """Questions that the articles answer, in that language."""


def begin(build: Callable[[], Answers]) -> Callable[[], Answers]:
    """The same function, begun at once in a thread: its first call waits for that, further ones build anew."""
    begun: list[Future[Answers]] = [Future()]

    def work(first: Future[Answers]) -> None:
        try:
            first.set_result(build())
        except Exception as error:
            first.set_exception(error)

    threading.Thread(target=work, args=begun, name="load", daemon=True).start()
    return lambda: begun.pop().result() if begun else build()


async def whole_answer(events: AsyncIterator[Event]) -> Answer:
    """The Answer alone."""
    async for event in events:
        if isinstance(event, Answer):
            return event
    raise AssertionError("the stream ends with an Answer")


class NotReady(Exception):
    """There is no assistant yet; `str(error)` says why."""


class Backend:
    """Holds the assistant of one server."""

    def __init__(self, source: Answers | Callable[[], Answers]) -> None:
        self._source = source
        self._assistant: Answers | None = source if not callable(source) else None
        self._loaded = asyncio.Event()
        self._reason = LOADING

    async def load(self) -> None:
        """Builds the assistant in a thread, again after a growing delay where that fails."""
        delay = FIRST_DELAY_S
        while self._assistant is None and callable(self._source):
            try:
                self._assistant = await _in_thread(self._source)
            except AssistantError as error:
                self._reason = str(error)
                log.error("not ready: %s", error)
            except Exception as error:  # whatever it is, the server says it is not ready and tries again
                self._reason = f"the assistant could not be loaded ({type(error).__name__})"
                log.exception("not ready")
            if self._assistant is None:
                await asyncio.sleep(delay)
                delay = min(delay * 2, LONGEST_DELAY_S)
        self._loaded.set()

    def now(self) -> Answers:
        """The assistant.

        Raises:
            NotReady: it is not loaded.
        """
        if self._assistant is None:
            raise NotReady(self._reason)
        return self._assistant

    async def soon(self, patience_s: float) -> Answers:
        """The assistant, waited for.

        Raises:
            NotReady: it is not loaded within `patience_s`, or loading failed.
        """
        if self._assistant is None and self._reason == LOADING:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._loaded.wait(), patience_s)
        return self.now()


async def _in_thread(build: Callable[[], Answers]) -> Answers:
    """What `build` returns, from a thread that does not hold up the end of the process as an executor's would."""
    loop = asyncio.get_running_loop()
    built: asyncio.Future[Answers] = loop.create_future()

    def settle(result: Answers | None, error: Exception | None) -> None:
        if built.cancelled():
            return
        if error is not None:
            built.set_exception(error)
        elif result is not None:
            built.set_result(result)

    def work() -> None:
        result, failure = None, None
        try:
            result = build()
        except Exception as error:
            failure = error
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=work, name="load", daemon=True).start()
    return await built
