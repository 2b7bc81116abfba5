"""What is missing between these settings and a working Slack bot, each in one sentence.

In: the settings, Slack's answers to a few harmless calls. Out: Findings, in the order in which they are best mended.
Never: posts anything, or shows a token or secret, not even in part beyond the mark of its kind.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry import RetryHandler
from slack_sdk.web import SlackResponse

from assistant.settings import Settings
from assistant.surfaces.slack.manifest import manifest_scopes

TIMEOUT_S = 10
# Bolt refuses requests whose time is five minutes off (https://docs.slack.dev/authentication/verifying-requests-from-slack);
# a clock that is already a minute off is on its way there.
CLOCK_S = 60.0
SECRET = re.compile(r"[0-9a-f]{32}")
DEAD = {
    "invalid_auth": "Slack does not know it",
    "account_inactive": "its app or workspace is gone",
    "token_revoked": "it was revoked",
    "token_expired": "it has expired",
}
CHANNEL = {
    "not_in_channel": "the bot is not in it; write `/invite @{bot}` there",
    "channel_not_found": "Slack knows no such channel, or it is private and the bot is not in it; copy the ID from the "
    "channel's details, and write `/invite @{bot}` there",
    "is_archived": "it is archived; name another",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, whether it will do, and one sentence about it."""

    name: str
    is_ok: bool
    said: str

    def __str__(self) -> str:
        return f"{self.name}: {'ok' if self.is_ok else 'NOT OK'}, {self.said}"

    def as_json(self) -> dict[str, object]:
        """The same as JSON values."""
        return {"name": self.name, "ok": self.is_ok, "said": self.said}


def check_slack(settings: Settings, now: Callable[[], float] = time.time) -> list[Finding]:
    """Everything that can be known without Slack sending something.

    Args:
        now: seconds since 1970, this machine's clock.
    """
    found = [*_entrance(settings), *_token_forms(settings)]
    if settings.slack_app_token and settings.slack_app_token.get_secret_value().startswith("xapp-"):
        found.append(_socket_mode(settings))
    if settings.slack_bot_token and settings.slack_bot_token.get_secret_value().startswith("xoxb-"):
        found += _bot(settings, now)
    return list(dict.fromkeys(found))


def _entrance(settings: Settings) -> Iterator[Finding]:
    """How Slack's events come in."""
    app, secret = settings.slack_app_token, settings.slack_signing_secret
    if not app and not secret:
        yield Finding(
            "way in", False,
            "set ASSISTANT_SLACK_APP_TOKEN (Basic Information → App-Level Tokens, scope connections:write) for "
            "`assistant slack`, or ASSISTANT_SLACK_SIGNING_SECRET (Basic Information) for `assistant serve`",
        )  # fmt: skip
    if app and not app.get_secret_value().startswith("xapp-"):
        yield Finding("app token", False, "ASSISTANT_SLACK_APP_TOKEN must begin with xapp-; see App-Level Tokens")
    if secret:
        is_ok = bool(SECRET.fullmatch(secret.get_secret_value()))
        wrong = "ASSISTANT_SLACK_SIGNING_SECRET is not 32 digits and letters a-f; copy it from Basic Information"
        yield Finding("signing secret", is_ok, "it has the right form" if is_ok else wrong)


def _token_forms(settings: Settings) -> Iterator[Finding]:
    client_id, client_secret = settings.slack_client_id, settings.slack_client_secret
    if bool(client_id) != bool(client_secret):
        missing = "ID" if client_secret else "SECRET"
        yield Finding("several workspaces", False, f"set ASSISTANT_SLACK_CLIENT_{missing} too (Basic Information)")
    token = settings.slack_bot_token.get_secret_value() if settings.slack_bot_token else ""
    if not token and not client_id:
        said = "set ASSISTANT_SLACK_BOT_TOKEN (OAuth & Permissions, after Install to Workspace)"
        yield Finding("bot token", False, said)
    elif token and not token.startswith("xoxb-"):
        kind = f"this one begins with {token[:5]}" if token.startswith(("xoxp-", "xapp-", "xoxe.")) else "see README"
        said = f"ASSISTANT_SLACK_BOT_TOKEN must be the Bot User OAuth Token, which begins with xoxb-; {kind}"
        yield Finding("bot token", False, said)


