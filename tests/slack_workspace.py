"""A workspace as the stand-in for Slack knows it: channels, people, messages, and what each method does to them.

In: a method's decoded arguments. Out: the fields of Slack's answer; a Refusal is one of its error codes.
Never: knows of HTTP, tokens or faults.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from tests.slack_limits import BYTES

BOT_USER, BOT_ID, APP_ID, TEAM_ID = "UBOT", "B0001", "A0001", "T0001"
Fields = dict[str, Any]


class Refusal(Exception):
    """One of Slack's error codes."""

    def __init__(self, code: str, **more: Any) -> None:
        super().__init__(code)
        self.code, self.more = code, more


class Workspace:
    """What there is; the bot is a member of `C1`, `CHELP` and of every direct conversation (`D…`), not of `C2`."""

    def __init__(self) -> None:
        self.channels: dict[str, Fields] = {
            name: {"id": name, "name": name.lower(), "is_channel": True, "is_member": name != "C2"}
            for name in ("C1", "C2", "CHELP")
        }
        self.users: dict[str, Fields] = {
            name: {"id": name, "locale": "en-US", "is_bot": False} for name in ("U1", "U2")
        }
        self.messages: dict[str, list[Fields]] = defaultdict(list)
        self.streaming: set[str] = set()
        self.statuses: list[tuple[str, str]] = []
        self.codes: dict[str, str] = {"good-code": "T0001"}
        self._last = 0
        self._lock = threading.Lock()

    def next_ts(self) -> str:
        """A new timestamp, greater than all before."""
        with self._lock:
            self._last = max(self._last + 1, int(time.time() * 1_000_000))
            return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def say(self, channel: str, user: str, text: str, thread_ts: str = "", **more: Any) -> Fields:
        """A person writes; gives the `message` event to send on."""
        kind = "im" if channel[0] == "D" else "channel"
        thread = {"thread_ts": thread_ts} if thread_ts else {}
        message = {
            "type": "message",
            "user": user,
            "text": text,
            "ts": self.next_ts(),
            "team": TEAM_ID,
            **thread,
            **more,
        }
        self.messages[channel].append(message)
        return {**message, "channel": channel, "channel_type": kind, "event_ts": message["ts"]}

    def mention(self, channel: str, user: str, text: str, thread_ts: str = "") -> Fields:
        """A person writes to the bot; gives the `app_mention` event (Slack sends a `message` event besides)."""
        return {**self.say(channel, user, f"<@{BOT_USER}> {text}", thread_ts), "type": "app_mention"}

    def edit(self, channel: str, ts: str, text: str) -> Fields:
        """A person edits a message; gives the event."""
        message = self.find(channel, ts)
        before = dict(message)
        message.update(text=text, edited={"user": message.get("user"), "ts": self.next_ts()})
        return self._about(channel, "message_changed", message=dict(message), previous_message=before)

    def remove(self, channel: str, ts: str) -> Fields:
        """A person deletes a message; gives the event."""
        message = self.find(channel, ts)
        self.messages[channel].remove(message)
        return self._about(channel, "message_deleted", deleted_ts=ts, previous_message=message)

    def find(self, channel: str, ts: str) -> Fields:
        """The message of that time.

        Raises:
            Refusal: there is none.
        """
        for message in self.messages[channel]:
            if message["ts"] == ts:
                return message
        raise Refusal("message_not_found")

    def thread(self, channel: str, thread_ts: str) -> list[Fields]:
        """A thread's messages, the oldest first."""
        return [one for one in self.messages[channel] if thread_ts in (one["ts"], one.get("thread_ts"))]

    def by_bot(self, channel: str) -> list[Fields]:
        """What the bot wrote in a channel, in order."""
        return [message for message in self.messages[channel] if message.get("bot_id") == BOT_ID]

    def place(self, arguments: Fields) -> str:
        """The channel that a call names, where the bot may act.

        Raises:
            Refusal: there is none, or the bot is no member.
        """
        channel = str(arguments.get("channel") or arguments.get("channel_id") or "")
        if channel[:1] == "U":  # a message to a person opens the conversation with them
            channel = f"D{channel[1:]}"
        if channel[:1] != "D" and channel not in self.channels:
            raise Refusal("channel_not_found")
        if channel in self.channels and not self.channels[channel]["is_member"]:
            raise Refusal("not_in_channel")
        return channel

    def add(self, channel: str, arguments: Fields) -> Fields:
        """A message by the bot."""
        kept = {name: arguments[name] for name in ("thread_ts", "blocks", "metadata") if arguments.get(name)}
        message = {
            "type": "message", "user": BOT_USER, "bot_id": BOT_ID, "app_id": APP_ID, "team": TEAM_ID,
            "text": arguments.get("text") or arguments.get("markdown_text") or "", "ts": self.next_ts(), **kept,
        }  # fmt: skip
        self.messages[channel].append(message)
        return message

    def grant(self, arguments: Fields, tokens: dict[str, set[str]]) -> Fields:
        """An installation's token; it has the scopes of the first one there is."""
        team = self.codes.get(str(arguments.get("code")))
        if team is None:
            raise Refusal("invalid_code")
        token = f"xoxb-{team}"
        tokens[token] = set(next(iter(tokens.values()), set()))
        return {
            "access_token": token, "token_type": "bot", "scope": ",".join(sorted(tokens[token])),
            "bot_user_id": BOT_USER, "app_id": APP_ID, "team": {"id": team, "name": team}, "enterprise": None,
            "is_enterprise_install": False, "authed_user": {"id": "U1"},
        }  # fmt: skip

    def _about(self, channel: str, subtype: str, **more: Any) -> Fields:
        ts = self.next_ts()
        return {
            "type": "message", "subtype": subtype, "hidden": True, "channel": channel,
            "channel_type": "im" if channel[0] == "D" else "channel", "ts": ts, "event_ts": ts, **more,
        }  # fmt: skip


