"""What is done in Slack besides answering: opinions, sharing, the way to a person, the pane's prompts, deletions.

In: a job of such a kind. Out: what it asks for done, once. Never: shows what was private without its asker's click.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from assistant.attention import Job, conversation_of
from assistant.handover import Courier
from assistant.inbox import Inbox
from assistant.language import normalise_code
from assistant.settings import Settings
from assistant.store import Store, Value
from assistant.surfaces.asking import samples
from assistant.surfaces.backend import Backend
from assistant.surfaces.slack.aside import Aside
from assistant.surfaces.slack.blocks import notice, person_message, shared_message
from assistant.surfaces.slack.delivery import Delivery
from assistant.surfaces.slack.posting import Limited, Refused, Unsure, call
from assistant.surfaces.slack.replying import PATIENCE_S, answer_of
from assistant.wording import Wording, Wordings

log = logging.getLogger("assistant.slack")
PROMPT_TITLE = 150  # characters; the message below it is whole
Kept = dict[str, Any]


def handover_of(job: Job, kept: Kept, channel: str) -> Job:
    """The job that tells the channel of those who help."""
    own = {name: job.body[name] for name in ("team", "enterprise", "bot")}
    where = {"from_channel": job.body["channel"], "from_ts": "" if job.body.get("is_private") else job.body.get("ts")}
    body = {**own, **where, "channel": channel, "thread_ts": "", "from_thread": job.thread, **kept}
    name = f"handover:{job.id}"
    return Job(name, "handover", name, job.position, job.user, body)


class Clicks:
    """Does them; see the module."""

    def __init__(
        self,
        backend: Backend,
        settings: Settings,
        store: Store,
        courier: Courier | None,
        inbox: Inbox,
        aside: Aside,
        delivery: Delivery,
        wordings: Wordings,
    ) -> None:
        self._backend, self._settings, self._store, self._courier = backend, settings, store, courier
        self._inbox, self._aside, self._delivery, self._wordings = inbox, aside, delivery, wordings

    async def rate(self, job: Job, locale: str) -> None:
        """Keeps an opinion; the same person's last one counts."""
        value, _, answer_id = job.body["text"].partition(" ")
        kept = await self._aside(self._inbox.kept_of, answer_id)
        wording, opinion = self._wording(kept, locale), _opinion(value)
        found = None
        if opinion:
            who = f"slack:{job.body['team']}:{job.user}"
            found = await self._aside(self._store.add_feedback, answer_id, who, opinion)
        if found and opinion == "down" and self._courier and kept:
            self._courier.send(found, "negative_feedback", kept["question"], wording.language)
        await self._say(job, wording.widget.rated if found else wording.widget.not_rated, "feedback")

    async def share(self, job: Job, client: AsyncWebClient, locale: str) -> None:
        """Shows everybody in the channel what was private."""
        kept = await self._aside(self._inbox.kept_of, job.body["text"])
        wording = self._wording(kept, locale)
        if kept is None:
            await self._say(job, wording.slack["gone"], "expired")
            return
        message = shared_message(answer_of(kept["answer"]), wording, kept["question"], job.user)
        public = replace(job, body={**job.body, "is_private": False})
        try:
            await self._delivery.deliver(public, client, {"message": message, "outcome": "shared"})
        except Refused as refused:
            log.info("an answer can't be shared: %s", refused)
            await self._say(job, wording.slack_bot["not_member"], "not_shared")

    async def pass_on(self, job: Job, locale: str) -> None:
        """Tells the channel of those who help, as the asker wishes."""
        kept, channel = await self._aside(self._inbox.kept_of, job.body["text"]), self._settings.slack_handover_channel
        wording = self._wording(kept, locale)
        if kept is None or not channel:
            await self._say(job, wording.slack["gone"] if channel else wording.nobody, "expired")
            return
        if self._courier:
            self._courier.send(conversation_of(job.thread), "asked", kept["question"], wording.language)
        told = {"message": notice(wording.person_told), "outcome": "passed_on"}
        await self._delivery.deliver(_private(job), None, told, [handover_of(job, kept, channel)])

    async def hand_over(self, job: Job, client: AsyncWebClient) -> None:
        """Posts to the channel of those who help: who asks, what, in which language, and the evidence."""
        body, question = job.body, job.body["question"]
        answer = answer_of(body["answer"])
        before = None if answer.citations else await self._aside(self._inbox.last_kept_in, body["from_thread"])
        if before is not None:  # "a person, please" says little: what was asked before does
            answer = replace(answer, citations=answer_of(before["answer"]).citations)
            question = f"{before['question']}\n{question}"
        wording = self._wordings.nearest(self._settings.default_language)
        link = await self._link(client, body["from_channel"], body["from_ts"])
        message = person_message(answer, wording, question, job.user, link)
        await self._delivery.deliver(job, client, {"message": message, "outcome": "handed_over"})

    async def prompt(self, job: Job, client: AsyncWebClient, locale: str) -> None:
        """Gives a pane that was opened questions to begin with."""
        assistant = await self._backend.soon(PATIENCE_S)
        language = normalise_code(locale or self._settings.default_language)
        questions = await asyncio.to_thread(samples, assistant, language)
        if questions:
            prompts = [{"title": question[:PROMPT_TITLE], "message": question} for question in questions]
            place = {"channel_id": job.body["channel"], "thread_ts": job.body["thread_ts"]}
            title = self._wordings.nearest(language).greeting
            await call(client, "assistant.threads.setSuggestedPrompts", **place, title=title, prompts=prompts)
        await self._delivery.finish(job, "prompted")

    async def delete(self, job: Job, client: AsyncWebClient) -> None:
        """Takes back the reply to a question that was deleted."""
        if job.reply:
            try:
                await call(client, "chat.delete", channel=job.body["channel"], ts=job.reply)
            except Refused as refused:
                log.info("a reply was not deleted: %s", refused)
        await self._delivery.finish(job, "deleted")

    async def _say(self, job: Job, text: str, outcome: str) -> None:
        """Tells the one who clicked alone."""
        await self._delivery.deliver(_private(job), None, {"message": notice(text), "outcome": outcome})

    def _wording(self, kept: Kept | None, locale: str) -> Wording:
        language = kept["answer"]["language"] if kept else locale or self._settings.default_language
        return self._wordings.nearest(language)

    async def _link(self, client: AsyncWebClient, channel: str, ts: str) -> str:
        if not ts:
            return ""
        try:
            return str((await call(client, "chat.getPermalink", channel=channel, message_ts=ts)).get("permalink", ""))
        except (Limited, Refused, Unsure) as failure:
            log.info("no link to a conversation: %s", failure)
            return ""


def _private(job: Job) -> Job:
    return replace(job, body={**job.body, "is_private": True})


def _opinion(value: str) -> Value | None:
    if value == "up":
        return "up"
    return "down" if value == "down" else None
