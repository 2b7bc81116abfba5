"""Evidence: short words, letters and Latin transcriptions give a language away."""

from __future__ import annotations

import pytest

from assistant.evidence import MOST, Evidence, count_runs, count_signs, transcribed
from assistant.wording import Wordings
from tests.articles import detector

KNOWN = {
    "es": Evidence(frozenset({"cuánto"}), ("ción ",)),
    "ja": Evidence(frozenset({"料金"}), (), frozenset({"desu"})),
}


def test_signs_are_counted_by_language() -> None:
    """Words count whole, letters where they stand at the edge their pattern names, and no more than a few count."""
    assert count_signs("Cuánto, la estación", ["Cuánto", "la", "estación"], KNOWN)["es"] == 2
    assert count_signs("cuántos estaciónes", ["cuántos", "estaciónes"], KNOWN)["es"] == 0
    assert count_signs("cuánto " * 9, ["cuánto"] * 9, KNOWN)["es"] == MOST
    assert count_runs("利用料金", KNOWN) == {"es": 0, "ja": 1}


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("kitna credit milega", "hi"),
        ("kya mujhe credits mil sakta hai", "hi"),
        ("ryoukin wa ikura desu ka", "ja"),
        ("kigen wa itsu made desu ka", "ja"),
        ("zenme shenqing tuikuan", "zh-Hans"),
        ("duoshao qian", "zh-Hans"),
        ("skolko eto stoit", "ru"),
    ],
)
@pytest.mark.parametrize("page", ["", "en", "es"])
def test_transcriptions_are_recognised(message: str, language: str, page: str) -> None:
    """A language typed in Latin letters is taken for itself, not for a neighbour in script, on any page."""
    assert detector().detect(message, [page] if page else []).language == language


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("no me to go", "en"),
        ("o que é isso", "pt"),
        ("do you have it", "en"),
        ("ni idea", "es"),
        ("me da un ejemplo", "es"),
        ("qual o preço", "pt"),
        ("quanto custa", "pt"),
        ("quanto costa", "it"),
        ("preciso de ajuda com a conta", "pt"),
        ("necesito ayuda con la cuenta", "es"),
        ("kann ich das kombinieren", "de"),
        ("puis-je cumuler", "fr"),
        ("berapa biayanya", "id"),
    ],
)
def test_neighbours_are_told_apart(message: str, language: str) -> None:
    """Short messages of languages that share a script and words are each in their own."""
    assert detector().detect(message).language == language


@pytest.mark.parametrize(
    ("message", "hint", "language"),
    [
        ("返金", "zh-Hans", "ja"),
        ("登入", "zh-Hans", "zh-Hant"),
        ("打印", "zh-Hant", "zh-Hans"),
        ("大小", "zh-Hant", "zh-Hant"),
        ("大小", "zh-Hans", "zh-Hans"),
    ],
)
def test_words_tell_where_characters_do_not(message: str, hint: str, language: str) -> None:
    """Characters that all Han scripts share are the language's that uses the word, else the page's."""
    assert detector().detect(message, [hint]).language == language


def test_every_language_says_what_gives_it_away() -> None:
    """Each phrases file holds words, letters or transcriptions, in lower case, and no word twice."""
    for code, evidence in Wordings().evidence.items():
        assert evidence.words or evidence.romanised, code
        assert all(word == word.lower() for word in (*evidence.words, *evidence.letters, *evidence.romanised)), code


def test_one_short_word_is_no_transcription() -> None:
    """A syllable that many languages have says nothing alone."""
    assert transcribed(["no"], {"ja": Evidence(romanised=frozenset({"no"}))}, {}) == ""
    assert transcribed(["desu"], KNOWN, {"es": 0}) == "ja"
    assert transcribed(["desu"], KNOWN, {"es": 1}) == ""
