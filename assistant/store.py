"""What is remembered: conversations, answers and why they were given, feedback, events that were dealt with.

In: messages with their Answers, feedback, event ids. Out: a conversation's history, whether an event is new.
Never: keeps an e-mail address, telephone or card number or key that a visitor wrote, or makes a reply wait for a disk.

For other parts of the assistant (all methods block: call them in a thread; all raise StoreUnavailable):

    history(conversation_id)                  the last turns, the oldest first; replies carry outcome and options
    remember(message, answer, channel)        returns at once; a thread writes, and tries again where that fails
    add_feedback(answer_id, client, value)    idempotent by answer and client: the last value counts
    claim(source, event_id) / finish(…)       an event is claimed by one process; unfinished, it can be again
    records(since)                            answers with what was found and why, and their feedback
    forget(conversation_id), expire()         all of a conversation goes: answers, feedback, drafts, Slack's jobs
"""

from __future__ import annotations

import logging
import threading
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row, delete, select, update
from sqlalchemy.exc import DataError, IntegrityError

from assistant.attention import forget_thread
from assistant.engine import MEMORY, Engine
from assistant.errors import StoreUnavailable
from assistant.mask import mask
from assistant.records import Answer, Trace, Turn
from assistant.tables import answers, citings, conversations, drafts, events, feedback

__all__ = ["MEMORY", "Channel", "Record", "Store", "Value"]
EXCHANGES = 6  # of a conversation, given back as history
WAITING = 10_000  # replies not yet written; beyond that the disk is broken and the oldest goes, which is logged
FIRST_DELAY_S, LONGEST_DELAY_S = 0.5, 30.0
EXPIRY_EVERY_S = 3600
EVENT_DAYS = 7  # no sender repeats an event for longer
DAY_S = 86_400
STEPS_MS = tuple(base * 10**power for power in range(5) for base in (1, 1.5, 2, 3, 5, 7))  # latencies are counted so
Value = Literal["up", "down"]
Channel = Literal["widget", "slack", "staff", "api"]
Waiting = tuple[str, Answer, Channel, float]  # message, its reply, where and when it was asked
log = logging.getLogger("assistant.store")


@dataclass(frozen=True, slots=True)
class Record:
    """One answer as it was kept; `feedback` is (value, comment) of each client."""

    answer_id: str
    conversation_id: str
    at: float
    question: str
    said: str
    language: str
    intent: str
    outcome: str
    confidence: float
    searched: tuple[str, ...]
    found: tuple[tuple[str, float], ...]
    cited: tuple[str, ...]
    signals: dict[str, float]
    feedback: tuple[tuple[str, str], ...]


