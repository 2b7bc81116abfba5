"""Texts reduced to what would be heard, and compared by it, in scripts with and without spaces.

In: texts, phrases of the data. Out: reduced texts, what one holds, begins or ends with. Never: knows a phrase itself.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from functools import cache

import regex

from assistant.spelling import fold_accents

NOT_SPOKEN = regex.compile(r"[^\p{L}\p{M}\p{N}]+")
RUNS = regex.compile(r"(.)\1+")
DRAWN_OUT = regex.compile(r"(?<=[\p{Hiragana}\p{Katakana}])[ー～]+(?=\s|$)")
DENSE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Hangul}]")  # written without spaces, or nearly


def spoken(text: str) -> str:
    """A message reduced to what would be heard: letters and digits, one case and width, no accents, single spaces."""
    folded = fold_accents(unicodedata.normalize("NFKC", text))
    return RUNS.sub(r"\1", DRAWN_OUT.sub("", NOT_SPOKEN.sub(" ", folded).strip()))


@cache
def spoken_phrase(phrase: str) -> str:
    """`spoken` for phrases of the data, which are compared with every message."""
    return spoken(phrase)


def without(text: str, fillers: Sequence[str]) -> str:
    """The text without fillers at either end."""
    changed = True
    while changed:
        changed = False
        for word in fillers:
            gap = "" if DENSE.search(word) else " "
            if text.startswith(word + gap):
                text, changed = text[len(word) :].strip(), True
            if text.endswith(gap + word):
                text, changed = text[: -len(word)].strip(), True
    return text


def beside(text: str, patterns: Sequence[str]) -> str | None:
    """What is left of a text that opens or closes with one of the patterns."""
    for pattern in patterns:
        if text.startswith(pattern) and (text[len(pattern) : len(pattern) + 1] == " " or DENSE.search(text)):
            return text[len(pattern) :].strip()
        if text.endswith(pattern) and (text[: -len(pattern)].endswith(" ") or DENSE.search(text)):
            return text[: -len(pattern)].strip()
    return None


def plain(text: str) -> str:
    """One case and width; signs become spaces."""
    kept = regex.sub(r"[^\p{L}\p{M}\p{N}\ue000]+", " ", unicodedata.normalize("NFKC", text).casefold())
    return kept.strip()


def holds(said: str, phrases: Collection[str]) -> bool:
    """Whether one of the phrases stands in what is said: as whole words where words are set apart."""
    padded = f" {said} "
    return any((phrase in said) if _is_dense(phrase) else (f" {phrase} " in padded) for phrase in phrases)


@cache
def _is_dense(phrase: str) -> bool:
    """Whether a phrase of the data is written without spaces."""
    return bool(DENSE.search(phrase))


def is_slip(word: str, phrase: str) -> bool:
    """Whether one letter is missing, added, changed or swapped; the first letter is right."""
    if word[0] != phrase[0] or abs(len(word) - len(phrase)) > 1 or word == phrase:
        return False
    at = next((n for n, (a, b) in enumerate(zip(word, phrase, strict=False)) if a != b), min(len(word), len(phrase)))
    rest, other = word[at:], phrase[at:]
    swapped = rest[:2] == other[:2][::-1] and rest[2:] == other[2:]
    return rest[1:] == other or rest == other[1:] or rest[1:] == other[1:] or swapped
