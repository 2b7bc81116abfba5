"""Where letters are kept: every version, who changed it, how it ended; entries that were proposed.

In: Letters, whose messages are masked, with who saves them. Out: Kept, lists. Never: lets one agent overwrite what
another has saved, changes a letter that was sent, or keeps one longer than conversations are.

All methods block and raise StoreUnavailable. What one agent saves within SAME_S of the last time replaces that version,
so that saving as one types leaves a history that can be read.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row, Select, delete, func, select, update

from assistant.errors import InputError, Outdated
from assistant.letter import Letter, edited, from_json, to_json
from assistant.mask import mask
from assistant.store import Store
from assistant.tables import answers, drafts, handovers, proposals, versions

SAME_S = 300.0
MOST_VERSIONS = 200  # of one draft; the oldest but the first go
EXCERPT = 160  # characters of a message, in lists
LONGEST_ASKED = 20_000  # characters of a conversation that are drafted for
What = Literal["written", "edited", "regenerated", "sent", "rejected"]
State = Literal["open", "sent", "rejected"]
Ended = Literal["", "unedited", "edited", "rejected"]


@dataclass(frozen=True, slots=True)
class Slip:
    """A draft without its letter; see tables.drafts. `share` is the edit distance by the longer text, 0..1."""

    id: str
    conversation_id: str
    version: int
    state: State
    outcome: Ended
    distance: int
    share: float
    language: str
    agent_language: str
    excerpt: str
    questions: int
    open_gaps: int
    changed_by: str
    changed_at: float


@dataclass(frozen=True, slots=True)
class Kept:
    """One version of a draft: `by` and `at` are of that version."""

    slip: Slip
    version: int
    what: What
    by: str
    at: float
    letter: Letter


@dataclass(frozen=True, slots=True)
class HandedOver:
    """A conversation that waits for a person; `message` is what was asked when it was handed over, `draft_id` "" where
    nobody has begun a reply."""

    conversation_id: str
    reason: str
    at: float
    language: str
    message: str
    draft_id: str


@dataclass(frozen=True, slots=True)
class Proposed:
    """An answer that somebody wants to be in the articles."""

    id: str
    draft_id: str
    language: str
    question: str
    answer: str
    anchor: str
    by: str
    at: float


class Cabinet:
    """The letters of one store; safe to share between threads, and the database between processes."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store, self._engine, self._clock = store, store.engine, clock

    def add(self, letter: Letter, by: str, agent_language: str, conversation_id: str = "") -> Kept:
        """Keeps a new letter as version 1."""
        name, now = uuid.uuid4().hex, self._clock()
        row = {"id": name, "conversation_id": conversation_id or None, "version": 1, "state": "open", "outcome": "",
               "language": letter.language, "agent_language": agent_language, "created": now}  # fmt: skip
        row |= {"excerpt": " ".join(letter.message.split())[:EXCERPT]} | _changes(letter, by, now)
        with self._engine.write() as connection:
            connection.execute(drafts.insert().values(row))
            self._write_version(connection, name, 1, "written", by, now, letter)
        return self._must(name)

    def get(self, name: str, version: int = 0) -> Kept | None:
        """A draft as it stands, or as it stood; None where there is none, or no longer."""
        place = versions.c.version == (version or drafts.c.version)
        query = select(drafts, versions).join(versions, (versions.c.draft_id == drafts.c.id) & place)
        with self._engine.read() as connection:
            row = connection.execute(query.where(drafts.c.id == name, self._is_fresh())).first()
        return _kept(row) if row else None

    def save(self, name: str, version: int, letter: Letter, by: str, what: What, ended: Ended = "") -> Kept:
        """Keeps a letter as the next version.

        Args:
            version: the one that was changed.
            ended: how it ended, with `sent` and `rejected`.

        Raises:
            Outdated: somebody has saved another version since.
            InputError: the draft was sent or rejected, or is gone.
        """
        now = self._clock()
        state = what if what in ("sent", "rejected") else "open"
        values = {"version": version + 1, "state": state, "outcome": ended} | _changes(letter, by, now)
        own = (drafts.c.id == name) & (drafts.c.version == version) & (drafts.c.state == "open") & self._is_fresh()
        with self._engine.write() as connection:
            if not connection.execute(update(drafts).where(own).values(values)).rowcount:
                row = connection.execute(select(drafts).where(drafts.c.id == name, self._is_fresh())).first()
                raise _refusal(row, version)
            if what == "edited":
                same = (versions.c.version == version) & (versions.c.at >= now - SAME_S)
                own_last = (versions.c.draft_id == name) & (versions.c.changed_by == by) & (versions.c.what == "edited")
                connection.execute(delete(versions).where(same, own_last))
            self._write_version(connection, name, version + 1, what, by, now, letter)
            self._drop_oldest(connection, name)
        return self._must(name)

    def slips(self, state: str = "", limit: int = 100) -> list[Slip]:
        """The drafts, the last changed first."""
        query = select(drafts).where(self._is_fresh()).order_by(drafts.c.touched.desc()).limit(limit)
        with self._engine.read() as connection:
            rows = connection.execute(query.where(drafts.c.state == state) if state else query).all()
        return [_slip(row) for row in rows]

    def history(self, name: str) -> list[Kept]:
        """All versions of a draft that are kept, the newest first."""
        query = select(drafts, versions).join(versions, versions.c.draft_id == drafts.c.id)
        ordered = query.where(drafts.c.id == name, self._is_fresh()).order_by(versions.c.version.desc())
        with self._engine.read() as connection:
            return [_kept(row) for row in connection.execute(ordered)]

    def handed_over(self, limit: int = 100) -> list[HandedOver]:
        """Conversations in which a person was asked for or told, the newest first, each once."""
        since = self._clock() - self._store.retention_s
        told = select(handovers).where(handovers.c.at >= since).order_by(handovers.c.at.desc()).limit(limit)
        said = select(answers).where(answers.c.outcome == "handover", answers.c.at >= since)
        with self._engine.read() as connection:
            rows = [
                (row.conversation_id, row.reason, row.at, row.body.get("language", ""), row.body.get("question", ""))
                for row in connection.execute(told)
            ]
            rows += [
                (row.conversation_id, "asked", row.at, row.language, row.question)
                for row in connection.execute(said.order_by(answers.c.at.desc()).limit(limit))
            ]
            names = [row[0] for row in rows]
            begun = connection.execute(_begun(names)).all()
        drafted = {row.conversation_id: row.id for row in begun}
        newest = {row[0]: row for row in sorted(rows, key=lambda row: row[2])}
        found = [HandedOver(*row, drafted.get(row[0], "")) for row in newest.values()]
        return sorted(found, key=lambda one: -one.at)[:limit]

    def asked_in(self, conversation_id: str) -> str:
        """What a conversation's visitor wrote, the oldest first, masked; "" where there is no such conversation."""
        self._store.flush(1.0)
        said = [record.question for record in reversed(self._store.records(conversation_id=conversation_id, limit=50))]
        if not said:
            told = select(handovers).where(handovers.c.conversation_id == conversation_id).order_by(handovers.c.at)
            with self._engine.read() as connection:
                said = [str(row.body.get("question", "")) for row in connection.execute(told)]
        return "\n".join(said)[-LONGEST_ASKED:].strip()

    def propose(self, name: str, language: str, question: str, answer: str, by: str) -> Proposed:
        """Keeps an answer as a proposed entry, masked."""
        proposal = uuid.uuid4().hex
        row = {
            "id": proposal, "draft_id": name, "language": language, "question": mask(question), "answer": mask(answer),
            "anchor": f"faq-{proposal[:8]}", "proposed_by": by, "at": self._clock(),
        }  # fmt: skip
        with self._engine.write() as connection:
            connection.execute(proposals.insert().values(row))
        return self.proposals(proposal)[0]

    def proposals(self, name: str = "", limit: int = 100) -> list[Proposed]:
        """Proposed entries, the newest first; the one of an id alone."""
        query = select(proposals).join(drafts, drafts.c.id == proposals.c.draft_id).where(self._is_fresh())
        query = query.where(proposals.c.id == name) if name else query
        with self._engine.read() as connection:
            rows = connection.execute(query.order_by(proposals.c.at.desc()).limit(limit)).all()
        return [Proposed(*row) for row in rows]

    def _is_fresh(self) -> Any:
        return drafts.c.touched >= self._clock() - self._store.retention_s

    def _must(self, name: str) -> Kept:
        kept = self.get(name)
        if kept is None:
            raise InputError("the draft has just been deleted; write a new one")
        return kept

    def _write_version(
        self, connection: Connection, name: str, version: int, what: What, by: str, at: float, letter: Letter
    ) -> None:
        row = {"draft_id": name, "version": version, "what": what, "changed_by": by, "at": at}
        connection.execute(versions.insert().values(**row, letter=to_json(letter)))

    def _drop_oldest(self, connection: Connection, name: str) -> None:
        count = connection.execute(select(func.count()).where(versions.c.draft_id == name)).scalar() or 0
        if count > MOST_VERSIONS:
            second = select(func.min(versions.c.version)).where(versions.c.draft_id == name, versions.c.version > 1)
            oldest = connection.execute(second).scalar()
            connection.execute(delete(versions).where(versions.c.draft_id == name, versions.c.version == oldest))


def _begun(conversations: list[str]) -> Select[Any]:
    return select(drafts.c.conversation_id, drafts.c.id).where(drafts.c.conversation_id.in_(conversations))


def _changes(letter: Letter, by: str, now: float) -> dict[str, Any]:
    distance, share = edited(letter)
    return {
        "distance": distance, "share": share, "questions": len(letter.asks), "open_gaps": letter.open_gaps,
        "touched": now, "changed_by": by,
    }  # fmt: skip


def _refusal(row: Row[Any] | None, version: int) -> Exception:
    if row is None:
        return InputError("there is no such draft; it may have expired")
    if row.version != version:
        return Outdated(row.changed_by, row.touched)
    return InputError(f"the draft is {row.state} and can't be changed; write a new one")


def _slip(row: Row[Any]) -> Slip:
    return Slip(
        row.id, row.conversation_id or "", row.version, row.state, row.outcome, row.distance, row.share, row.language,
        row.agent_language, row.excerpt, row.questions, row.open_gaps, row.changed_by, row.touched,
    )  # fmt: skip


def _kept(row: Row[Any]) -> Kept:
    own = row._mapping
    return Kept(
        _slip(row), own[versions.c.version], row.what, own[versions.c.changed_by], row.at, from_json(row.letter)
    )
