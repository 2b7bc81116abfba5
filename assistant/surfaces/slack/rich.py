"""An Answer's text -> Slack's rich text: styles as data, so that no asterisk is ever shown, whatever stands beside it.

In: an Answer. Out: elements of a `rich_text` block (https://docs.slack.dev/reference/block-kit/blocks/rich-text-block).
Never: writes mrkdwn (so `<!channel>` and `<@U…>` of an article stay text), or cuts within a character.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import regex
from markdown_it.token import Token

from assistant.language import split_sentences
from assistant.records import Answer
from assistant.surfaces.render import is_web_address, plain_text, read_markdown

Part = dict[str, Any]  # an inline element: text or link
Element = dict[str, Any]  # a section, list or quote
LONGEST_ADDRESS = 3000  # https://docs.slack.dev/reference/block-kit/block-elements/button-element, for links as well
LISTS = {"bullet_list_open": "bullet", "ordered_list_open": "ordered"}
RIGHT_TO_LEFT = "\u200f"
STYLES = {"strong": "bold", "em": "italic"}


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph, list item or table row.

    Args:
        style: `bullet` or `ordered` for an item, `row`, or "" for a paragraph.
        depth: how many lists it stands in.
        number: of an item in its list, from 0; an ordered list may begin higher.
    """

    parts: tuple[Part, ...]
    style: str = ""
    depth: int = 0
    number: int = 0

    @property
    def plain(self) -> str:
        """The text alone, an item with its bullet or number."""
        mark = {"bullet": "• ", "ordered": f"{self.number + 1}. "}.get(self.style, "")
        return "  " * (self.depth - 1) + mark + "".join(part["text"] for part in self.parts)


def answer_lines(answer: Answer) -> list[Line]:
    """The text line by line; a marker [n] is a link to its source where that has an address."""
    addresses = {citation.n: citation.url for citation in answer.citations}
    lines: list[Line] = []
    lists: list[tuple[str, int]] = []  # style and next number of each list that is open
    opens, cells = False, 0
    for token in read_markdown(answer):
        if token.type in LISTS:
            lists.append((LISTS[token.type], int(token.attrGet("start") or 1) - 1))
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            lists.pop()
        elif token.type == "list_item_open":
            opens = True
        elif token.type == "tr_open":
            cells = 0
        elif token.type == "inline":
            parts = tuple(_parts(token.children or (), addresses))
            in_row, cells = token.level >= 4 and not lists, cells + 1
            if in_row and cells > 1:
                lines[-1] = replace(lines[-1], parts=(*lines[-1].parts, text_part(" | "), *parts))
            elif lists and not opens:
                lines[-1] = replace(lines[-1], parts=(*lines[-1].parts, text_part("\n"), *parts))
            elif lists:
                style, number = lists[-1]
                lines.append(Line(parts, style, len(lists), number))
                lists[-1], opens = (style, number + 1), False
            else:
                lines.append(Line(parts, "row" if in_row else ""))
    return lines


def turn_lines(lines: Sequence[Line]) -> list[Line]:
    """Lines that hold right-to-left letters but begin with others, opened by a mark that nobody sees.

    Slack has no `dir`: a line's direction is that of its first letter (https://www.unicode.org/reports/tr9/#P2).
    """
    turned: list[Line] = []
    for line in lines:
        letters = [unicodedata.bidirectional(sign) for part in line.parts for sign in part["text"]]
        strong = [kind for kind in letters if kind in ("L", "R", "AL")]
        is_turned = bool(strong) and strong[0] == "L" and not {"R", "AL"}.isdisjoint(strong)
        turned.append(replace(line, parts=(text_part(RIGHT_TO_LEFT), *line.parts)) if is_turned else line)
    return turned


