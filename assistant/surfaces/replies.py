"""Replies under way and just finished, so that a dropped stream is taken up again and nothing is asked twice.

In: a way to get the events of a reply, and who asked for it. Out: its events as numbered frames, from any number on,
to as many readers as come.
Never: works for longer than its time limit, or for nobody longer than it takes to come back; mixes two replies up: one
is known by the id its client drew together with what was asked.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing

from assistant.errors import AssistantError
from assistant.records import Answer, Event, Spoken
from assistant.surfaces.guard import log_failure
from assistant.surfaces.metrics import Metrics

ABSENCE_S = 10.0  # a reply goes on this long for a client that has gone and may come back
KEPT_S = 120.0  # a finished one can be read again this long
KEPT = 1000
EVENTS = 2000  # no reply has as many
TOO_SLOW = "the answer took too long; try again, perhaps with a shorter question"
BROKEN = "something went wrong on our side; try again"

log = logging.getLogger("assistant.answers")

Numbered = tuple[int, Event | str]  # a text is why it broke off
Opened = Callable[[AsyncExitStack], Awaitable[AsyncGenerator[Event]]]


def identity(request_id: str | None, *asked: str | None) -> str:
    """What a reply is known by; "" for one that can't be taken up again."""
    return hashlib.sha256("\0".join([request_id, *map(str, asked)]).encode()).hexdigest() if request_id else ""


class Reply:
    """One reply: a task that collects its events, and readers that follow.

    Args:
        absence_s: how long it goes on without readers, in seconds.
    """

    def __init__(self, opened: Opened, metrics: Metrics, absence_s: float) -> None:
        self.events: list[Event | str] = []
        self.is_done = self.is_moving = False
        self.finished_at = 0.0
        self.failure: Exception | None = None
        self.readers = 0
        self._absence_s = absence_s
        self._metrics = metrics
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._collect(opened))

    async def begun(self) -> None:
        """Returns once there is an event.

        Raises:
            Exception: what kept it from beginning.
        """
        while not self.events and not self.is_done:
            await self._changed.wait()
        if self.failure is not None and not self.events:
            raise self.failure

    async def follow(self, after: int, silence_s: float) -> AsyncGenerator[Numbered | None]:
        """The numbered events after a number, until the end or the move; None whenever nothing comes for a while."""
        at = after if 0 <= after <= len(self.events) else 0
        while not self.is_moving:
            while at < len(self.events):
                at += 1
                yield at, self.events[at - 1]
            if self.is_done:
                return
            try:
                await asyncio.wait_for(self._changed.wait(), silence_s)
            except TimeoutError:
                yield None

    def leave(self) -> None:
        """A reader has gone; where it was the last, the work stops unless one comes back in time."""
        self.readers -= 1
        if not self.readers and not self.is_done:
            asyncio.get_running_loop().call_later(self._absence_s, self._give_up)

    def move(self) -> None:
        """Ends all readers' streams; they ask the server that takes over."""
        self.is_moving = True
        self._notify()

    def _give_up(self) -> None:
        if not self.readers and not self.is_done:
            self._task.cancel()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _collect(self, opened: Opened) -> None:
        started = time.perf_counter()
        try:
            async with AsyncExitStack() as held, aclosing(await opened(held)) as events:
                async for event in events:
                    self._count(event, time.perf_counter() - started)
                    self._add(event)
        except Exception as error:
            self._break(error)
        finally:
            self.is_done, self.finished_at = True, time.monotonic()
            self._notify()

    def _add(self, event: Event | str) -> None:
        if len(self.events) >= EVENTS:
            raise RuntimeError("a reply without end")
        self.events.append(event)
        self._notify()

    def _break(self, error: Exception) -> None:
        """Before its first event it is refused as a whole, after that it breaks off with a sentence."""
        self.failure = error
        if not self.events:
            return
        self._metrics.failures.inc()
        if isinstance(error, TimeoutError):
            self.events.append(TOO_SLOW)
        elif isinstance(error, AssistantError):
            self.events.append(str(error))
        else:
            log_failure(error)
            self.events.append(BROKEN)

    def _count(self, event: Event, elapsed: float) -> None:
        if isinstance(event, Spoken) and not any(isinstance(one, Spoken) for one in self.events):
            self._metrics.first.observe(elapsed)
        if isinstance(event, Answer):
            self._metrics.whole.observe(elapsed)
            self._metrics.answers.labels(event.outcome, event.language).inc()
            log.info("answer", extra={"request": _facts(event)})


def _facts(answer: Answer) -> dict[str, object]:
    """What the log says of an answer."""
    return {
        "id": answer.id,
        "outcome": answer.outcome,
        "language": answer.language,
        "confidence": answer.confidence,
        "sources": len(answer.citations),
        "timings_ms": answer.timings_ms,
    }


class Replies:
    """The replies of one process."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._known: OrderedDict[str, Reply] = OrderedDict()
        self._anonymous: set[Reply] = set()

    def __len__(self) -> int:
        return len(self._known) + len(self._anonymous)

    def get(self, name: str, opened: Opened) -> tuple[Reply, bool]:
        """The reply of that name, begun if it is not known, and whether it was known."""
        self._forget()
        known = self._known.get(name) if name else None
        if known is not None and (known.events or not known.is_done):
            self._known.move_to_end(name)
            return known, True
        reply = Reply(opened, self._metrics, ABSENCE_S if name else 0.0)
        if name:
            self._known[name] = reply
        else:
            self._anonymous.add(reply)
        return reply, False

    async def close(self, patience_s: float) -> None:
        """After that many seconds, hands over what is still under way: its readers are told to ask again."""
        await asyncio.sleep(patience_s)
        for reply in (*self._known.values(), *self._anonymous):
            if not reply.is_done:
                reply.move()

    def _forget(self) -> None:
        limit = time.monotonic() - KEPT_S
        old = [name for name, reply in self._known.items() if reply.is_done and reply.finished_at < limit]
        for name in old:
            del self._known[name]
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        self._anonymous = {reply for reply in self._anonymous if not reply.is_done}
