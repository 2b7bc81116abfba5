"""The small words: one file a language, all with the same names; spelled numbers read in each."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from assistant import senses
from assistant.errors import InputError
from assistant.figures import Figure, find_figures
from assistant.numerals import as_digits
from assistant.senses import find_mentions, fold, read_senses
from assistant.wording import Wordings

LANGUAGES = Wordings().languages
DENIED = {
    "ar": "لا يغطي", "de": "gilt nicht", "en": "does not apply", "es": "no depende", "fr": "ne dépend pas",
    "hi": "लागू नहीं होता", "id": "tidak berlaku", "it": "non dipende", "ja": "必要ありません", "ko": "필요하지 않습니다",
    "pt": "não depende", "ru": "не зависит", "zh-Hans": "不适用", "zh-Hant": "不適用",
}  # fmt: skip
SPELLED = {
    "en": "three hundred thousand dollars", "es": "trescientos mil dólares", "zh-Hans": "三十万美元",
    "ja": "三十万ドル",
    "zh-Hant": "三十萬美元",
    "fr": "trois cent mille dollars", "de": "dreihunderttausend Dollar",
    "pt": "trezentos mil dólares",
    "it": "trecentomila dollari", "ru": "триста тысяч долларов", "ar": "ثلاثمئة ألف دولار",
    "id": "tiga ratus ribu dolar",
    "ko": "삼십만 달러", "hi": "तीन लाख डॉलर",
}  # fmt: skip
NOT_FIGURES = {"en": "one of them", "es": "una de ellas", "zh-Hans": "十分重要", "ja": "一般的です", "fr": "une aide"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_its_small_words(language: str) -> None:
    """Each language with a wording has a complete file of senses, and recognises a denial of its own."""
    found = read_senses(language)
    assert found is not None
    names = {name for mention in find_mentions(fold(DENIED[language]), found) for name in mention.names}
    assert names & {"next", "last", "clause", "sentence"}


@pytest.mark.parametrize("language", list(SPELLED))
def test_a_spelled_amount_is_the_amount(language: str) -> None:
    """300,000 dollars spelled out is the same figure in every language."""
    assert find_figures(as_digits(SPELLED[language], language)) == {Figure(Decimal(300_000), "USD")}


@pytest.mark.parametrize("language", list(NOT_FIGURES))
def test_small_words_are_no_figures(language: str) -> None:
    """An article, or a numeral inside a word, is no figure."""
    assert find_figures(as_digits(NOT_FIGURES[language], language)) == frozenset()


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [("twenty-four hours", "en", 24), ("one hundred and forty-nine", "en", 149), ("veinticuatro", "es", 24),
     ("ciento cuarenta y nueve", "es", 149), ("百四十九社", "ja", 149), ("二十四个", "zh-Hans", 24),
     ("vierundzwanzig", "de", 24), ("двадцать четыре", "ru", 24)],
)  # fmt: skip
def test_spelled_numbers_compose(text: str, language: str, value: int) -> None:
    """Tens, hundreds and units join in each language's order."""
    assert find_figures(as_digits(text, language)) == {Figure(Decimal(value), "")}


def test_what_looks_like_a_denial_is_none() -> None:
    """`not only`, 不仅, だけでなく and `no solo` deny nothing."""
    for text, language in (("not only", "en"), ("不仅", "zh-Hans"), ("だけでなく", "ja"), ("no solo", "es")):
        found = read_senses(language)
        assert found is not None
        assert not [mention for mention in find_mentions(text, found) if mention.names]


def test_a_file_with_a_name_too_few_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that leaves out a sense is refused in one sentence that names it."""
    text = (senses.FOLDER / "en.yaml").read_text(encoding="utf-8").replace("  only:", "  lonely:")
    (tmp_path / "xx.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(senses, "FOLDER", tmp_path)
    read_senses.cache_clear()
    with pytest.raises(InputError, match="lonely"):
        read_senses("xx")
    assert read_senses("yy") is None
    read_senses.cache_clear()
