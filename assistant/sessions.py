"""Signed-in browsers: a random secret in a cookie there, its hash and two times here.

In: a Member, then the cookie's secret with each request. Out: the Member again, until signed out, revoked or too old.
Never: takes a session id from a browser, or keeps one that a thief of the database could use.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

from sqlalchemy import delete, insert, select, update

from assistant.engine import Engine
from assistant.members import Member, hash_secret, read_member
from assistant.tables import members, sessions

SECRET_BYTES = 32
TOUCH_EVERY_S = 60.0  # a request only writes when the last that did is so old


class Sessions:
    """The sessions of one store; methods block and raise StoreUnavailable.

    Args:
        idle_s: a session ends when it was not used for so long.
        longest_s: and so long after it began in any case.
        clock: seconds since 1970.
    """

    def __init__(self, engine: Engine, idle_s: float, longest_s: float, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._idle_s, self.longest_s, self._clock = engine, idle_s, longest_s, clock

    def begin(self, member: Member, replaced: str = "") -> str:
        """The secret of a new session; the one it replaces ends."""
        secret, now = secrets.token_urlsafe(SECRET_BYTES), self._clock()
        with self._engine.write() as connection:
            connection.execute(delete(sessions).where(sessions.c.id_hash == hash_secret(replaced)))
            row = {"id_hash": hash_secret(secret), "member_id": member.id, "begun": now, "seen": now}
            connection.execute(insert(sessions).values(row))
        return secret

    def member(self, secret: str) -> Member | None:
        """Whose session it is; None for one that is forged or has ended. Being asked keeps it alive."""
        own, now = sessions.c.id_hash == hash_secret(secret), self._clock()
        query = (
            select(members, sessions.c.seen)
            .join(sessions, sessions.c.member_id == members.c.id)
            .where(own, members.c.revoked.is_(None))
            .where(sessions.c.seen > now - self._idle_s, sessions.c.begun > now - self.longest_s)
        )
        with self._engine.read() as connection:
            row = connection.execute(query).first()
        if row is None:
            return None
        if row.seen < now - min(TOUCH_EVERY_S, self._idle_s / 4):
            with self._engine.write() as connection:
                connection.execute(update(sessions).where(own).values(seen=now))
        return read_member(row)

    def end(self, secret: str) -> None:
        """The session is over."""
        with self._engine.write() as connection:
            connection.execute(delete(sessions).where(sessions.c.id_hash == hash_secret(secret)))

    def expire(self) -> None:
        """Deletes what has ended by itself."""
        now = self._clock()
        old = (sessions.c.seen < now - self._idle_s) | (sessions.c.begun < now - self.longest_s)
        with self._engine.write() as connection:
            connection.execute(delete(sessions).where(old))


def request_token(secret: str) -> str:
    """What a page of the session sends with every change; another site's page can't know it.

    It is derived from the cookie's secret, which scripts can't read, and says nothing about it.
    """
    return hmac.new(secret.encode("utf-8", "replace"), b"request token", hashlib.sha256).hexdigest()
