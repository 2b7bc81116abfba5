"""Numbers that are spelled out, written with digits: "three hundred thousand dollars" -> "300000 dollars".

In: a text and its language's words for numbers. Out: the text with digits, for `figures` to read.
Never: reads a lone "one" or "a" as a figure, or a numeral inside another word (`十分` is no ten).

The grammar is one for all languages: a word below its neighbour adds, a scale behind it multiplies.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import regex

from assistant.senses import LETTER, SPACED, Language, as_pattern, fold, read_senses

SCALE = 100  # from here on a numeral multiplies what stands before it; ten does so where it is written as a scale
DIGIT_BEFORE = regex.compile(r"\p{Nd}[\p{Nd}.,' ]*$")


@lru_cache(maxsize=32)
def _patterns(code: str) -> tuple[regex.Pattern[str], regex.Pattern[str]] | None:
    """What finds a whole spelled number, and its parts; None where the language spells none."""
    language = read_senses(code)
    if language is None or not language.numerals:
        return None
    words = sorted(map(fold, language.numerals), key=len, reverse=True)
    one = "|".join(map(regex.escape, words))
    if not SPACED.fullmatch("".join(words)):
        counters = "|".join(map(regex.escape, sorted(map(fold, language.counters), key=len, reverse=True)))
        whole = rf"(?:{one})+(?=\s?(?:{counters}|[\p{{Katakana}}\p{{Latin}}]))|(?:{one}){{3,}}"
        return regex.compile(whole, regex.IGNORECASE), regex.compile(one, regex.IGNORECASE)
    links = "|".join(map(regex.escape, language.numeral_links)) or "(?!)"
    inside = rf"(?:{one})(?:(?:{links})?(?:{one}))*"  # `dreihundert`, `vierundzwanzig`
    whole = rf"(?<!{LETTER}){inside}(?:(?:[\s-]+(?:{links}))?[\s-]+{inside})*(?!{LETTER})"
    return regex.compile(whole, regex.IGNORECASE), regex.compile(one, regex.IGNORECASE)


@lru_cache(maxsize=1024)
def as_digits(text: str, code: str) -> str:
    """The text, NFKC, with spelled numbers in digits; in languages without a file they stay words."""
    plain = unicodedata.normalize("NFKC", text)
    patterns, language = _patterns(code), read_senses(code)
    if patterns is None or language is None:
        return plain
    whole, parts = patterns
    joined = "|".join(map(regex.escape, language.numeral_links)) or "(?!)"
    links = regex.compile(rf"[\s-]+(?:{joined})[\s-]+", regex.IGNORECASE)
    values = {fold(word): value for word, value in language.numerals.items()}

    def written(found: regex.Match[str]) -> str:
        said = links.sub(" ", found.group())  # "and" holds an "a"
        numbers = [values[fold(part)] for part in parts.findall(said)]
        follows_digits = numbers[0] >= SCALE and DIGIT_BEFORE.search(plain[: found.start()])
        if all(number == 1 for number in numbers) or follows_digits:
            return found.group()  # "one of them"; "300 thousand" is read by `figures`
        if len(numbers) > 1 and all(number < 10 for number in numbers):
            return " ".join(map(str, numbers))  # "rows one and three"
        return str(_value(numbers))

    return whole.sub(written, plain)


def implied_values(text: str, language: Language) -> set[int]:
    """Numbers that words of the text say without being numerals (`twice`)."""
    folded = fold(text)
    return {value for word, value in language.implied.items() if regex.search(as_pattern(fold(word)), folded)}


def _value(numbers: Sequence[int]) -> int:
    """`3 100 1000` -> 300000, `4 20` -> 24, `2 10 4` -> 24."""
    total = section = pending = 0
    for number in numbers:
        if number >= 1000:
            total += (section + pending or 1) * number
            section = pending = 0
        elif number == SCALE or (number == 10 and 0 < pending < 10):
            section += max(pending, 1) * number
            pending = 0
        else:
            pending += number
    return total + section + pending
