"""A message -> its questions, at most three, each a part of the message's own words.

In: a message, its language, the phrases that join and ask. Out: its parts, in order; usually one.
Never: cuts "X and Y" inside one question: a cut needs a question on both sides of it; nor "X or Y?", however written.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import regex

from assistant.language import split_sentences
from assistant.spoken import DENSE, spoken, spoken_phrase
from assistant.wording import Wording

MOST = 3
ASKING = regex.compile(r"[?？؟]")
LETTER = regex.compile(r"\p{L}")


def split_questions(text: str, wording: Wording) -> tuple[str, ...]:
    """The questions of a message; what is said around one stays with it."""
    parts: list[str] = []
    said = ""
    for sentence in split_asked(text, wording):
        said += sentence
        if ASKING.search(sentence) or sentence.endswith("\n"):
            parts += _split_sentence(said, wording) if ASKING.search(sentence) else [said]
            said = ""
    if LETTER.search(said):
        parts += _split_sentence(said, wording)
    elif parts:
        parts[-1] += said
    parts = _joined([part for part in parts if LETTER.search(part)], wording)
    return tuple(part.strip() for part in parts) if 1 < len(parts) <= MOST else (text,)


def split_asked(text: str, wording: Wording) -> list[str]:
    """The sentences, joined the text; the other choice of a question ("… Or by the hour?") stays with it."""
    sentences: list[str] = []
    for sentence in split_sentences(text):
        if sentences and ASKING.search(sentences[-1][-3:]) and _is_choice(sentence, wording):
            sentences[-1] += sentence
        else:
            sentences.append(sentence)
    return sentences


def _is_choice(text: str, wording: Wording) -> bool:
    """Whether a text goes on with the other choice of a question."""
    said = text.lstrip(" \t,，、،;¿").casefold()
    for word in wording.hears.choices:
        rest = said.removeprefix(word.casefold())
        if rest != said and (DENSE.search(word) or not LETTER.match(rest)):
            return True
    return False


def _joined(parts: list[str], wording: Wording) -> list[str]:
    """Statements before a question go with it: only what asks is a part."""
    joined: list[str] = []
    waiting = ""
    for part in parts:
        if ASKING.search(part) or _asks(part, wording):
            joined.append(waiting + part)
            waiting = ""
        else:
            waiting += part
    if waiting and joined:
        joined[-1] += waiting
    return joined


def _split_sentence(sentence: str, wording: Wording) -> list[str]:
    """Cut before each word that joins two questions."""
    parts, start = [], 0
    for found in _joint(tuple(wording.hears.joins)).finditer(sentence):
        left, right = sentence[start : found.start()], sentence[found.end() :]
        if not _asks(left, wording) or _is_choice(sentence[found.start() :], wording) or _is_choice(right, wording):
            continue
        if _asks(right, wording) if DENSE.search(right) else _opens(right, wording):
            parts.append(left)
            start = found.end()
    return [*parts, sentence[start:]]


@cache
def _joint(joins: Sequence[str]) -> regex.Pattern[str]:
    """What may stand between two questions."""
    words = sorted(joins, key=len, reverse=True)
    dense = [regex.escape(word) for word in words if DENSE.search(word) or not LETTER.search(word)]
    spaced = [regex.escape(word) for word in words if not DENSE.search(word) and LETTER.search(word)]
    choices = []
    if dense:
        choices.append(r"[,，、]?\s*(?:" + "|".join(dense) + r")[,，、]?\s*")
    if spaced:
        choices.append(r"[,،;]?\s+(?:" + "|".join(spaced) + r")[,،]?\s+")
    return regex.compile("|".join(choices), regex.IGNORECASE)


def _asks(text: str, wording: Wording) -> bool:
    """Whether a clause holds a word that asks."""
    said = f" {spoken(text)} "
    words = [spoken_phrase(word) for word in wording.hears.asks]
    return any(word in said if DENSE.search(word) else f" {word} " in said for word in words if word)


def _opens(text: str, wording: Wording) -> bool:
    """Whether a clause begins with a word that asks."""
    said = f"{spoken(text)} "
    return any(said.startswith(f"{spoken_phrase(word)} ") for word in wording.hears.asks)
