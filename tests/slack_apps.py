"""Servers of the tests' own with the real Bolt app, against the stand-in for Slack; in this process or in others.

In: a stand-in, an assistant. Out: the address Slack would send to. Never: leaves loopback.

As a program: `python -m tests.slack_apps PORT SLACK_URL STORE_URL SECONDS LEASE`, an assistant that takes SECONDS an
answer; what a process dies over, others take up after LEASE seconds.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import uvicorn

from assistant import inbox
from assistant.records import Event, Progress, Spoken, Turn
from assistant.settings import Settings
from assistant.store import Store
from assistant.surfaces.slack import posting
from assistant.surfaces.web import create_app
from assistant.understand import check_message
from tests.fakes import answer
from tests.slack_events import SECRET


def slack_settings(url: str, **more: object) -> Settings:
    """Settings of a server in the stand-in's one workspace."""
    given = {"slack_bot_token": "xoxb-test", "slack_signing_secret": SECRET, "slack_api_url": url, **more}
    return Settings(**given)  # type: ignore[arg-type]  # pydantic checks them


class SlowAssistant:
    """Takes its time over each answer, which repeats the question; no model, no index."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def ask(
        self, message: str, conversation_id: str = "", page_language: str = "", history: Sequence[Turn] = ()
    ) -> AsyncIterator[Event]:
        """The events of one reply."""
        text = check_message(message, 2000)
        yield Progress("understand")
        await asyncio.sleep(self._seconds)
        told = replace(answer("en", "related", f"About {text}"), conversation_id=conversation_id)
        yield Spoken(told.text, ())
        yield replace(told, id=uuid.uuid4().hex)

    def sample_questions(self, language: str, count: int) -> list[str]:
        """None."""
        return []


def _serve(port: int, slack_url: str, store_url: str, seconds: float, lease_s: float) -> None:
    inbox.LEASE_S, posting.TIMEOUT_S = lease_s, int(lease_s / 2)
    settings = slack_settings(slack_url, concurrency=300)
    app = create_app(SlowAssistant(seconds), settings, Store(store_url))
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", ws="none", lifespan="on")
    uvicorn.Server(config).run()


if __name__ == "__main__":
    _serve(int(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5]))
