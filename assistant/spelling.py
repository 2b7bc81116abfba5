"""Spellings of one word: Traditional, Simplified and Japanese Han, accents and case.

In: a text. Out: the same in another spelling, or folded for matching. Never: translates, or changes what is quoted.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import opencc
import regex

HAN = regex.compile(r"\p{Script=Han}")
LINE_END = regex.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # all that str.splitlines() knows
CONTROLS = regex.compile(r"[[\p{Cc}\p{Cs}]--[\n\t]]", regex.V1)  # what databases refuse and readers do not see
DIRECTION_CONTROLS = regex.compile(r"[\u202a-\u202e\u2066-\u2069]")  # embeddings, overrides, isolates


@cache
def _converter(name: str) -> opencc.OpenCC:
    return opencc.OpenCC(name)


def convert_chinese(text: str, code: str) -> str:
    """The text in the spelling of `zh-Hant` (Taiwan usage) or `zh-Hans`; other languages come back as they are."""
    if code == "zh-Hant":
        return str(_converter("s2twp").convert(text))
    return str(_converter("tw2sp").convert(text)) if code == "zh-Hans" else text


def fold_accents(text: str) -> str:
    """Case and accents folded, as people type in a hurry (`Cuánto` -> `cuanto`)."""
    return "".join(c for c in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(c))


def fold_han(text: str) -> str:
    """One spelling for Traditional, Simplified and Japanese Han characters, for matching only (`価`, `價` -> `价`)."""
    if not HAN.search(text):
        return text
    return str(_converter("t2s").convert(_converter("jp2t").convert(text)))


@cache
def han_conflicts(character: str) -> tuple[bool, bool, bool]:
    """Whether a character is foreign to (Simplified, Traditional, Japanese) spelling, by OpenCC's tables."""
    simplified = _converter("s2t").convert(character) != character
    old = _converter("jp2t").convert(character)
    shinjitai = character not in (old, _converter("t2tw").convert(old))  # 為 is Taiwan's own, not only Japan's
    traditional = _converter("t2s").convert(character) != character
    old_form = _converter("t2jp").convert(character) != character
    return (
        traditional or (shinjitai and not simplified),
        simplified or shinjitai,
        old_form or (simplified and not shinjitai),
    )


@cache
def is_other_spelling(character: str, charset: str) -> bool:
    """Whether a Han character has another spelling, Traditional or Simplified, and is not in a language's own set.

    Args:
        charset: a Python codec of the language's everyday characters: `gb2312` for Simplified Chinese.
    """
    if all(_converter(name).convert(character) == character for name in ("t2s", "s2t")):
        return False
    try:
        character.encode(charset)
    except UnicodeEncodeError:
        return True
    return False


def drop_direction_controls(text: str) -> str:
    """The text without characters that turn the direction of what follows, so that it reads as something else."""
    return DIRECTION_CONTROLS.sub("", text)


def unify_lines(text: str) -> str:
    """The text with a line feed for each line end: old Macintosh's, form feeds and Unicode's separators are some."""
    return LINE_END.sub("\n", text)


def drop_controls(text: str) -> str:
    """The text without control characters, each line end a line feed."""
    return CONTROLS.sub("", unify_lines(text))
