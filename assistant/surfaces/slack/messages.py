"""What Slack delivers -> jobs for the inbox.

In: the bodies of events, commands and clicks, whose signature is checked. Out: a Job, or None for what is not for us.
Never: calls Slack, or takes for a question what a bot, this one included, wrote.
"""

from __future__ import annotations

import html
import time
from typing import Any

import regex
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.attention import Job, Needs
from assistant.surfaces.slack.blocks import PERSON, SHARE

WRITTEN = ("", "file_share", "thread_broadcast", "me_message")  # subtypes that are a person's message
REFERENCE = regex.compile(r"<([^<>]*)>")
EMOJI = regex.compile(r"(?<![0-9A-Za-z:]):[\w+'-]+(?:::skin-tone-[2-6])?:(?![0-9A-Za-z:])", regex.ASCII)
STAMP = regex.compile(r"[0-9]{1,12}\.[0-9]{1,8}", regex.ASCII)


class Origin(BaseModel):
    """Where something comes from: the workspace that installed the bot, and who the bot is there."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    team: str
    enterprise: str = ""
    bot: str = ""


class Written(BaseModel):
    """A message, or what an event says of one."""

    model_config = ConfigDict(extra="ignore")

    ts: str = ""
    user: str = ""
    text: str = ""
    subtype: str = ""
    bot_id: str | None = None
    thread_ts: str = ""
    files: list[Any] = Field(default_factory=list)


class MessageEvent(Written):
    """`message` in all its forms, and `app_mention`."""

    channel: str
    channel_type: str = ""
    event_ts: str = ""
    deleted_ts: str = ""
    message: Written | None = None
    previous_message: Written | None = None


class Command(BaseModel):
    """`/faq …`."""

    model_config = ConfigDict(extra="ignore")

    trigger_id: str
    channel_id: str
    user_id: str
    response_url: str
    text: str = ""


class Named(BaseModel):
    """Something with an id."""

    model_config = ConfigDict(extra="ignore")

    id: str = ""


class Container(BaseModel):
    """The message that a button stands in."""

    model_config = ConfigDict(extra="ignore")

    message_ts: str = ""
    thread_ts: str = ""
    channel_id: str = ""
    is_ephemeral: bool = False


class Action(BaseModel):
    """The button."""

    model_config = ConfigDict(extra="ignore")

    action_id: str
    action_ts: str
    value: str = ""


class Click(BaseModel):
    """A click on a button of ours."""

    model_config = ConfigDict(extra="ignore")

    user: Named
    actions: list[Action] = Field(min_length=1)
    channel: Named = Field(default_factory=Named)
    container: Container = Field(default_factory=Container)
    message: Written = Field(default_factory=Written)
    response_url: str = ""


def read_message(event: dict[str, Any], origin: Origin) -> Job | None:
    """The job of a `message` or `app_mention` event."""
    try:
        found = MessageEvent.model_validate({name: value for name, value in event.items() if value is not None})
    except ValidationError:
        return None
    if found.subtype == "message_deleted":
        return _deletion(found, found.deleted_ts, found.previous_message, origin)
    if found.subtype == "message_changed" and found.message:
        if found.message.subtype == "tombstone":  # the first message of a thread was deleted
            return _deletion(found, found.message.ts, found.previous_message, origin)
        if found.previous_message and found.previous_message.text == found.message.text:
            return None  # a link was unfurled, or replies were counted
        return _question(found, found.message, origin, is_edit=True)
    return _question(found, found, origin)


def read_command(body: dict[str, Any], origin: Origin) -> Job | None:
    """The job of a `/faq` command."""
    try:
        found = Command.model_validate(body)
    except ValidationError:
        return None
    written = {"text": found.text, "channel": found.channel_id, "response_url": found.response_url, "is_private": True}
    place = _private(origin, found.channel_id, found.user_id)
    name = f"command:{origin.team}:{found.trigger_id}"
    return Job(name, "command", place, f"{time.time():.6f}", found.user_id, {**_of(origin), **written})


def read_click(body: dict[str, Any], origin: Origin) -> Job | None:
    """The job of a click on a button."""
    try:
        found = Click.model_validate({name: value for name, value in body.items() if value is not None})
    except ValidationError:
        return None
    action, channel = found.actions[0], found.channel.id or found.container.channel_id
    if not channel or not STAMP.fullmatch(action.action_ts):
        return None
    shown_in, is_private = found.container.message_ts or found.message.ts, found.container.is_ephemeral
    thread_ts = found.container.thread_ts or found.message.thread_ts
    if not thread_ts and not is_private and not channel.startswith("D"):
        thread_ts = shown_in
    written = {
        "channel": channel, "thread_ts": thread_ts, "ts": shown_in, "text": action.value, "action": action.action_id,
        "response_url": found.response_url, "is_private": is_private,
    }  # fmt: skip
    once = f"{action.action_id}:{action.value}" if action.action_id in (SHARE, PERSON) else action.action_ts
    name = f"click:{origin.team}:{channel}:{found.user.id}:{once}"[:200]
    place = _private(origin, channel, found.user.id) if is_private else f"{origin.team}:{channel}:{thread_ts}"
    return Job(name, "click", place, action.action_ts, found.user.id, {**_of(origin), **written})


def read_opening(event: dict[str, Any], origin: Origin) -> Job | None:
    """The job of an assistant pane that was opened."""
    thread = event.get("assistant_thread")
    if not isinstance(thread, dict):
        return None
    channel, ts, user = (str(thread.get(key, "")) for key in ("channel_id", "thread_ts", "user_id"))
    if not channel or not STAMP.fullmatch(ts):
        return None
    written = {"channel": channel, "thread_ts": ts}
    place = f"{origin.team}:{channel}:{ts}"
    return Job(f"opening:{place}", "opening", place, ts, user, {**_of(origin), **written})


def clean(text: str, bot: str = "") -> str:
    """A message's words as they were typed: no mention of the bot, no marks for links, no emoji codes."""
    shown = REFERENCE.sub(lambda found: _shown(found[1], bot), text)
    return EMOJI.sub(" ", html.unescape(shown)).strip()


