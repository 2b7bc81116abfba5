"""What tests of the staff desk share: members, browsers and programs that are signed in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx2
from fastapi import FastAPI
from playwright.sync_api import BrowserContext

from assistant.cabinet import Cabinet, Ended, What
from assistant.letter import Ask, Letter, Part
from assistant.members import Member, Role
from assistant.sessions import request_token
from assistant.settings import Settings
from assistant.store import DAY_S, Store
from assistant.surfaces.backend import Answers
from assistant.surfaces.staff.access import StaffParts
from assistant.surfaces.web import create_app
from tests.conftest import serving

BASE = "http://test"


@dataclass
class Desk:
    """An application with its staff desk, in this process (`client`) or as a server (`address`)."""

    app: FastAPI
    address: str = BASE

    @property
    def staff(self) -> StaffParts:
        parts: StaffParts = self.app.state.staff
        return parts

    def token(self, role: Role = "agent", name: str = "Ana") -> str:
        """The token of a new member."""
        return self.staff.members.invite(name, role)

    def member(self, role: Role = "agent", name: str = "Ana") -> Member:
        """A new member."""
        return self.staff.attempts.try_token(self.token(role, name), "tests")

    def client(self) -> httpx2.AsyncClient:
        """Somebody who is not signed in."""
        transport = httpx2.ASGITransport(self.app, raise_app_exceptions=False, client=("203.0.113.5", 1))
        return httpx2.AsyncClient(transport=transport, base_url=self.address)

    def signed_in(self, role: Role = "agent", name: str = "Ana") -> httpx2.AsyncClient:
        """A browser of a new member; what it asks carries the page's token."""
        secret = self.staff.sessions.begin(self.member(role, name))
        client = self.client()
        client.cookies.set("staff_session", secret)
        client.headers["X-Request-Token"] = request_token(secret)
        return client

    def sign_in(self, context: BrowserContext, role: Role = "agent", name: str = "Ana") -> None:
        """Gives a real browser the session of a new member."""
        secret = self.staff.sessions.begin(self.member(role, name))
        context.add_cookies(
            [{"name": "staff_session", "value": secret, "url": self.address, "httpOnly": True, "sameSite": "Lax"}]
        )


def keep_draft(
    store: Store, language: str, ended: Ended = "", changed: int = 0, days_ago: int = 0, conversation: str = ""
) -> str:
    """A draft of ten characters, `changed` of them by the agent, begun so many days ago and ended so; its id."""
    at = time.time() - days_ago * DAY_S
    cabinet = Cabinet(store, lambda: at)
    part = Part("q1", "answer", 1, "x" * 10, "x" * 10)
    letter = Letter("?", language, "formal", (Ask(1, "?", 0, 1, "answered", 0.9, ()),), (part,))
    kept = cabinet.add(letter, "Ana", "es", conversation)
    if ended:
        final = letter.with_texts({"q1": "x" * (10 - changed) + "y" * changed})
        what: What = "rejected" if ended == "rejected" else "sent"
        cabinet.save(kept.slip.id, 1, final, "Ana", what, ended)
    return kept.slip.id


def make_desk(source: Answers | Callable[[], Answers], **settings: object) -> Desk:
    """A desk in this process."""
    return Desk(create_app(source, Settings(**settings)))  # type: ignore[arg-type]


@contextmanager
def running_desk(source: Answers | Callable[[], Answers], **settings: object) -> Iterator[Desk]:
    """A desk as a real server on loopback."""
    desk = make_desk(source, **settings)
    with serving(desk.app) as address:
        desk.address = address
        yield desk
