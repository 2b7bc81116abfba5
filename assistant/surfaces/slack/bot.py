"""The bot of one process: keeps what Slack delivers, and sees to each job.

In: jobs read from Slack's deliveries. Out: replies in Slack. Never: works before a job is kept, or knows how it came.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from dataclasses import replace

from slack_sdk.web.async_client import AsyncWebClient

from assistant.attention import Job
from assistant.handover import Courier
from assistant.inbox import Inbox
from assistant.settings import Settings
from assistant.store import Store
from assistant.surfaces.backend import Backend, NotReady
from assistant.surfaces.metrics import Metrics
from assistant.surfaces.slack.aside import Aside
from assistant.surfaces.slack.blocks import ASK, FEEDBACK, PERSON, SHARE, notice
from assistant.surfaces.slack.clicks import Clicks, handover_of
from assistant.surfaces.slack.counts import Counts
from assistant.surfaces.slack.delivery import Delivery, Postponed, backoff_s
from assistant.surfaces.slack.messages import clean
from assistant.surfaces.slack.replying import Replier, answer_of
from assistant.surfaces.slack.streaming import Stream
from assistant.surfaces.slack.worker import Worker
from assistant.surfaces.slack.workspaces import Workspaces


class Bot:
    """See the module.

    Args:
        courier: tells the handover's webhook.
    """

    def __init__(
        self, backend: Backend, settings: Settings, store: Store, courier: Courier | None, metrics: Metrics
    ) -> None:
        self.counts, self._aside, self._keeping = Counts(metrics), Aside(), Aside(1)
        self.workspaces = Workspaces(settings, store)
        self._inbox = Inbox(store, uuid.uuid4().hex)
        self._channel = settings.slack_handover_channel
        self._delivery = Delivery(self._inbox, self._aside, self.counts)
        self._replier = Replier(backend, settings, store, courier, self._aside)
        wordings = self._replier.wordings
        self._clicks = Clicks(backend, settings, store, courier, self._inbox, self._aside, self._delivery, wordings)
        self._worker = Worker(self._inbox, self._aside, self._work, self._report, self.counts, settings.concurrency)
        self._tasks: list[asyncio.Task[None]] = []

    async def keep(self, job: Job) -> None:
        """Keeps a job; once this returns, it will be dealt with.

        Raises:
            StoreUnavailable: it is not kept, and must be delivered again.
        """
        began = time.perf_counter()
        fate = await self._keeping(self._inbox.record, job)
        self.counts.recorded.observe(time.perf_counter() - began)
        self.counts.events.labels(job.kind, fate).inc()
        if fate == "new":
            self._worker.wake()

    def start(self) -> None:
        """Begins to work."""
        self._tasks = [asyncio.create_task(self._worker.run()), asyncio.create_task(self.workspaces.introduce())]

    async def stop(self) -> None:
        """Ends; what is in work is left to other processes, or to the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._aside.close()
        self._keeping.close()

    async def _work(self, job: Job) -> None:
        client = await self.workspaces.client(job.body["enterprise"], job.body["team"])
        if client is None:  # the bot was removed meanwhile
            await self._delivery.finish(job, "uninstalled")
            return
        locale = await self.workspaces.locale(client, job.body["team"], job.user) if job.user else ""
        action = job.body.get("action", "")
        try:
            if job.kind == "opening":
                await self._clicks.prompt(job, client, locale)
            elif job.kind == "delete":
                await self._clicks.delete(job, client)
            elif job.kind == "handover":
                await self._clicks.hand_over(job, client)
            elif action.startswith(FEEDBACK):
                await self._clicks.rate(job, locale)
            elif action == SHARE:
                await self._clicks.share(job, client, locale)
            elif action == PERSON:
                await self._clicks.pass_on(job, locale)
            elif job.kind != "click" or action.startswith(ASK):
                await self._reply(job, client, locale)
            else:
                await self._delivery.finish(job, "unknown")
        except NotReady:
            raise Postponed("the assistant is loading", backoff_s(job.attempts), is_posting=job.is_posting) from None

    async def _reply(self, job: Job, client: AsyncWebClient, locale: str) -> None:
        plan, stream = job.plan, None
        if plan is None:
            is_pane = job.kind == "message" and job.body["is_direct"] and job.body["thread_ts"]
            if is_pane and not job.is_posting and not job.reply:
                status = self._replier.wordings.nearest(locale or "en").slack["status"]
                stream = Stream(job, client, self._inbox, self._aside, status)
                await stream.open()
            plan = await self._replier.plan(job, locale, stream)
            await self._aside(self._inbox.keep_plan, job, plan)
        if stream is not None:
            job = replace(job, reply=stream.reply, is_posting=stream.is_unsure)
        kept = plan.get("answer")
        following = []
        if self._channel and kept and answer_of(kept).handover:
            following = [handover_of(job, {"answer": kept, "question": plan["question"]}, self._channel)]
        await self._delivery.deliver(job, client, plan, following)

    async def _report(self, job: Job) -> None:
        """Tells the asker that it failed, where the job is a question."""
        client = await self.workspaces.client(job.body["enterprise"], job.body["team"])
        if client is None or job.kind in ("opening", "delete", "handover"):
            await self._delivery.finish(job, "failed")
            return
        text = clean(job.body["text"], job.body["bot"])
        locale = await self.workspaces.locale(client, job.body["team"], job.user)
        wording = await asyncio.to_thread(self._replier.wording_of, text, locale)
        failed = {"message": notice(wording.slack["not_posted"]), "outcome": "failed"}
        await self._delivery.deliver(job, client, failed)
