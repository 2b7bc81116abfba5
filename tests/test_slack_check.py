"""Setting the Slack bot up: a manifest that asks for no more than is used, a check that names what is missing."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import regex
import yaml

from assistant import cli
from assistant.errors import InputError
from assistant.settings import Settings, read_settings
from assistant.surfaces.slack import app as bolt
from assistant.surfaces.slack.blocks import FEEDBACK, PERSON
from assistant.surfaces.slack.check import Finding, check_slack
from assistant.surfaces.slack.manifest import manifest_scopes, read_manifest
from assistant.surfaces.slack.replying import COMMAND
from tests.fakes import REPLIES, FakeAssistant
from tests.slack_events import SECRET, Sender
from tests.slack_reader import buttons_of
from tests.slack_server import SlackServer, slack_server

FOLDER = Path(bolt.__file__).parent
SIGNING = "8f742231b10e8888abcd99eee0a085a5"
# From the reference of each event and method: https://docs.slack.dev/reference/events, …/methods
NEEDED_BY = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "assistant_thread_started": "assistant:write",
    "app_uninstalled": "",
    "tokens_revoked": "",
    "assistant.threads.": "assistant:write",
    "chat.getPermalink": "",
    "chat.": "chat:write",
    "users.info": "users:read",
    "conversations.": "",  # replies and history need one of the four above, by the kind of channel
    "auth.test": "",
}


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    with slack_server(set(manifest_scopes())) as served:
        served.workspace.channels["COTHER"] = {"id": "COTHER", "is_member": False}
        yield served


def given(slack: SlackServer, **changes: object) -> Settings:
    values: dict[str, object] = {
        "slack_api_url": slack.url,
        "slack_bot_token": "xoxb-test",
        "slack_app_token": "xapp-1-test",
        "slack_signing_secret": SIGNING,
        "slack_handover_channel": "CHELP",
    }
    return Settings(**{**values, **changes})  # type: ignore[arg-type]  # pydantic checks them


def bad(findings: list[Finding]) -> list[str]:
    return [f"{finding.name}: {finding.said}" for finding in findings if not finding.is_ok]


def test_manifest_asks_for_no_more_than_is_used() -> None:
    """Every scope of the manifest is needed by an event it subscribes to, a method the bot calls, or its command."""
    manifest = yaml.safe_load(read_manifest())
    called = {
        name
        for file in FOLDER.glob("*.py")
        for name in regex.findall(
            r'"((?:chat|conversations|users|assistant\.threads|auth)\.[A-Za-z.]+)"', file.read_text()
        )
    }
    used = {*manifest["settings"]["event_subscriptions"]["bot_events"], *called}
    scopes = {next(scope for start, scope in NEEDED_BY.items() if name.startswith(start)) for name in used}
    assert manifest["features"]["slash_commands"]
    assert {scope for scope in scopes if scope} | {"commands"} == set(manifest_scopes())


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
async def test_the_manifests_scopes_are_enough(
    slack: SlackServer, fake: FakeAssistant, start_server: Callable[..., str], language: str
) -> None:
    """With no scope but the manifest's, all that the bot does works: no call is refused."""
    question, space = REPLIES[language][0], slack.workspace
    settings = {"slack_signing_secret": SECRET, "slack_app_token": None}
    address = start_server(fake, **given(slack, **settings).model_dump(exclude_unset=True))
    async with Sender(f"{address}/slack/events") as sender:
        asked = space.mention("C1", "U1", question)
        await sender.event(asked)
        await has_said(slack, "C1", 1)
        await sender.event(space.say("C1", "U1", question, asked["ts"]))
        await has_said(slack, "C1", 2)
        first = space.say("D1", "U2", "?!")
        await sender.event(first)
        await has_said(slack, "D1", 1)
        await sender.event(space.edit("D1", first["ts"], f"related {question}"))
        await asyncio.to_thread(slack.wait_for, lambda served: served.called("chat.update"))
        thumbs = {"action_id": FEEDBACK, "type": "feedback_buttons", "value": "down a1"}
        await sender.action(thumbs, space.by_bot("C1")[0], slack.response_url("thumb"))
        person = {"action_id": PERSON, "type": "button", "value": answer_in(space.by_bot("D1")[0])}
        await sender.action(person, space.by_bot("D1")[0], slack.response_url("person"), channel="D1", user="U2")
        await has_said(slack, "CHELP", 1)
        pane: dict[str, Any] = {"user_id": "U1", "channel_id": "D2", "thread_ts": space.next_ts(), "context": {}}
        await sender.event({"type": "assistant_thread_started", "assistant_thread": pane})
        await asyncio.to_thread(slack.wait_for, lambda served: served.called("assistant.threads.setSuggestedPrompts"))
        await sender.event(space.say("D2", "U1", question, pane["thread_ts"]))
        await has_said(slack, "D2", 1)
        await sender.command(question, slack.response_url("faq"))
        await asyncio.to_thread(slack.wait_for, lambda served: len(served.called("response_url")) >= 3)
        await sender.event(space.remove("C1", asked["ts"]))
        await asyncio.to_thread(slack.wait_for, lambda served: served.called("chat.delete"))
    errors = {(call.method, call.error) for call in slack.calls if call.error}
    assert errors <= {("chat.stopStream", "message_not_in_streaming_state")}, "it asks whether a stream is still open"
    assert slack.called("users.info")
    assert slack.called("chat.startStream")


