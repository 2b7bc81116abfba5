"""A customer's message, an e-mail or a ticket -> its questions, each with its place in the message.

In: the message, the phrases of all languages, a way to tell its language. Out: a Ticket.
Never: takes a question from quoted history or a signature, changes a word of one, or knows a phrase of its own.

First the customer's own words are found, then its sentences, then those that ask: by a question mark, by how they
begin or end, or by a request ("please let me know …"); what is only polite asks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import regex

from assistant.hearing import Hearing
from assistant.language import display_width
from assistant.parts import ASKING, split_asked, split_questions
from assistant.spoken import DENSE, spoken
from assistant.ticket_words import TicketWords
from assistant.wording import Wording, Wordings

MOST = 12  # questions of one message
WRAPPED = 50  # columns from which a line without an end goes on in the next: programs wrap at 60 to 80
CLOSING = 24  # letters that may stand beside a farewell in its line
LEFT = 4  # letters that must be left of a question without its courtesies; dense scripts: half of it
QUOTE = regex.compile(r"[ \t]*[>＞│|]")
DIVIDER = regex.compile(r"[ \t]*[-_=~*―—─━＿]{2,}[^\S\n]*(?:\p{L}[^\n]{2,40}?)[^\S\n]*[-_=~*―—─━＿]{2,}[ \t]*")
RULE = regex.compile(r"[ \t]*(?:-- ?|[_―─━＿]{4,}|[-=~*]{4,})[ \t]*")
ENDS = regex.compile(r"[.!?…。！？｡؟।॥:：;；][\"'”’»」』）)]*[ \t]*$")
BULLET = regex.compile(r"\s*(?:[-*•・‣–]\s+|[(（]?\p{N}{1,2}[.)）、．:：]\s*|[①-⑳㈠-㈩]\s*)")
DATED = regex.compile(r"\p{Nd}|@")
COLON = regex.compile(r"[:：][ \t]*$")
BETWEEN = regex.compile(rf"(?<={DENSE.pattern})\s*\n\s*(?={DENSE.pattern})")
EDGE = regex.compile(r"^[\s,，、;；:：\-–—…]+|\s+$")
LETTER = regex.compile(r"[\p{L}\p{N}]")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: `text` is message[start:end], in one line."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a message holds; `said` is the customer's own words, without quoted history and signature."""

    language: str
    said: str
    questions: tuple[Asked, ...]


def read_ticket(message: str, hearing: Hearing, tell: Callable[[str], str]) -> Ticket:
    """The questions of a message, at most MOST, in order; none where it asks nothing.

    Args:
        tell: the language of a text.
    """
    own = _without_quotes(message, hearing.wordings)
    body = _without_signature(own, hearing.wordings)
    language = tell(body if LETTER.search(body) else message)
    questions = tuple(_questions(body, hearing, language))
    if not questions and body != own:  # what looked like a farewell may have opened the message
        body, questions = own, tuple(_questions(own, hearing, language))
    said = regex.sub(r"\n{3,}", "\n\n", body).strip()
    return Ticket(language, said, questions[:MOST])


