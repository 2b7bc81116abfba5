"""Gaps of messages that ask several things, and of what one conversation asks again and again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from sqlalchemy import select

from assistant.engine import MEMORY
from assistant.gaps import Gap, GapReader
from assistant.gather import Gatherer
from assistant.pipeline import Assistant
from assistant.records import Draft, Question, Trace
from assistant.store import Channel, Store
from assistant.tables import answers
from assistant.topics import Topics, load_topics
from tests.embedders import WordEmbedder
from tests.fakes import answer
from tests.test_gaps import MONTH, TOPICS

ANSWERED = {
    "zh-Hans": "额度最多多少？",
    "ja": "クレジットは最大いくらですか？",
    "es": "¿Cuánto valen los créditos?",
    "en": "How much are the credits worth?",
}
OPEN = {
    "zh-Hans": ("明天北京会下雨吗？", "你们招聘厨师吗？"),
    "ja": ("明日の東京の天気はどうですか？", "料理人を募集していますか？"),
    "es": ("¿Quién ganó el mundial de fútbol?", "¿Buscan cocineros?"),
    "en": ("Who won the football world cup?", "Are you hiring cooks?"),
}
ALSO_ANSWERED = {
    "zh-Hans": "加速器费用怎么计费？",
    "ja": "アクセラレータの料金はどう請求されますか？",
    "es": "¿Cómo se factura el gasto en aceleradores?",
    "en": "How is accelerator spending billed?",
}
AGAIN = {
    "zh-Hans": ("有停车场吗？", "有停车场吗"),
    "ja": ("駐車場はありますか？", "駐車場はありますか"),
    "es": ("¿Hay aparcamiento?", "hay aparcamiento"),
    "en": ("Is there parking?", "is there parking"),
}
APART = {"zh-Hans": "", "ja": "", "es": " ", "en": " "}


class Decliner:
    """Stands in for a chat model that sees an answer to the first question only."""

    timeout_s = 5.0

    def __init__(self, answered: str) -> None:
        self.answered = answered

    async def phrase(self, question: Question, own: Draft, *_: object) -> AsyncGenerator[Draft]:
        yield own if question.text == self.answered else replace(own, outcome="related")


@pytest.fixture
def store() -> Iterator[Store]:
    opened = Store(MEMORY)
    yield opened
    opened.close()


@pytest.fixture
def topics(tmp_path: Path) -> Topics:
    file = tmp_path / "topics.yaml"
    file.write_text(TOPICS, encoding="utf-8")
    return load_topics(WordEmbedder(), tmp_path, file)


def gathered(store: Store, topics: Topics) -> tuple[Gap, ...]:
    """The rows, once all is gathered."""
    assert store.flush()
    Gatherer(store.engine, WordEmbedder(), topics).update()
    return GapReader(store.engine).gaps(MONTH).shown


def keep(store: Store, name: str, conversation: str, text: str, language: str, *left: str, outcome: str = "") -> None:
    """Keeps a question as the pipeline would; `left` are the parts without an answer."""
    said = answer(language, outcome or ("answered" if left else "abstained"), "…", id=name)  # type: ignore[arg-type]  # literals
    trace = Trace("question", (text,), unanswered=tuple((part, "") for part in left))
    store.remember(text, replace(said, conversation_id=conversation, trace=trace), "slack")
    assert store.flush()


@pytest.mark.parametrize("channel", get_args(Channel))
@pytest.mark.parametrize("language", OPEN)
def test_the_part_without_an_answer_is_a_gap(
    store: Store, topics: Topics, real_assistant: Assistant, language: str, channel: Channel
) -> None:
    """Of two questions the one that is not answered is gathered, in its own words alone, whatever the channel."""
    left = OPEN[language][0]
    said = asyncio.run(real_assistant.answer(ANSWERED[language] + APART[language] + left))
    assert said.outcome == "answered"
    store.remember(ANSWERED[language] + left, said, channel)
    (gap,) = gathered(store, topics)
    assert [one.text for one in gap.examples] == [left]
    assert (gap.title.language, gap.size, gap.rated, gap.channels) == (language, 1, 0, ((channel, 1),))


@pytest.mark.parametrize("language", OPEN)
def test_every_open_part_is_a_gap(store: Store, topics: Topics, real_assistant: Assistant, language: str) -> None:
    """Where no part of a message is answered, each is a gap of its own and not one with the others."""
    said = asyncio.run(real_assistant.answer(APART[language].join(OPEN[language])))
    store.remember("…", said)
    assert {one.text for gap in gathered(store, topics) for one in gap.examples} == set(OPEN[language])


@pytest.mark.parametrize("language", OPEN)
def test_what_a_chat_model_finds_unanswered_is_a_gap(
    store: Store, topics: Topics, real_assistant: Assistant, language: str
) -> None:
    """A part to which a chat model sees no answer in the passages is gathered, and the other part is not."""
    message = ANSWERED[language] + APART[language] + ALSO_ANSWERED[language]
    told = replace(real_assistant, phraser=Decliner(ANSWERED[language]))  # type: ignore[arg-type]  # all that is used
    said = asyncio.run(told.answer(message))
    assert said.outcome == "answered"
    store.remember(message, said)
    (gap,) = gathered(store, topics)
    assert [one.text for one in gap.examples] == [ALSO_ANSWERED[language]]


@pytest.mark.parametrize("language", OPEN)
def test_a_message_that_is_answered_leaves_no_gap(
    store: Store, topics: Topics, real_assistant: Assistant, language: str
) -> None:
    """Where all is answered nothing is gathered."""
    said = asyncio.run(real_assistant.answer(ANSWERED[language]))
    store.remember(ANSWERED[language], said)
    assert gathered(store, topics) == ()


@pytest.mark.parametrize("language", OPEN)
def test_a_bad_rating_counts_the_open_part(store: Store, topics: Topics, language: str) -> None:
    """A reply that left a part open and was called bad counts once, as what it left open."""
    keep(store, "a1", "c1", ANSWERED[language] + OPEN[language][0], language, OPEN[language][0])
    store.add_feedback("a1", "someone", "down")
    (gap,) = gathered(store, topics)
    assert (gap.title.text, gap.size, gap.rated) == (OPEN[language][0], 1, 0)


def test_a_part_has_its_own_nearest_section(store: Store, topics: Topics) -> None:
    """A part's row names the section that came nearest to the part, not that of the message's first question."""
    trace = Trace("question", ("a", "b"), (("en/shop#cost.1", 1.0),), unanswered=(("b", "en/shop#wrap.2"),))
    store.remember("a? b?", answer("en", trace=trace))
    (gap,) = gathered(store, topics)
    assert gap.section == "shop#wrap"


def test_open_parts_are_masked(store: Store) -> None:
    """Private details in a part are masked before it is kept."""
    keep(store, "a1", "c1", "a? mail ana@example.com?", "en", "mail ana@example.com?")
    with store.engine.read() as connection:
        ((part, _),) = connection.execute(select(answers.c.unanswered)).scalar_one()
    assert part.startswith("mail ")
    assert "ana" not in part


@pytest.mark.parametrize("language", AGAIN)
def test_what_a_conversation_repeats_counts_once(store: Store, topics: Topics, language: str) -> None:
    """The same words again in one conversation change no count; from others they add to it, as one example."""
    first, again = AGAIN[language]
    for number, text in enumerate((first, again, first)):
        keep(store, f"a{number}", "c1", text, language)
    (gap,) = gathered(store, topics)
    assert (gap.size, [one.count for one in gap.examples]) == (1, [1])
    keep(store, "b1", "c2", again, language)
    keep(store, "b2", "c2", f"{first} {OPEN[language][1]}", language, first, OPEN[language][1])
    gaps = gathered(store, topics)
    assert sorted((one.count, one.text in AGAIN[language]) for gap in gaps for one in gap.examples) == [
        (1, False),
        (2, True),
    ]


def test_a_repeat_stands_in_for_what_is_answered_now(store: Store, topics: Topics) -> None:
    """When the first of two equal questions counts no more, the second does."""
    keep(store, "a1", "c1", "Is there parking?", "en", outcome="answered")
    store.add_feedback("a1", "someone", "down")
    keep(store, "a2", "c1", "Is there parking?", "en")
    gatherer = Gatherer(store.engine, WordEmbedder(), topics)
    gatherer.update()
    (gap,) = GapReader(store.engine).gaps(MONTH).shown
    assert (gap.size, gap.rated) == (1, 1)
    store.add_feedback("a1", "someone", "up")
    gatherer.update()
    (gap,) = GapReader(store.engine).gaps(MONTH).shown
    assert (gap.size, gap.rated) == (1, 0)


def test_more_than_the_central_questions_are_counted(store: Store, topics: Topics) -> None:
    """However often a topic's most central words are asked, its other words are among the examples."""
    for number in range(40):
        keep(store, f"a{number}", f"c{number}", "Is there parking?", "en")
    keep(store, "b", "d", "is there any parking there", "en")
    (gap,) = gathered(store, topics)
    assert [(one.text, one.count) for one in gap.examples] == [
        ("Is there parking?", 40),
        ("is there any parking there", 1),
    ]
