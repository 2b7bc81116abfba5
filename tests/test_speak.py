"""What stands between two sentences of a reply."""

from __future__ import annotations

import pytest

from assistant.records import Sentence
from assistant.speak import joint
from tests.test_compose import passage


@pytest.mark.parametrize(
    ("before", "text", "between"),
    [
        ("クレジットを受け取れます。", "1件の上限です。", ""),
        ("请使用实例。", "AWS Neuron 会编译。", ""),
        ("請使用。", "也可以。", ""),
        ("La factura va por hora.", "No por uso.", " "),
        ("It is billed by the hour.", "300,000 is the most.", " "),
    ],
    ids=["ja then digit", "zh then Latin", "zh-Hant", "es", "en"],
)
def test_spaces_follow_only_sentences_written_with_them(before: str, text: str, between: str) -> None:
    """After a full-width full stop no space stands, whatever follows; after a half-width one it does."""
    assert joint(before, Sentence(text, passage("ja", text), text), text) == between
