"""Extracted text: sections, lists, tables and the FAQ are found by layout alone, in every language."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import SourceError
from assistant.parse_extracted import cells_of, parse_extracted
from assistant.records import Entry
from tests.articles import ADVERTS, LANGUAGES, corpus_files, flatten, parse, read, reason

FAQ = {
    "zh-Hans": [
        "标题",
        "简介在这里。",
        "常见问题解答",
        "可以吗？",
        "可以",
        "多久？",
        "3天。",
        "训练模型。让别人付费。",
        "订阅 →",
    ],
    "ja": [
        "題",
        "説明です。",
        "よくある質問",
        "できますか？",
        "はい",
        "何日ですか？",
        "3日です。",
        "学習しよう。費用は他の人に。",
        "登録 →",
    ],
    "es": [
        "Título",
        "Una introducción.",
        "Preguntas frecuentes",
        "¿Se puede?",
        "Sí",
        "¿Cuánto tarda?",
        "3 días.",
        "Entrena. Que pague otro.",
        "Suscríbete →",
    ],
    "en": [
        "Title",
        "An introduction.",
        "FAQ",
        "Is it possible?",
        "Yes",
        "How long?",
        "3 days.",
        "Train. Let others pay.",
        "Subscribe →",
    ],
}
LISTS = {
    "zh-Hans": [
        "标题",
        "价格",
        "有两点：",
        "利用率决定成本。 利用率低就贵。",
        "扩展不是线性的。 节点翻倍不减半。",
        "其他内容没有空格。这是正文。",
    ],
    "ja": [
        "題",
        "価格",
        "2つあります。",
        "利用率が支配する。 低いと高くなります。",
        "線形ではない。 倍にしても半分になりません。",
        "空白のない段落。これは本文です。",
    ],
    "es": [
        "Título",
        "Precio",
        "Hay dos:",
        "La utilización manda. Si es baja, sale caro.",
        "No es lineal. El doble no es la mitad.",
        "Otro párrafo de una sola frase.",
    ],
    "en": [
        "Title",
        "Price",
        "There are two:",
        "Utilisation rules. If it is low, you pay.",
        "It is not linear. Twice is not half.",
        "Another paragraph of one sentence.",
    ],
}


def entries(source: str) -> tuple[Entry, ...]:
    """The entries of a text."""
    return parse(source, "txt").entries


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_corpus_survives_extraction(language: str) -> None:
    """The flattened corpus gives its title, every FAQ pair and every table row back, and no advertising."""
    for path in corpus_files(language):
        original, found = read(path), parse(flatten(path), "txt", language)
        assert found.title == original.title
        asked = [(entry.question, entry.blocks[0].plain) for entry in original.entries if entry.question]
        assert [(entry.question, entry.blocks[0].plain) for entry in found.entries if entry.question] == asked
        rows = [block.plain for entry in original.entries for block in entry.blocks if block.kind == "row"]
        assert [block.plain for entry in found.entries for block in entry.blocks if block.kind == "row"] == rows
        texts = [block.text for entry in found.entries for block in entry.blocks]
        assert not any(advert in text for advert in ADVERTS[language] for text in texts)


def test_translations_get_the_same_anchors() -> None:
    """Derived anchors and kinds depend on the place only, so every language of an article has the same."""
    shapes = [
        [(entry.anchor, [block.kind for block in entry.blocks]) for entry in entries(flatten(path))]
        for language in LANGUAGES
        for path in corpus_files(language)
    ]
    assert len(shapes) == len(LANGUAGES)
    assert all(shape == shapes[0] for shape in shapes)


@pytest.mark.parametrize("source", FAQ.values(), ids=FAQ)
def test_faq_answers_may_be_one_word(source: list[str]) -> None:
    """An answer without a full stop is an answer, not a heading, and two closing slogans are left out."""
    found = entries("\n".join(source))
    assert [entry.anchor for entry in found] == ["s1", "q1", "q2"]
    assert [len(entry.blocks) for entry in found] == [1, 1, 1]
    assert found[1].parents == found[2].parents != ()
    assert found[1].question.endswith(("?", "？"))


@pytest.mark.parametrize("source", LISTS.values(), ids=LISTS)
def test_paragraphs_with_leads_are_a_list(source: list[str]) -> None:
    """After a colon, or where two leads in a row were bold, they are items; one that had none ends the list."""
    (found,) = entries("\n".join(source))
    assert [block.kind for block in found.blocks] == ["paragraph", "item", "item", "paragraph"]
    assert all(block.text.startswith(block.lead) for block in found.blocks[1:3] if block.lead)
    assert found.blocks[1].lead


def test_one_marked_lead_is_no_list() -> None:
    """A link after a full stop leaves the same space as a bold lead-in, and makes no list of one."""
    (found,) = entries("标题\n条款会变。 AI Perks 会追踪。\n另一段没有空格。就是正文。\n")
    assert [block.kind for block in found.blocks] == ["paragraph", "paragraph"]


@pytest.mark.parametrize(
    "source",
    [
        "标题\n支持的地区：\n美国\n日本\n欧洲\n",
        "題\n対応地域：\n米国\n日本\n欧州\n",
        "Título\nRegiones:\nEE. UU\nJapón\nEuropa\n",
        "Title\nRegions:\n• US\n• Japan\n- Europe\n",
    ],
    ids=LANGUAGES,
)
def test_short_list_items_are_kept(source: str) -> None:
    """Short lines after a colon, with bullets or without, are items and none is lost."""
    (found,) = entries(source)
    assert [block.kind for block in found.blocks] == ["paragraph", "item", "item", "item"]
    assert not any(block.text.startswith(("•", "-")) for block in found.blocks)


def test_without_an_faq_nothing_is_advertising() -> None:
    """Short closing paragraphs of an article that has no FAQ are its text."""
    (found,) = entries("标题\n第一段。\n第二段。\n第三段。\n")
    assert len(found.blocks) == 3


def test_answers_of_several_paragraphs_are_kept() -> None:
    """Where another answer has two paragraphs, the last answer keeps two."""
    found = entries("T\nIntro here.\nFAQ\nOne?\nYes, it is.\nReally, it is.\nTwo?\nNo, never.\nNot at all.\nBuy now.\n")
    assert [[block.text for block in entry.blocks] for entry in found[1:]] == [
        ["Yes, it is.", "Really, it is."],
        ["No, never.", "Not at all."],
    ]


def test_a_section_after_the_faq_is_its_own() -> None:
    """A heading that asks nothing ends the FAQ."""
    text = "Write to us whenever you like, and we answer within a day or two, on every weekday but one."
    found = entries(f"T\nFAQ\nOne?\nYes, it is.\nContact\n{text}\n")
    assert [(entry.anchor, entry.parents) for entry in found] == [("q1", ("FAQ",)), ("s1", ())]


@pytest.mark.parametrize(
    ("rows", "plain"),
    [
        ("| 层级 | 内容 |\n|---|---|\n| API (OpenAI) | GPU |", "层级：API (OpenAI)；内容：GPU"),
        ("| 層 | 対象 |\n|:-:|--|\n| モデル |  |", "層：モデル"),
        ("| Capa | Qué |\n|---|---|\n| A \\| B | c |", "Capa: A | B; Qué: c"),
        ("| Layer |\n|---|\n| a | more |", "Layer: a; more"),
    ],
    ids=["zh", "ja", "es", "a cell too many"],
)
def test_rows_read_alone(rows: str, plain: str) -> None:
    """A row says its headers in its own script's punctuation, skips empty cells and loses none."""
    (found,) = entries(f"T\nHeading\n{rows}\n")
    assert [block.plain for block in found.blocks] == [plain]
    assert found.blocks[0].text == rows


