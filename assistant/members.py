"""Who works at the staff desk: invited with a token or known from an OpenID provider, until revoked.

In: names, roles, tokens, the provider's word. Out: a Member. Never: keeps a token: only its hash, from which nobody
gets it back.

A token is 256 random bits, so one SHA-256 suffices: slow hashes protect what people choose, and a fast one lets a token
alone, without a name, find its member; there is no name to try out.
"""

from __future__ import annotations

import hashlib
import secrets
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from assistant.engine import Engine
from assistant.errors import AccessRefused, InputError
from assistant.tables import members, sessions

Role = Literal["agent", "editor"]
ROLES: tuple[Role, ...] = get_args(Role)  # each may do what those before it may
LONGEST_NAME = 128
TOKEN_BYTES = 32
FIRST = "first"  # the name of who gets the token that is printed at the first start
LOCK = 0x6661_7175  # PostgreSQL's advisory lock while the first is invited: any number of ours
GONE = "you no longer have access to the staff desk; ask whoever invited you"


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody who is signed in."""

    id: str
    name: str
    role: Role

    def may_act_as(self, role: Role) -> bool:
        """Whether the member's role includes that one."""
        return ROLES.index(self.role) >= ROLES.index(role)


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of the list of members; times are seconds since 1970."""

    name: str
    role: Role
    way: Literal["token", "openid"]
    invited: float
    revoked: float | None


class Members:
    """The members of one store; methods block and raise StoreUnavailable.

    Args:
        clock: seconds since 1970.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock

    def invite(self, name: str, role: Role) -> str:
        """A token for somebody new, or for somebody whose access was revoked. It can't be shown again.

        Raises:
            InputError: the name is none, or somebody has it.
        """
        name = _check_name(name)
        token = _new_token()
        values = {"role": role, "token_hash": hash_secret(token), "invited": self._clock(), "revoked": None}
        with self._engine.write() as connection:
            known = connection.execute(select(members).where(members.c.name == name)).first()
            if known is None:
                connection.execute(insert(members).values(id=uuid.uuid4().hex, name=name, **values))
            elif known.revoked is None:
                raise InputError(f"{name} has access already; revoke it first, or choose another name")
            else:
                connection.execute(update(members).where(members.c.id == known.id).values(**values))
        return token

    def invite_first(self) -> str | None:
        """The token of a first editor, where nobody was ever invited; else None."""
        with self._engine.write() as connection:
            self._engine.lock(connection, LOCK)
            if connection.execute(select(func.count()).select_from(members)).scalar():
                return None
            token = _new_token()
            row = {"id": uuid.uuid4().hex, "name": FIRST, "role": "editor", "token_hash": hash_secret(token)}
            connection.execute(insert(members).values(**row, invited=self._clock()))
        return token

    def revoke(self, name: str) -> None:
        """Ends somebody's access, and every session, at once.

        Raises:
            InputError: nobody of that name has access.
        """
        with self._engine.write() as connection:
            query = select(members.c.id).where(members.c.name == name, members.c.revoked.is_(None))
            found = connection.execute(query).scalar()
            if found is None:
                raise InputError(f"nobody called {name} has access; see `assistant staff list`")
            values = {"revoked": self._clock(), "token_hash": None}
            connection.execute(update(members).where(members.c.id == found).values(**values))
            connection.execute(delete(sessions).where(sessions.c.member_id == found))

    def everybody(self) -> list[Listed]:
        """All members, by name, those without access too."""
        with self._engine.read() as connection:
            rows = connection.execute(select(members).order_by(members.c.name)).all()
        return [
            Listed(row.name, row.role, "openid" if row.subject else "token", row.invited, row.revoked) for row in rows
        ]

    def recognise(self, subject: str, name: str, role: Role) -> Member:
        """Who an OpenID provider vouches for, with the role it gives now, and the name it gave at first.

        Args:
            subject: who it is for that provider, for ever.

        Raises:
            AccessRefused: access was revoked here.
        """
        name = _check_name(name)
        with self._engine.write() as connection:
            known = connection.execute(select(members).where(members.c.subject == subject)).first()
            if known is None:
                row = {"id": uuid.uuid4().hex, "name": _free_name(connection, name), "role": role, "subject": subject}
                connection.execute(insert(members).values(**row, invited=self._clock()))
                return Member(row["id"], row["name"], role)
            if known.revoked is not None:
                raise AccessRefused(GONE, 403)
            connection.execute(update(members).where(members.c.id == known.id).values(role=role))
        return Member(known.id, known.name, role)


def find_by_token(connection: Connection, token: str) -> Member | None:
    """Whose token it is."""
    own = members.c.token_hash == hash_secret(token)
    return read_member(connection.execute(select(members).where(own, members.c.revoked.is_(None))).first())


def read_member(row: Row[tuple[object, ...]] | None) -> Member | None:
    """A row that holds a member's columns."""
    return Member(row.id, row.name, row.role) if row else None


def hash_secret(secret: str) -> str:
    """What is kept of 256 random bits; see the module."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _new_token() -> str:
    return f"staff_{secrets.token_urlsafe(TOKEN_BYTES)}"


def _check_name(name: str) -> str:
    clean = " ".join(name.split())
    if not clean or len(clean) > LONGEST_NAME or not clean.isprintable():
        raise InputError(f"a name has 1 to {LONGEST_NAME} visible characters; choose another")
    return clean


def _free_name(connection: Connection, name: str) -> str:
    """The name, or the name with a number where somebody else has it."""
    taken = set(connection.execute(select(members.c.name)).scalars())
    numbered = (f"{name[: LONGEST_NAME - 8]} ({number})" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(one for one in numbered if one not in taken)
