"""Gaps: which questions count, that they come together across languages, what a row says, how it is kept."""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import func, select

from assistant.clusters import cluster, polite_clauses, without
from assistant.engine import MEMORY
from assistant.errors import InputError
from assistant.gaps import BARS, GapReader
from assistant.gather import Asked, Gatherer, group
from assistant.insight import Selection
from assistant.pipeline import Assistant
from assistant.records import Outcome, Trace
from assistant.store import DAY_S, Store
from assistant.tables import gap_questions
from assistant.topics import Topics, load_topics
from tests.embedders import WordEmbedder
from tests.fakes import answer

TODAY = int(time.time() // DAY_S)
MONTH = Selection(TODAY - 29, TODAY)
GIFTS = {
    "zh-Hans": ["订单可以做礼品包装吗？", "礼品包装"],
    "ja": ["注文した商品をギフト包装してもらえますか？", "プレゼント用のラッピングできる？"],
    "es": ["¿Pueden envolver mi pedido para regalo?", "¿hacéis envoltorio de regalo?"],
    "en": ["Can you gift-wrap my order?", "do you do gift wrap"],
}
PARKING = {
    "zh-Hans": ["门店有停车场吗？", "店附近哪里可以停车？"],
    "ja": ["店に駐車場はありますか？", "車を停める駐車場はどこですか"],
    "es": ["¿Hay aparcamiento en la tienda?", "¿dónde puedo aparcar el coche?"],
    "en": ["Is there parking at the shop?", "where can I park my car"],
}
POLITE = {
    "zh-Hans": ("不好意思打扰了，", "{}"),
    "ja": ("お忙しいところ恐れ入ります。", "{}"),
    "es": ("Perdón por la molestia, ", "{}"),
    "en": ("Sorry to bother you, ", "{}"),
}
TOPICS = """
elsewhere:
  weather: {en: [will it rain], ja: [明日の天気は]}
everyday:
  pets: {en: [my dog is ill], ja: [犬が病気です]}
usual:
  price: {en: [what does it cost], ja: [いくらですか]}
"""


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


def ask(
    store: Store, number: int, text: str, language: str = "en", outcome: Outcome = "abstained", near: str = ""
) -> None:
    """Keeps a question as the pipeline would, in a conversation of its own."""
    found = ((f"{language}/{near}.1", 1.0),) if near else ()
    said = answer(language, outcome, "…", id=f"a{number}", conversation_id=f"c{number}")
    store.remember(text, replace(said, trace=Trace("question", (text,), found)), "widget")


def ask_all(store: Store, *subjects: dict[str, list[str]]) -> int:
    """Keeps all questions about some subjects; how many there are."""
    asked = [(language, text) for subject in subjects for language, texts in subject.items() for text in texts]
    for number, (language, text) in enumerate(asked):
        ask(store, number, text, language)
    assert store.flush()
    return len(asked)


def test_one_topic_in_four_languages_is_one_row(store: Store, real_assistant: Assistant) -> None:
    """With the real model, two subjects asked in four languages become two rows, titled in the wanted language."""
    count = ask_all(store, GIFTS, PARKING)
    retriever = real_assistant.retriever
    Gatherer(store.engine, retriever.embedder, retriever.topics).update()
    gaps = GapReader(store.engine).gaps(MONTH, "es")
    assert (gaps.topics, gaps.questions) == (2, count)
    assert {gap.title.language for gap in gaps.shown} == {"es"}
    for gap in gaps.shown:
        assert {name for name, _ in gap.languages} == set(GIFTS)
        assert {one.language for one in gap.examples} == set(GIFTS)
        assert {one.text for one in gap.examples} <= {
            t for s in (GIFTS, PARKING) for texts in s.values() for t in texts
        }


@pytest.mark.parametrize(
    ("outcome", "opinion", "counts"),
    [
        ("abstained", "", True),
        ("related", "", True),
        ("handover", "", True),
        ("answered", "", False),
        ("answered", "up", False),
        ("answered", "down", True),
        ("clarify", "", False),
    ],
)
@pytest.mark.parametrize("language", GIFTS)
def test_what_counts(store: Store, topics: Topics, language: str, outcome: Outcome, opinion: str, counts: bool) -> None:
    """Unanswered questions and badly rated answers count, in every language; others don't."""
    ask(store, 1, GIFTS[language][0], language, outcome)
    store.flush()
    if opinion:
        store.add_feedback("a1", "someone", opinion)  # type: ignore[arg-type]
    Gatherer(store.engine, WordEmbedder(), topics).update()
    assert GapReader(store.engine).gaps(MONTH).questions == int(counts)


def test_greetings_do_not_count(store: Store, topics: Topics) -> None:
    """A message that asks nothing is no gap, whatever came of it."""
    said = replace(answer("ja", "handover", "…"), trace=Trace("person"))
    store.remember("担当者と話したい", said)
    store.flush()
    Gatherer(store.engine, WordEmbedder(), topics).update()
    assert GapReader(store.engine).gaps(MONTH).questions == 0


def test_a_better_opinion_closes_the_gap(store: Store, topics: Topics) -> None:
    """An answered question leaves the gaps when its bad rating is taken back."""
    ask(store, 1, "退款需要多久？", "zh-Hans", "answered")
    store.flush()
    store.add_feedback("a1", "someone", "down")
    gatherer, reader = Gatherer(store.engine, WordEmbedder(), topics), GapReader(store.engine)
    gatherer.update()
    assert [gap.rated for gap in reader.gaps(MONTH).shown] == [1]
    store.add_feedback("a1", "someone", "up")
    gatherer.update()
    assert reader.gaps(MONTH).questions == 0


def test_nothing_is_embedded_twice(store: Store, topics: Topics) -> None:
    """Each text is embedded once, by whichever process; the same words again cost nothing."""
    ask_all(store, GIFTS)
    first, later = WordEmbedder(), WordEmbedder()
    gatherer = Gatherer(store.engine, first, topics)
    gatherer.update()
    gatherer.update()
    assert sorted(first.queries) == sorted(text for texts in GIFTS.values() for text in texts)
    ask(store, 99, GIFTS["ja"][0], "ja")
    store.flush()
    gatherer.update()
    Gatherer(store.engine, later, topics).update()
    assert len(first.queries) == 8
    assert later.queries == []


def test_another_model_embeds_again(store: Store, topics: Topics) -> None:
    """Vectors of another model are not mixed in: its questions are embedded anew."""
    ask_all(store, GIFTS)
    Gatherer(store.engine, WordEmbedder(), topics).update()
    other = WordEmbedder("other")
    Gatherer(store.engine, other, topics).update()
    assert len(other.queries) == 8


def test_batches_are_bounded(store: Store, topics: Topics, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large backlog is embedded a batch at a time, and `update` says when there is more."""
    monkeypatch.setattr("assistant.gather.BATCH", 3)
    count = ask_all(store, GIFTS)
    embedder = WordEmbedder()
    gatherer = Gatherer(store.engine, embedder, topics)
    assert [gatherer.update() for _ in range(4)] == [True, True, False, False]
    assert GapReader(store.engine).gaps(MONTH).questions == count == len(embedder.queries)


def test_a_topic_keeps_its_id() -> None:
    """A topic that grows keeps its id; one that a part of its questions leaves keeps it with the larger part."""
    gift, parking = np.eye(2, 8, dtype=np.float32)
    vectors = {
        ("ja", "包装"): gift,
        ("en", "gift wrap"): gift,
        ("es", "aparcar"): parking,
        ("zh-Hans", "停车"): parking,
    }

    def asked(key: tuple[str, str], topic: str) -> Asked:
        return Asked(uuid.uuid4().hex, 0, 0.0, key[0], "api", False, key[1], key[1], topic, 1.0)

    grown = group([asked(("ja", "包装"), "t1"), asked(("en", "gift wrap"), "")], vectors)
    assert [name for _, name, _ in grown] == ["t1", "t1"]
    parted = [*(asked(key, "t1") for key in vectors), asked(("ja", "包装"), "t1")]
    names = {one.key: name for one, name, _ in group(parted, vectors)}
    assert names["ja", "包装"] == names["en", "gift wrap"] == "t1"
    assert names["es", "aparcar"] == names["zh-Hans", "停车"] not in ("t1", "")


def test_beyond_what_is_clustered_questions_join_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Older questions join the topic they are near to, or none."""
    monkeypatch.setattr("assistant.gather.MOST", 2)
    near = np.eye(3, 8, dtype=np.float32)
    vectors = {("ja", "包装"): near[0], ("es", "aparcar"): near[1], ("en", "gift"): near[0], ("en", "other"): near[2]}
    rows = group([Asked(key[1], 0, 0.0, key[0], "api", False, key[1], "", "", 0.0) for key in vectors], vectors)
    names = [name for _, name, _ in rows]
    assert names[2] == names[0] != names[1]
    assert (names[3], rows[3][2]) == ("", 0.0)


def test_a_forgotten_conversation_leaves(store: Store, topics: Topics) -> None:
    """With a conversation its questions leave the topics, vectors and all."""
    ask_all(store, GIFTS)
    Gatherer(store.engine, WordEmbedder(), topics).update()
    store.forget("c0")
    with store.engine.read() as connection:
        assert connection.execute(select(func.count()).select_from(gap_questions)).scalar() == 7


def test_a_row_tells_trend_and_section(store: Store, topics: Topics) -> None:
    """A row has as many questions as its bars show, says that it grows, and names the section that was nearest most."""
    for number in range(5):
        ask(store, number, "礼品包装可以吗", "zh-Hans", near="shop#wrap" if number else "shop#cost")
    store.flush()
    Gatherer(store.engine, WordEmbedder(), topics).update()
    (gap,) = GapReader(store.engine).gaps(MONTH).shown
    assert (gap.size, sum(gap.trend), len(gap.trend)) == (5, 5, BARS)
    assert gap.growth == 1.0
    assert gap.section == "shop#wrap"
    assert (gap.title.text, gap.title.count) == ("礼品包装可以吗", 5)
    assert gap.channels == (("widget", 5),)


def test_gathering_without_its_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without scikit-learn one sentence names the extra to install."""
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    with pytest.raises(InputError, match="extra `staff`"):
        cluster(np.eye(2, 8, dtype=np.float32))


@pytest.mark.parametrize(
    "selection",
    [
        Selection(TODAY - 60, TODAY - 30),
        replace(MONTH, language="ja"),
        replace(MONTH, channel="slack"),
    ],
    ids=["another time", "another language", "another channel"],
)
def test_rows_are_filtered(store: Store, topics: Topics, selection: Selection) -> None:
    """Time, language and channel narrow what is counted and shown."""
    ask(store, 1, "gift wrap?")
    store.flush()
    Gatherer(store.engine, WordEmbedder(), topics).update()
    reader = GapReader(store.engine)
    assert reader.gaps(MONTH).questions == 1
    assert reader.gaps(selection).shown == ()


@pytest.mark.parametrize("language", POLITE)
def test_polite_clauses_are_left_out(language: str) -> None:
    """What stands beside many different questions tells none apart, in every script, and is not compared."""
    said = POLITE[language][0]
    others = [text for subject in (GIFTS, PARKING) for texts in subject.values() for text in texts]
    polite = polite_clauses([said + text for text in others])
    assert without(said + others[0], polite) == others[0]
    assert without(said, polite) == said  # where nothing else is said


@pytest.mark.parametrize("language", POLITE)
@pytest.mark.parametrize("at_end", [False, True], ids=["before", "after"])
def test_polite_clauses_are_found_without_marks(language: str, at_end: bool) -> None:
    """A clause known from where marks part it off is left out where none does, before the question or after it."""
    said = POLITE[language][0].strip()
    bare = said.rstrip("，。,").lower()
    others = [text for subject in (GIFTS, PARKING) for texts in subject.values() for text in texts]
    polite = polite_clauses([f"{said} {text}" for text in others])
    asked = GIFTS[language][0].rstrip("？?")
    assert without(f"{asked} {bare}" if at_end else f"{bare} {asked}", polite) == asked
    assert without(bare, polite) == bare


@pytest.mark.parametrize(
    ("common", "text"),
    [
        ("I", "I'd like parcel {} in v1.2"),
        ("l", "dove si trova l’ordine {}"),
        ("qu", "est-ce qu'on livre {}"),
        ("e", "is there an e-mail about {}"),
        ("5", "¿pesa 5.5 kg el paquete {}"),
    ],
    ids=["en", "it", "fr", "hyphen", "point"],
)
def test_marks_inside_words_part_nothing(common: str, text: str) -> None:
    """An apostrophe, hyphen or point inside a word parts no clauses: nothing of the word is taken for politeness."""
    subjects = ("silla azul", "gift card", "返品", "退款", "lamp", "taxi", "rice", "violin", "tower", "novel", "horse")
    asked = [text.format(subject) for subject in subjects]
    polite = polite_clauses(asked)
    assert common not in polite
    assert [without(one, polite) for one in asked] == asked


def test_two_halves_of_one_question_stay() -> None:
    """Clauses that always come together are the question itself, however often it is asked."""
    asked = [f"We moved house. Can you send parcel {number} to the new address?" for number in range(30)]
    assert polite_clauses(asked) == frozenset()
