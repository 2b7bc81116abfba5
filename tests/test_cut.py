"""Cutting a streamed reply: whole sentences with their numbers, in every script, whatever the chunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.cut import LONGEST, Cutter, Piece

REPLIES = {
    "zh-Hans": (
        "最高30万美元[1]。资格取决于阶段。[2]\n可以[1]",
        [("最高30万美元。", 1), ("资格取决于阶段。", 2), ("可以", 1)],
    ),
    "ja": ("最大30万ドルです。[1]用途は問われません[2]。", [("最大30万ドルです。", 1), ("用途は問われません。", 2)]),
    "es": (
        "Hasta 7,7 millones. [1] ¿Sí? [2]\nDepende [1].",
        [("Hasta 7,7 millones.", 1), ("¿Sí?", 2), ("Depende.", 1)],
    ),
    "en": ("Up to $7.7 million. [1] See example.com [2].\n", [("Up to $7.7 million.", 1), ("See example.com.", 2)]),
    "ar": ("يصل المبلغ إلى ٣٠٠. [1] هل؟ [2]", [("يصل المبلغ إلى ٣٠٠.", 1), ("هل؟", 2)]),
    "hi": ("यह तीन लाख तक है। [1] यह निर्भर करता है। [2]", [("यह तीन लाख तक है।", 1), ("यह निर्भर करता है।", 2)]),
}


def cut(chunks: list[str]) -> list[Piece]:
    cutter = Cutter()
    return [piece for chunk in chunks for piece in cutter.feed(chunk)] + cutter.finish()


@pytest.mark.parametrize("size", [1, 2, 5, 1000], ids=lambda size: f"{size} at a time")
@pytest.mark.parametrize("language", list(REPLIES))
def test_sentences_are_cut_alike_whatever_the_chunks(language: str, size: int) -> None:
    """Each sentence comes out whole, with its own marker and without it in the text, however the stream is cut."""
    text, expected = REPLIES[language]
    pieces = cut([text[at : at + size] for at in range(0, len(text), size)])
    assert [(piece.text, piece.markers[0]) for piece in pieces] == expected


@pytest.mark.parametrize("language", list(REPLIES))
def test_a_marked_sentence_comes_out_at_once(language: str) -> None:
    """A sentence that ends with its marker does not wait for the next one."""
    text, number = REPLIES[language][1][0]
    (piece,) = Cutter().feed(f"{text}[{number}]")
    assert piece.text == text


def test_halves_of_a_character_meet() -> None:
    """A character that arrives as two halves of UTF-16 is one character; a lone half is marked as broken."""
    assert cut(["Hi \ud83d", "\ude42. [1]\n"]) == [Piece("Hi 🙂.", (1,))]
    assert cut(["Hi \ud83d there. [1]\n"]) == [Piece("Hi \ufffd there.", (1,))]


def test_an_endless_sentence_is_not_kept() -> None:
    """A stream without an end of sentence never holds more than the limit."""
    cutter = Cutter()
    pieces = [piece for _ in range(50) for piece in cutter.feed("word " * 50)]
    assert len(pieces) > 5
    assert all(len(piece.text) < LONGEST + 300 for piece in pieces)


@given(st.text(max_size=80), st.integers(1, 7))
def test_any_text_is_cut_without_markers(text: str, size: int) -> None:
    """Whatever a model writes, no piece is empty or holds a marker."""
    for piece in cut([text[at : at + size] for at in range(0, len(text), size)]):
        assert piece.text
        assert "[1]" not in piece.text