def _lines(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    for line in text.split("\n"):
        yield at, line
        at += len(line) + 1


def _blank(text: str, start: int, end: int) -> str:
    """The text with line ends in the place of a part, so that all other places stay."""
    return text[:start] + "\n" * (end - start) + text[end:]


def _without_quotes(message: str, wordings: Wordings) -> str:
    """The message without what it quotes of earlier ones and the lines that introduce that."""
    words = [wording.ticket for wording in wordings.by_language.values()]
    heads = {spoken(name) for own in words for name in own.headers}
    ends = {spoken(phrase) for own in words for phrase in own.quoted}
    lines = list(_lines(message))
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


def _without_signature(own: str, wordings: Wordings) -> str:
    """The customer's words up to the last farewell or rule; what stands after a "P.S." stays."""
    words = [wording.ticket for wording in wordings.by_language.values()]
    farewells = [spoken(phrase) for one in words for phrase in one.farewells]
    after = [phrase.casefold() for one in words for phrase in one.postscripts]
    lines = [(at, line) for at, line in _lines(own) if line.strip()]
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


def _questions(body: str, hearing: Hearing, language: str) -> Iterator[Asked]:
    wording = hearing.wordings.nearest(language)
    text = _unwrapped(body)
    at = 0
    for sentence in split_asked(text, wording):
        if _asks(sentence, hearing, wording):
            for start, end in _parts(sentence, wording):
                if asked := _trimmed(text, at + start, at + end, hearing, language):
                    yield asked
        at += len(sentence)


def _parts(sentence: str, wording: Wording) -> list[tuple[int, int]]:
    """Where a sentence's questions stand; a part that asks nothing as it is written goes with the next."""
    spans: list[tuple[int, int]] = []
    start = end = 0
    for part in split_questions(sentence, wording):
        end = sentence.index(part, end) + len(part)
        if ASKING.search(part) or any(word in part.casefold() for word in wording.hears.asks):
            spans.append((start, end))
            start = end
    if not spans:
        return [(0, len(sentence))]
    spans[-1] = (spans[-1][0], len(sentence))
    return spans


def _unwrapped(body: str) -> str:
    """The text with a space for each line end that only a program has set; as long as it was."""
    lines = list(_lines(body))
    text = body
    for (at, line), (_, following) in pairwise(lines):
        goes_on = following.strip() and not BULLET.match(following)
        if goes_on and display_width(line) >= WRAPPED and not ENDS.search(line):
            end = at + len(line)
            text = f"{text[:end]} {text[end + 1 :]}"
    return text


def _asks(sentence: str, hearing: Hearing, wording: Wording) -> bool:
    """Whether a sentence asks for something that is not mere politeness."""
    words = wording.ticket
    said = spoken(sentence)
    asks = bool(ASKING.search(sentence)) or _opens(sentence, hearing, wording)
    asks = asks or any(said.endswith(spoken(end)) for end in words.ends)
    asks = asks or any(_holds(said, spoken(phrase)) for phrase in words.requests)
    return asks and not hearing.heard(sentence) and _says_something(said, words)


def _opens(sentence: str, hearing: Hearing, wording: Wording) -> bool:
    """Whether a sentence begins as a question does, after a greeting or a word that joins."""
    text = BULLET.sub("", hearing.peel(sentence.strip(), wording.language), count=1).strip("¿ ").casefold()
    for word in sorted(wording.hears.joins, key=len, reverse=True):
        rest = text.removeprefix(word.casefold())
        if rest != text and (DENSE.search(word) or not LETTER.match(rest)):
            text = rest.lstrip(" ,，、¿")
            break
    return any(_begins(text, opening.casefold()) for opening in wording.ticket.opens)


def _begins(text: str, opening: str) -> bool:
    rest = text[len(opening) :]
    return text.startswith(opening) and (bool(DENSE.search(opening)) or not LETTER.match(rest))


def _holds(said: str, phrase: str) -> bool:
    return phrase in said if DENSE.search(phrase) else f" {phrase} " in f" {said} "


def _says_something(said: str, words: TicketWords) -> bool:
    """Whether letters are left without the courtesies."""
    for phrase in sorted(map(spoken, words.courtesies), key=len, reverse=True):
        pattern = regex.escape(phrase) if DENSE.search(phrase) else rf"(?<!\S){regex.escape(phrase)}(?!\S)"
        said = regex.sub(pattern, " ", said)
    letters = "".join(said.split())
    return len(letters) >= (LEFT // 2 if DENSE.search(letters) else LEFT)


def _trimmed(body: str, start: int, end: int, hearing: Hearing, language: str) -> Asked | None:
    """A question without the greeting, bullet and white space around it."""
    text = body[start:end]
    if bullet := BULLET.match(text):
        start += bullet.end()
    peeled = hearing.peel(body[start:end].strip(), language)
    inner = body.find(peeled, start, end) if peeled else -1
    if inner >= 0:
        start, end = inner, inner + len(peeled)
    while start < end and EDGE.match(body[start]):
        start += 1
    while start < end and body[end - 1].isspace():
        end -= 1
    if start >= end:
        return None
    return Asked(" ".join(BETWEEN.sub("", body[start:end]).split()), start, end)