def _socket_mode(settings: Settings) -> Finding:
    token = settings.slack_app_token.get_secret_value() if settings.slack_app_token else ""
    try:
        _client(settings).apps_connections_open(app_token=token)
    except SlackApiError as error:
        code = _code(error)
        reason = DEAD.get(code) or {
            "missing_scope": "it lacks the scope connections:write",
            "not_allowed_token_type": "it is no app-level token",
        }.get(code, f"Slack answered {code}")
        return Finding("app token", False, f"{reason}; make one under Basic Information → App-Level Tokens")
    except (SlackClientError, OSError) as error:
        return _unreachable(settings, error)
    return Finding("app token", True, "Socket Mode can be opened")


def _bot(settings: Settings, now: Callable[[], float]) -> Iterator[Finding]:
    token = settings.slack_bot_token.get_secret_value() if settings.slack_bot_token else ""
    client = _client(settings, token)
    try:
        told = client.auth_test()
    except SlackApiError as error:
        code = _code(error)
        said = f"{DEAD.get(code, f'Slack answered {code}')}; install the app again and copy the token"
        yield Finding("bot token", False, said)
        return
    except (SlackClientError, OSError) as error:
        yield _unreachable(settings, error)
        return
    bot = str(told.get("user") or "")
    yield Finding("bot token", True, f"it is @{bot} in the workspace {told.get('team')}")
    headers = {name.lower(): str(value) for name, value in _headers(told).items()}
    yield _scopes(headers.get("x-oauth-scopes", ""))
    yield from _clock(headers.get("date", ""), now())
    yield _channel(client, settings.slack_handover_channel, bot)


def _scopes(told: str) -> Finding:
    has = {scope.strip() for scope in told.split(",") if scope.strip()}
    missing, more = sorted(manifest_scopes() - has), sorted(has - manifest_scopes())
    if missing:
        added = "add it under OAuth & Permissions" if len(missing) == 1 else "add them under OAuth & Permissions"
        return Finding("scopes", False, f"{', '.join(missing)} missing; {added} and install the app again")
    return Finding("scopes", True, "all there, and " + (f"not needed: {', '.join(more)}" if more else "no more"))


def _clock(date: str, now: float) -> Iterator[Finding]:
    try:
        off = now - parsedate_to_datetime(date).timestamp()
    except ValueError:
        return
    if abs(off) > CLOCK_S:
        way = "ahead of" if off > 0 else "behind"
        said = f"this machine is {abs(off):.0f} s {way} Slack, which makes its requests look forged; set the clock"
        yield Finding("clock", False, said)
    else:
        yield Finding("clock", True, "it agrees with Slack's")


def _channel(client: WebClient, channel: str, bot: str) -> Finding:
    """Whether the channel for people is there; its latest message is asked for, since that needs no further scope."""
    name = "handover channel"
    if not channel:
        return Finding(name, True, "none is set, so nobody in Slack is told who wants a person")
    try:
        client.conversations_history(channel=channel, limit=1)
    except SlackApiError as error:
        code = _code(error)
        reason = CHANNEL.get(code, "Slack answered " + code).format(bot=bot)
        return Finding(name, False, f"ASSISTANT_SLACK_HANDOVER_CHANNEL {channel}: {reason}")
    except (SlackClientError, OSError) as error:
        return Finding(name, False, f"Slack broke off ({type(error).__name__}); try again")
    return Finding(name, True, f"the bot is in {channel}")


def _client(settings: Settings, token: str = "") -> WebClient:
    handlers: list[RetryHandler] = []
    return WebClient(token=token, base_url=str(settings.slack_api_url), timeout=TIMEOUT_S, retry_handlers=handlers)


def _code(error: SlackApiError) -> str:
    """Slack's word for what is wrong; the HTTP status where it says none."""
    response = error.response
    code = response.get("error") if isinstance(response, SlackResponse | dict) else None
    return str(code or f"status {getattr(response, 'status_code', 'unknown')}")


def _headers(response: SlackResponse) -> Mapping[str, object]:
    headers: Mapping[str, object] = response.headers
    return headers


def _unreachable(settings: Settings, error: Exception) -> Finding:
    reason = getattr(error, "reason", None) or type(error).__name__
    said = f"{settings.slack_api_url} can't be reached ({reason}); check the network and ASSISTANT_SLACK_API_URL"
    return Finding("Slack", False, said)