def _question(event: MessageEvent, written: Written, origin: Origin, is_edit: bool = False) -> Job | None:
    is_person = written.user and written.user not in (origin.bot, "USLACKBOT") and not written.bot_id
    if not is_person or written.subtype not in WRITTEN or not STAMP.fullmatch(written.ts):
        return None
    is_direct = event.channel_type == "im" or event.channel.startswith("D")
    is_mention = bool(origin.bot) and f"<@{origin.bot}" in written.text
    is_reply = written.thread_ts not in ("", written.ts)
    if not is_direct and not is_mention and not is_reply and not is_edit:
        return None
    thread_ts = written.thread_ts if is_direct else written.thread_ts or written.ts
    place = f"{origin.team}:{event.channel}:{thread_ts}"
    name = f"message:{origin.team}:{event.channel}:{written.ts}"
    body = {
        **_of(origin), "channel": event.channel, "thread_ts": thread_ts, "ts": written.ts, "text": written.text,
        "files": len(written.files), "is_direct": is_direct,
    }  # fmt: skip
    needs: Needs = "" if is_direct else "join" if is_mention else "joined"
    if is_edit:
        changed = event.event_ts or event.ts
        if not STAMP.fullmatch(changed):
            return None
        return Job(f"edit:{name}:{changed}", "edit", place, changed, written.user, body, needs, target=name)
    return Job(name, "message", place, written.ts, written.user, body, needs)


def _deletion(event: MessageEvent, ts: str, before: Written | None, origin: Origin) -> Job | None:
    at = event.event_ts or event.ts
    if not STAMP.fullmatch(ts) or not STAMP.fullmatch(at) or (before and before.bot_id):
        return None
    is_direct = event.channel_type == "im" or event.channel.startswith("D")
    thread_ts = (before.thread_ts if before else "") or ("" if is_direct else ts)
    target = f"message:{origin.team}:{event.channel}:{ts}"
    place = f"{origin.team}:{event.channel}:{thread_ts}"
    return Job(f"delete:{target}", "delete", place, at, "", {**_of(origin), "channel": event.channel}, target=target)


def _private(origin: Origin, channel: str, user: str) -> str:
    """What only its asker sees has its own order."""
    return f"{origin.team}:{channel}:{user}:private"


def _of(origin: Origin) -> dict[str, Any]:
    return {"team": origin.team, "enterprise": origin.enterprise, "bot": origin.bot}


def _shown(reference: str, bot: str) -> str:
    """What a reader sees of `<…>`: a label where there is one."""
    target, _, label = reference.partition("|")
    if target.startswith("@"):
        return "" if target[1:] == bot else label and f"@{label}"
    if target.startswith("#"):
        return f"#{label}" if label else ""
    if target.startswith("!"):
        return label
    return label or target.removeprefix("mailto:").removeprefix("tel:")
