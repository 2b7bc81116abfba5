"""Reads a Slack message as a person sees it.

In: a message's blocks. Out: its text, links, quotes, bold words, buttons. Never: reads mrkdwn; the bot writes none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

NUMBER = re.compile(r"\[([0-9]+)\] ")


@dataclass(frozen=True)
class Source:
    """A numbered source as it is shown."""

    number: int
    place: str
    url: str
    quote: str


def seen(element: dict[str, Any]) -> str:
    """The text of a block or of one of its elements, a line each; list items with their bullet or number."""
    kind = element["type"]
    if kind == "rich_text":
        return "\n".join(seen(inner) for inner in element["elements"])
    if kind == "rich_text_list":
        start = element.get("offset", 0) + 1
        marks = ("- " if element["style"] == "bullet" else f"{n}. " for n, _ in enumerate(element["elements"], start))
        pairs = zip(marks, element["elements"], strict=True)
        return "\n".join("  " * element.get("indent", 0) + mark + seen(item) for mark, item in pairs)
    if kind in ("rich_text_section", "rich_text_quote"):
        return "".join(seen(inner) for inner in element["elements"])
    if kind == "user":
        return f"@{element['user_id']}"
    return str(element["text"])


def sources_of(message: dict[str, Any]) -> list[Source]:
    """The sources below the answer; the quote is "" where none is shown."""
    rich = [block for block in message["blocks"] if block["type"] == "rich_text"]
    sources: list[Source] = []
    for element in rich[1]["elements"] if len(rich) > 1 else []:
        number = NUMBER.fullmatch(element["elements"][0].get("text", ""))
        if element["type"] == "rich_text_quote":
            sources[-1] = replace(sources[-1], quote=seen(element))
        elif number:
            place = element["elements"][1]
            sources.append(Source(int(number[1]), place["text"], place.get("url", ""), ""))
    return sources


def quotes_of(message: dict[str, Any]) -> list[str]:
    """The quotations, in order."""
    return [seen(one) for one in _all(message["blocks"]) if one.get("type") == "rich_text_quote"]


def links_of(element: dict[str, Any]) -> list[str]:
    """The addresses of the links, in order."""
    return [one["url"] for one in _all(element) if one.get("type") == "link"]


def bold_of(element: dict[str, Any]) -> list[str]:
    """The bold pieces."""
    return [one["text"] for one in _all(element) if (one.get("style") or {}) == {"bold": True}]


def buttons_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The plain buttons."""
    return [one for one in _all(message["blocks"]) if one.get("type") == "button"]


def _all(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _all(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _all(inner)
