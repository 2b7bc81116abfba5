"""Passages: the smallest things that make sense alone, each an exact slice of its file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import SourceError
from assistant.language import display_width
from assistant.passages import LONG_COLUMNS, cut_passages
from assistant.records import Passage
from tests.articles import LANGUAGES, corpus_files, flatten, markdown, parse, passages_of, read

SENTENCES = {
    "zh-Hans": "利用率决定成本，空闲的集群同样计费。",
    "ja": "利用率がコストを決め、遊んでいても課金されます。",
    "es": "La utilización decide el coste, también en reposo. ",
    "en": "Utilisation decides the cost, also when idle. ",
}
LISTED = {
    "zh-Hans": "费用由两项组成：\n\n- **算力。** 按小时计。\n- **存储。** 按容量计。\n",
    "ja": "費用は2つです：\n\n- **計算。** 時間単位です。\n- **保存。** 容量単位です。\n",
    "es": "El coste son dos:\n\n- **Cómputo.** Por hora.\n- **Disco.** Por tamaño.\n",
    "en": "There are two costs:\n\n- **Compute.** By the hour.\n- **Storage.** By size.\n",
}


def check(passages: list[Passage], source: str) -> None:
    """What holds for every passage."""
    assert len({passage.id for passage in passages}) == len(passages)
    ids = {passage.id for passage in passages}
    for passage in passages:
        assert passage.text == passage.text.strip() != ""
        assert passage.text in source
        assert source.split("\n")[passage.line - 1].strip()
        assert passage.shown.strip()
        assert passage.question
        assert passage.context.split("\n")[0].startswith(passage.title)
        assert set(passage.members) <= ids


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", ["md", "txt"])
def test_the_corpus_cuts_cleanly(language: str, form: str) -> None:
    """Every passage of the corpus, in both forms, is a slice that can be quoted, with its place and what it answers."""
    for path in corpus_files(language):
        article = read(path) if form == "md" else parse(flatten(path), "txt", language)
        passages = cut_passages(article)
        check(passages, article.source)
        kinds = {passage.kind for passage in passages}
        assert kinds >= {"faq", "paragraph", "row", "outline"}
        assert all(display_width(passage.text) <= LONG_COLUMNS for passage in passages if passage.kind != "row")
        assert all(passage.url.endswith(f"#{passage.anchor}") for passage in passages if form == "md")


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_faq_answer_is_one_passage(language: str) -> None:
    """An answer of paragraphs and a list is kept whole under its question."""
    body = f"## FAQ\n\n### {SENTENCES[language].strip()}?\n\n{LISTED[language]}\n{SENTENCES[language]}\n"
    (faq,) = passages_of(body, language=language)
    assert faq.kind == "faq"
    assert faq.question.endswith("?")
    assert faq.shown.count("\n") == 3
    assert faq.shown.count("\n- ") == 2
    assert faq.text in body


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_outline_lists_what_a_sentence_introduces(language: str) -> None:
    """The introducing sentence is a passage that names its items and is found by their leads."""
    passages = passages_of(f"## Heading\n\n{LISTED[language]}", language=language)
    introduction, *items, outline = passages
    assert (outline.kind, outline.shown) == ("outline", introduction.shown)
    assert outline.members == tuple(item.id for item in items)
    assert all(item.question in outline.context and item.question != "Heading" for item in items)


@pytest.mark.parametrize("kind", ["md", "txt"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_long_paragraphs_are_cut_between_sentences(language: str, kind: str) -> None:
    """A paragraph too long to quote becomes passages of whole sentences that together are the paragraph."""
    sentence = SENTENCES[language]
    passages = passages_of(("## H\n\n" if kind == "md" else "H\n") + sentence * 120, kind, language)
    assert len(passages) > 3
    assert all(display_width(passage.text) <= LONG_COLUMNS for passage in passages)
    assert all(passage.text.count(sentence.strip()) * len(sentence) >= len(passage.text) for passage in passages)
    assert sum(passage.text.count(sentence.strip()) for passage in passages) == 120


@pytest.mark.parametrize(
    "character",
    ["长", "の", "a", "ก", "👍", "e\u0301", "か\u3099"],
    ids=["zh", "ja", "Latin", "Thai", "emoji", "accent", "kana"],
)
def test_text_without_sentence_ends_is_cut_by_length(character: str) -> None:
    """Thousands of characters without a stop or space are cut by width, losing none and never before a mark."""
    body = character * 5000
    passages = passages_of(f"## H\n\n{body}\n")
    assert "".join(passage.text for passage in passages) == body
    assert all(display_width(passage.text) <= LONG_COLUMNS for passage in passages)
    assert all(passage.text.startswith(character) for passage in passages)


@pytest.mark.parametrize("language", LANGUAGES)
def test_long_marked_up_paragraphs_show_no_markup(language: str) -> None:
    """Cut pieces are shown without markup, and each is shown from its own part of the file."""
    sentence = SENTENCES[language].strip()
    body = " ".join(
        f"**{number}** [{sentence}](https://example.com/a?b=c.d) <script>x</script>" for number in range(100)
    )
    article = parse(markdown(f"## H\n\n{body}\n", language), language=language)
    passages = cut_passages(article)
    check(passages, article.source)
    assert len(passages) > 3
    assert not any(mark in passage.shown for passage in passages for mark in ("**", "](", "<script"))
    assert all(number in passage.text for passage in passages for number in passage.shown.split() if number.isdigit())


def test_rows_are_found_by_their_first_cell() -> None:
    """A row answers for its first cell, and is shown with the headers."""
    rows = passages_of(
        "## 价格\n\n| 层级 | 价格 |\n|---|---|\n| 基础 | 5美元 |\n| 专业 | 9美元 |\n", language="zh-Hans"
    )
    assert [(row.kind, row.question, row.shown) for row in rows] == [
        ("row", "基础", "层级：基础；价格：5美元"),
        ("row", "专业", "层级：专业；价格：9美元"),
    ]


BLOCKS = st.sampled_from(
    [
        "# H",
        "## Why?",
        "### 为什么？",
        "text: ",
        "A sentence. " * 200,
        "长" * 2000,
        "**b** c. d",
        "- i. j",
        "| a | b |\n|---|---|\n| c | d |",
        "> q",
        "```\ncode\n```",
        "as follows:",
        "- k. l",
        "说明：",
        "<b>x</b>" * 500,
    ]
)


@given(st.lists(BLOCKS, max_size=14), st.sampled_from(["md", "txt"]))
def test_any_article_cuts_into_slices(blocks: list[str], kind: str) -> None:
    """However blocks follow each other, passages are non-empty slices with unique ids and members that exist."""
    source = markdown("\n\n".join(blocks)) if kind == "md" else "Sample\n" + "\n".join(blocks)
    try:
        article = parse(source, kind)
    except SourceError:
        return
    check(cut_passages(article), source)
