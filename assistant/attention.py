"""Which of the things that Slack delivers are for the assistant: mentions, threads that it joined, edits, deletions.

In: a job, and the connection in whose transaction it is kept. Out: whether it is to be dealt with; what changes; what
a conversation that is forgotten takes along.
Never: opens a transaction, or lets the assistant talk over a person who took a thread on.

A job `needs` one of:
    ""        nothing: a direct message, a command, a click
    "join"    nothing, and it makes the assistant join the thread: it was mentioned
    "joined"  that the assistant joined the thread and nobody but its asker wrote there since
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Connection, Row, delete, or_, select, union, update

from assistant.engine import Engine
from assistant.tables import jobs, threads

LOCK = 0x736C_6B69  # PostgreSQL's advisory lock: any number of ours
SLACK = "slack-"  # how the ids of Slack's conversations begin

Needs = Literal["", "join", "joined"]
Fate = Literal["new", "known", "held", "silent", "changed"]


@dataclass(frozen=True, slots=True)
class Job:
    """Something to answer or to do.

    Args:
        id: the same however often it is delivered.
        kind: what is to be done; the worker knows.
        position: its place in the thread, as Slack's time stamps, which sort as texts.
        target: of an edit or a deletion, the id of the job it concerns; else "".
        reply: the time stamp of the target's reply, or of its own; "" where there is none.
        is_posting: a post was begun, and it is not known whether it arrived.
    """

    id: str
    kind: str
    thread: str
    position: str
    user: str
    body: dict[str, Any] = field(repr=False)
    needs: Needs = ""
    target: str = ""
    plan: dict[str, Any] | None = field(default=None, repr=False)
    reply: str = ""
    attempts: int = 0
    is_posting: bool = False


def conversation_of(thread: str) -> str:
    """The conversation's id: the thread's, or the direct channel's; nobody who is not there can guess it."""
    return SLACK + hashlib.sha256(thread.encode()).hexdigest()[:40]


def forget_thread(engine: Engine, connection: Connection, conversation_id: str) -> bool:
    """Drops what was written in a conversation, its replies and who asked; what is not yet posted never will be.

    The jobs' rows stay, without a word, until they expire: what Slack delivers again is not answered again. The thread
    is left: what is written there next is for the assistant only if it mentions it.
    """
    if not conversation_id.startswith(SLACK):
        return False
    engine.lock(connection, LOCK)
    known = connection.execute(union(select(jobs.c.thread), select(threads.c.id))).scalars()
    own = [name for name in known if conversation_of(name) == conversation_id]
    told = select(jobs.c.id, jobs.c.body).where(jobs.c.kind == "handover", jobs.c.state != "done")
    passed_on = [row.id for row in connection.execute(told) if row.body.get("from_thread") in own]
    is_kept = or_(jobs.c.state != "done", jobs.c.plan.is_not(None))
    written = or_(jobs.c.thread.in_(own), jobs.c.id.in_(passed_on)) & is_kept
    empty: dict[str, Any] = {
        "state": "done",
        "body": {},
        "plan": None,
        "answer_id": "",
        "is_posting": False,
        "leased_until": 0.0,
    }
    dropped = connection.execute(update(jobs).where(written).values(empty)).rowcount
    left = connection.execute(delete(threads).where(threads.c.id.in_(own))).rowcount
    return dropped + left > 0


def join(engine: Engine, connection: Connection, job: Job) -> None:
    """Joins the thread, and takes up what its asker and others wrote there, had it been delivered earlier."""
    values = {"asker": job.user, "addressed": job.position, "touched": time.time()}
    insert = engine.insert(threads).values(id=job.thread, answered_by_person="", **values)
    newer = threads.c.addressed < job.position
    connection.execute(insert.on_conflict_do_update(index_elements=["id"], set_=values, where=newer))
    thread = connection.execute(select(threads).where(threads.c.id == job.thread)).one()
    held = (jobs.c.thread == job.thread) & (jobs.c.state == "held")
    for row in connection.execute(select(jobs).where(held).order_by(jobs.c.position)).all():
        is_meant = row.position > job.position and is_wanted(connection, job_of(row), thread)
        state = {"state": "waiting"} if is_meant else {"state": "done", "body": {}}
        connection.execute(update(jobs).where(jobs.c.id == row.id).values(state))
        thread = connection.execute(select(threads).where(threads.c.id == job.thread)).one()


def is_wanted(connection: Connection, job: Job, thread: Row[Any]) -> bool:
    """Whether an unasked message in a joined thread is for the assistant; another person's makes it silent."""
    if job.user != thread.asker and not job.target:
        if job.position > thread.answered_by_person:
            change = {"answered_by_person": job.position, "touched": time.time()}
            connection.execute(update(threads).where(threads.c.id == job.thread).values(change))
        return False
    return bool(job.user == thread.asker and thread.answered_by_person <= thread.addressed)


def change_target(connection: Connection, job: Job) -> Fate | None:
    """An edit or a deletion changes what has not begun to be answered; None where it is to be worked on."""
    target = connection.execute(select(jobs).where(jobs.c.id == job.target)).first()
    if job.kind == "delete":
        if target is None:
            return "silent"
        if target.state == "done" or target.is_posting:
            return None if target.reply or target.is_posting else "silent"
        gone: dict[str, Any] = {"state": "done", "body": {}, "plan": None, "leased_until": 0.0}
        connection.execute(update(jobs).where(jobs.c.id == job.target).values(gone))
        return None if target.reply else "changed"
    is_fresh = target is not None and target.state in ("waiting", "held") and target.attempts == 0
    if target is None or not is_fresh or target.plan or target.leased_until > time.time():
        return None
    body = {**target.body, **job.body}
    connection.execute(update(jobs).where(jobs.c.id == job.target).values(body=body))
    return "changed"


def job_of(row: Row[Any], reply: str = "") -> Job:
    """The job that a row of the table holds; `reply` where it has none of its own."""
    body = dict(row.body)
    user, target = body.pop("user", ""), body.pop("target", "")
    return Job(
        row.id, row.kind, row.thread, row.position, user, body, row.needs, target, row.plan, row.reply or reply,
        row.attempts, row.is_posting,
    )  # fmt: skip
