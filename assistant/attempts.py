"""Tokens that are tried out: a few wrong ones lock a client out for a while, many from everywhere slow all down.

In: a token, and the network it comes from. Out: its Member, or LockedOut. Never: says whether a token was nearly right,
keeps a network longer than the window, or lets a restart or a second process forget what was tried.

OWASP's Authentication Cheat Sheet asks for a threshold, a window and a duration; the figures here are ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlalchemy import Connection, delete, func, insert, select

from assistant.engine import Engine
from assistant.errors import AccessRefused, LockedOut
from assistant.members import Member, find_by_token
from assistant.tables import attempts

MOST_OF_CLIENT = 5  # wrong tokens from one network within the window; then nothing from there is looked at
WINDOW_S = 900.0
MANY = 50  # wrong tokens from all networks within the window; from then on each attempt waits
LONGEST_WAIT_S = 4.0
LOCK = 0x6661_7174  # PostgreSQL's advisory lock while an attempt is judged: any number of ours
WRONG = "this token opens nothing; see that it is whole, or ask for a new one"


class Attempts:
    """What was tried at one store; methods block and raise StoreUnavailable.

    Args:
        clock: seconds since 1970.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock

    def try_token(self, token: str, client: str) -> Member:
        """Whose token it is; attempts are judged one after another, so that many at once win nothing.

        Args:
            client: the network that the attempt comes from.

        Raises:
            LockedOut: too many from there were wrong; this one was not looked at.
            AccessRefused: it is nobody's.
        """
        with self._engine.write() as connection:
            self._engine.lock(connection, LOCK)
            self._check(connection, client)
            member = find_by_token(connection, token)
            if member is None:
                self._count(connection, client)
            else:
                connection.execute(delete(attempts).where(attempts.c.client == client))
        if member is None:
            raise AccessRefused(WRONG)
        return member

    def try_again(self, token: str, client: str) -> Member:
        """The same for a program that shows its token with every request: nothing is written while it is right."""
        with self._engine.read() as connection:
            self._check(connection, client)
            member = find_by_token(connection, token)
        return member or self.try_token(token, client)

    def check(self, client: str) -> None:
        """That the client is not locked out.

        Raises:
            LockedOut: it is.
        """
        with self._engine.read() as connection:
            self._check(connection, client)

    def fail(self, client: str) -> None:
        """Counts an attempt of another kind that failed."""
        with self._engine.write() as connection:
            self._count(connection, client)

    def wait_s(self) -> float:
        """How long an attempt is to wait now because of all that fail: seconds, growing, none in quiet times."""
        enough = int(MANY * (1 + LONGEST_WAIT_S))  # more would change nothing
        recent = select(attempts.c.id).where(attempts.c.at > self._clock() - WINDOW_S).limit(enough).subquery()
        with self._engine.read() as connection:
            failed = connection.execute(select(func.count()).select_from(recent)).scalar() or 0
        return min(LONGEST_WAIT_S, max(0, failed - MANY) / MANY)

    def expire(self) -> None:
        """Deletes what the window has left behind."""
        with self._engine.write() as connection:
            connection.execute(delete(attempts).where(attempts.c.at < self._clock() - WINDOW_S))

    def _count(self, connection: Connection, client: str) -> None:
        now = self._clock()
        connection.execute(delete(attempts).where(attempts.c.at < now - WINDOW_S))
        connection.execute(insert(attempts).values(client=client, at=now))

    def _check(self, connection: Connection, client: str) -> None:
        now = self._clock()
        own = (attempts.c.client == client) & (attempts.c.at > now - WINDOW_S)
        query = select(attempts.c.at).where(own).order_by(attempts.c.at.desc()).limit(MOST_OF_CLIENT)
        recent = list(connection.execute(query).scalars())
        if len(recent) == MOST_OF_CLIENT:
            raise LockedOut(recent[-1] + WINDOW_S - now)
