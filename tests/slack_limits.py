"""Slack's own limits on messages, as its reference of Block Kit and of chat.postMessage states them.

What stands in no reference but in reports: chat.update refuses texts over 4,000 characters
(seratch/ChatGPT-in-Slack#102), and all blocks of a message, or a stream, may hold about 10,600 bytes of UTF-8
(slackapi/bolt-js#2509 and #2867, openclaw/openclaw#143882, who measured it in several scripts).

In: a call's arguments as decoded JSON. Out: the complaints Slack would answer with, in its own error codes.
Never: knows anything of the assistant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

TEXT, UPDATED, BLOCKS, BYTES, STREAMED = 40_000, 4_000, 50, 10_600, 12_000
SECTION, HEADER, BUTTON_TEXT, BUTTON_VALUE, ACTION_ID, ADDRESS = 3_000, 150, 75, 2_000, 255, 3_000
ACTIONS, CONTEXT, CONTEXT_ACTIONS = 25, 10, 5
RICH = {"rich_text_section", "rich_text_list", "rich_text_quote", "rich_text_preformatted"}
INLINE = {"text", "link", "emoji", "user", "channel", "usergroup", "broadcast", "date", "color", "team"}


def complaint(arguments: dict[str, Any], longest: int = TEXT) -> tuple[str, list[str]]:
    """(Slack's error code or "", details) of a message's `text` and `blocks`."""
    text, blocks = arguments.get("text") or "", arguments.get("blocks") or []
    if len(text) > longest:
        return "msg_too_long", [f"text has {len(text)} characters"]
    if len(arguments.get("markdown_text") or "") > STREAMED:
        return "msg_too_long", ["markdown_text is too long"]
    if not isinstance(blocks, list):
        return "invalid_blocks_format", ["blocks is no list"]
    found = list(block_complaints(blocks))
    if found:
        return "invalid_blocks", found
    if sum(len(piece.encode()) for piece in texts(blocks)) > BYTES:
        return "msg_blocks_too_long", ["the blocks' texts are too long"]
    return "", []


def block_complaints(blocks: list[dict[str, Any]]) -> Iterator[str]:
    """What is wrong with the blocks, each with its place."""
    if len(blocks) > BLOCKS:
        yield f"no more than {BLOCKS} items allowed [json-pointer:/blocks]"
    names = [block["block_id"] for block in blocks if "block_id" in block]
    if len(names) != len(set(names)):
        yield "block_id already exists"
    for at, block in enumerate(blocks):
        check = CHECKS.get(block.get("type", ""))
        if check is None:
            yield f"unsupported type: {block.get('type')} [json-pointer:/blocks/{at}/type]"
            continue
        yield from (f"{said} [json-pointer:/blocks/{at}]" for said in check(block))


def texts(value: Any) -> Iterator[str]:
    """Every text that a reader would see in a block."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "text" and isinstance(inner, str):
                yield inner
            else:
                yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def _text_object(value: Any, limit: int, kinds: tuple[str, ...] = ("plain_text", "mrkdwn")) -> Iterator[str]:
    if not isinstance(value, dict) or value.get("type") not in kinds:
        yield f"must be a text object of {kinds}"
    elif not 1 <= len(value.get("text", "")) <= limit:
        yield f"text must have 1 to {limit} characters, not {len(value.get('text', ''))}"


def _section(block: dict[str, Any]) -> Iterator[str]:
    if "text" in block:
        yield from _text_object(block["text"], SECTION)
    elif not block.get("fields"):
        yield "missing required field: text"
    if "accessory" in block:
        yield from _element(block["accessory"])


def _header(block: dict[str, Any]) -> Iterator[str]:
    yield from _text_object(block.get("text"), HEADER, ("plain_text",))


def _context(block: dict[str, Any]) -> Iterator[str]:
    elements = block.get("elements", [])
    if not 1 <= len(elements) <= CONTEXT:
        yield f"must have 1 to {CONTEXT} elements"
    for element in elements:
        yield from _text_object(element, SECTION)


def _actions(block: dict[str, Any]) -> Iterator[str]:
    elements = block.get("elements", [])
    if not 1 <= len(elements) <= ACTIONS:
        yield f"must have 1 to {ACTIONS} elements"
    ids = [element.get("action_id") for element in elements]
    if len(ids) != len(set(ids)):
        yield "action_id already exists"
    for element in elements:
        yield from _element(element)


def _context_actions(block: dict[str, Any]) -> Iterator[str]:
    elements = block.get("elements", [])
    if not 1 <= len(elements) <= CONTEXT_ACTIONS:
        yield f"must have 1 to {CONTEXT_ACTIONS} elements"
    for element in elements:
        if element.get("type") not in ("feedback_buttons", "icon_button"):
            yield f"unsupported element {element.get('type')}"
        yield from _element(element)


def _element(element: dict[str, Any]) -> Iterator[str]:
    if len(element.get("action_id", "")) > ACTION_ID:
        yield "action_id is too long"
    kind = element.get("type")
    if kind == "button":
        yield from _button(element)
        if element.get("style", "primary") not in ("primary", "danger"):
            yield "style is unknown"
    elif kind == "feedback_buttons":
        for name in ("positive_button", "negative_button"):
            yield from _button(element.get(name, {}))
    else:
        yield f"unsupported element {kind}"


def _button(button: dict[str, Any]) -> Iterator[str]:
    yield from _text_object(button.get("text"), BUTTON_TEXT, ("plain_text",))
    if len(button.get("value", "")) > BUTTON_VALUE:
        yield "value is too long"
    if len(button.get("url", "")) > ADDRESS:
        yield "url is too long"
    if len(button.get("accessibility_label", "")) > BUTTON_TEXT:
        yield "accessibility_label is too long"


def _rich_text(block: dict[str, Any]) -> Iterator[str]:
    if not block.get("elements"):
        yield "missing required field: elements"
    for element in block.get("elements", []):
        yield from _rich(element)


def _rich(element: dict[str, Any]) -> Iterator[str]:
    kind = element.get("type")
    if kind not in RICH:
        yield f"unsupported rich text element {kind}"
        return
    if kind == "rich_text_list" and element.get("style") not in ("bullet", "ordered"):
        yield "a list needs a style"
    for inner in element.get("elements", []):
        if kind == "rich_text_list":
            yield from _rich(inner) if inner.get("type") == "rich_text_section" else ["a list holds sections"]
        elif inner.get("type") not in INLINE:
            yield f"unsupported inline element {inner.get('type')}"
        elif inner["type"] == "text" and not inner.get("text"):
            yield "text must have at least 1 character"
        elif inner["type"] == "link" and not 1 <= len(inner.get("url", "")) <= ADDRESS:
            yield "a link needs an address"


CHECKS: dict[str, Callable[[dict[str, Any]], Iterator[str]]] = {
    "section": _section,
    "header": _header,
    "context": _context,
    "actions": _actions,
    "context_actions": _context_actions,
    "rich_text": _rich_text,
    "divider": lambda block: iter(()),
}
