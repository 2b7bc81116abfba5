"""Calls of Slack's Web API, and what became of them.

In: a client, a method and its arguments. Out: Slack's answer, or one of three failures: Limited (not done, try later),
Refused (not done, never will be), Unsure (nobody knows whether it was done).
Never: repeats a call by itself, or logs what was said.
"""

from __future__ import annotations

from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

TIMEOUT_S = 15  # half a lease: when a job changes hands, no post of the last owner is under way
LONGEST_WAIT_S = 600.0  # whatever Retry-After says
EVENT_TYPE = "assistant_reply"
PAGES, PAGE = 5, 100
PASSING = {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"}
LIMITED = {"ratelimited", "rate_limited", "message_limit_exceeded"}


class Limited(Exception):
    """Too many calls; `delay_s` says how long to wait."""

    def __init__(self, delay_s: float) -> None:
        super().__init__(f"{delay_s} s")
        self.delay_s = delay_s


class Refused(Exception):
    """Slack will not do it; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Unsure(Exception):
    """The call broke off; it may have been carried out."""


def new_client(token: str, url: str) -> AsyncWebClient:
    """A client that never repeats a call."""
    handlers: list[AsyncRetryHandler] = []
    return AsyncWebClient(token=token, base_url=url, timeout=TIMEOUT_S, retry_handlers=handlers)


async def call(client: AsyncWebClient, method: str, **arguments: Any) -> dict[str, Any]:
    """Slack's answer.

    Raises:
        Limited, Refused, Unsure: see the module.
    """
    try:
        response = await getattr(client, method.replace(".", "_"))(**arguments)
    except SlackApiError as error:
        raise _failure(error) from None
    except (SlackClientError, aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        raise Unsure(type(error).__name__) from None
    return dict(response.data) if isinstance(response.data, dict) else {}


async def respond(url: str, body: dict[str, Any]) -> None:
    """Posts to a command's or a click's own address, which only those can see who made it.

    Raises:
        Limited, Refused, Unsure: see the module.
    """
    limit = aiohttp.ClientTimeout(total=TIMEOUT_S)
    try:
        async with aiohttp.ClientSession(timeout=limit) as session, session.post(url, json=body) as response:
            status, wait = response.status, response.headers.get("Retry-After", "")
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        raise Unsure(type(error).__name__) from None
    if status == 429:
        raise Limited(_seconds(wait))
    if status >= 500:
        raise Unsure(f"status {status}")
    if status >= 400:
        raise Refused(f"status {status}")


async def find_reply(
    client: AsyncWebClient, name: str, channel: str, thread_ts: str, after: str, others: set[str] | None = None
) -> str:
    """The time stamp of the reply to a job, "" where it was not posted.

    Args:
        name: of the job, which the reply carries.
        others: where given, any message of the bot after the question that is none of these counts: a reply whose
            streaming broke off carries no name.

    Raises:
        Limited, Refused, Unsure: see the module.
    """
    method = "conversations.replies" if thread_ts else "conversations.history"
    place = {"channel": channel, "ts": thread_ts} if thread_ts else {"channel": channel}
    cursor, unnamed = "", ""
    for _ in range(PAGES):
        more = {"cursor": cursor} if cursor else {}
        found = await call(client, method, **place, oldest=after, limit=PAGE, include_all_metadata=True, **more)
        for message in found.get("messages", []):
            payload = (message.get("metadata") or {}).get("event_payload") or {}
            if payload.get("job") == name:
                return str(message["ts"])
            is_own = bool(message.get("bot_id")) and not payload.get("job")
            if others is not None and is_own and message["ts"] > after and message["ts"] not in others:
                unnamed = str(message["ts"])
        cursor = (found.get("response_metadata") or {}).get("next_cursor", "")
        if not cursor:
            break
    return unnamed


def named(name: str) -> dict[str, Any]:
    """The metadata by which a reply is found again."""
    return {"event_type": EVENT_TYPE, "event_payload": {"job": name}}


def _failure(error: SlackApiError) -> Limited | Refused | Unsure:
    response = error.response
    status = getattr(response, "status_code", None) or getattr(response, "status", None) or 0
    data = getattr(response, "data", None)
    code = str(data.get("error", "")) if isinstance(data, dict) else ""
    if status == 429 or code in LIMITED:
        headers = getattr(response, "headers", None) or {}
        return Limited(_seconds(str(headers.get("Retry-After") or headers.get("retry-after") or "")))
    if status >= 500 or code in PASSING or not code:
        return Unsure(code or f"status {status}")
    return Refused(code)


def _seconds(header: str) -> float:
    return min(float(header), LONGEST_WAIT_S) if header.isascii() and header.isdigit() else 1.0