def _auth_test(space: Workspace, arguments: Fields) -> Fields:
    return {"url": "https://test.slack.com/", "team": "Test", "user": "faq", "team_id": TEAM_ID,
            "user_id": BOT_USER, "bot_id": BOT_ID, "is_enterprise_install": False}  # fmt: skip


def _post(space: Workspace, arguments: Fields) -> Fields:
    channel = space.place(arguments)
    if not arguments.get("text") and not arguments.get("blocks"):
        raise Refusal("no_text")
    message = space.add(channel, arguments)
    return {"channel": channel, "ts": message["ts"], "message": message}


def _ephemeral(space: Workspace, arguments: Fields) -> Fields:
    space.place(arguments)
    if arguments.get("user") not in space.users:
        raise Refusal("user_not_in_channel")
    return {"message_ts": space.next_ts()}


def _own(space: Workspace, arguments: Fields, refusal: str) -> tuple[str, Fields]:
    channel = space.place(arguments)
    message = space.find(channel, str(arguments.get("ts")))
    if message.get("bot_id") != BOT_ID:
        raise Refusal(refusal)
    return channel, message


def _update(space: Workspace, arguments: Fields) -> Fields:
    channel, message = _own(space, arguments, "cant_update_message")
    if message["ts"] in space.streaming:
        raise Refusal("streaming_state_conflict")
    if "text" in arguments and "blocks" not in arguments:
        message.pop("blocks", None)
    message.update({name: arguments[name] for name in ("text", "blocks", "metadata") if name in arguments})
    return {"channel": channel, "ts": message["ts"], "text": message["text"], "message": message}


def _delete(space: Workspace, arguments: Fields) -> Fields:
    channel, message = _own(space, arguments, "cant_delete_message")
    space.messages[channel].remove(message)
    return {"channel": channel, "ts": message["ts"]}


def _start_stream(space: Workspace, arguments: Fields) -> Fields:
    if not arguments.get("thread_ts"):
        raise Refusal("invalid_arguments")
    channel = space.place(arguments)
    message = space.add(channel, arguments)
    space.streaming.add(message["ts"])
    return {"channel": channel, "ts": message["ts"]}


def _streamed(space: Workspace, arguments: Fields) -> tuple[str, Fields]:
    channel, message = _own(space, arguments, "message_not_owned_by_app")
    if message["ts"] not in space.streaming:
        raise Refusal("message_not_in_streaming_state")
    grown = message["text"] + (arguments.get("markdown_text") or "")
    if len(grown.encode()) > BYTES:
        raise Refusal("msg_too_long")
    message["text"] = grown
    return channel, message


def _append_stream(space: Workspace, arguments: Fields) -> Fields:
    if not arguments.get("markdown_text") and not arguments.get("chunks"):
        raise Refusal("no_text")
    channel, message = _streamed(space, arguments)
    return {"channel": channel, "ts": message["ts"]}


