"""A reply that is ready -> in Slack, once: posted, put in place of an earlier one, or shown to the asker alone.

In: a job with its plan `{"message": …, "answer": …, "question": …}`. Out: the message, and the job finished; or
Postponed. Never: posts again before looking whether the last post arrived, or over a person who took the thread on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from assistant.attention import Job
from assistant.inbox import Inbox
from assistant.surfaces.slack.aside import Aside
from assistant.surfaces.slack.counts import Counts
from assistant.surfaces.slack.posting import Limited, Refused, Unsure, call, find_reply, named, respond

LOOK_DELAY_S = 1.0  # a call that broke off may still be carried out: so long before it is looked for
FIRST_DELAY_S, LONGEST_DELAY_S = 1.0, 60.0
# What is wrong with a message itself: its plain text may still be posted.
MALFORMED = {"invalid_blocks", "invalid_blocks_format", "msg_too_long", "msg_blocks_too_long", "too_many_attachments"}
GONE = {"message_not_found", "cant_update_message", "edit_window_closed", "message_not_owned_by_app"}
log = logging.getLogger("assistant.slack")
Message = dict[str, Any]


class Postponed(Exception):
    """The job is to be tried again.

    Args:
        counts: whether this was an attempt that failed.
        is_posting: whether a post may have arrived.
    """

    def __init__(self, reason: str, delay_s: float, counts: bool = True, is_posting: bool = False) -> None:
        super().__init__(reason)
        self.delay_s, self.counts, self.is_posting = delay_s, counts, is_posting


def backoff_s(attempts: int) -> float:
    """How long to wait after so many failed attempts."""
    return float(min(FIRST_DELAY_S * 2**attempts, LONGEST_DELAY_S))


def name_of(job: Job) -> str:
    """What its reply is found again by; an edit's is its question's."""
    return job.target or job.id


class Delivery:
    """Posts for one process."""

    def __init__(self, inbox: Inbox, aside: Aside, counts: Counts) -> None:
        self._inbox, self._aside, self._counts = inbox, aside, counts

    async def deliver(
        self, job: Job, client: AsyncWebClient | None, plan: dict[str, Any], following: Sequence[Job] = ()
    ) -> None:
        """Sees to it that the plan's message is there.

        Args:
            client: None where only the asker sees it.
            following: jobs that follow from it, kept in the moment it is finished.

        Raises:
            Postponed: it is not, yet.
            Refused: it never will be.
        """
        began = time.monotonic()
        permission = await self._aside(self._inbox.begin_post, job)
        if permission == "lost":  # deleted, or taken up by another process
            return
        if permission == "wait":
            raise Postponed("its turn", 0.0, counts=False, is_posting=job.is_posting)
        if permission == "silent":
            await self.finish(job, "silent")
            return
        if client is None or job.body.get("is_private"):
            reply = await self._respond(job, plan["message"])
        elif job.reply and await self._update(job, client, plan["message"]):
            reply = job.reply
        else:
            reply = await self._look(job, client)
            if (
                not reply and time.monotonic() - began > self._inbox.lease_s / 4
            ):  # it may be another's before it is there
                raise Postponed("too slow to post", 0.0, counts=False, is_posting=job.is_posting)
            reply = reply or await self._post(job, client, plan["message"])
        await self.finish(job, plan.get("outcome", "done"), reply, plan, following)

    async def finish(
        self, job: Job, outcome: str, reply: str = "", plan: dict[str, Any] | None = None, following: Sequence[Job] = ()
    ) -> None:
        """Notes the job's outcome."""
        self._counts.done.labels(outcome).inc()
        answer = (plan or {}).get("answer")
        kept = {"answer": answer, "question": (plan or {}).get("question", "")} if answer else None
        await self._aside(self._inbox.finish, job, reply, answer["id"] if answer else "", kept, following)

    async def _look(self, job: Job, client: AsyncWebClient) -> str:
        """The reply that a broken-off attempt left behind, "" if it left none."""
        if not job.is_posting:
            return ""
        body = job.body
        is_streamed = bool(body.get("is_direct") and body["thread_ts"])
        others = await self._aside(self._inbox.replies_in, job.thread) if is_streamed else None
        after = job.position if not job.target else "0"
        try:
            found = await find_reply(client, name_of(job), body["channel"], body["thread_ts"], after, others)
        except Limited as limited:
            raise Postponed("rate limit", limited.delay_s, counts=False, is_posting=True) from None
        except Unsure as unsure:
            raise Postponed(str(unsure), backoff_s(job.attempts), is_posting=True) from None
        except Refused as refused:
            log.error("Slack does not let the bot look for a reply (%s); it may be there twice", refused)
            return ""
        if found and is_streamed:
            await self._update_streamed(job, client, found)
        return found

    async def _update_streamed(self, job: Job, client: AsyncWebClient, found: str) -> None:
        """A reply whose streaming broke off is made whole at the next attempt, which knows its name now."""
        await self._aside(self._inbox.note_reply, job, found)
        raise Postponed("streaming broke off", 0.0, counts=False, is_posting=True)

    async def _post(self, job: Job, client: AsyncWebClient, message: Message) -> str:
        thread = {"thread_ts": job.body["thread_ts"]} if job.body["thread_ts"] else {}
        place = {"channel": job.body["channel"], **thread, "metadata": named(name_of(job))}
        try:
            return await self._write(job, client, "chat.postMessage", place, message)
        except Refused as refused:
            if refused.code not in MALFORMED:
                raise
        log.error("Slack refuses a message's blocks; its plain text is posted instead")
        return await self._write(job, client, "chat.postMessage", place, _plain(message))

    async def _update(self, job: Job, client: AsyncWebClient, message: Message) -> bool:
        """Puts the message in place of an earlier one; False where that is gone."""
        place = {"channel": job.body["channel"], "ts": job.reply}
        with suppress(Limited, Refused, Unsure):
            await call(client, "chat.stopStream", **place)  # in case it is one that is still open
        try:
            await self._write(job, client, "chat.update", {**place, "metadata": named(name_of(job))}, message)
        except Refused as refused:
            if refused.code in MALFORMED:
                await self._write(job, client, "chat.update", place, _plain(message))
            elif refused.code in GONE:
                return False
            else:
                raise
        return True

    async def _write(
        self, job: Job, client: AsyncWebClient, method: str, place: dict[str, Any], message: Message
    ) -> str:
        try:
            answer = await call(client, method, **place, **message)
        except Limited as limited:
            raise Postponed("rate limit", limited.delay_s, counts=False) from None
        except Unsure as unsure:
            delay = max(backoff_s(job.attempts), LOOK_DELAY_S)
            raise Postponed(str(unsure), delay, is_posting=True) from None
        return str(answer.get("ts", ""))

    async def _respond(self, job: Job, message: Message) -> str:
        """Shows the message to the asker alone: Slack keeps no record of those to look in, so it may come twice."""
        body = {**message, "response_type": "ephemeral", "replace_original": False}
        try:
            try:
                await respond(job.body["response_url"], body)
            except Refused:
                await respond(job.body["response_url"], {**_plain(message), "response_type": "ephemeral"})
        except Limited as limited:
            raise Postponed("rate limit", limited.delay_s, counts=False) from None
        except Unsure as unsure:
            raise Postponed(str(unsure), backoff_s(job.attempts)) from None
        return ""


def _plain(message: Message) -> Message:
    return {name: value for name, value in message.items() if name != "blocks"}
