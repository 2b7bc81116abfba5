"""Takes jobs from the inbox and sees each through, many at once, one of a thread at a time.

In: the inbox, and a function that does one job. Out: jobs done, put off, or given up with a line in the log.
Never: holds up the event loop, keeps a job that this process can't finish, or loses one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from assistant.attention import Job
from assistant.errors import StoreUnavailable
from assistant.inbox import Inbox
from assistant.surfaces.guard import log_failure
from assistant.surfaces.slack.aside import Aside
from assistant.surfaces.slack.counts import Counts
from assistant.surfaces.slack.delivery import Postponed, backoff_s
from assistant.surfaces.slack.posting import Limited, Refused, Unsure

POLL_S = 1.0  # how soon what another process left, or what is due, is noticed
EXPIRE_S = 600.0
ATTEMPTS = 6  # half a minute of failures; then the asker is told
REPORTS = 6  # so often that is tried
log = logging.getLogger("assistant.slack")


class Worker:
    """The jobs in work in one process.

    Args:
        work: does a job and finishes it, or raises Postponed, Limited, Refused or Unsure.
        report: tells the asker that it failed, and finishes it.
        limit: so many at once.
    """

    def __init__(
        self,
        inbox: Inbox,
        aside: Aside,
        work: Callable[[Job], Awaitable[None]],
        report: Callable[[Job], Awaitable[None]],
        counts: Counts,
        limit: int,
    ) -> None:
        self._inbox, self._aside, self._counts, self._limit = inbox, aside, counts, limit
        self._work, self._report = work, report
        self._wake = asyncio.Event()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def wake(self) -> None:
        """There may be something to do."""
        self._wake.set()

    async def run(self) -> None:
        """Works until it is cancelled; what is in work then is left to others at once."""
        renewing = asyncio.create_task(self._renew())
        try:
            while True:
                self._wake.clear()
                taken = await self._take(self._limit - len(self._tasks))
                for job in taken:
                    self._tasks[job.id] = asyncio.create_task(self._see_through(job))
                if not taken:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(POLL_S):  # not wait_for, which can swallow a cancellation
                            await self._wake.wait()
        finally:
            renewing.cancel()
            tasks = list(self._tasks.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _take(self, free: int) -> list[Job]:
        if free <= 0:
            return []
        try:
            return await self._aside(self._inbox.take, free)
        except StoreUnavailable as error:
            log.error("Slack's questions wait: %s", error)
            return []

    async def _see_through(self, job: Job) -> None:
        try:
            await self._attempt(job)
        except StoreUnavailable as error:  # its lease runs out, and somebody takes it up
            log.error("a question from Slack waits: %s", error)
        except asyncio.CancelledError:
            with suppress(StoreUnavailable):
                await asyncio.shield(self._aside(self._inbox.again, job, 0.0, False, True))
            raise
        finally:
            self._tasks.pop(job.id, None)
            self._wake.set()

    async def _attempt(self, job: Job) -> None:
        is_last = job.attempts >= ATTEMPTS
        try:
            if job.attempts >= ATTEMPTS + REPORTS:
                await self._give_up(job, "too many attempts")
            elif is_last:
                await self._report(job)
            else:
                await self._work(job)
        except Postponed as postponed:
            await self._put_off(job, str(postponed), postponed.delay_s, postponed.counts, postponed.is_posting)
        except Limited as limited:
            await self._put_off(job, "rate limit", limited.delay_s, False, job.is_posting)
        except Unsure as unsure:
            await self._put_off(job, str(unsure), backoff_s(job.attempts), True, job.is_posting)
        except Refused as refused:
            await self._give_up(job, refused.code)
        except StoreUnavailable:
            raise
        except Exception as error:
            log_failure(error)
            await self._put_off(job, type(error).__name__, backoff_s(job.attempts), True, True)

    async def _put_off(self, job: Job, reason: str, delay_s: float, counts: bool, is_posting: bool) -> None:
        self._counts.again.labels("rate limit" if reason == "rate limit" else "failure").inc()
        log.warning("a question from Slack is tried again in %.1f s: %s", delay_s, reason)
        await self._aside(self._inbox.again, job, delay_s, counts, is_posting)
        asyncio.get_running_loop().call_later(delay_s, self.wake)

    async def _give_up(self, job: Job, reason: str) -> None:
        """Nothing can be said in that place, not even that it failed."""
        self._counts.done.labels("failed").inc()
        log.error("a question from Slack stays without a reply (%s): Slack refuses %s", job.kind, reason)
        await self._aside(self._inbox.finish, job)

    async def _renew(self) -> None:
        expire_in, every_s = 0.0, self._inbox.lease_s / 3
        while True:
            try:
                if names := list(self._tasks):
                    await self._aside(self._inbox.renew, names)
                self._counts.waiting.set(await self._aside(self._inbox.waiting))
                if expire_in <= 0:
                    await self._aside(self._inbox.expire)
                    expire_in = EXPIRE_S
            except StoreUnavailable as error:
                log.error("Slack's questions can't be kept in hand: %s", error)
            await asyncio.sleep(every_s)
            expire_in -= every_s
