"""The stand-in for Slack behaves as Slack does where the bot's tests rely on it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import aiohttp
import httpx
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from tests.slack_events import SECRET, action_body, command_body, event_body, signed
from tests.slack_server import SlackServer, slack_server

QUESTIONS = {"zh-Hans": "退款需要多久？", "ja": "返金は？", "es": "¿Cuánto tarda?", "en": "How long?"}


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    with slack_server() as served:
        yield served


def client(slack: SlackServer, token: str = "xoxb-test") -> AsyncWebClient:
    return AsyncWebClient(token, base_url=slack.url)


@pytest.mark.parametrize("language", QUESTIONS)
async def test_messages_are_kept(slack: SlackServer, language: str) -> None:
    """What is posted can be read back, in whatever script, under strictly growing times."""
    asked = slack.workspace.mention("C1", "U1", QUESTIONS[language])
    stamps = []
    for number in range(20):
        posted = await client(slack).chat_postMessage(
            channel="C1", thread_ts=asked["ts"], text=f"{QUESTIONS[language]} {number}"
        )
        stamps.append(posted["ts"])
    assert stamps == sorted(set(stamps))
    read = await client(slack).conversations_replies(channel="C1", ts=asked["ts"], limit=200)
    assert [one["ts"] for one in read["messages"]] == [asked["ts"], *stamps]
    assert read["messages"][1]["text"] == f"{QUESTIONS[language]} 0"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"channel": "C9", "text": "a"}, "channel_not_found"),
        ({"channel": "C2", "text": "a"}, "not_in_channel"),
        ({"channel": "C1", "text": "a" * 40_001}, "msg_too_long"),
        ({"channel": "C1", "text": "a", "blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
        ({"channel": "C1", "text": "a", "blocks": [{"type": "picture"}]}, "invalid_blocks"),
        (
            {
                "channel": "C1",
                "text": "a",
                "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "a" * 3001}}],
            },
            "invalid_blocks",
        ),
        (
            {
                "channel": "C1",
                "text": "a",
                "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "額" * 900}}] * 4,
            },
            "msg_blocks_too_long",
        ),
    ],
    ids=["no channel", "no member", "long text", "many blocks", "unknown block", "long section", "long in all"],
)
async def test_refusals(slack: SlackServer, arguments: dict[str, object], error: str) -> None:
    """What Slack refuses is refused with its own code, and recorded so."""
    with pytest.raises(SlackApiError) as refused:
        await client(slack).chat_postMessage(**arguments)  # type: ignore[arg-type]  # some are wrong on purpose
    assert refused.value.response["error"] == error
    assert [call.error for call in slack.called("chat.postMessage")] == [error]


async def test_tokens_and_scopes_count() -> None:
    """A token that is not known, or lacks a scope, is refused."""
    with slack_server({"chat:write", "im:history"}) as slack:
        for token, error in (("xoxb-other", "invalid_auth"), ("xoxb-test", "missing_scope")):
            with pytest.raises(SlackApiError) as refused:
                await client(slack, token).conversations_replies(channel="C1", ts="1.0")
            assert refused.value.response["error"] == error
        told = await client(slack).auth_test()
        assert told.headers["X-OAuth-Scopes"] == "chat:write,im:history"


async def test_faults_come_on_demand(slack: SlackServer) -> None:
    """Rate limits, failures, delays and cut connections come as often as asked for, and then no more."""
    slack.fail("chat.postMessage", status=429, retry_after_s=7)
    slack.fail("chat.postMessage", status=503)
    slack.fail("chat.postMessage", drop="before")
    slack.fail("chat.postMessage", drop="after")
    slack.fail("chat.postMessage", delay_s=0.3)
    own = AsyncWebClient("xoxb-test", base_url=slack.url, retry_handlers=[])
    with pytest.raises(SlackApiError) as limited:
        await own.chat_postMessage(channel="C1", text="1")
    assert (limited.value.response.status_code, limited.value.response.headers["Retry-After"]) == (429, "7")
    with pytest.raises(SlackApiError) as broken:
        await own.chat_postMessage(channel="C1", text="2")
    assert broken.value.response.status_code == 503
    for text in ("3", "4"):
        with pytest.raises(aiohttp.ClientError):
            await own.chat_postMessage(channel="C1", text=text)
    began = time.monotonic()
    await own.chat_postMessage(channel="C1", text="5")
    assert time.monotonic() - began >= 0.3
    await own.chat_postMessage(channel="C1", text="6")
    assert [one["text"] for one in slack.workspace.by_bot("C1")] == ["4", "5", "6"]


async def test_a_channel_takes_so_many_messages(slack: SlackServer) -> None:
    """With a pace set, messages that follow too soon are answered with 429."""
    slack.seconds_apart = 30
    await client(slack).chat_postMessage(channel="C1", text="1")
    with pytest.raises(SlackApiError) as limited:
        await client(slack).chat_postMessage(channel="C1", text="2")
    assert limited.value.response["error"] == "ratelimited"


async def test_streams_grow_and_end(slack: SlackServer) -> None:
    """A stream grows by what is appended, ends with blocks, and takes nothing more afterwards."""
    asked, own = slack.workspace.say("D1", "U1", "?"), client(slack)
    begun = await own.chat_startStream(channel="D1", thread_ts=asked["ts"], markdown_text="a")
    await own.chat_appendStream(channel="D1", ts=begun["ts"], markdown_text="b")
    await own.chat_stopStream(channel="D1", ts=begun["ts"], blocks=[{"type": "divider"}])
    assert slack.workspace.by_bot("D1")[0]["text"] == "ab"
    assert slack.workspace.by_bot("D1")[0]["blocks"] == [{"type": "divider"}]
    with pytest.raises(SlackApiError):
        await own.chat_appendStream(channel="D1", ts=begun["ts"], markdown_text="c")


async def test_socket_mode_connects(slack: SlackServer) -> None:
    """The library's own Socket Mode client connects, receives an event and acknowledges it."""
    own = SocketModeClient("xapp-1-test", web_client=client(slack))
    got: list[str] = []

    async def take(connected: object, request: object) -> None:
        got.append(request.payload["event"]["text"])  # type: ignore[attr-defined]
        await own.send_socket_mode_response({"envelope_id": request.envelope_id})  # type: ignore[attr-defined]

    own.socket_mode_request_listeners.append(take)
    await own.connect()  # type: ignore[no-untyped-call]
    try:
        event = slack.workspace.say("D1", "U1", "返金は？")
        await asyncio.to_thread(slack.send_socket, "events_api", {"event": event}, "e-1")
        await asyncio.to_thread(slack.wait_for, lambda served: "e-1" in served.acknowledged)
    finally:
        await own.close()  # type: ignore[no-untyped-call]
    assert got == ["返金は？"]


@pytest.mark.parametrize("language", QUESTIONS)
def test_what_is_sent_is_signed(language: str) -> None:
    """Events, commands and button presses carry a signature that the library's verifier accepts."""
    text = QUESTIONS[language]
    bodies = (
        event_body({"type": "message", "text": text}),
        command_body(text, "http://127.0.0.1/r"),
        action_body({"action_id": "a", "value": text}),
    )
    for body in bodies:
        assert SignatureVerifier(SECRET).is_valid_request(body, signed(body))
        assert not SignatureVerifier(SECRET).is_valid_request(body + b" ", signed(body))
        assert not SignatureVerifier(SECRET).is_valid_request(body, signed(body, at=time.time() - 600))


def test_response_urls_take_messages(slack: SlackServer) -> None:
    """A response_url takes what is posted there, under the limits of messages."""
    with httpx.Client(trust_env=False) as plain:
        assert plain.post(slack.response_url(), json={"text": "a"}).status_code == 200
        assert plain.post(slack.response_url(), json={"blocks": [{"type": "picture"}]}).status_code == 400
    assert [call.error for call in slack.called("response_url")] == ["", "invalid_blocks"]