def _stop_stream(space: Workspace, arguments: Fields) -> Fields:
    channel, message = _streamed(space, arguments)
    message.update({name: arguments[name] for name in ("blocks", "metadata") if arguments.get(name)})
    space.streaming.discard(message["ts"])
    return {"channel": channel, "ts": message["ts"], "message": message}


def _seen(messages: list[Fields], arguments: Fields) -> list[Fields]:
    """Copies, without metadata unless it is asked for."""
    everything = str(arguments.get("include_all_metadata", "")).lower() in ("1", "true")
    return [{k: v for k, v in one.items() if everything or k != "metadata"} for one in messages]


def _between(messages: list[Fields], arguments: Fields) -> list[Fields]:
    oldest, latest = float(arguments.get("oldest") or 0), float(arguments.get("latest") or "inf")
    inclusive = str(arguments.get("inclusive", "")).lower() in ("1", "true")
    return [
        one
        for one in messages
        if oldest < float(one["ts"]) < latest or (inclusive and float(one["ts"]) in (oldest, latest))
    ]


def _permalink(space: Workspace, arguments: Fields) -> Fields:
    channel, ts = space.place(arguments), str(arguments.get("message_ts", ""))
    space.find(channel, ts)
    return {"channel": channel, "permalink": f"https://test.slack.com/archives/{channel}/p{ts.replace('.', '')}"}


def _replies(space: Workspace, arguments: Fields) -> Fields:
    found = space.thread(space.place(arguments), str(arguments.get("ts")))
    if not found:
        raise Refusal("thread_not_found")
    shown = [found[0], *_between(found[1:], arguments)]
    return _page(_seen(shown, arguments), arguments)


def _history(space: Workspace, arguments: Fields) -> Fields:
    top = [one for one in space.messages[space.place(arguments)] if one.get("thread_ts", one["ts"]) == one["ts"]]
    return _page(_seen(_between(top, arguments)[::-1], arguments), arguments)


def _page(messages: list[Fields], arguments: Fields) -> Fields:
    start, size = int(arguments.get("cursor") or 0), int(arguments.get("limit") or 100)
    more = start + size < len(messages)
    cursor = {"response_metadata": {"next_cursor": str(start + size)}} if more else {}
    return {"messages": messages[start : start + size], "has_more": more, **cursor}


def _channel(space: Workspace, arguments: Fields) -> Fields:
    name = str(arguments.get("channel", ""))
    if name[:1] == "D":
        return {"channel": {"id": name, "is_im": True}}
    if name not in space.channels:
        raise Refusal("channel_not_found")
    return {"channel": space.channels[name]}


def _user(space: Workspace, arguments: Fields) -> Fields:
    if arguments.get("user") not in space.users:
        raise Refusal("user_not_found")
    user = dict(space.users[arguments["user"]])
    if str(arguments.get("include_locale", "")).lower() not in ("1", "true"):
        user.pop("locale", None)
    return {"user": user}


def _status(space: Workspace, arguments: Fields) -> Fields:
    space.place(arguments)
    space.statuses.append((str(arguments.get("thread_ts")), str(arguments.get("status"))))
    return {}


def _prompts(space: Workspace, arguments: Fields) -> Fields:
    if not 1 <= len(arguments.get("prompts") or []) <= 4:
        raise Refusal("invalid_arguments")
    space.place(arguments)
    return {}


def _title(space: Workspace, arguments: Fields) -> Fields:
    space.place(arguments)
    return {}


def _view(space: Workspace, arguments: Fields) -> Fields:
    return {"view": {"id": "V1", **(arguments.get("view") or {})}}


METHODS: dict[str, Callable[[Workspace, Fields], Fields]] = {
    "auth.test": _auth_test,
    "chat.postMessage": _post,
    "chat.postEphemeral": _ephemeral,
    "chat.update": _update,
    "chat.delete": _delete,
    "chat.getPermalink": _permalink,
    "chat.startStream": _start_stream,
    "chat.appendStream": _append_stream,
    "chat.stopStream": _stop_stream,
    "conversations.replies": _replies,
    "conversations.history": _history,
    "conversations.info": _channel,
    "users.info": _user,
    "assistant.threads.setStatus": _status,
    "assistant.threads.setSuggestedPrompts": _prompts,
    "assistant.threads.setTitle": _title,
    "views.open": _view,
    "views.publish": _view,
    "views.update": _view,
}
