"""Lexical matching: the same word is found in every spelling and script, and scores stay within 0 and 1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assistant.lexical import LexicalIndex, tokenise, words_of

ALIKE = {
    "accents": ("cuánto", "CUANTO"),
    "Chinese spellings": ("價格", "价格"),
    "Japanese form": ("価格", "价格"),
    "full width": ("ＡＷＳ３０", "aws30"),
    "half-width kana": ("ｸﾚｼﾞｯﾄ", "クレジット"),
    "decomposed kana": ("か\u3099", "が"),
    "Arabic-Indic digits": ("٣٠", "30"),
    "Devanagari digits": ("३०", "30"),
    "decomposed": ("nin\u0303o", "niño"),
}
TEXTS = [
    "利用率决定成本",
    "利用率がレートを支配する",
    "La utilización decide el coste",
    "Utilisation decides the price",
    "",
]


@pytest.mark.parametrize(("one", "other"), ALIKE.values(), ids=ALIKE)
def test_spellings_are_folded(one: str, other: str) -> None:
    """Case, width, accents, digits and Han variants make no difference to matching."""
    assert tokenise(one) == tokenise(other) != []


@pytest.mark.parametrize(
    ("text", "best"), [("利用率", 0), ("支配", 1), ("utilizacion", 2), ("price", 3)], ids=["zh", "ja", "es", "en"]
)
def test_the_passage_with_the_words_is_best(text: str, best: int) -> None:
    """A word finds its passage without spaces around it and without its accents."""
    scores = LexicalIndex.build(TEXTS).score(text)
    assert int(scores.argmax()) == best
    assert scores[best] > 0


@given(st.lists(st.text(max_size=30), max_size=8), st.text(max_size=30))
def test_scores_are_shares(texts: list[str], question: str) -> None:
    """There is one score a passage, between 0 and 1, whatever was indexed or asked."""
    scores = LexicalIndex.build(texts).score(question)
    assert scores.shape == (len(texts),)
    assert np.all((scores >= 0) & (scores <= 1))


@example([], "\U0001ccf0")  # a digit that one Unicode table knows and another does not yet
@given(st.lists(st.text(max_size=30), max_size=5), st.text(max_size=30))
def test_an_index_survives_storage(texts: list[str], question: str) -> None:
    """An index read from its bytes scores like the one that was written."""
    index = LexicalIndex.build(texts)
    assert np.array_equal(LexicalIndex.from_bytes(index.to_bytes()).score(question), index.score(question))


@pytest.mark.parametrize(
    ("text", "words"),
    [("**利用率**。", ["利", "用", "率"]), ("コスト30", ["コ", "ス", "ト", "30"]),
     ("¡Sí, así!", ["sí", "así"]), ("Don't", ["don", "t"])],
    ids=["zh", "ja", "es", "en"],
)  # fmt: skip
def test_words_keep_order_and_accents(text: str, words: list[str]) -> None:
    """For comparing statements, only punctuation, case and width are dropped."""
    assert words_of(text) == words