async def has_said(slack: SlackServer, channel: str, count: int) -> None:
    await asyncio.to_thread(slack.wait_for, lambda served: len(served.workspace.by_bot(channel)) >= count)


def answer_in(message: dict[str, Any]) -> str:
    """The id of the answer that a message's button for a person stands for."""
    return str(next(button["value"] for button in buttons_of(message) if button["action_id"] == PERSON))


def test_manifest_names_the_bots_own_command_and_paths() -> None:
    """The manifest's command and addresses are those the bot answers."""
    server = yaml.safe_load(read_manifest("https://help.example.com/"))
    assert [one["command"] for one in server["features"]["slash_commands"]] == [COMMAND]
    settings = server["settings"]
    addresses = {settings[part]["request_url"] for part in ("event_subscriptions", "interactivity")}
    assert addresses | {server["features"]["slash_commands"][0]["url"]} == {"https://help.example.com/slack/events"}
    assert server["oauth_config"]["redirect_urls"] == ["https://help.example.com/slack/oauth_redirect"]
    assert (settings["socket_mode_enabled"], yaml.safe_load(read_manifest())["settings"]["socket_mode_enabled"]) == (
        False,
        True,
    )


def test_manifest_keeps_within_slacks_limits() -> None:
    """Names and descriptions have the lengths that Slack's reference of manifests allows."""
    manifest = yaml.safe_load(read_manifest())
    assert len(manifest["display_information"]["name"]) <= 35
    assert len(manifest["display_information"]["description"]) <= 140
    assert len(manifest["features"]["bot_user"]["display_name"]) <= 80
    assert len(manifest["features"]["assistant_view"]["assistant_description"]) <= 300
    assert all(len(one["description"]) <= 2000 for one in manifest["features"]["slash_commands"])


@pytest.mark.parametrize("url", ["http://a.example", "a.example", "https://", "https://a.example/?x=1", "https://[a"])
def test_manifest_refuses_addresses_that_slack_would(url: str) -> None:
    """An address that Slack can't use is refused by name."""
    with pytest.raises(InputError, match="https"):
        read_manifest(url)


def test_nothing_is_missing(slack: SlackServer) -> None:
    """With the manifest's scopes, both tokens and the bot in the channel, everything is found in order."""
    findings = check_slack(given(slack))
    assert bad(findings) == []
    assert [finding.name for finding in findings] == [
        "signing secret", "app token", "bot token", "scopes", "clock", "handover channel",
    ]  # fmt: skip
    assert not slack.called("chat.")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"slack_app_token": None, "slack_signing_secret": None}, r"way in: .*APP_TOKEN.*SIGNING_SECRET"),
        ({"slack_bot_token": None}, r"bot token: set ASSISTANT_SLACK_BOT_TOKEN"),
        ({"slack_bot_token": "xoxp-1"}, r"bot token: .*begins with xoxb-; this one begins with xoxp-"),
        ({"slack_bot_token": "xoxb-other"}, r"bot token: Slack does not know it"),
        ({"slack_app_token": "xoxb-test"}, r"app token: .*begin with xapp-"),
        ({"slack_app_token": "xapp-other"}, r"app token: Slack does not know it"),
        ({"slack_signing_secret": SECRET}, r"signing secret: .*32 digits"),
        ({"slack_client_id": "1.2"}, r"several workspaces: set ASSISTANT_SLACK_CLIENT_SECRET"),
        ({"slack_client_secret": "s"}, r"several workspaces: set ASSISTANT_SLACK_CLIENT_ID"),
        ({"slack_handover_channel": "COTHER"}, r"handover channel: .*the bot is not in it; write `/invite @faq`"),
        ({"slack_handover_channel": "C999"}, r"handover channel: .*C999: Slack knows no such channel"),
    ],
    ids=[
        "no way in", "no bot token", "user token", "wrong bot token", "bot token as app token", "wrong app token",
        "odd secret", "no client secret", "no client id", "not in channel", "no such channel",
    ],
)  # fmt: skip
def test_what_is_missing_is_said_in_one_sentence(slack: SlackServer, changes: dict[str, object], named: str) -> None:
    """Each thing that is missing or wrong is named once, with what to do, and nothing else is complained of."""
    (said,) = bad(check_slack(given(slack, **changes)))
    assert regex.match(named, said)
    assert "\n" not in said


