"""A customer's message, an e-mail or a ticket -> its questions, each with its place in the message.

In: the message, the phrases of all languages, a way to tell its language. Out: a Ticket.
Never: takes a question from quoted history or a signature, changes a word of one, or knows a phrase of its own.

First the customer's own words are found, then its sentences, then those that ask: by a question mark, by how they
begin or end, or by a request ("please let me know …"), or because they stand in a list that was announced as one of
questions; what is only polite asks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import regex

from assistant.hearing import Hearing
from assistant.language import display_width
from assistant.own_words import ENDS, WRAPPED, lines_of, without_quotes, without_signature
from assistant.parts import ASKING, split_asked, split_questions
from assistant.spoken import DENSE, spoken
from assistant.ticket_words import TicketWords
from assistant.wording import Wording

MOST = 12  # questions of one message
LEFT = 4  # letters that must be left of a question without its courtesies; dense scripts: half of it
BULLET = regex.compile(r"\s*(?:[-*•・‣–]\s+|[(（]?\p{N}{1,2}[.)）、．:：]\s*|[①-⑳㈠-㈩]\s*)")
COMMA = regex.compile(r"[,，;；]\s*")
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
    own = without_quotes(message, hearing.wordings)
    body = without_signature(own, hearing.wordings)
    language = tell(body if LETTER.search(body) else message)
    questions = tuple(_questions(body, hearing, language))
    if not questions and body != own:  # what looked like a farewell may have opened the message
        body, questions = own, tuple(_questions(own, hearing, language))
    said = regex.sub(r"\n{3,}", "\n\n", body).strip()
    return Ticket(language, said, questions[:MOST])


def _questions(body: str, hearing: Hearing, language: str) -> Iterator[Asked]:
    wording = hearing.wordings.nearest(language)
    text = _unwrapped(body)
    items, announcing = _announced(text, wording.ticket)
    at = 0
    for sentence in split_asked(text, wording):
        if any(at < end <= at + len(sentence) for end in announcing):
            at += len(sentence)
            continue
        listed = at in items and _says_something(spoken(sentence), wording.ticket)
        if listed or _asks(sentence, hearing, wording):
            for start, end in _parts(sentence, wording):
                start += _background(sentence[start:end], wording)
                if asked := _trimmed(text, at + start, at + end, hearing, language):
                    yield asked
        at += len(sentence)


def _announced(text: str, words: TicketWords) -> tuple[set[int], set[int]]:
    """Where the items of lists begin that are said to hold questions, and where the lines end that say so."""
    items: set[int] = set()
    announcing: set[int] = set()
    phrases = [spoken(phrase) for phrase in words.announces]
    announced = 0
    for at, line in lines_of(text):
        if not BULLET.match(line):
            if line.strip():
                announced = at + len(line) if any(_holds(spoken(line), phrase) for phrase in phrases) else 0
        elif announced:
            items.add(at)
            announcing.add(announced)
    return items, announcing


def _background(text: str, wording: Wording) -> int:
    """How much of a question only leads up to it, where commas part whole sentences: what precedes the clause that
    asks, save conditions of it and what is joined to the question before."""
    conditions = wording.ticket.conditions
    kept = (*conditions, *wording.hears.joins)
    ends = [found.end() for found in COMMA.finditer(text)] if conditions else []
    clauses = [text[start:end] for start, end in pairwise([0, *ends, len(text)])]
    first = next((number for number, clause in enumerate(clauses) if _holds_question(clause, wording)), 0)
    while first and _opens_or_ends(clauses[first - 1], kept):
        first -= 1
    return sum(map(len, clauses[:first]))


def _holds_question(clause: str, wording: Wording) -> bool:
    said = spoken(clause)
    asks = (*wording.hears.asks, *wording.ticket.requests)
    return bool(ASKING.search(clause)) or any(_holds(said, spoken(word)) for word in asks)


def _opens_or_ends(clause: str, phrases: Sequence[str]) -> bool:
    """Whether a clause opens with one of the phrases; those that begin with "…" are looked for at its end."""
    said = spoken(clause)
    heard = [(one[0] == "…", spoken(one)) for one in phrases]
    return any(said.endswith(one) if is_end else said.startswith(one) for is_end, one in heard if one)


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
    lines = list(lines_of(body))
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
