"""How Slack reaches the bot: signatures, Socket Mode, several workspaces; what is logged."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from assistant.errors import InputError
from assistant.settings import read_settings
from assistant.store import MEMORY, Store
from assistant.surfaces.backend import Backend
from assistant.surfaces.guard import JsonLines
from assistant.surfaces.metrics import Metrics
from assistant.surfaces.slack.app import create_bolt
from assistant.surfaces.slack.bot import Bot
from assistant.surfaces.slack.socket_mode import run_socket_mode
from assistant.surfaces.web import create_app
from tests.fakes import REPLIES, FakeAssistant
from tests.slack_apps import slack_settings
from tests.slack_events import Sender, challenge_body, event_body, signed
from tests.slack_server import SlackServer
from tests.slack_talk import ask, replies

CHECKOUT = Path(__file__).parent.parent
Start = Callable[..., str]
QUESTION = event_body({"type": "message", "channel": "D1", "user": "U1", "text": "¿?", "ts": "1.000001"})


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (QUESTION, signed(QUESTION, "another secret"), 401),
        (QUESTION, signed(QUESTION, at=time.time() - 3600), 401),
        (QUESTION, signed(QUESTION, at=time.time() + 3600), 401),
        (QUESTION.replace(b"U1", b"U2"), signed(QUESTION), 401),
        (QUESTION, {"Content-Type": "application/json"}, 401),
        (QUESTION, signed(QUESTION) | {"X-Slack-Request-Timestamp": "abc"}, 401),
        (QUESTION, signed(QUESTION) | {"X-Slack-Request-Timestamp": "9" * 400}, 401),
        (b"\xff\xfe", signed(b"\xff\xfe"), 400),
        (b"x" * 2_000_000, signed(b"x"), 413),
    ],
    ids=[
        "forged",
        "stale",
        "from the future",
        "altered",
        "unsigned",
        "no time",
        "an endless time",
        "no text",
        "too large",
    ],
)
async def test_what_slack_did_not_send_is_refused(
    slack: SlackServer, start_slack: Start, body: bytes, headers: dict[str, str], status: int
) -> None:
    """Forged, stale, altered, unsigned and unreadable requests are refused, and nothing comes of them."""
    async with httpx.AsyncClient(trust_env=False) as client:
        response = await client.post(start_slack(), content=body, headers=headers)
    assert response.status_code == status
    assert "Traceback" not in response.text
    assert not slack.workspace.messages


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"type": "event_callback"}',
        b'{"type": "event_callback", "team_id": "T0001", "event": []}',
        event_body({"type": "message"}),
        event_body({"type": "message", "channel": 7, "user": "U1", "text": "x", "ts": "1.000001"}),
        event_body({"type": "message", "channel": "D1", "user": "U1", "text": "x", "ts": "tomorrow"}),
        event_body({"type": "assistant_thread_started", "assistant_thread": "x"}),
        b"payload=%7B%22type%22%3A%22block_actions%22%7D",
        b"command=%2Ffaq&team_id=T0001",
        b"not JSON at all",
    ],
)
async def test_malformed_deliveries_do_no_harm(slack: SlackServer, start_slack: Start, body: bytes) -> None:
    """What is signed but makes no sense gets a response and no reply, and the next question is answered."""
    async with Sender(start_slack()) as sender:
        response = await sender.send(body)
        assert response.status_code < 500
        assert "Traceback" not in response.text
        await ask(slack, sender, REPLIES["ja"][0], "D1")
        await replies(slack, "D1", 1, after_s=0)


async def test_slack_can_verify_the_address(start_slack: Start) -> None:
    """The challenge that Slack sends when the address is entered is answered."""
    async with Sender(start_slack()) as sender:
        assert "c-1" in (await sender.send(challenge_body("c-1"))).text


async def test_logs_hold_neither_messages_nor_secrets(
    slack: SlackServer, start_slack: Start, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever fails, no word of a message, no token and no secret is logged."""
    slack.fail("chat.postMessage", status=500, times=2)
    slack.fail("users.info", error="invalid_auth")
    with caplog.at_level(logging.DEBUG, logger="assistant"):
        async with Sender(start_slack(slack_client_secret="client-secret")) as sender:
            await ask(slack, sender, "<@UBOT> broken secret-words")
            await replies(slack, "C1", 1)
    logged = "".join(JsonLines().format(record) for record in caplog.records if record.name.startswith("assistant"))
    assert "tried again" in logged
    for secret in ("secret-words", "xoxb-test", "client-secret", slack_settings("http://x").model_dump_json()):
        assert secret not in logged


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")  # slack_sdk's call of aiohttp
async def test_several_workspaces_install_by_themselves(
    slack: SlackServer, fake: FakeAssistant, start_server: Start
) -> None:
    """An installation by OAuth is kept in the store, and its workspace served with its own token until it ends."""
    given = slack_settings(
        slack.url, slack_bot_token=None, slack_client_id="1.2", slack_client_secret="s"
    ).model_dump(exclude_unset=True, exclude_none=True)  # fmt: skip
    address = start_server(fake, **given)
    async with httpx.AsyncClient(trust_env=False, base_url=address) as client:
        page = await client.get("/slack/install")
        where = next(part for part in page.text.split('"') if "oauth/v2/authorize" in part).replace("&amp;", "&")
        state = parse_qs(urlsplit(where).query)["state"][0]
        back = {"code": "good-code", "state": state}
        cookie = {"Cookie": page.headers["set-cookie"].partition(";")[0]}
        assert (await client.get("/slack/oauth_redirect", params={**back, "state": "forged"})).status_code >= 400
        assert (await client.get("/slack/oauth_redirect", params=back, headers=cookie)).status_code == 200
    async with Sender(f"{address}/slack/events") as sender:
        await ask(slack, sender, f"<@UBOT> {REPLIES['es'][0]}")
        await replies(slack, "C1", 1)
        assert slack.called("chat.postMessage")[0].token == "xoxb-T0001"
        stranger = slack.workspace.mention("C1", "U1", REPLIES["es"][0])
        assert (await sender.send(event_body(stranger, team="T9"))).status_code == 200
        await sender.event({"type": "app_uninstalled"})
        await ask(slack, sender, f"<@UBOT> {REPLIES['es'][0]}")
        await replies(slack, "C1", 1)


