"""Composing: what is shown of the passages found, and how they are cited."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import SimpleNamespace

import pytest

from assistant.compose import SHORT_COLUMNS, compose
from assistant.records import Draft, Hit, Outcome, Passage, Question
from assistant.retrieve import Found
from assistant.verify import objection
from assistant.wording import Wordings

WORDINGS = Wordings()
SENTENCES = {
    "zh-Hans": ["停车每天12美元。", "早餐另付5美元。", "入住时间是15点。"],
    "ja": ["駐車は1日12ドルです。", "朝食は別に5ドルです。", "チェックインは15時です。"],
    "es": ["Aparcar cuesta 12 dólares al día. ", "El desayuno cuesta 5 dólares. ", "La entrada es a las 15."],
    "en": ["Parking is 12 dollars a day. ", "Breakfast is 5 dollars. ", "Check-in is at 15."],
}


def passage(language: str, text: str, number: int = 1, **changes: object) -> Passage:
    fields: dict[str, object] = {
        "id": f"{language}/house#s{number}.1",
        "article": f"{language}/house",
        "anchor": f"s{number}",
        "kind": "paragraph",
        "language": language,
        "title": "House",
        "heading": "Prices",
        "url": "",
        "text": text,
        "shown": text,
        "question": "Prices",
        "context": text,
        "line": number,
    }
    return Passage(**{**fields, **changes})  # type: ignore[arg-type]


class StubRetriever:
    """Judges as told; knows the members of outlines."""

    def __init__(self, outcome: Outcome = "answered", members: Sequence[Passage] = ()) -> None:
        self.outcome, self.members = outcome, members
        snapshot = SimpleNamespace(names=frozenset({"casa", "azul"}), families={}, rows=())
        self.index = SimpleNamespace(snapshot=lambda: snapshot)

    def judge(self, _found: Found) -> Outcome:
        return self.outcome

    def passages(self, ids: Iterable[str]) -> list[Passage]:
        return [member for member in self.members if member.id in set(ids)]

    def best_sentence(self, _text: str, sentences: Sequence[str]) -> int:
        return next(number for number, sentence in enumerate(sentences) if "12" in sentence)


def composed(
    passages: Sequence[Passage], language: str, retriever: StubRetriever | None = None, text: str = "?"
) -> Draft:
    hits = tuple(Hit(each, 10.0 - number / 10, 0.9) for number, each in enumerate(passages))
    return compose(Question(text, language), Found(hits, {}), retriever or StubRetriever(), WORDINGS)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", list(SENTENCES))
def test_a_short_passage_is_shown_whole_sentence_by_sentence(language: str) -> None:
    """Every sentence of a short passage is shown in order, unaltered, each quoting the passage."""
    text = "".join(SENTENCES[language])
    draft = composed([passage(language, text)], language)
    assert [sentence.text for sentence in draft.sentences] == [piece.strip() for piece in SENTENCES[language]]
    assert {sentence.quote for sentence in draft.sentences} == {text}
    assert not any(objection(sentence) for sentence in draft.sentences)


@pytest.mark.parametrize("language", list(SENTENCES))
@pytest.mark.parametrize(
    ("text", "title", "outcome"),
    [
        ("Azul?", "House", "related"),
        ("Azul?", "Azul", "answered"),
        ("Azul, Casa?", "Casa", "answered"),
        ("Verde?", "House", "answered"),
    ],
)
def test_a_figure_of_something_else_is_only_related(language: str, text: str, title: str, outcome: str) -> None:
    """A passage that opens with a figure answers no question about a known name that it does not hold."""
    found = [passage(language, "".join(SENTENCES[language]), title=title)]
    assert composed(found, language, text=text).outcome == outcome


@pytest.mark.parametrize("language", list(SENTENCES))
def test_of_a_long_passage_the_best_sentences_are_shown(language: str) -> None:
    """A passage too long to show whole gives a few sentences around the best; the quote is exactly their stretch."""
    filler = SENTENCES[language][2].strip() + ("" if language in {"zh-Hans", "ja"} else " ")
    text = filler * (SHORT_COLUMNS // len(filler)) + "".join(SENTENCES[language])
    draft = composed([passage(language, text)], language)
    assert 0 < len(draft.sentences) <= 3
    assert any("12" in sentence.text for sentence in draft.sentences)
    assert all(sentence.quote in text and len(sentence.quote) < len(text) / 2 for sentence in draft.sentences)


def test_an_outline_cites_each_member() -> None:
    """A list is given as its introduction and the first sentence of each member, each from its own passage."""
    members = [passage("en", f"Point {n} matters. More on it.", n) for n in (2, 3)]
    outline = passage("en", "Two points:", 1, kind="outline", members=tuple(member.id for member in members))
    draft = composed([outline], "en", StubRetriever(members=members))
    assert [sentence.text for sentence in draft.sentences] == ["Two points:", "Point 2 matters.", "Point 3 matters."]
    assert [sentence.passage.id for sentence in draft.sentences] == [outline.id, *outline.members]
    assert not any(objection(sentence) for sentence in draft.sentences)


@pytest.mark.parametrize("language", list(SENTENCES))
def test_nothing_is_claimed_below_the_threshold(language: str) -> None:
    """An abstention says so in the asker's language and cites nothing."""
    draft = composed([passage(language, SENTENCES[language][0])], language, StubRetriever("abstained"))
    assert draft.opening == WORDINGS.nearest(language).abstained
    assert draft.sentences == ()


@pytest.mark.parametrize("language", list(SENTENCES))
def test_the_doubtful_middle_is_introduced_as_such(language: str) -> None:
    """A related reply opens with the honest words and shows the closest passage only."""
    shown = [passage(language, SENTENCES[language][0]), passage(language, SENTENCES[language][1], 2)]
    draft = composed(shown, language, StubRetriever("related"))
    assert draft.opening == WORDINGS.nearest(language).related
    assert {sentence.passage.id for sentence in draft.sentences} == {shown[0].id}


@pytest.mark.parametrize(
    ("asker", "name"), [("fr", "japonais"), ("de", "Japanisch"), ("ar", "اليابانية"), ("es", "japonés")]
)
def test_a_foreign_quote_is_announced_in_the_askers_language(asker: str, name: str) -> None:
    """Quoting another language names it as the asker's language does."""
    draft = composed([passage("ja", SENTENCES["ja"][0])], asker)
    assert name in draft.opening


def test_the_same_sentence_is_not_said_twice() -> None:
    """Two passages that share a sentence say it once."""
    shared = SENTENCES["en"][0]
    draft = composed([passage("en", shared), passage("en", shared + "More.", 2)], "en")
    assert [sentence.text for sentence in draft.sentences].count(shared.strip()) == 1