def elements_of(lines: Sequence[Line]) -> list[Element]:
    """The lines as sections and lists."""
    elements: list[Element] = []
    for before, line in pairwise([None, *lines]):
        if line is None:
            continue
        last = elements[-1]["elements"] if elements else []
        goes_on = before is not None and (before.style, before.depth) == (line.style, line.depth)
        if not line.depth and before is not None and not before.depth:
            gap = "\n" if before.style == line.style == "row" else "\n\n"
            last += [text_part(gap), *line.parts]
        elif not line.depth:
            elements.append(section(*line.parts))
        elif goes_on and before is not None and before.number + 1 == line.number:
            last.append(section(*line.parts))
        else:
            offset = {"offset": line.number} if line.style == "ordered" and line.number else {}
            place = {"style": line.style, "indent": min(line.depth - 1, 8), **offset}
            elements.append({"type": "rich_text_list", **place, "elements": [section(*line.parts)]})
    return elements


def cut_lines(lines: Sequence[Line], size: int) -> tuple[list[Line], bool]:
    """As many whole lines, then sentences, as fit into `size` bytes of UTF-8; whether anything was left out."""
    kept: list[Line] = []
    for line in lines:
        parts: list[Part] = []
        for part in line.parts:
            rest = size - measure(parts)
            if measure([part]) > rest:
                parts += _beginning(part, rest)
                return [*kept, *([replace(line, parts=tuple(parts))] if parts else [])], True
            parts.append(part)
        size -= measure(parts)
        kept.append(line)
    return kept, False


def section(*parts: Part) -> Element:
    """A section with these inline elements."""
    return {"type": "rich_text_section", "elements": list(parts) or [text_part(" ")]}


def quote(text: str) -> Element:
    """A quotation, shown with a bar beside it."""
    return {"type": "rich_text_quote", "elements": [text_part(text)]}


def text_part(text: str, *styles: str, url: str = "") -> Part:
    """A piece of text, a link where there is an address that may be followed; styles are `bold`, `italic`, `code`."""
    shown = plain_text(text) or " "  # Slack refuses an empty text
    style = {"style": dict.fromkeys(styles, True)} if styles else {}
    if is_web_address(url) and len(url) <= LONGEST_ADDRESS:
        return {"type": "link", "url": url, "text": shown, **style}
    return {"type": "text", "text": shown, **style}


def measure(parts: Sequence[Part]) -> int:
    """Bytes of UTF-8 that a reader sees: what Slack's limit on a message's blocks counts."""
    return sum(len(part.get("text", "").encode()) for part in parts)


def shorten(text: str, characters: int, size: int = 1_000_000) -> str:
    """The text, with an ellipsis where it has more characters (as UTF-16 counts them) or bytes of UTF-8."""
    clean = plain_text(text)
    if _fits(clean, characters, size):
        return clean
    kept: list[str] = []
    for piece in regex.findall(r"\X", clean):  # what a reader takes for one character stays whole
        characters, size = characters - len(piece.encode("utf-16-le")) // 2, size - len(piece.encode())
        if characters < 1 or size < len("…".encode()):
            break
        kept.append(piece)
    return "".join(kept).rstrip() + "…"


def _fits(text: str, characters: int, size: int) -> bool:
    return len(text.encode("utf-16-le")) // 2 <= characters and len(text.encode()) <= size


def _beginning(part: Part, size: int) -> list[Part]:
    kept = ""
    for sentence in split_sentences(part["text"]) if part["type"] == "text" else []:
        if len((kept + sentence).encode()) > size:
            break
        kept += sentence
    return [{**part, "text": kept}] if kept.strip() else []


def _parts(tokens: Sequence[Token], addresses: Mapping[int, str]) -> Iterator[Part]:
    styles: list[str] = []
    url = ""
    for token in tokens:
        name = token.type.partition("_")[0]
        if name in STYLES:
            styles = [*styles, STYLES[name]] if token.nesting == 1 else styles[:-1]
        elif token.type == "link_open":
            url = str(token.attrGet("href") or "")
        elif token.type == "link_close":
            url = ""
        elif token.type == "marker":
            yield text_part(f"[{token.content}]", url=addresses.get(int(token.content), ""))
        elif token.type in ("softbreak", "hardbreak"):
            yield text_part("\n")
        elif token.content:
            code = ["code"] if token.type == "code_inline" else []
            yield text_part(token.content, *dict.fromkeys([*styles, *code]), url=url)
