"""Figures in a text, normalised, so that two texts can be compared whatever their language writes them like.

In: a text. Out: the set of its Figures: exact values with a unit (`%`, a currency, or none).
Never: rounds, guesses a unit that is not written beside the number, or reads numbers that are spelled out.

What has separators but is no number (a date, a version, an address) gives its parts, so that 2026-11-30, 30.11.2026 and
2026年11月30日 are the same three figures, and a changed version is still noticed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import lru_cache

import regex

# Scales that are written with digits in front: `30万`, `300K`, `7.7 million`, `3 लाख`.
SCALES: dict[str, int] = {
    "万亿": 10**12, "兆": 10**12, "조": 10**12, "億": 10**8, "亿": 10**8, "억": 10**8, "千万": 10**7, "百万": 10**6,
    "百萬": 10**6, "만": 10**4, "萬": 10**4, "万": 10**4, "千": 10**3, "천": 10**3,
    "mil millones": 10**9, "millones": 10**6, "millón": 10**6, "billones": 10**12, "billón": 10**12, "mil": 10**3,
    "milhões": 10**6, "milhão": 10**6, "bilhões": 10**9, "bilhão": 10**9, "milioni": 10**6, "milione": 10**6,
    "miliardi": 10**9, "miliardo": 10**9, "mila": 10**3, "millionen": 10**6, "million": 10**6, "milliarden": 10**9,
    "milliarde": 10**9, "tausend": 10**3, "mio.": 10**6, "mio": 10**6, "mrd.": 10**9, "mrd": 10**9,
    "millions": 10**6, "milliards": 10**9, "milliard": 10**9, "mille": 10**3, "thousand": 10**3, "billion": 10**9,
    "bn": 10**9, "ribu": 10**3, "juta": 10**6, "miliar": 10**9, "тысячи": 10**3, "тысяч": 10**3, "тысяча": 10**3,
    "тыс.": 10**3, "миллионов": 10**6, "миллиона": 10**6, "миллион": 10**6, "млн": 10**6, "миллиардов": 10**9,
    "миллиарда": 10**9, "миллиард": 10**9, "млрд": 10**9, "ألف": 10**3, "آلاف": 10**3, "مليون": 10**6,
    "ملايين": 10**6, "مليار": 10**9, "हज़ार": 10**3, "हजार": 10**3, "लाख": 10**5, "करोड़": 10**7, "मिलियन": 10**6,
}  # fmt: skip
LETTER_SCALES = {"k": 10**3, "M": 10**6, "B": 10**9, "K": 10**3}  # only right behind the digits: 5 m are metres
CURRENCIES: dict[str, str] = {
    "us$": "USD", "us-dollar": "USD", "us dollars": "USD", "usd": "USD", "dollars": "USD", "dollar": "USD",
    "dólares": "USD", "dólar": "USD", "dollari": "USD", "dolar as": "USD", "dolar": "USD", "美元": "USD", "美金": "USD",
    "米ドル": "USD", "ドル": "USD", "달러": "USD", "долларов": "USD", "доллара": "USD", "доллар": "USD",
    "دولارات": "USD", "دولار": "USD", "डॉलर": "USD", "$": "USD", "€": "EUR", "euros": "EUR", "euro": "EUR",
    "eur": "EUR", "欧元": "EUR", "歐元": "EUR", "ユーロ": "EUR", "유로": "EUR", "евро": "EUR", "يورو": "EUR",
    "यूरो": "EUR", "円": "JPY", "日元": "JPY", "jpy": "JPY", "£": "GBP", "gbp": "GBP", "人民币": "CNY",
    "人民幣": "CNY", "cny": "CNY", "元": "CNY",
    "yuan": "CNY", "yuanes": "CNY", "₩": "KRW", "원": "KRW", "₹": "INR", "रुपये": "INR",
    "krw": "KRW", "韩元": "KRW", "韓元": "KRW", "ウォン": "KRW", "won": "KRW", "inr": "INR", "卢比": "INR",
    "ルピー": "INR",
    "rupees": "INR", "rupias": "INR", "¥": "JPY", "yen": "JPY", "yenes": "JPY", "ienes": "JPY", "엔": "JPY",
    "иен": "JPY", "ين": "JPY", "येन": "JPY", "pounds": "GBP", "pound": "GBP", "libras": "GBP", "libra": "GBP",
    "英镑": "GBP", "英鎊": "GBP", "ポンド": "GBP", "파운드": "GBP", "фунтов": "GBP", "sterline": "GBP", "pfund": "GBP",
    "livres": "GBP", "جنيه": "GBP", "पाउंड": "GBP", "人民元": "CNY", "위안": "CNY", "юаней": "CNY", "日圓": "JPY",
    "рублей": "RUB", "рубля": "RUB", "rubles": "RUB", "卢布": "RUB", "ルーブル": "RUB", "pesos": "MXN", "比索": "MXN",
    "ペソ": "MXN", "reais": "BRL", "reales": "BRL", "francs": "CHF", "francos": "CHF", "瑞士法郎": "CHF", "chf": "CHF",
    "フラン": "CHF", "港币": "HKD", "港元": "HKD", "hk$": "HKD", "新台币": "TWD", "新臺幣": "TWD", "台币": "TWD",
    "加元": "CAD", "ca$": "CAD", "澳元": "AUD", "a$": "AUD", "canadian dollars": "CAD", "australian dollars": "AUD",
    "dólares canadienses": "CAD", "カナダドル": "CAD", "豪ドル": "AUD", "香港ドル": "HKD", "rupiah": "IDR",
}  # fmt: skip
AMBIGUOUS = {"元", "원", "won", "$", "real", "pound", "بن", "円", "엔", "ين"}  # without a figure, parts of other words
PERCENT = (
    "%", "per cent", "percent", "por ciento", "por cento", "pour cent", "per cento", "prozent", "persen",
    "パーセント", "퍼센트", "процентов", "процента", "بالمائة", "प्रतिशत",
)  # fmt: skip


SPACED = regex.compile(r"[\p{L}\p{M}. -]*[\p{Latin}\p{Cyrillic}\p{Arabic}\p{Devanagari}]\.?")
END = r"(?![\p{L}\p{M}])"  # a word ends there: `300 military` are no 300,000, `5 europeos` no euros


def _any(words: Iterable[str]) -> str:
    """An alternation, longer words first; those of scripts that put spaces between words only as whole words."""
    longest = sorted((unicodedata.normalize("NFC", word) for word in words), key=len, reverse=True)
    whole = "|".join(regex.escape(word) for word in longest if SPACED.fullmatch(word))
    others = "|".join(regex.escape(word) for word in longest if not SPACED.fullmatch(word))
    return "|".join(part for part in (f"(?<![\\p{{L}}\\p{{M}}])(?:{whole}){END}" if whole else "", others) if part)


FIGURE = regex.compile(
    rf"(?:(?P<before>(?i:{_any(CURRENCIES)}))\s?|(?P<of_hundred>百分之)\s?)?"
    r"(?P<number>(?<![0-9.,])[0-9]{1,3}(?:\s[0-9]{3}){1,5}(?![0-9])(?:[.,][0-9]{1,9})?|[0-9](?:[0-9.,'’٫٬]{0,60}[0-9])?)"
    rf"(?:\s?(?P<scale>(?i:{_any(SCALES)}))|(?P<letter>[kKMB]){END})?"
    rf"(?:\s?(?P<percent>(?i:{_any(PERCENT)}))|(?(before)(?!)|\s?(?:de\s|di\s)?(?P<after>(?i:{_any(CURRENCIES)})(?![0-9]))))?"
)
CURRENCY = regex.compile(rf"(?i:{_any(word for word in CURRENCIES if word not in AMBIGUOUS)})")
SEPARATOR = regex.compile(r"[.,'’٫٬\s]")
ARABIC_POINT = "٫"
EXACT = Context(prec=120)


@dataclass(frozen=True, slots=True)
class Figure:
    """A value and its unit: `%`, an ISO 4217 code, or "" for a bare number."""

    value: Decimal
    unit: str


@lru_cache(maxsize=1024)  # a quote is asked for with each of its sentences
def find_figures(text: str) -> frozenset[Figure]:
    """All figures written with digits, of any script (`３００`, `٣٠٠`, `३००`)."""
    western = "".join(map(_western, unicodedata.normalize("NFC", text)))
    return frozenset(figure for figure in _joined(FIGURE.finditer(western)))


def unsupported_figures(claim: str, evidence: str) -> frozenset[Figure]:
    """Figures of `claim` that `evidence` does not hold: the value must occur, with the unit if the claim names one."""
    held = find_figures(evidence)
    values = {figure.value for figure in held}
    return frozenset(
        figure for figure in find_figures(claim) if figure not in held and (figure.unit or figure.value not in values)
    )


def named_currencies(text: str) -> frozenset[str]:
    """Codes of the currencies that a text names, with or without a figure."""
    plain = "".join(map(_western, unicodedata.normalize("NFC", text)))
    return frozenset(CURRENCIES[name.group().lower()] for name in CURRENCY.finditer(plain))


def _joined(matches: Iterable[regex.Match[str]]) -> Iterator[Figure]:
    """The figures of the matches; `1億2000万円`, one behind the other with falling scales, is one number."""
    held, held_scale, end = Figure(Decimal(0), ""), 0, -1
    for match in matches:
        scale = _scale(match)
        unit = "%" if match["percent"] or match["of_hundred"] else _currency(match)
        continues = match.start() == end and scale < held_scale and not held.unit
        if held_scale and not continues:
            yield held
        values = list(_values(match["number"]))
        if len(values) > 1:
            yield from (Figure(value, "") for value in values)
            held_scale = 0
            continue
        value = EXACT.multiply(values[0], Decimal(scale))
        held = Figure(EXACT.add(held.value, value) if continues else value, unit)
        held_scale, end = scale, match.end() if match["scale"] and not match["before"] else -1
    if held_scale:
        yield held


def _scale(match: regex.Match[str]) -> int:
    if match["scale"]:
        return SCALES[match["scale"].lower()]
    return LETTER_SCALES[match["letter"]] if match["letter"] else 1


def _currency(match: regex.Match[str]) -> str:
    return CURRENCIES.get((match["before"] or match["after"] or "").lower(), "")


def _western(character: str) -> str:
    """Digits of every script, full-width signs and wide spaces as the plain ones."""
    if character.isascii():
        return character
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    return {"％": "%", "٪": "%", "﹪": "%", "＄": "$", "￡": "£", "，": ",", "．": "."}.get(character, character)


def _values(written: str) -> Iterator[Decimal]:
    """The value of digits with separators: the last separator is decimal unless groups of three follow it.

    What can't be one number gives its parts.
    """
    parts = SEPARATOR.split(written)
    marks = [" " if mark.isspace() else mark for mark in SEPARATOR.findall(written)]
    before_last = set(marks[:-1])
    if len(set(marks)) == 1 and marks[0] != ARABIC_POINT and _are_groups(parts):
        yield Decimal("".join(parts))
    elif len(marks) <= 1 or (len(before_last) == 1 and marks[-1] not in before_last and _are_groups(parts[:-1])):
        yield Decimal(".".join(["".join(parts[:-1]), parts[-1]]) if marks else written)
    else:
        yield from (Decimal(part) for part in parts if part)


def _are_groups(parts: list[str]) -> bool:
    """Whether digits are grouped by three, or as in India (`12,34,567`)."""
    first, *middle, last = parts
    is_indian = len(first) <= 2 and all(len(part) == 2 for part in middle)
    return first != "0" and len(first) <= 3 and len(last) == 3 and (is_indian or all(len(part) == 3 for part in middle))
