"""Figures in a text, normalised, so that two texts can be compared whatever their language writes them like.

In: a text. Out: the set of its Figures: exact values with a unit (`%`, a currency, or none).
Never: rounds, or guesses a unit that is not written beside the number.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import regex

# Scales that are written with digits in front: `30万`, `300K`, `7.7 million`. Longer words first.
SCALES: dict[str, int] = {
    "millones": 10**6, "millón": 10**6, "milhões": 10**6, "millionen": 10**6, "millions": 10**6, "million": 10**6,
    "thousand": 10**3, "billion": 10**9, "mil": 10**3, "mio": 10**6, "억": 10**8, "만": 10**4, "億": 10**8,
    "亿": 10**8, "萬": 10**4, "万": 10**4, "k": 10**3, "m": 10**6,
}  # fmt: skip
CURRENCIES: dict[str, str] = {
    "us$": "USD", "usd": "USD", "dollars": "USD", "dollar": "USD", "dólares": "USD", "dólar": "USD", "美元": "USD",
    "美金": "USD", "ドル": "USD", "달러": "USD", "$": "USD", "€": "EUR", "euros": "EUR", "eur": "EUR", "欧元": "EUR",
    "ユーロ": "EUR", "円": "JPY", "日元": "JPY", "jpy": "JPY", "£": "GBP", "gbp": "GBP", "人民币": "CNY", "cny": "CNY",
}  # fmt: skip
_SCALE = "|".join(map(regex.escape, SCALES))
_CURRENCY = "|".join(map(regex.escape, CURRENCIES))
FIGURE = regex.compile(
    rf"(?:(?P<before>{_CURRENCY})\s?)?"
    r"(?P<number>\d(?:[\d.,'’\u00a0\u202f]*\d)?)"
    rf"(?:\s?(?P<scale>{_SCALE})(?![\p{{Script=Latin}}]))?"
    rf"(?:(?P<percent>\s?[%％٪])|\s?(?:de\s)?(?P<after>{_CURRENCY}))?",
    regex.IGNORECASE,
)
SEPARATORS = regex.compile(r"[.,'’\u00a0\u202f]")


@dataclass(frozen=True, slots=True)
class Figure:
    """A value and its unit: `%`, an ISO 4217 code, or "" for a bare number."""

    value: Decimal
    unit: str


def find_figures(text: str) -> frozenset[Figure]:
    """All figures written with digits, of any script (`３００`, `٣٠٠`)."""
    western = "".join(_western(character) for character in text)
    found = set()
    for match in FIGURE.finditer(western):
        value = _number(match["number"])
        if value is None:
            continue
        scale = SCALES[match["scale"].lower()] if match["scale"] else 1
        currency = (match["before"] or match["after"] or "").lower()
        unit = "%" if match["percent"] else CURRENCIES.get(currency, "")
        found.add(Figure((value * scale).normalize(), unit))
    return frozenset(found)


def unsupported_figures(claim: str, evidence: str) -> frozenset[Figure]:
    """Figures of `claim` that `evidence` does not hold: the value must occur, with the unit if the claim names one."""
    held = find_figures(evidence)
    values = {figure.value for figure in held}
    return frozenset(
        figure for figure in find_figures(claim) if figure not in held and (figure.unit or figure.value not in values)
    )


def _western(character: str) -> str:
    if character.isascii() or not character.isdigit():
        return character
    digit = unicodedata.digit(character, None)
    return character if digit is None else str(digit)


def _number(written: str) -> Decimal | None:
    """The value of digits with separators: the last separator is decimal unless groups of three follow it."""
    parts = SEPARATORS.split(written)
    marks = SEPARATORS.findall(written)
    if not marks:
        joined = written
    elif len(set(marks)) == 1 and all(len(part) == 3 for part in parts[1:]) and parts[0] != "0":
        joined = "".join(parts)
    elif len(marks) == 1 or marks[-1] not in marks[:-1]:
        joined = "".join(parts[:-1]) + "." + parts[-1]
    else:
        return None  # a version, an address, a date: not one number
    try:
        return Decimal(joined)
    except InvalidOperation:
        return None