@pytest.mark.parametrize("language", list(REPLIES))
async def test_socket_mode_answers_and_acknowledges(slack: SlackServer, fake: FakeAssistant, language: str) -> None:
    """Over Socket Mode the same Bolt app keeps, acknowledges and answers once."""
    from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler

    from assistant.surfaces.slack.posting import new_client

    settings, store = slack_settings(slack.url), Store(MEMORY)
    bot = Bot(Backend(fake), settings, store, None, Metrics())
    handler = AsyncSocketModeHandler(create_bolt(bot, settings), "xapp-1-test", web_client=new_client("", slack.url))
    bot.start()
    await handler.client.connect()  # type: ignore[no-untyped-call]  # slack_sdk's
    try:
        asked = json.loads(event_body(slack.workspace.mention("C1", "U1", REPLIES[language][0])))
        for number in range(2):
            await asyncio.to_thread(slack.send_socket, "events_api", asked, f"e{number}")
        await replies(slack, "C1", 1)
        assert set(slack.acknowledged) >= {"e0", "e1"}
    finally:
        await handler.client.close()  # type: ignore[no-untyped-call]  # slack_sdk's
        await bot.stop()
        store.close()


SOCKET_PROCESS = """
import sys
from assistant.store import Store
from assistant.surfaces.slack.socket_mode import run_socket_mode
from tests.slack_apps import SlowAssistant, slack_settings
settings = slack_settings(sys.argv[1], slack_app_token="xapp-1-test")
run_socket_mode(lambda: SlowAssistant(0.1), settings, lambda said: print(said, flush=True), Store(sys.argv[2]))
"""


def test_socket_mode_ends_when_it_is_told(slack: SlackServer, tmp_path: Path) -> None:
    """The command's process connects, answers, and ends without an error at SIGTERM."""
    store_url = f"sqlite:///{tmp_path / 'store.sqlite3'}"
    command = [sys.executable, "-c", SOCKET_PROCESS, slack.url, store_url]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "connected to Slack\n"
        slack.wait_for(lambda served: bool(served.sockets))
        asked = json.loads(event_body(slack.workspace.mention("C1", "U1", "¿cuánto?")))
        slack.send_socket("events_api", asked, "e1")
        slack.wait_for(lambda served: bool(served.workspace.by_bot("C1")))
        process.terminate()
        assert process.wait(30) == 0
    assert "e1" in slack.acknowledged


@pytest.mark.parametrize(
    ("settings", "missing"),
    [({}, "APP_TOKEN"), ({"slack_app_token": "xapp-1"}, "BOT_TOKEN")],
    ids=["no app token", "no bot token"],
)
def test_socket_mode_says_what_is_missing(fake: FakeAssistant, settings: dict[str, str], missing: str) -> None:
    """Without its tokens the command ends with one sentence that names the setting."""
    store = Store(MEMORY)
    with pytest.raises(InputError, match=missing):
        run_socket_mode(lambda: fake, read_settings(**settings), print, store)
    store.close()


def test_the_server_says_what_is_missing(fake: FakeAssistant) -> None:
    """A signing secret without any token is refused at the start, as is a client without its secret."""
    with pytest.raises(InputError, match="BOT_TOKEN"):
        create_app(fake, read_settings(slack_signing_secret="s"))
    with pytest.raises(InputError, match="CLIENT_SECRET"):
        create_app(fake, read_settings(slack_signing_secret="s", slack_client_id="1.2"))