def test_long_tables_stay_small() -> None:
    """A row far below its header is quoted alone, so that a table's slices do not grow with its square."""
    table = "| a | b |\n|---|---|\n" + "".join(f"| cell {number} | value |\n" for number in range(5000))
    (found,) = entries(f"T\nHeading\n{table}")
    assert len(found.blocks) == 5000
    assert sum(len(block.text) for block in found.blocks) < 10 * len(table)
    assert found.blocks[-1].plain == "a: cell 4999; b: value"


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("Title\n", "title"),
        ("题\n\n", "title"),
        ("Title\nHeading\nAnother\n", "headings"),
        ("T" * 501 + "\nText.\n", ":1:"),
    ],
    ids=["title only", "zh title only", "headings only", "title too long"],
)
def test_refused_texts_say_why(source: str, named: str) -> None:
    """What has no text under its title is refused by name."""
    assert reason(source, "txt").startswith("en/sample.txt")
    assert named in reason(source, "txt")


LINES = st.sampled_from(
    [
        "Heading",
        "Why?",
        "为什么？",
        "Text here. More of it.",
        "正文。 更多。",
        "Intro:",
        "说明：",
        "| a | b |",
        "|---|---|",
        "- item",
        "",
        "\u2028x",
        "はい",
        "|",
        "||",
        "| |",
    ]
)


@given(st.text(max_size=300) | st.lists(LINES, max_size=25).map("\n".join))
def test_any_text_parses_or_is_refused(source: str) -> None:
    """Nothing but SourceError is raised; every block is a slice of the source on its line, and anchors are unique."""
    try:
        _, found = parse_extracted(source, Path("x.txt"))
    except SourceError:
        return
    assert len({entry.anchor for entry in found}) == len(found)
    for block in (block for entry in found for block in entry.blocks):
        assert block.text
        assert source[block.start : block.start + len(block.text)] == block.text
        assert block.plain
        assert block.line == source.count("\n", 0, block.start + len(block.text)) + 1 - (
            0 if block.kind == "row" else block.text.count("\n")
        )


@given(st.lists(st.text(st.characters(exclude_characters="\\\\"), max_size=9), min_size=1, max_size=5))
def test_cells_come_back_from_their_row(cells: list[str]) -> None:
    """Cells joined to a row, bars inside them escaped, are the cells it is split into."""
    row = "|".join(cell.replace("|", r"\|") for cell in cells)
    assert cells_of(f"| {row} |") == [cell.strip() for cell in cells]


@pytest.mark.parametrize(
    "source",
    [
        "line one is here.\n" * 55_000,
        "What is it?\nAnswer here.\n" * 40_000,
        "Head\nText is here.\n" * 55_000,
        "漢" * 350_000,
        "> " * 500_000,
        "| a | b |\n" * 100_000,
    ],
    ids=["100k lines", "questions", "headings", "one line", "marks", "rows"],
)
def test_a_megabyte_parses_in_time(source: str) -> None:
    """A megabyte of anything takes a few seconds of work: a limit that only quadratic work exceeds."""
    started = time.thread_time()
    reason(f"Title\nHeading\n{source}", "txt")
    assert time.thread_time() - started < 5
