"""What every surface does around a question: a time limit, the history before it, the record after it.

In: the assistant's events, the store, a message. Out: the same events.
Never: changes an event, or lets a store that is out of reach stand in the way of a reply.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING

from assistant.errors import StoreUnavailable
from assistant.records import Answer, Event, Turn
from assistant.spelling import convert_chinese
from assistant.store import Channel, Store
from assistant.surfaces.backend import Answers

if TYPE_CHECKING:
    from assistant.handover import Courier

SAMPLES = 4
log = logging.getLogger("assistant.chat")


async def until(events: AsyncIterator[Event], deadline: float) -> AsyncGenerator[Event]:
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


async def history_of(store: Store, conversation_id: str) -> tuple[Turn, ...]:
    """The conversation so far; none where the store is out of reach: a reply without history beats no reply."""
    try:
        return await asyncio.to_thread(store.history, conversation_id)
    except StoreUnavailable as error:
        log.error("answered without history: %s", error)
        return ()


async def remembered(
    events: AsyncGenerator[Event], store: Store, courier: Courier | None, message: str, channel: Channel
) -> AsyncGenerator[Event]:
    """The events; their Answer is kept with its message, and the webhook told where a person is wanted."""
    async with aclosing(events) as open_events:
        async for event in open_events:
            if isinstance(event, Answer):
                store.remember(message, event, channel)
                if courier and event.handover:
                    courier.send(event.conversation_id, event.handover.reason, message, event.language)
            yield event


def samples(assistant: Answers, code: str) -> list[str]:
    """Sample questions; the two Chinese spellings stand in for each other."""
    found = assistant.sample_questions(code, SAMPLES)
    other = {"zh-Hans": "zh-Hant", "zh-Hant": "zh-Hans"}.get(code)
    if found or not other:
        return found
    return [convert_chinese(question, code) for question in assistant.sample_questions(other, SAMPLES)]
