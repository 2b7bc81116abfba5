"""A question from Slack -> its reply, through the same pipeline as every other surface's.

In: a job with what was written. Out: a plan for `delivery`, jobs that follow from it; in the assistant pane the reply's
sentences as they come. Never: lets what fails go without a word to the asker, or shows them an error's own text.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from assistant.attention import Job, conversation_of
from assistant.errors import AssistantError, InputError
from assistant.handover import Courier
from assistant.language import Detector
from assistant.mask import mask
from assistant.records import Answer, Citation, Event, Handover, Spoken
from assistant.settings import Settings
from assistant.store import Store
from assistant.surfaces.asking import history_of, remembered, until
from assistant.surfaces.backend import Backend
from assistant.surfaces.guard import log_failure
from assistant.surfaces.slack.aside import Aside
from assistant.surfaces.slack.blocks import answer_message, below_question, notice
from assistant.surfaces.slack.messages import clean
from assistant.surfaces.slack.streaming import Stream
from assistant.wording import Wording, Wordings

COMMAND = "/faq"
PATIENCE_S, FLUSH_S = 10.0, 5.0
log = logging.getLogger("assistant.slack")
Plan = dict[str, Any]


def answer_of(kept: dict[str, Any]) -> Answer:
    """The Answer that a plan holds."""
    values = {**kept, "citations": tuple(Citation(**one) for one in kept["citations"])}
    values["suggestions"] = tuple(kept["suggestions"])
    values["handover"] = Handover(**kept["handover"]) if kept["handover"] else None
    return Answer(**values)


class Replier:
    """Asks the assistant; see the module.

    Args:
        courier: tells the handover's webhook.
    """

    def __init__(
        self, backend: Backend, settings: Settings, store: Store, courier: Courier | None, aside: Aside
    ) -> None:
        self._backend, self._settings, self._store, self._courier = backend, settings, store, courier
        self._aside = aside
        self.wordings = Wordings()
        self._nobody = {one.no_person for one in self.wordings.by_language.values()}
        self._detector = Detector(self.wordings.languages, self.wordings.evidence)

    def wording_of(self, text: str, locale: str) -> Wording:
        """The words for an asker where there is no Answer that tells their language."""
        hints = [locale] if locale else []
        default = locale or self._settings.default_language
        return self.wordings.nearest(self._detector.detect(text, hints, default=default).language)

    async def plan(self, job: Job, locale: str, stream: Stream | None) -> Plan:
        """The reply to a question.

        Raises:
            NotReady: there is no assistant to ask yet.
        """
        text = clean(job.body["text"], job.body["bot"])
        if not text:
            wording = self.wordings.nearest(locale or self._settings.default_language)
            said = wording.slack["files"] if job.body.get("files") else wording.ask_more
            if job.kind == "command":
                said = wording.slack["usage"].format(command=COMMAND)
            return {"message": notice(said), "outcome": "clarify"}
        assistant = await self._backend.soon(PATIENCE_S)
        conversation = conversation_of(job.thread)
        history = await history_of(self._store, conversation)
        deadline = asyncio.get_running_loop().time() + self._settings.request_timeout_s
        try:
            events = until(assistant.ask(text, conversation, locale, history), deadline)
            told = remembered(self._told(events), self._store, self._courier, text, "slack")
            answer = await self._answer(told, stream)
        except Exception as error:  # whatever it is, the asker is told that it failed
            return await self._failure(error, text, locale)
        await self._aside(self._store.flush, FLUSH_S)
        wording = self.wordings.nearest(answer.language)
        has_people = bool(self._settings.slack_handover_channel)
        message = answer_message(answer, wording, private=bool(job.body.get("is_private")), person=has_people)
        if job.kind == "click" and not job.body["is_private"]:
            message = below_question(message, wording.slack["asked"], text, job.user)
        kept = dataclasses.asdict(dataclasses.replace(answer, trace=None))
        return {"message": message, "answer": kept, "question": mask(text), "outcome": answer.outcome}

    async def _answer(self, events: AsyncGenerator[Event], stream: Stream | None) -> Answer:
        async with aclosing(events) as open_events:
            async for event in open_events:
                if isinstance(event, Spoken) and stream is not None:
                    await stream.show(event.text)
                if isinstance(event, Answer):
                    return event
        raise AssertionError("the stream ends with an Answer")

    async def _told(self, events: AsyncIterator[Event]) -> AsyncGenerator[Event]:
        """The events; where Slack's channel is told that a person is wanted, the Answer says so."""
        settings = self._settings
        has_other = settings.handover_webhook or settings.handover_url or settings.handover_email
        is_told = settings.slack_handover_channel and not has_other
        async for event in events:
            if is_told and isinstance(event, Answer) and event.handover:
                wording = self.wordings.nearest(event.language)
                told, said = wording.person_told, event.text.removesuffix(wording.no_person).rstrip()
                yield dataclasses.replace(event, text=told if event.outcome == "handover" else f"{said}\n\n{told}")
            elif not (is_told and isinstance(event, Spoken) and event.text.strip() in self._nobody):
                yield event

    async def _failure(self, error: Exception, text: str, locale: str) -> Plan:
        wording = await asyncio.to_thread(self.wording_of, text, locale)
        limit = self._settings.message_limit
        if isinstance(error, InputError) and len(text) > limit:
            return {"message": notice(wording.interface.too_long.format(limit=limit)), "outcome": "too_long"}
        if isinstance(error, AssistantError | TimeoutError):
            log.error("a question from Slack was not answered: %s", type(error).__name__)
        else:
            log_failure(error)
        return {"message": notice(wording.interface.error_generic), "outcome": "error"}