def test_missing_scopes_are_named() -> None:
    """Scopes that Slack reports as not granted are named; those that nothing needs are, too, without being an error."""
    with slack_server({*manifest_scopes(), "files:read"} - {"users:read", "im:history"}) as slack:
        (said,) = bad(check_slack(given(slack)))
        assert said.startswith("scopes: im:history, users:read missing; add them under OAuth & Permissions")
    with slack_server({*manifest_scopes(), "files:read"}) as slack:
        said = next(one.said for one in check_slack(given(slack)) if one.name == "scopes")
        assert said.endswith("not needed: files:read")


@pytest.mark.parametrize(("off_s", "is_ok"), [(0, True), (-30, True), (200, False), (-200, False)])
def test_a_clock_that_is_off_is_named(slack: SlackServer, off_s: float, is_ok: bool) -> None:
    """A clock so far from Slack's that requests will look stale is told, with how far and which way."""
    (clock,) = (one for one in check_slack(given(slack), now=lambda: time.time() + off_s) if one.name == "clock")
    assert clock.is_ok == is_ok
    if not is_ok:
        assert ("ahead of" if off_s > 0 else "behind") in clock.said


def test_an_unreachable_slack_is_said_once(slack: SlackServer) -> None:
    """Where Slack can't be reached, that is said once."""
    (said,) = bad(check_slack(given(slack, slack_api_url="http://127.0.0.1:9/api/")))
    assert said.startswith("Slack: http://127.0.0.1:9/api/ can't be reached")


@pytest.mark.parametrize("status", [429, 503])
def test_a_failing_slack_is_no_traceback(slack: SlackServer, status: int) -> None:
    """Errors of Slack's own are a sentence, too."""
    slack.fail("auth.test", status=status)
    (said,) = bad(check_slack(given(slack)))
    assert said.startswith("bot token: Slack answered")


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], slack: SlackServer
) -> Callable[..., tuple[int, str]]:
    """Runs `assistant slack …` with the settings of `given`; gives its exit code and all it wrote."""
    for name, value in given(slack).model_dump(include=set(given(slack).model_fields_set)).items():
        text = value.get_secret_value() if hasattr(value, "get_secret_value") else str(value)
        monkeypatch.setenv(f"ASSISTANT_{name.upper()}", text)
    monkeypatch.setattr(os, "_exit", sys.exit)

    def start(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["assistant", "slack", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out + err

    return start


def test_the_command_tells_and_keeps_secrets(
    run: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command prints a line a finding, exits 1 where something is missing, and shows no token or secret."""
    assert run("check")[0] == 0
    code, out = run("check", "--json")
    assert (code, {row["ok"] for row in json.loads(out)}) == (0, {True})
    secrets = {"BOT_TOKEN": "xoxb-777-sesame", "APP_TOKEN": "xapp-777-sesame", "SIGNING_SECRET": "sesame777"}
    for name, value in secrets.items():
        monkeypatch.setenv(f"ASSISTANT_SLACK_{name}", value)
    code, out = run("check")
    assert (code, out.count("NOT OK")) == (1, 3)
    assert "777" not in out


def test_the_command_prints_the_manifest(run: Callable[..., tuple[int, str]]) -> None:
    """The manifest is printed as it is, or for a server's address; a wrong address is one line and exit code 2."""
    assert run("manifest") == (0, read_manifest())
    assert run("manifest", "--url", "https://a.example") == (0, read_manifest("https://a.example"))
    code, said = run("manifest", "--url", "http://a.example")
    assert (code, said.count("\n")) == (2, 1)


def test_a_channels_name_is_no_id() -> None:
    """A channel given by name is refused with what an ID looks like and where it stands."""
    with pytest.raises(InputError, match=r"ASSISTANT_SLACK_HANDOVER_CHANNEL .*#help is no channel's ID, such as C0123"):
        read_settings(slack_handover_channel="#help")
