"""Private details in a text -> the same text with a mark in their place, before anything is kept.

In: what a visitor wrote. Out: the text with e-mail addresses, telephone and card numbers and keys masked.
Never: looks anything up, or touches amounts, dates and percentages: they are what people ask about.

Digits of every script and full-width signs count as what they look like (`＋８１`, `٠٥٥`, `०९८`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import regex

# Scripts written without spaces would be taken for a part of the name; there an address is a word of its own.
DENSE = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{N}]"
NAME = r"[\p{L}\p{N}._%+'\---[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}ー]]"
HOST = r"[\p{L}\p{N}\-]+(?:\.[\p{L}\p{N}\-]+)*\.\p{L}{2,}"
LATIN_HOST = r"[A-Z0-9\-]+(?:\.[A-Z0-9\-]+)*\.[A-Z]{2,}"
AT = r"\s?(?:@|\[at\]|\(at\))\s?"
EMAIL = regex.compile(
    rf"(?<!{NAME}){NAME}++{AT}(?:{LATIN_HOST}|{HOST})|(?<!\S){DENSE}++@{HOST}(?!\S)", regex.IGNORECASE | regex.V1
)
# Keys that say what they are, private keys whole, web tokens, and long words of mixed letters and digits.
KEYS = (
    regex.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", regex.DOTALL),
    regex.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?", regex.ASCII),
    regex.compile(r"\b(?:sk|pk|rk|xox[abeprs]|gh[opsur]|glpat|hf|whsec|AKIA|ASIA|AIza)[-_]?[\w-]{12,}", regex.ASCII),
    regex.compile(r"(?<![\w/.+-])(?=[\w+-]*[0-9])(?=[\w+-]*[A-Za-z])[A-Za-z0-9_+-]{24,}={0,2}(?![\w/.])", regex.ASCII),
)
# Digits in groups as people write numbers; commas belong to amounts.
NUMBER = regex.compile(
    r"(?<![\w,])\+?\(?[0-9](?:[ .()/·\u00a0\u202f‐‑–-]{0,2}[0-9]){6,18}(?![\w%]|,[0-9])", regex.ASCII
)
MONEY_BEFORE = regex.compile(r"(?:\p{Sc}|\b[A-Z]{3})\s?$")
MONEY_AFTER = regex.compile(
    r"^\s?(?:\p{Sc}|[A-Z]{3}\b|[万萬億亿만억元円원]|(?:d[oó]lar|euro|dollar|yen|million|mill))", regex.IGNORECASE
)
DATE = regex.compile(
    r"(?:19|20)[0-9]{2}[-./ ][01]?[0-9][-./ ][0-3]?[0-9]|[0-3]?[0-9][-./ ][01]?[0-9][-./ ](?:19|20)[0-9]{2}"
)
YEARS = regex.compile(r"(?:19|20)[0-9]{2}\s?[-–/‑‐]\s?(?:19|20)[0-9]{2}")
GROUPED = regex.compile(r"[1-9][0-9]{0,2}(?:[. \u00a0\u202f][0-9]{3})+")
NEAR = 10  # characters in which a currency is looked for
CARD_DIGITS, PHONE_DIGITS = range(13, 20), range(7, 16)
BARE_DIGITS = range(9, 13)  # an unbroken row of digits without + or 0 is a telephone number only at these lengths


def mask(text: str, keep: str = "") -> str:
    """The text with private details replaced by `[email]`, `[key]`, `[card]` or `[phone]`.

    Args:
        keep: a text whose details are public (the quoted articles): what stands in it stays.
    """
    for mark, spans in (("[email]", _emails), ("[key]", _keys), ("[card]", _cards), ("[phone]", _phones)):
        folded = _fold(text)
        for start, end in sorted(spans(folded), reverse=True):
            if not keep or text[start:end] not in keep:
                text = text[:start] + mark + text[end:]
    return text


def _fold(text: str) -> str:
    """Digits and full-width signs as ASCII, every position as before."""
    return text if text.isascii() else "".join(map(_fold_character, text))


def _fold_character(character: str) -> str:
    if character.isascii():
        return character
    if unicodedata.category(character) == "Nd":
        return str(unicodedata.digit(character))
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 and plain.isascii() else character


def _emails(text: str) -> Iterator[tuple[int, int]]:
    return (found.span() for found in EMAIL.finditer(text))


def _keys(text: str) -> Iterator[tuple[int, int]]:
    taken = 0
    for span in sorted(found.span() for pattern in KEYS for found in pattern.finditer(text)):
        if span[0] >= taken:
            taken = span[1]
            yield span


def _cards(text: str) -> Iterator[tuple[int, int]]:
    for found in NUMBER.finditer(text):
        digits = _digits(found.group())
        if len(digits) in CARD_DIGITS and found.group()[0] not in "+(" and _has_check_digit(digits):
            yield found.span()


def _phones(text: str) -> Iterator[tuple[int, int]]:
    for found in NUMBER.finditer(text):
        (start, end), number, digits = found.span(), found.group(), _digits(found.group())
        if len(digits) not in PHONE_DIGITS or DATE.match(number) or YEARS.fullmatch(number):
            continue
        if MONEY_BEFORE.search(text[max(0, start - NEAR) : start]) or MONEY_AFTER.search(text[end : end + NEAR]):
            continue
        if number[0] in "+(0" or (not GROUPED.fullmatch(number) and _is_dialled(number, digits)):
            yield found.span()


def _is_dialled(number: str, digits: str) -> bool:
    return len(digits) in BARE_DIGITS if number == digits else len(digits) >= PHONE_DIGITS.start


def _digits(number: str) -> str:
    return regex.sub(r"[^0-9]", "", number)


def _has_check_digit(digits: str) -> bool:
    """The Luhn formula (ISO/IEC 7812-1), which every card number satisfies."""
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0