class Store:
    """One database of conversations; safe to share between threads, and the database between processes.

    Args:
        url: SQLAlchemy's form, for SQLite or PostgreSQL.
        retention_days: after its last message a conversation is forgotten so many days later.
    """

    def __init__(self, url: str, retention_days: float = 30) -> None:
        self.engine, self.retention_s = Engine(url), retention_days * DAY_S
        self._waiting: deque[Waiting] = deque()
        self._changed = threading.Condition()
        self._is_closed = False
        self._writer = threading.Thread(target=self._write_on, name="store", daemon=True)
        self._writer.start()

    def history(self, conversation_id: str) -> tuple[Turn, ...]:
        """The last EXCHANGES messages and replies, the oldest first; none of a conversation that has expired."""
        with self._changed:
            fresh = [(text, answer) for text, answer, *_ in self._waiting if answer.conversation_id == conversation_id]
        query = (
            select(answers.c.id, answers.c.question, answers.c.said, answers.c.outcome, answers.c.offered)
            .where(answers.c.conversation_id == conversation_id, answers.c.at >= time.time() - self.retention_s)
            .order_by(answers.c.at.desc())
            .limit(EXCHANGES)
        )
        with self.engine.read() as connection:
            rows = [tuple(row) for row in reversed(connection.execute(query).all())]
        known = {row[0] for row in rows}
        rows += [
            (answer.id, text, answer.text, answer.outcome, answer.suggestions)
            for text, answer in fresh
            if answer.id not in known
        ]
        return tuple(turn for row in rows[-EXCHANGES:] for turn in _turns(*row[1:]))

    def remember(self, message: str, answer: Answer, channel: Channel = "api") -> None:
        """Keeps a message with its reply, soon.

        Args:
            channel: where it was asked.
        """
        with self._changed:
            if len(self._waiting) >= WAITING:
                self._waiting.popleft()
                log.error("a reply was not recorded: %d wait for a store that can't be written", WAITING)
            self._waiting.append((message, answer, channel, time.time()))
            self._changed.notify_all()

    def flush(self, patience_s: float = 10.0) -> bool:
        """Waits until all that was remembered is written; whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting, patience_s)

    def add_feedback(self, answer_id: str, client: str, value: Value, comment: str = "") -> str | None:
        """Keeps what a client thinks of an answer; the conversation's id, or None where there is no such answer."""
        self.flush(1.0)  # the answer may have been given a moment ago
        with self.engine.write() as connection:
            query = select(answers.c.conversation_id).where(answers.c.id == answer_id)
            conversation_id = connection.execute(query).scalar()
            if conversation_id is None:
                return None
            values = {"value": value, "comment": mask(comment), "at": time.time()}
            insert = self.engine.insert(feedback).values(answer_id=answer_id, client=client, **values)
            connection.execute(insert.on_conflict_do_update(index_elements=["answer_id", "client"], set_=values))
            return str(conversation_id)

    def claim(self, source: str, event_id: str, lease_s: float = 60.0) -> bool:
        """Whether this caller is to deal with an event: it is new, or its last claim ran out unfinished."""
        now = time.time()
        values = {"leased_until": now + lease_s, "done": False, "at": now}
        insert = self.engine.insert(events).values(source=source, event_id=event_id, **values)
        claimed = insert.on_conflict_do_update(
            index_elements=["source", "event_id"],
            set_={"leased_until": now + lease_s},
            where=(events.c.done.is_(False)) & (events.c.leased_until < now),
        ).returning(events.c.event_id)
        with self.engine.write() as connection:
            return connection.execute(claimed).first() is not None

    def finish(self, source: str, event_id: str) -> None:
        """The event has been dealt with; nobody will claim it again."""
        own = (events.c.source == source) & (events.c.event_id == event_id)
        with self.engine.write() as connection:
            connection.execute(update(events).where(own).values(done=True))

    def records(self, since: float = 0.0, limit: int = 1000, conversation_id: str = "") -> list[Record]:
        """Answers given since then (seconds since 1970), the newest first, of all conversations or of one."""
        query = select(answers).where(answers.c.at >= since).order_by(answers.c.at.desc()).limit(limit)
        if conversation_id:
            query = query.where(answers.c.conversation_id == conversation_id)
        with self.engine.read() as connection:
            rows = connection.execute(query).all()
            said = connection.execute(
                select(feedback).where(feedback.c.answer_id.in_([row.id for row in rows])).order_by(feedback.c.at)
            ).all()
        return [_record(row, [(one.value, one.comment) for one in said if one.answer_id == row.id]) for row in rows]

    def forget(self, conversation_id: str) -> bool:
        """Deletes a conversation with its answers, drafts and what Slack's inbox keeps; whether there was one."""
        self.flush(1.0)
        with self.engine.write() as connection:
            was_in_slack = forget_thread(self.engine, connection, conversation_id)
            gone = connection.execute(delete(conversations).where(conversations.c.id == conversation_id))
            return was_in_slack or gone.rowcount > 0

    def expire(self) -> int:
        """Deletes conversations and drafts that are too old, and events nobody will repeat; how many of the first."""
        now = time.time()
        with self.engine.write() as connection:
            connection.execute(delete(events).where(events.c.at < now - EVENT_DAYS * DAY_S))
            connection.execute(delete(drafts).where(drafts.c.touched < now - self.retention_s))
            old = conversations.c.touched < now - self.retention_s
            return connection.execute(delete(conversations).where(old)).rowcount

    def close(self) -> None:
        """Writes what waits, then lets go of the database."""
        if not self.flush():
            log.error("%d replies were not recorded: the store can't be written", len(self._waiting))
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._writer.join(5)
        self.engine.close()

    def _write_on(self) -> None:
        """The writer's thread: all that waits in one transaction, again after a growing delay where that fails."""
        delay, expiry = FIRST_DELAY_S, 0.0
        while not self._is_closed:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_closed, EXPIRY_EVERY_S)
                batch = list(self._waiting)
            try:
                if batch:
                    self._save(batch)
                if time.monotonic() >= expiry:
                    expiry = time.monotonic() + EXPIRY_EVERY_S
                    self.expire()
                delay = FIRST_DELAY_S
            except StoreUnavailable as error:
                log.error("%d replies wait to be recorded: %s", len(batch), error)
                with self._changed:
                    self._changed.wait_for(lambda: self._is_closed, delay)
                delay = min(delay * 2, LONGEST_DELAY_S)

    def _save(self, batch: list[Waiting]) -> None:
        with self.engine.write() as connection:
            for message, answer, channel, at in batch:
                try:
                    with connection.begin_nested():
                        self._save_one(connection, message, answer, channel, at)
                except (DataError, IntegrityError) as error:  # it would hold up all that wait behind it
                    log.error("a reply was not recorded: %s", type(error).__name__)
        with self._changed:
            written = {answer.id for _, answer, *_ in batch}
            self._waiting = deque(item for item in self._waiting if item[1].id not in written)
            self._changed.notify_all()

    def _save_one(self, connection: Connection, message: str, answer: Answer, channel: Channel, at: float) -> None:
        insert = self.engine.insert(conversations).values(id=answer.conversation_id, begun=at, touched=at)
        connection.execute(insert.on_conflict_do_update(index_elements=["id"], set_={"touched": at}))
        trace, took_ms = answer.trace or Trace("question"), answer.timings_ms.get("total", 0.0)
        row = {
            "id": answer.id, "conversation_id": answer.conversation_id, "at": at, "language": answer.language,
            "question": mask(message), "outcome": answer.outcome, "intent": trace.intent,
            "said": mask(answer.text, keep="\n".join(citation.quote for citation in answer.citations)),
            "confidence": answer.confidence, "searched": [mask(text) for text in trace.searched],
            "unanswered": [[mask(text), near] for text, near in trace.unanswered], "signals": trace.signals,
            "found": [list(pair) for pair in trace.found],
            "cited": [citation.passage_id for citation in answer.citations], "offered": list(answer.suggestions),
            "channel": channel, "took_ms": took_ms, "day": int(at // DAY_S), "step": step_of(took_ms),
        }  # fmt: skip
        connection.execute(self.engine.insert(answers).values(row).on_conflict_do_nothing())
        for section in dict.fromkeys(section_of(citation.passage_id) for citation in answer.citations):
            citing = {
                "answer_id": answer.id, "section": section, "at": at, "language": answer.language, "channel": channel,
            }  # fmt: skip
            connection.execute(self.engine.insert(citings).values(citing).on_conflict_do_nothing())


def step_of(took_ms: float) -> int:
    """The step of STEPS_MS that a latency belongs to, from 1; 0 where it is not known."""
    return bisect_right(STEPS_MS, took_ms) + 1 if took_ms > 0 else 0


def section_of(passage_id: str) -> str:
    """`folder/name#anchor` of a passage's id."""
    return passage_id.rpartition(".")[0]


def _turns(question: str, said: str, outcome: Any, offered: Any) -> Iterator[Turn]:
    yield Turn("user", question)
    yield Turn("assistant", said, outcome, tuple(offered))


def _record(row: Row[Any], said: list[tuple[str, str]]) -> Record:
    return Record(
        row.id, row.conversation_id, row.at, row.question, row.said, row.language, row.intent, row.outcome,
        row.confidence, tuple(row.searched), tuple((name, score) for name, score in row.found), tuple(row.cited),
        row.signals, tuple(said),
    )  # fmt: skip
