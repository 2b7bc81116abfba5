"""Letters as records: how far one was edited, what is open, and that JSON gives back the same letter."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from assistant.errors import InputError
from assistant.letter import Ask, Letter, Part, edited, from_json, to_json

# Language -> a greeting, an answer, a gap's placeholder.
TEXTS = {
    "zh-Hans": ("您好！", "额度最高30万美元。", "［待补充：办公室电话］"),
    "ja": ("お問い合わせありがとうございます。", "最大30万ドルです。", "［要記入：電話番号］"),
    "es": ("Estimado cliente:", "Son hasta 300.000 dólares.", "[Falta: el teléfono]"),
    "en": ("Dear customer,", "Up to $300,000.", "[To be filled in: the phone number]"),
}
LANGUAGES = list(TEXTS)


def letter_in(language: str) -> Letter:
    """A letter with a greeting, an answer and a gap, as it was proposed."""
    greeting, answer, gap = TEXTS[language]
    asks = (
        Ask(1, "1?", 0, 2, "answered", 0.9, (f"{language}/a#intro.1", f"{language}/a#faq.2")),
        Ask(2, "2?", 3, 5, "abstained", 0.1, ()),
    )
    parts = (
        Part("greeting", "greeting", 0, greeting, greeting),
        Part("q1", "answer", 1, answer, answer),
        Part("q2", "gap", 2, gap, gap),
    )
    return Letter("1? 2?", language, "formal", asks, parts)


def changed(language: str, name: str, text: str) -> Letter:
    """The letter with another text in one part."""
    letter = letter_in(language)
    return letter.with_part(replace(letter.part(name), text=text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_json_gives_the_same_letter(language: str) -> None:
    """A letter that went through JSON text is equal to the first, whatever its script."""
    letter = letter_in(language)
    assert from_json(json.loads(json.dumps(to_json(letter)))) == letter


@pytest.mark.parametrize(
    ("before", "after", "distance"),
    [
        pytest.param("é", "e", 1, id="es: an accent"),
        pytest.param("¿Cua\u0301nto?", "¿Cuánto?", 0, id="es: the same accent, spelled in two code points"),
        pytest.param("が", "か", 1, id="ja: a voiced sound, precomposed"),
        pytest.param("か\u3099", "が", 0, id="ja: the same sound in two code points"),
        pytest.param("最高三十万", "最高30万", 2, id="zh: two characters for two digits"),
        pytest.param("go 👩‍👩‍👧‍👦", "go 👍🏽", 1, id="en: an emoji of seven code points"),
        pytest.param("क्षमा", "क्षमा।", 1, id="hi: a stop behind conjuncts"),
        pytest.param("a  b\n", "a b", 0, id="en: white space"),
    ],
)
def test_signs_are_what_a_reader_counts(before: str, after: str, distance: int) -> None:
    """The edit distance counts grapheme clusters, not code points; spelling in code points and spaces don't count."""
    letter = Letter("?", "en", "brief", (), (Part("q1", "answer", 1, after, before),))
    assert edited(letter)[0] == distance


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_nobody_changed_has_no_distance(language: str) -> None:
    """A letter sent as it was proposed was edited by nothing, and a part that was removed counts whole."""
    letter = letter_in(language)
    assert edited(letter) == (0, 0.0)
    texts = {part.id: part.text for part in letter.parts if part.id != "q1"}
    distance, share = edited(letter.with_texts(texts))
    assert distance == len(TEXTS[language][1])
    assert share == round(distance / sum(map(len, TEXTS[language])), 4)


def test_an_empty_letter_has_no_share() -> None:
    """Where nothing was proposed and nothing written, the share is 0 and no division fails."""
    assert edited(Letter("?", "en", "brief", (), ())) == (0, 0.0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_gap_is_open_until_its_mark_is_gone(language: str) -> None:
    """Words around a gap's placeholder leave it open; an answer in its place, or an empty part, closes it."""
    _, answer, gap = TEXTS[language]
    assert letter_in(language).open_gaps == 1
    assert changed(language, "q2", f"{answer}{gap}").open_gaps == 1
    assert changed(language, "q2", answer).open_gaps == 0
    assert changed(language, "q2", "").open_gaps == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_text_is_its_paragraphs(language: str) -> None:
    """Parts stand apart by one empty line, and an empty one leaves no hole."""
    greeting, answer, gap = TEXTS[language]
    assert letter_in(language).text == f"{greeting}\n\n{answer}\n\n{gap}"
    assert changed(language, "q1", "  ").text == f"{greeting}\n\n{gap}"


def test_an_unknown_part_is_refused() -> None:
    """A part that the letter does not have is named with those that it has."""
    with pytest.raises(InputError, match="no part q9; it has greeting, q1, q2"):
        letter_in("ja").with_texts({"q9": "x"})
