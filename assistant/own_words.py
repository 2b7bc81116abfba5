"""A customer's message -> the customer's own words: without quoted history and signature.

In: a message, the phrases of all languages. Out: the same text with line ends in the place of what is not theirs.
Never: moves a word: what is left stands where it stood.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from assistant.language import display_width
from assistant.parts import ASKING
from assistant.spoken import DENSE, spoken
from assistant.wording import Wordings

WRAPPED = 50  # columns from which a line without an end goes on in the next: programs wrap at 60 to 80
CLOSING = 24  # letters that may stand beside a farewell in its line
QUOTE = regex.compile(r"[ \t]*[>＞│|]")
DIVIDER = regex.compile(r"[ \t]*[-_=~*―—─━＿]{2,}[^\S\n]*(?:\p{L}[^\n]{2,40}?)[^\S\n]*[-_=~*―—─━＿]{2,}[ \t]*")
RULE = regex.compile(r"[ \t]*(?:-- ?|[_―─━＿]{4,}|[-=~*]{4,})[ \t]*")
ENDS = regex.compile(r"[.!?…。！？｡؟।॥:：;；][\"'”’»」』）)]*[ \t]*$")
DATED = regex.compile(r"\p{Nd}|@")
COLON = regex.compile(r"[:：][ \t]*$")


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Each line and where it begins."""
    at = 0
    for line in text.split("\n"):
        yield at, line
        at += len(line) + 1


def _blank(text: str, start: int, end: int) -> str:
    """The text with line ends in the place of a part, so that all other places stay."""
    return text[:start] + "\n" * (end - start) + text[end:]


def without_quotes(message: str, wordings: Wordings) -> str:
    """The message without what it quotes of earlier ones and the lines that introduce that."""
    words = [wording.ticket for wording in wordings.by_language.values()]
    heads = {spoken(name) for own in words for name in own.headers}
    ends = {spoken(phrase) for own in words for phrase in own.quoted}
    lines = list(lines_of(message))
    own, begun = message, False
    for number, (at, line) in enumerate(lines):
        following = next((after for _, after in lines[number + 1 :] if after.strip()), "")
        is_head = _is_header(line, heads)
        if DIVIDER.fullmatch(line) or (begun and is_head and _is_header(following, heads)):
            return _blank(own, at, len(own))
        if _introduces(line, following, ends):
            start = _wrapped_start(lines, number)
            if not QUOTE.match(following):
                return _blank(own, start, len(own))
            own = _blank(own, start, at + len(line))
        elif QUOTE.match(line) or is_head:
            own = _blank(own, at, at + len(line))
        else:
            begun = begun or bool(line.strip())
    return own


def _introduces(line: str, following: str, ends: set[str]) -> bool:
    """Whether a line says that somebody wrote what follows: with a date or an address, or before marked lines."""
    if not COLON.search(line) or not any(spoken(line).endswith(end) for end in ends):
        return False
    return bool(QUOTE.match(following) or DATED.search(line))


def _wrapped_start(lines: list[tuple[int, str]], number: int) -> int:
    """Where an introduction begins that a program has wrapped: its line before is long and does not end a sentence."""
    at, _ = lines[number]
    if number and display_width(lines[number - 1][1]) >= WRAPPED and not ENDS.search(lines[number - 1][1]):
        return lines[number - 1][0]
    return at


def _is_header(line: str, heads: set[str]) -> bool:
    """Whether a line is `From: …`, in any language."""
    name, colon, _ = line.replace("：", ":").partition(":")
    return bool(colon) and spoken(name) in heads


def without_signature(own: str, wordings: Wordings) -> str:
    """The customer's words up to the last farewell or rule; what stands after a "P.S." stays."""
    words = [wording.ticket for wording in wordings.by_language.values()]
    farewells = [spoken(phrase) for one in words for phrase in one.farewells]
    after = [phrase.casefold() for one in words for phrase in one.postscripts]
    lines = [(at, line) for at, line in lines_of(own) if line.strip()]
    cut = None
    for number, (at, line) in enumerate(lines):
        asks_later = any(ASKING.search(later) for _, later in lines[number + 1 :])
        if line.rstrip() == "--" or (RULE.fullmatch(line) and not asks_later):
            cut = at
            break
        if number and _is_farewell(line, farewells) and not asks_later:
            cut = at
            break
    if cut is None:
        return own
    for at, line in lines:
        if at > cut and line.strip().casefold().startswith(tuple(after)):
            return _blank(own, cut, at)
    return _blank(own, cut, len(own))


def _is_farewell(line: str, farewells: list[str]) -> bool:
    """Whether a line is a farewell with at most a name beside it."""
    said = spoken(line)
    if ASKING.search(line):
        return False
    return any(
        said.startswith(one) and len(said) - len(one) <= CLOSING and (said == one or _ends_word(said, one))
        for one in farewells
    )


def _ends_word(said: str, phrase: str) -> bool:
    return bool(DENSE.search(phrase)) or said[len(phrase) :].startswith(" ")
