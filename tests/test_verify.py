"""Verification: what an article says passes in every form it is quoted in, what it does not say is stopped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assistant.language import split_sentences
from assistant.records import Passage, Sentence
from assistant.verify import objection
from tests.articles import LANGUAGES, all_passages, passages_of

SAID = {
    "zh-Hans": "最高可达30万美元，资格取决于公司阶段。",
    "ja": "最大30万ドルで、対象は企業のステージで決まります。",
    "es": "Hasta 300.000 dólares; no depende del caso de uso.",
    "en": "Up to $300,000; it does not depend on the use case.",
}
CHANGED = {
    ("zh-Hans", "figure"): "最高可达40万美元，资格取决于公司阶段。",
    ("zh-Hans", "added word"): "最高可达30万美元，资格只取决于公司阶段。",
    ("zh-Hans", "dropped word"): "最高可达30万美元，取决于公司阶段。",
    ("ja", "figure"): "最大31万ドルで、対象は企業のステージで決まります。",
    ("ja", "added word"): "最大30万ドルで、対象は必ず企業のステージで決まります。",
    ("ja", "dropped word"): "最大30万ドルで、企業のステージで決まります。",
    ("es", "figure"): "Hasta 30.000 dólares; no depende del caso de uso.",
    ("es", "added word"): "Hasta 300.000 dólares; casi no depende del caso de uso.",
    ("es", "dropped word"): "Hasta 300.000 dólares; depende del caso de uso.",
    ("en", "figure"): "Up to $3,000; it does not depend on the use case.",
    ("en", "added word"): "Up to $300,000; it surely does not depend on the use case.",
    ("en", "dropped word"): "Up to $300,000; it does depend on the use case.",
}
PASSAGES = all_passages()


def sentences_of(passage: Passage) -> list[str]:
    """The sentences a reader sees of a passage."""
    pieces = (piece.strip() for line in passage.shown.split("\n") for piece in split_sentences(line))
    return [piece for piece in pieces if piece]


def passage(text: str, language: str = "en", kind: str = "md") -> Passage:
    """The first passage of a text."""
    return passages_of(f"## Heading\n\n{text}\n" if kind == "md" else text, kind, language)[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_objection_to_the_articles_own_sentences(language: str) -> None:
    """Every sentence of every passage passes, table rows included, with the whole passage or itself as the quote."""
    checked = 0
    for found in PASSAGES:
        if found.language == language:
            for text in sentences_of(found):
                quotes = [found.text, *([text] if text in found.text else [])]
                assert [objection(Sentence(text, found, quote)) for quote in quotes] == [""] * len(quotes)
                checked += 1
    assert checked > 100


@pytest.mark.parametrize(("case", "changed"), CHANGED.items(), ids=[" ".join(case) for case in CHANGED])
def test_a_changed_sentence_is_stopped(case: tuple[str, str], changed: str) -> None:
    """A changed figure, an added word and a dropped word are each objected to."""
    said = SAID[case[0]]
    found = passage(said, case[0])
    assert objection(Sentence(said, found, found.text)) == ""
    assert objection(Sentence(changed, found, found.text))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("quote", ["", "not there", None], ids=["empty", "made up", "in other case"])
def test_a_quote_must_be_a_part_of_the_passage(language: str, quote: str | None) -> None:
    """A quote that is no exact part of the passage is objected to, whatever the sentence."""
    found = passage(SAID[language] + "A", language)
    quote = found.text.swapcase() if quote is None else quote
    assert objection(Sentence(SAID[language], found, quote)) == "the quote is not part of the passage"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("**利用率**决定成本，[条款](https://example.com/a_(b) \"t\")很重要。", "利用率决定成本，条款很重要。"),
        ("**クレ**ジットは`最大`30万\\*ドルです。", "クレジットは最大30万*ドルです。"),
        ("El caf&eacute; <b>gra</b>tis y *muy* ~~caro~~.", "El café gratis y muy ~~caro~~."),
        ("Foo**bar** costs\n300&nbsp;000 $ ![a chip](x.png).", "Foobar costs 300\u00a0000 $ a chip."),
        ("<script>alert(1)</script> Paid <i>once</i>.", "Paid once."),
    ],
    ids=["zh", "ja", "es", "en", "html"],
)  # fmt: skip
def test_markup_is_no_difference(text: str, said: str) -> None:
    """A sentence without the markup, links and entities of its source is supported, by the whole and by a part."""
    found = passage(text)
    assert found.shown == said
    assert objection(Sentence(said, found, found.text)) == ""
    longer = replace(found, text=f"{found.text} More.", shown=f"{said} More.")
    assert objection(Sentence(said, longer, found.text)) == ""


def test_a_row_is_not_supported_by_the_rows_above_it() -> None:
    """What another row of the same table says does not pass as this row's."""
    rows = passages_of("## Prices\n\n| Plan | Price |\n|---|---|\n| Basic | $5 |\n| Pro | $9 |\n")
    assert rows[1].text.count("\n") == 3
    assert objection(Sentence(rows[1].shown, rows[1], rows[1].text)) == ""
    assert objection(Sentence("Plan: Pro; Price: $5", rows[1], rows[1].text))


def test_order_counts() -> None:
    """The same words in another order say something else."""
    found = passage("Anthropic pays Amazon.")
    assert objection(Sentence("Amazon pays Anthropic.", found, found.text))


@pytest.mark.parametrize("text", ["Takes 5<br>10 days.", "10<sup>6</sup> tokens.", "3<br/>4 steps.", "2*3*4 days."])
def test_markup_never_makes_a_figure(text: str) -> None:
    """Digits that markup parts are not said as one figure."""
    found = passage(text)
    said = found.shown
    joined = {"Takes 510 days.", "106 tokens.", "34 steps.", "234 days."}
    assert said not in joined or objection(Sentence(said, found, found.text))


def test_a_comment_is_never_quoted() -> None:
    """A quote that would show a comment of the source is objected to."""
    text = "Opens at 8. <!-- the gate code is 4711 --> Closes at 9."
    found = passage(text)
    assert "comment" in objection(Sentence(found.shown, found, text))
