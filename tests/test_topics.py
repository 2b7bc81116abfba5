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
from assistant.topics import FILE, load_topics, read_topics
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
LIMIT = {"en": "what's the cap", "zh-Hans": "额度上限是多少", "ja": "上限はいくら", "es": "¿cuál es el tope?"}


@pytest.mark.parametrize("language", list(REFUND))
@pytest.mark.parametrize(("asked", "elsewhere"), [(REFUND, True), (LIMIT, False)], ids=["refund", "limit"])
def test_the_nearest_topic_is_of_the_right_kind(
    real_assistant: Assistant, language: str, asked: dict[str, str], elsewhere: bool
) -> None:
    """A refund question is nearest to a topic that articles leave out, a question for the cap to one they answer."""
    topics = real_assistant.retriever.topics
    embedding = real_assistant.retriever.embedder.embed_queries([asked[language]])[0]
    compared = topics.compare(topics.centre(embedding.said(), language))
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
    """A file without the three kinds, or that is no YAML, is refused by name."""
    with pytest.raises(InputError, match=r"topics\.yaml"):
        read_topics(text.encode(), Path("topics.yaml"))


def test_topics_are_embedded_once_a_model(tmp_path: Path) -> None:
    """The second load reads the kept file; another model gets its own."""
    file = tmp_path / "topics.yaml"
    kinds = (
        "elsewhere: {refund: {en: [refund please]}}",
        "everyday: {pets: {en: [my dog]}}",
        "usual: {cap: {en: [max]}}",
    )
    file.write_text("\n".join(kinds))
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
    """Where the articles answer a refund question they are quoted, though others leave refunds out."""
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
    answer = asyncio.run(assistant.answer(REFUND[language]))
    assert answer.outcome in ("answered", "related")
    assert [citation.quote for citation in answer.citations] == [REFUNDED[language]]


@pytest.mark.parametrize(
    ("language", "title", "question", "text"),
    [
        ("en", "Clinic", "My dog won't eat, what should I do?", "A dog that has not eaten for a day should see a vet."),
        ("zh-Hans", "宠物医院", "狗狗不吃东西怎么办？", "狗狗一天不吃东西就该来看医生。"),
        ("ja", "動物病院", "犬がごはんを食べないときは？", "犬が丸一日食べないときは受診してください。"),
        ("es", "Clínica", "Mi perro no come, ¿qué hago?", "Un perro que no come en un día debe venir."),
    ],
    ids=["en", "zh-Hans", "ja", "es"],
)
def test_an_everyday_subject_is_the_articles_own_where_they_come_near_it(
    real_assistant: Assistant, tmp_path: Path, language: str, title: str, question: str, text: str
) -> None:
    """A vet's articles treat pets, so that questions on pets don't speak against them; the first corpus treats none."""
    file = tmp_path / "corpus" / language / "vet.md"
    file.parent.mkdir(parents=True)
    head = f"---\ntitle: {title}\nlanguage: {language}\n---\n## FAQ {{#faq}}\n"
    file.write_text(f"{head}### {question} {{#vet}}\n{text}\n", encoding="utf-8")
    index = Index(tmp_path / "home")
    settings = read_settings(home=tmp_path / "home", corpus=file.parent)
    own = real_assistant.retriever
    parts = Parts(settings, index, own.embedder, own.topics, real_assistant.wordings, real_assistant.detector)
    build(settings, parts=parts)
    assert "pet_care_question" in index.snapshot().covered
    assert "pet_care_question" not in own.index.snapshot().covered


@pytest.mark.parametrize("ending", [".npz", ".tokens.npy"])
def test_a_damaged_file_is_made_again(tmp_path: Path, ending: str) -> None:
    """A kept file that was cut in half is embedded again, which is reported, and then read."""
    file = tmp_path / "topics.yaml"
    file.write_text("elsewhere: {a: {en: [b]}}\neveryday: {c: {en: [d]}}\nusual: {e: {en: [f]}}\n")
    load_topics(WordEmbedder(), tmp_path, file)
    [kept] = tmp_path.glob(f"topics-*{ending}")
    kept.write_bytes(kept.read_bytes()[: kept.stat().st_size // 2])
    shares: list[float] = []
    load_topics(WordEmbedder(), tmp_path, file, lambda _stage, share: shares.append(share))
    assert shares[-1] == 1.0
    again = WordEmbedder()
    load_topics(again, tmp_path, file)
    assert not again.queries
