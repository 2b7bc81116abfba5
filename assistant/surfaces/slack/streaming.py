"""A reply's sentences in Slack's assistant pane, as they come.

In: pieces of the reply. Out: a message that grows; its time stamp is kept with the job, so that the whole reply takes
its place, whoever completes it. Never: lets a reply fail because its stream did.
"""

from __future__ import annotations

import logging

from slack_sdk.web.async_client import AsyncWebClient

from assistant.attention import Job
from assistant.inbox import Inbox
from assistant.surfaces.slack.aside import Aside
from assistant.surfaces.slack.blocks import escape
from assistant.surfaces.slack.posting import Limited, Refused, Unsure, call

log = logging.getLogger("assistant.slack")


class Stream:
    """One reply's.

    Args:
        status: what is shown until its first sentence.
    """

    def __init__(self, job: Job, client: AsyncWebClient, inbox: Inbox, aside: Aside, status: str) -> None:
        self._job, self._client, self._inbox, self._aside, self._status = job, client, inbox, aside, status
        self.reply, self.is_unsure, self._is_off = "", False, False

    async def open(self) -> None:
        """Shows that the question is worked on."""
        place = {"channel_id": self._job.body["channel"], "thread_ts": self._job.body["thread_ts"]}
        try:
            await call(self._client, "assistant.threads.setStatus", **place, status=self._status)
        except (Limited, Refused, Unsure) as failure:  # a thread outside the pane has none
            log.info("no status is shown: %s", failure)

    async def show(self, text: str) -> None:
        """Shows the next piece; where that fails, the whole reply is all that will be shown."""
        if self._is_off or not text:
            return
        try:
            await (self._append(text) if self.reply else self._start(text))
        except (Limited, Refused, Unsure) as failure:
            self._is_off = True
            self.is_unsure = isinstance(failure, Unsure) and not self.reply
            log.info("a reply is not streamed on: %s", failure)

    async def _start(self, text: str) -> None:
        if await self._aside(self._inbox.begin_post, self._job) != "go":
            self._is_off = True
            return
        body = self._job.body
        found = await call(
            self._client, "chat.startStream", channel=body["channel"], thread_ts=body["thread_ts"],
            markdown_text=escape(text), recipient_user_id=self._job.user, recipient_team_id=body["team"],
        )  # fmt: skip
        self.reply = str(found.get("ts", ""))
        await self._aside(self._inbox.note_reply, self._job, self.reply)

    async def _append(self, text: str) -> None:
        place = {"channel": self._job.body["channel"], "ts": self.reply}
        await call(self._client, "chat.appendStream", **place, markdown_text=escape(text))
