"""The audit log of the staff desk: who did what to which thing, and when.

In: a Member, the name of an action, the id of a thing. Out: the entries, the newest first, as long as they are kept.
Never: holds a word of a message, an address or a token, or changes an entry once it is written.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import delete, insert, select

from assistant.engine import Engine
from assistant.members import Member, Role
from assistant.tables import audit

DAY_S = 86_400
ACTION = re.compile(r"[a-z]+(_[a-z]+)*(\.[a-z]+(_[a-z]+)*)?")
TARGET = re.compile(r"\S{0,128}")


@dataclass(frozen=True, slots=True)
class Deed:
    """One entry; `at` is seconds since 1970."""

    id: int
    at: float
    name: str
    role: Role
    action: str
    target: str


class Audit:
    """The log of one store; methods block and raise StoreUnavailable.

    Args:
        days: how long an entry is kept.
        clock: seconds since 1970.
    """

    def __init__(self, engine: Engine, days: float, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._kept_s, self._clock = engine, days * DAY_S, clock

    def add(self, member: Member, action: str, target: str = "") -> None:
        """Writes down that a member did something.

        Args:
            action: such as `draft.sent`.
            target: the id of what it was done to; one with white space is left out, for it may be text.
        """
        assert ACTION.fullmatch(action), action
        row = {"at": self._clock(), "name": member.name, "role": member.role, "action": action}
        kept = target if TARGET.fullmatch(target) else "?"
        with self._engine.write() as connection:
            connection.execute(insert(audit).values(**row, target=kept))

    def deeds(self, before: int = 0, limit: int = 100) -> list[Deed]:
        """The newest entries, or the newest of those before an entry's id."""
        query = select(audit).where(audit.c.at > self._clock() - self._kept_s).order_by(audit.c.id.desc()).limit(limit)
        if before:
            query = query.where(audit.c.id < before)
        with self._engine.read() as connection:
            rows = connection.execute(query).all()
        return [Deed(row.id, row.at, row.name, row.role, row.action, row.target) for row in rows]

    def expire(self) -> None:
        """Deletes what need not be kept longer."""
        with self._engine.write() as connection:
            connection.execute(delete(audit).where(audit.c.at < self._clock() - self._kept_s))
