"""Replies that are proposed to staff, over the real articles: answered from them, in any language, or left open."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from assistant.bootstrap import Parts, build, build_drafter, ingest
from assistant.drafts import Drafter
from assistant.errors import InputError
from assistant.index import Index
from assistant.letter import from_json, to_json
from assistant.pipeline import Assistant
from assistant.settings import read_settings
from tests.articles import CORPUS, detector

# Language -> a question that the articles answer, the figure of the answer, a question that no article answers.
ASKED = {
    "zh-Hans": ("Trainium 额度最多可以拿到多少？", "30万美元", "你们上海办公室的电话是多少？"),
    "ja": (
        "Trainiumクレジットは最大でいくら受け取れますか？",
        "30万ドル",
        "東京オフィスの電話番号を教えていただけますか？",
    ),
    "es": ("¿Cuánto valen como máximo los créditos de Trainium?", "300.000", "¿Qué teléfono tienen en Madrid?"),
    "en": ("How much are Trainium credits worth at most?", "$300,000", "What is your London phone number?"),
}
LANGUAGES = list(ASKED)
# The first question in other words.
AGAIN = {
    "zh-Hans": "Trainium 额度最高能拿多少？",
    "ja": "Trainiumクレジットは、最大でいくら受け取れるのでしょうか？",
    "es": "¿Hasta qué importe llegan los créditos de Trainium para una startup?",
    "en": "What are the Trainium credits worth at most?",
}


@pytest.fixture(scope="module")
def drafter(real_assistant: Assistant) -> Drafter:
    return build_drafter(real_assistant)


@dataclass(frozen=True)
class Library:
    """A drafter over articles that can be changed."""

    drafter: Drafter
    corpus: Path
    update: Callable[[], object]


@pytest.fixture
def spanish(real_assistant: Assistant, tmp_path: Path) -> Library:
    """The Spanish articles alone, in a home of their own."""
    corpus = tmp_path / "corpus"
    shutil.copytree(CORPUS / "es", corpus / "es")
    settings = read_settings(home=tmp_path / "home", corpus=corpus)
    old = real_assistant.retriever
    parts = Parts(settings, Index(settings.home), old.embedder, old.topics, old.wordings, detector())
    return Library(build_drafter(build(settings, parts=parts)), corpus, lambda: ingest(parts, [corpus]))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_not_answered_is_a_gap(drafter: Drafter, language: str) -> None:
    """Beside a question that is answered one that no article answers is left open, repeats the question and invents
    nothing."""
    question, figure, unknown = ASKED[language]
    letter = drafter.write(f"{question}\n{unknown}")
    assert letter.language == language
    assert [part.kind for part in letter.parts] == ["greeting", "answer", "gap", "closing"]
    assert figure in letter.parts[1].text
    assert letter.parts[2].text == drafter.hearing.wordings.nearest(language).ticket.gap.format(question=unknown)
    assert [ask.outcome == "answered" for ask in letter.asks] == [True, False]
    assert [line.state for line in drafter.check(letter, letter.parts[2])] == ["gap"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("which", [0, 2], ids=["answered", "gap"])
def test_what_is_asked_twice_is_answered_once(drafter: Drafter, language: str, which: int) -> None:
    """The same words asked again get no second paragraph: the question points at the part of the first."""
    question, other = ASKED[language][which], ASKED[language][2 - which]
    letter = drafter.write(f"{question}\n{other}\n{question}")
    assert [ask.same_as for ask in letter.asks] == [0, 0, 1]
    assert [part.question for part in letter.parts] == [0, 1, 2, 0]
    assert len({part.text for part in letter.parts}) == len(letter.parts)


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_wordings_of_a_question_are_answered_once(drafter: Drafter, language: str) -> None:
    """A question in other words whose answer an earlier paragraph holds whole gets none of its own."""
    question, figure, _ = ASKED[language]
    letter = drafter.write(f"{question}\n{AGAIN[language]}")
    assert [(ask.outcome, ask.same_as) for ask in letter.asks] == [("answered", 0), ("answered", 1)]
    assert [part.kind for part in letter.parts] == ["greeting", "answer", "closing"]
    assert letter.text.count(figure) == letter.parts[1].text.count(figure) > 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_draft_of_before_can_be_read(drafter: Drafter, language: str) -> None:
    """A letter that was kept before questions could point at each other is read as one in which none does."""
    letter = drafter.write(ASKED[language][0])
    kept = to_json(letter)
    for ask in kept["asks"]:
        del ask["same_as"]
    assert from_json(kept) == letter


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "en"])
def test_a_question_is_drafted_for_across_languages(spanish: Library, language: str) -> None:
    """Complaint 11, "drafts searched in one language only": a question is answered although only Spanish articles
    hold the answer, it says that it quotes Spanish, and each line rests on a Spanish passage."""
    question, _, unknown = ASKED[language]
    letter = spanish.drafter.write(f"{question}\n{unknown}")
    assert letter.language == language
    assert [part.kind for part in letter.parts] == ["greeting", "answer", "gap", "closing"]
    lines = spanish.drafter.check(letter, letter.parts[1])
    assert lines[0].state == "own"
    cited = [line for line in lines if line.state == "supported"]
    assert {line.passage.language for line in cited if line.passage} == {"es"}
    assert "300.000" in "".join(line.text for line in cited)
    assert {line.state for line in lines} == {"own", "supported"}


def test_what_was_deleted_is_not_cited(spanish: Library) -> None:
    """When the text that a draft rests on leaves the articles, its lines are marked and no longer cite it."""
    letter = spanish.drafter.write(ASKED["es"][0])
    part = letter.parts[1]
    before = spanish.drafter.check(letter, part)
    gone = {line.passage.text for line in before if line.passage}
    assert gone
    [file] = (spanish.corpus / "es").glob("*.md")
    text = file.read_text(encoding="utf-8")
    for passage in gone:
        assert passage in text
        text = text.replace(passage, "Este texto se ha retirado.")
    file.write_text(text, encoding="utf-8")
    spanish.update()
    after = spanish.drafter.check(letter, part)
    assert gone.isdisjoint(line.passage.text for line in after if line.passage)
    assert "".join(line.text for line in after) == part.text
    assert "unsupported" in {line.state for line in after}


@pytest.mark.parametrize(
    ("language", "detail", "mark"),
    [
        ("zh-Hans", "我的手机号是13800138000", "[phone]"),
        ("ja", "電話は090-1234-5678です", "[phone]"),
        ("es", "mi correo es josé@correo.example.es", "[email]"),
        ("en", "call me: (415) 555-2671", "[phone]"),
    ],
)
def test_a_message_is_masked(drafter: Drafter, language: str, detail: str, mark: str) -> None:
    """What a customer tells of themselves is masked in all of the letter before anything is kept or searched."""
    letter = drafter.write(f"{ASKED[language][0]}\n{detail}")
    assert mark in letter.message
    assert detail not in f"{letter.message}{letter.text}"
    asked = [letter.message[ask.start : ask.end] for ask in letter.asks]
    assert asked == [ASKED[language][0]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_reply_may_be_in_another_language(drafter: Drafter, language: str) -> None:
    """An agent who names a language gets the whole letter in it, from the articles in that language."""
    other = "es" if language != "es" else "ja"
    letter = drafter.write(ASKED[language][0], other, "friendly")
    words = drafter.hearing.wordings.nearest(other).ticket
    assert letter.parts[0].text == words.greeting("friendly")
    assert ASKED[other][1] in letter.parts[1].text
    assert {line.state for line in drafter.check(letter, letter.parts[1])} == {"supported"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_part_is_written_anew_in_another_tone(drafter: Drafter, language: str) -> None:
    """What the agent changed stays, the rest of the frame takes the new tone, and the part is as it was proposed."""
    letter = drafter.write(ASKED[language][0])
    edited = replace(letter.parts[2], text="—")
    anew = drafter.rewrite(letter.with_part(edited).with_part(replace(letter.parts[1], text="x")), "q1", "brief")
    assert anew.parts[1] == letter.parts[1]
    assert anew.parts[0].text == drafter.hearing.wordings.nearest(language).ticket.greeting("brief")
    assert anew.parts[2].text == "—"


def test_evidence_of_nobody_is_refused(drafter: Drafter) -> None:
    """A part can't be written from a passage that was not found for its question."""
    letter = drafter.write(ASKED["en"][0])
    with pytest.raises(InputError, match="question 1 has no such evidence"):
        drafter.rewrite(letter, "q1", passage_ids=["en/nothing#x.1"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_yes_among_several_questions_names_its_own(drafter: Drafter, language: str) -> None:
    """In a letter that answers two questions, a yes names the question of the article that it answers."""
    rows = drafter.retriever.index.snapshot().rows
    own = next(row.passage for row in rows if row.passage.language == language and row.passage.anchor == "faq-combine")
    letter = drafter.write(f"{ASKED[language][0]}\n{own.question}")
    named = drafter.hearing.wordings.nearest(language).concerning.format(question=own.question)
    assert letter.parts[2].text.startswith(named)
    assert {line.state for line in drafter.check(letter, letter.parts[2])} == {"own", "supported"}
