"""The questions that come from Slack, kept until each has had its one reply; several processes share them.

In: jobs as they are delivered, as often as they are. Out: jobs to work on, each thread's in order, each for one process
at a time, again where a process dies over one. Never: keeps what was written once it is dealt with, or talks to Slack.

All methods block: call them in a thread. All raise StoreUnavailable.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from sqlalchemy import Connection, and_, delete, exists, func, or_, select, update

from assistant.attention import LOCK, Fate, Job, change_target, is_wanted, job_of, join
from assistant.store import EXCHANGES, Store
from assistant.tables import jobs, threads

LEASE_S = 30.0  # after so long without a sign of life, a process has died over its jobs; a call ends well before
HELD_S = 900.0  # Slack delivers again for some five minutes: so late a mention may come that a reply belongs to
PLANS_S, JOBS_S = 86_400.0, 7 * 86_400.0  # how long a reply can be shared or passed on, and a question edited

Permission = Literal["go", "lost", "silent", "wait"]


class Inbox:
    """Jobs in the store's database.

    Args:
        owner: names this process.
    """

    def __init__(self, store: Store, owner: str) -> None:
        self.engine, self.owner, self._retention_s = store.engine, owner, store.retention_s
        self.lease_s = LEASE_S
        self._turn = threading.Lock()  # SQLite lets waiting writers in by chance: of one process, only one waits

    def record(self, job: Job) -> Fate:
        """Keeps a job, once; what needs a joined thread only where there is one, or may be soon."""
        with self._write() as connection:
            self.engine.lock(connection, LOCK)
            if job.target and (fate := change_target(connection, job)):
                return fate
            state = "waiting"
            if job.needs == "join":
                join(self.engine, connection, job)
            elif job.needs == "joined":
                thread = connection.execute(select(threads).where(threads.c.id == job.thread)).first()
                state = "held" if thread is None else "waiting"
                if job.target if thread is None else not is_wanted(connection, job, thread):
                    return "silent"
            is_new = self._insert(connection, job, state)
        return "known" if not is_new else "held" if state == "held" else "new"

    def take(self, limit: int) -> list[Job]:
        """At most `limit` jobs that are due, the first of their threads, leased to this process."""
        now = time.time()
        own = jobs.alias("own")
        before = or_(jobs.c.position < own.c.position, and_(jobs.c.position == own.c.position, jobs.c.id < own.c.id))
        blocked = exists().where(
            jobs.c.thread == own.c.thread,
            jobs.c.state == "waiting",
            jobs.c.id != own.c.id,
            or_(before, jobs.c.leased_until > now),
        )
        due = (own.c.state == "waiting") & (own.c.due <= now) & (own.c.leased_until <= now)
        query = select(own).where(due, ~blocked).order_by(own.c.at, own.c.id).limit(limit)
        with self.engine.read() as connection:  # most looks find nothing, and nobody need wait for those
            if connection.execute(query).first() is None:
                return []
        with self._write() as connection:
            self.engine.lock(connection, LOCK)
            rows = connection.execute(query).all()
            names = [row.id for row in rows]
            lease = {"owner": self.owner, "leased_until": now + self.lease_s}
            connection.execute(update(jobs).where(jobs.c.id.in_(names)).values(lease))
            targets = [row.body["target"] for row in rows if row.body.get("target")]
            replies = connection.execute(select(jobs.c.id, jobs.c.reply).where(jobs.c.id.in_(targets))).all()
        known = {row.id: row.reply for row in replies}
        return [job_of(row, known.get(row.body.get("target", ""), "")) for row in rows]

    def renew(self, names: Collection[str]) -> None:
        """Says that this process still works on these."""
        with self._write() as connection:
            mine = jobs.c.id.in_(names) & (jobs.c.owner == self.owner)
            connection.execute(update(jobs).where(mine).values(leased_until=time.time() + self.lease_s))

    def keep_plan(self, job: Job, plan: dict[str, Any]) -> None:
        """Keeps the reply before it is posted, so that a post that is tried again says the same."""
        with self._write() as connection:
            connection.execute(update(jobs).where(self._mine(job)).values(plan=plan))

    def begin_post(self, job: Job) -> Permission:
        """Whether the reply may be posted now; from here until `finish` or `again` its fate is unknown.

        `wait`: an earlier message of the thread was delivered meanwhile, and goes first.
        """
        earlier = (jobs.c.thread == job.thread) & (jobs.c.state == "waiting") & (jobs.c.position < job.position)
        with self._write() as connection:
            self.engine.lock(connection, LOCK)
            if job.needs == "joined":
                thread = connection.execute(select(threads).where(threads.c.id == job.thread)).first()
                if thread is None or thread.answered_by_person > thread.addressed:
                    return "silent"
            if connection.execute(select(jobs.c.id).where(earlier).limit(1)).first() is not None:
                return "wait"
            values = {"is_posting": True, "leased_until": time.time() + self.lease_s}
            begun = connection.execute(update(jobs).where(self._mine(job)).values(values))
        return "go" if begun.rowcount else "lost"

    def note_reply(self, job: Job, reply: str) -> None:
        """A first part of the reply is there, and named so."""
        with self._write() as connection:
            connection.execute(update(jobs).where(self._mine(job)).values(reply=reply))

    def finish(
        self,
        job: Job,
        reply: str = "",
        answer_id: str = "",
        kept: dict[str, Any] | None = None,
        following: Sequence[Job] = (),
    ) -> None:
        """The job has had its outcome; what was written is forgotten, and what follows from it is kept instead.

        Args:
            answer_id, kept: what later clicks need to know of the reply, found again by the Answer's id.
        """
        values: dict[str, Any] = {
            "state": "done", "body": {}, "is_posting": False, "reply": reply, "leased_until": 0.0, "plan": kept,
            "answer_id": answer_id,
        }  # fmt: skip
        with self._write() as connection:
            if connection.execute(update(jobs).where(self._mine(job)).values(values)).rowcount:
                if job.target and reply:
                    connection.execute(update(jobs).where(jobs.c.id == job.target).values(reply=reply))
                for follower in following:
                    self._insert(connection, follower, "waiting")

    def again(self, job: Job, delay_s: float, counts: bool = True, is_posting: bool = False) -> None:
        """The job is to be tried again later, by whichever process is free.

        Args:
            counts: whether this was an attempt that failed.
            is_posting: whether a post may have arrived.
        """
        values = {
            "due": time.time() + delay_s, "leased_until": 0.0, "is_posting": is_posting,
            "attempts": job.attempts + counts,
        }  # fmt: skip
        with self._write() as connection:
            connection.execute(update(jobs).where(self._mine(job)).values(values))

    def kept_of(self, answer_id: str) -> dict[str, Any] | None:
        """What was kept of a reply."""
        with self.engine.read() as connection:
            kept = select(jobs.c.plan).where(jobs.c.answer_id == answer_id, jobs.c.plan.is_not(None))
            plan: dict[str, Any] | None = connection.execute(kept).scalar()
        return plan

    def last_kept_in(self, thread: str) -> dict[str, Any] | None:
        """What was kept of the last reply in a thread that rests on the articles."""
        query = select(jobs.c.plan).where(jobs.c.thread == thread, jobs.c.state == "done", jobs.c.plan.is_not(None))
        with self.engine.read() as connection:
            plans = connection.execute(query.order_by(jobs.c.position.desc()).limit(EXCHANGES)).scalars().all()
        return next((plan for plan in plans if plan["answer"]["citations"]), None)

    def replies_in(self, thread: str) -> set[str]:
        """The time stamps of the replies known in a thread."""
        with self.engine.read() as connection:
            query = select(jobs.c.reply).where(jobs.c.thread == thread, jobs.c.reply != "")
            return set(connection.execute(query).scalars())

    def waiting(self) -> int:
        """How many jobs are not dealt with."""
        with self.engine.read() as connection:
            return connection.execute(select(func.count()).where(jobs.c.state == "waiting")).scalar() or 0

    def expire(self) -> None:
        """Forgets what nobody can ask for any more."""
        now = time.time()
        with self._write() as connection:
            connection.execute(delete(jobs).where(jobs.c.state == "held", jobs.c.at < now - HELD_S))
            connection.execute(delete(jobs).where(jobs.c.at < now - JOBS_S))
            kept_s = min(PLANS_S, self._retention_s)
            old = (jobs.c.state == "done") & (jobs.c.at < now - kept_s) & jobs.c.plan.is_not(None)
            connection.execute(update(jobs).where(old).values(plan=None))
            connection.execute(delete(threads).where(threads.c.touched < now - self._retention_s))

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with self._turn, self.engine.write() as connection:
            yield connection

    def _insert(self, connection: Connection, job: Job, state: str) -> bool:
        row = {
            "id": job.id, "kind": job.kind, "thread": job.thread, "position": job.position, "needs": job.needs,
            "body": {**job.body, "user": job.user, "target": job.target}, "state": state, "is_posting": False,
            "reply": "", "answer_id": "", "attempts": 0, "due": 0.0, "owner": "", "leased_until": 0.0,
            "at": time.time(),
        }  # fmt: skip
        insert = self.engine.insert(jobs).values(row).on_conflict_do_nothing().returning(jobs.c.id)
        return connection.execute(insert).first() is not None

    def _mine(self, job: Job) -> Any:
        return (jobs.c.id == job.id) & (jobs.c.owner == self.owner) & (jobs.c.state == "waiting")
