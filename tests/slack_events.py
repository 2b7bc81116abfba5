"""What Slack sends to an app: bodies of events, commands and button presses, signed as Slack signs them.

In: what happened. Out: bytes and headers, or the app's response over real HTTP. Never: sends beyond loopback.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import httpx

SECRET, TEAM, APP = "8f742231b10e8888abcd99yyyzzz85a5", "T0001", "A0001"
NUMBERS = itertools.count(1)
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


def event_body(event: dict[str, Any], event_id: str = "", team: str = TEAM) -> bytes:
    """An `event_callback`; each call without an id is a new event."""
    outer = {
        "token": "legacy",
        "team_id": team,
        "api_app_id": APP,
        "type": "event_callback",
        "event": event,
        "event_id": event_id or f"Ev{next(NUMBERS):08d}",
        "event_time": int(time.time()),
        "authorizations": [{"team_id": team, "user_id": "UBOT", "is_bot": True, "is_enterprise_install": False}],
        "is_ext_shared_channel": False,
    }
    return json.dumps(outer, ensure_ascii=False).encode()


def challenge_body(challenge: str = "c-1") -> bytes:
    """What Slack sends when an address for events is entered."""
    return json.dumps({"type": "url_verification", "token": "legacy", "challenge": challenge}).encode()


def command_body(
    text: str, response_url: str, command: str = "/faq", user: str = "U1", channel: str = "C1", team: str = TEAM
) -> bytes:
    """A slash command."""
    fields = {
        "token": "legacy", "team_id": team, "team_domain": "test", "channel_id": channel, "channel_name": "general",
        "user_id": user, "user_name": "ana", "command": command, "text": text, "api_app_id": APP,
        "response_url": response_url, "trigger_id": f"trigger.{next(NUMBERS)}",
    }  # fmt: skip
    return urlencode(fields).encode()


def action_body(
    action: dict[str, Any],
    message: dict[str, Any] | None = None,
    response_url: str = "",
    user: str = "U1",
    channel: str = "C1",
    team: str = TEAM,
) -> bytes:
    """A press on a button: `action` is the button's own JSON from the message's blocks.

    Without a message it is one in an ephemeral message, of which Slack tells only where it stood.
    """
    shown = message or {}
    payload = {
        "type": "block_actions",
        "token": "legacy",
        "api_app_id": APP,
        "team": {"id": team, "domain": "test"},
        "user": {"id": user, "username": "ana", "team_id": team},
        "channel": {"id": channel, "name": "general"},
        "container": {
            "type": "message",
            "message_ts": shown.get("ts", "1.0"),
            "channel_id": channel,
            "is_ephemeral": not shown,
            **({"thread_ts": shown["thread_ts"]} if "thread_ts" in shown else {}),
        },
        **({"message": shown} if shown else {}),
        "response_url": response_url,
        "trigger_id": f"trigger.{next(NUMBERS)}",
        "actions": [{"block_id": "b", **action, "action_ts": f"{time.time():.6f}"}],
    }
    return urlencode({"payload": json.dumps(payload, ensure_ascii=False)}).encode()


def signed(body: bytes, secret: str = SECRET, at: float = 0.0, retry: int = 0) -> dict[str, str]:
    """The headers of a request with this body, sent `at` (seconds since 1970; now where 0), as its n-th repetition."""
    stamp = str(int(at or time.time()))
    mark = hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
    again = {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": "http_timeout"} if retry else {}
    kind = JSON if body.startswith(b"{") else FORM
    return {"Content-Type": kind, "X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={mark}", **again}


@dataclass
class Sender:
    """Sends to an app's address as Slack does; use it as an asynchronous context.

    Args:
        url: the app's address for everything, such as `http://127.0.0.1:…/slack/events`.
        took_s: how long each request waited for its response.
        acknowledged_s: the same, of those that were acknowledged.
    """

    url: str
    secret: str = SECRET
    took_s: list[float] = field(default_factory=list)
    acknowledged_s: list[float] = field(default_factory=list)

    async def __aenter__(self) -> Sender:
        limits = httpx.Limits(max_connections=200, keepalive_expiry=1)  # the server gives up idle ones after five
        self._client = httpx.AsyncClient(timeout=30, limits=limits, trust_env=False)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def send(self, body: bytes, retry: int = 0) -> httpx.Response:
        """The app's response to one signed request."""
        began = time.monotonic()
        try:
            response = await self._client.post(self.url, content=body, headers=signed(body, self.secret, retry=retry))
        finally:
            self.took_s.append(time.monotonic() - began)
        if response.status_code == 200:
            self.acknowledged_s.append(self.took_s[-1])
        return response

    async def event(self, event: dict[str, Any], event_id: str = "", retry: int = 0) -> httpx.Response:
        """The app's response to an event."""
        return await self.send(event_body(event, event_id), retry)

    async def command(self, text: str, response_url: str, **where: str) -> httpx.Response:
        """The app's response to a slash command."""
        return await self.send(command_body(text, response_url, **where))

    async def action(
        self, action: dict[str, Any], message: dict[str, Any] | None = None, response_url: str = "", **where: str
    ) -> httpx.Response:
        """The app's response to a button."""
        return await self.send(action_body(action, message, response_url, **where))
