"""What the tests of the Slack bot share: waiting for replies, saying something, finding buttons.

In: the stand-in, a sender. Out: what the bot wrote. Never: sends unsigned.
"""

from __future__ import annotations

import asyncio
from typing import Any

from tests.slack_events import Sender
from tests.slack_server import SlackServer

Found = list[dict[str, Any]]


async def replies(slack: SlackServer, channel: str, count: int, after_s: float = 0.3) -> Found:
    """The bot's messages in a channel, once there are so many and no more come for a while."""
    await asyncio.to_thread(slack.wait_for, lambda served: len(served.workspace.by_bot(channel)) >= count, 30)
    await asyncio.sleep(after_s)
    found = slack.workspace.by_bot(channel)
    assert len(found) == count, [message["text"] for message in found]
    return found


async def ask(slack: SlackServer, sender: Sender, text: str, channel: str = "C1", **more: Any) -> dict[str, Any]:
    """A person's message, delivered."""
    written = slack.workspace.say(channel, more.pop("user", "U1"), text, **more)
    assert (await sender.event(written)).status_code == 200
    return written


def buttons(message: dict[str, Any], start: str) -> Found:
    """The buttons of a message whose action begins so."""
    rows = [block["elements"] for block in message["blocks"] if block["type"] in ("actions", "context_actions")]
    return [one for row in rows for one in row if one["action_id"].startswith(start)]
