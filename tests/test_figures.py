"""Figures: the same amount is the same figure in every language and script, and nothing else is."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assistant.figures import Figure, find_figures, unsupported_figures

SAME = {
    Figure(Decimal(300_000), "USD"): [
        "30万美元", "30 万美元", "３０万美元", "30万ドル", "30万米ドル", "300.000 dólares", "300 mil dólares", "$300K",
        "US$300,000", "$300,000", "USD 300,000", "300,000 USD", "300 000 $", "300\u00a0000 $", "300\u202f000 $",
        "30만 달러", "300 тыс. долларов", "٣٠٠ ألف دولار", "٣٠٠٬٠٠٠ دولار", "3 लाख डॉलर", "३००,००० डॉलर",
        "300 mila dollari", "300 ribu dolar AS", "300.000 US-Dollar", "300 mil de dólares",
    ],
    Figure(Decimal(7_700_000), ""): [
        "7.7 million", "770万", "７７０万", "7,7 millones", "7,7 Mio.", "7.7M", "7 700 000", "7.700.000", "7,700,000",
        "77 लाख", "7,7 млн", "770만", "7700000",
    ],
    Figure(Decimal(40), "%"): [
        "40%", "40 %", "４０％", "٤٠٪", "४०%", "40 por ciento", "40 percent", "40パーセント", "百分之40", "40 Prozent",
    ],
    Figure(Decimal(120_000_000), "JPY"): ["1億2000万円", "1.2億円", "12000万円", "120,000,000円"],
    Figure(Decimal("1234567.89"), ""): ["1,234,567.89", "1.234.567,89", "1 234 567,89", "1'234'567.89", "12,34,567.89"],
}  # fmt: skip
PARTS = {
    "iso date": ("2026-11-30", {2026, 11, 30}),
    "dotted date": ("30.11.2026", {2026, 11, 30}),
    "date with slashes": ("30/11/2026", {2026, 11, 30}),
    "Chinese date": ("2026年11月30日", {2026, 11, 30}),
    "full-width date": ("２０２６年１１月３０日", {2026, 11, 30}),
    "Arabic-Indic date": ("٣٠.١١.٢٠٢٦", {2026, 11, 30}),
    "version": ("3.11.4", {3, 11, 4}),
    "address": ("192.168.1.20", {192, 168, 1, 20}),
    "time": ("10:30", {10, 30}),
    "year before a number": ("en 2024 300 personas", {2024, 300}),
    "name with a digit": ("EC2 Trn1", {2, 1}),
    "letters that are no scale": ("300 military", {300}),
    "metres": ("5 m", {5}),
    "superscript": ("10 m²", {10}),
    "no euros": ("5 europeos", {5}),
}
DIGITS = {
    "full-width": "０１２３４５６７８９",
    "Arabic-Indic": "٠١٢٣٤٥٦٧٨٩",
    "Devanagari": "०१२३४५६७८९",
    "Thai": "๐๑๒๓๔๕๖๗๘๙",
}


@pytest.mark.parametrize(
    ("figure", "text"), [(figure, text) for figure, texts in SAME.items() for text in texts], ids=str
)
def test_a_figure_is_the_same_in_every_language(figure: Figure, text: str) -> None:
    """The value and unit of an amount do not depend on the language or digits it is written in."""
    assert find_figures(text) == {figure}


@pytest.mark.parametrize(("text", "values"), PARTS.values(), ids=PARTS)
def test_what_is_no_single_number_gives_its_parts(text: str, values: set[int]) -> None:
    """Dates, versions and addresses are read as their parts, without a unit."""
    assert find_figures(text) == {Figure(Decimal(value), "") for value in values}


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [("最高40万美元", "最高30万美元"), ("最大31万ドル", "最大30万ドル"),
     ("hasta 3.000 dólares", "hasta 300.000 dólares"), ("up to $30K", "up to $300K"),
     ("40% off", "40 items"), ("version 3.11.5", "version 3.11.4")],
    ids=["zh", "ja", "es", "en", "unit", "version"],
)  # fmt: skip
def test_a_changed_figure_is_unsupported(claim: str, evidence: str) -> None:
    """A figure whose value or unit is not in the evidence is named."""
    assert unsupported_figures(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("300.000 dólares", "最高30万美元"),
        ("30万ドル", "up to US$300,000"),
        ("300000", "$300K"),
        ("40 %", "利用率40％"),
    ],
    ids=["es from zh", "ja from en", "a claim without unit", "es from ja"],
)
def test_a_translated_figure_is_supported(claim: str, evidence: str) -> None:
    """Evidence in another language supports the same amount."""
    assert not unsupported_figures(claim, evidence)


@pytest.mark.parametrize("digits", DIGITS.values(), ids=DIGITS)
@given(text=st.text(alphabet="0123456789.,% $万kM円年- ", max_size=40))
def test_digits_of_every_script_read_alike(digits: str, text: str) -> None:
    """Replacing Latin digits by another script's changes no figure."""
    assert find_figures(text.translate(str.maketrans("0123456789", digits))) == find_figures(text)


@example("\U0001ccf0 %", "")  # a digit that one Unicode table knows and another does not yet
@given(st.text(max_size=200), st.text(max_size=50))
def test_a_text_supports_itself(text: str, more: str) -> None:
    """Whatever a text holds, its figures are supported by the same text, also with more after it."""
    assert not unsupported_figures(text, text)
    assert not unsupported_figures(text, f"{text}\n{more}")


@given(st.integers(0, 10**30))
def test_values_are_exact(value: int) -> None:
    """Long numbers are neither rounded nor cut."""
    assert find_figures(f"n={value}") == {Figure(Decimal(value), "")}
