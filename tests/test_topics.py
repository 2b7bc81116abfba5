"""Generic topics: their file, their cache, and what they tell about a question."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from assistant.bootstrap import Parts, build
from assistant.errors import InputError
from assistant.index import Index
from assistant.pipeline import Assistant
from assistant.settings import read_settings
from assistant.topics import FILE, load_topics, read_topics, tokens_of
from tests.embedders import WordEmbedder

REFUND = {
    "en": "can I get my money back",
    "zh-Hans": "能退钱吗",
    "ja": "お金は返ってくる？",
    "es": "¿me devuelven el dinero?",
}
REFUNDED = {
    "en": "Yes, in 30 days.",
    "zh-Hans": "可以，30天内。",
    "ja": "はい、30日以内です。",
    "es": "Sí, en 30 días.",
}
LIMIT = {"en": "what's the cap", "zh-Hans": "上限是多少", "ja": "上限はいくら", "es": "¿cuál es el tope?"}


@pytest.mark.parametrize("language", list(REFUND))
@pytest.mark.parametrize(("asked", "elsewhere"), [(REFUND, True), (LIMIT, False)], ids=["refund", "limit"])
def test_the_nearest_topic_is_of_the_right_kind(
    real_assistant: Assistant, language: str, asked: dict[str, str], elsewhere: bool
) -> None:
    """A refund question is nearest to a topic that articles leave out, a question for the cap to one they answer."""
    topics = real_assistant.retriever.topics
    embedding = real_assistant.retriever.embedder.embed_queries([asked[language]])[0]
    compared = topics.compare(topics.centre(tokens_of(embedding), language))
    assert bool(topics.elsewhere[compared.one_way.argmax()]) is elsewhere


def test_the_file_holds_the_same_languages_for_every_topic() -> None:
    """Every topic has examples in the same four languages, and no example is in one language twice."""
    rows = read_topics(FILE.read_bytes(), FILE)
    languages: dict[str, set[str]] = {}
    for _, topic, language, _ in rows:
        languages.setdefault(topic, set()).add(language)
    assert {frozenset(found) for found in languages.values()} == {frozenset({"en", "zh-Hans", "ja", "es"})}
    assert len({(language, question) for _, _, language, question in rows}) == len(rows)


@pytest.mark.parametrize("text", ["", "elsewhere: []", "elsewhere: {a: {en: [x]}}", ": ["], ids=repr)
def test_a_malformed_file_is_refused(text: str) -> None:
    """A file without the two kinds, or that is no YAML, is refused by name."""
    with pytest.raises(InputError, match=r"topics\.yaml"):
        read_topics(text.encode(), Path("topics.yaml"))


def test_topics_are_embedded_once_a_model(tmp_path: Path) -> None:
    """The second load reads the kept file; another model gets its own."""
    file = tmp_path / "topics.yaml"
    file.write_text("elsewhere: {refund: {en: [refund please]}}\nusual: {cap: {en: [how much]}}\n")
    first, again = WordEmbedder(), WordEmbedder()
    load_topics(first, tmp_path, file)
    load_topics(again, tmp_path, file)
    assert first.queries
    assert not again.queries
    assert load_topics(WordEmbedder("other"), tmp_path, file).identity != load_topics(again, tmp_path, file).identity


@pytest.mark.parametrize(
    ("title", "question", "language"),
    [
        ("Shop help", "Can I get a refund?", "en"),
        ("商店帮助", "可以退款吗？", "zh-Hans"),
        ("ショップのヘルプ", "返金してもらえますか？", "ja"),
        ("Ayuda", "¿Puedo pedir un reembolso?", "es"),
    ],
    ids=["en", "zh-Hans", "ja", "es"],
)
def test_a_topic_that_the_articles_treat_stops_competing(
    real_assistant: Assistant, tmp_path: Path, title: str, question: str, language: str
) -> None:
    """Where the articles answer a refund question it is answered, though articles elsewhere often leave refunds out."""
    shop = tmp_path / "corpus" / language / "shop.md"
    shop.parent.mkdir(parents=True)
    head = f"---\ntitle: {title}\nlanguage: {language}\n---\n## FAQ {{#faq}}\n"
    shop.write_text(f"{head}### {question} {{#refund}}\n{REFUNDED[language]}\n", encoding="utf-8")
    retriever = real_assistant.retriever
    settings = read_settings(home=tmp_path / "home", corpus=shop.parent)
    index = Index(settings.home)
    parts = Parts(
        settings, index, retriever.embedder, retriever.topics, real_assistant.wordings, real_assistant.detector
    )
    assistant = build(settings, parts=parts)
    assert "refund" in index.snapshot().covered
    assert asyncio.run(assistant.answer(REFUND[language])).outcome == "answered"
