"""Markdown: every construct becomes blocks, slices of the file that read without markup, or is refused by its line."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import SourceError
from assistant.parse_markdown import parse_markdown
from assistant.records import Block, Entry
from tests.articles import LANGUAGES, corpus_files, markdown, parse, read, reason


def entries(body: str) -> tuple[Entry, ...]:
    """The entries of a body."""
    return parse(markdown(body)).entries


def blocks(body: str) -> list[Block]:
    """The blocks of a body."""
    return [block for entry in entries(body) for block in entry.blocks]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_corpus_parses_alike_in_every_language(language: str) -> None:
    """Each article has an FAQ, tables, given anchors, and the same shape as its Chinese translation."""
    for path in corpus_files(language):
        shape, other = (
            [
                (entry.anchor, entry.given, bool(entry.question), [block.kind for block in entry.blocks])
                for entry in made
            ]
            for made in (read(path).entries, read(path.parent.parent / "zh-Hans" / path.name).entries)
        )
        assert shape == other
        assert all(given for _, given, _, _ in shape)
        assert any(asked for _, _, asked, _ in shape)


@pytest.mark.parametrize(
    ("body", "plain"),
    [
        ("利用率\n决定成本。\n**很重要**。", "利用率决定成本。很重要。"),
        ("利用率が\nレートを\n支配する。", "利用率がレートを支配する。"),
        ("El coste\ndepende del uso.", "El coste depende del uso."),
        ("See [the\nterms](https://example.com 'T') and ![a chip](x.png).", "See the terms and a chip."),
        ("AWS\n额度", "AWS 额度"),
        ("a `<b>` c  \nd\\\ne", "a <b> c d e"),
        ("<b>Bold</b> &amp; <script>x()</script> text", "Bold & x() text"),
        ("Open <https://example.com/a> or [ref][r].\n\n[r]: https://example.com", "Open https://example.com/a or ref."),
        ("> quoted\n> twice", "quoted twice"),
        ("[brackets] and * stars_", "[brackets] and * stars_"),
    ],
    ids=[
        "zh",
        "ja",
        "es",
        "link and image",
        "Latin before Han",
        "code and hard breaks",
        "html",
        "reference",
        "quote",
        "literal",
    ],
)
def test_paragraphs_read_without_markup(body: str, plain: str) -> None:
    """Soft breaks join full-width text without a space and other text with one; markup goes, its text stays."""
    (block,) = blocks(f"## H\n\n{body}\n")
    assert block.plain == plain
    assert block.kind == "paragraph"


@pytest.mark.parametrize(
    ("body", "lead"),
    [
        ("**利用率决定成本。** 其他内容。", "利用率决定成本。"),
        ("**料金**：月額です。", "料金"),
        ("La utilización manda. Lo demás no.", "La utilización manda."),
        ("**Whole paragraph.**", ""),
        ("One sentence only.", ""),
    ],
    ids=["zh bold", "ja bold", "es first sentence", "all bold", "one sentence"],
)
def test_leads(body: str, lead: str) -> None:
    """A paragraph's lead is what it opens with in bold, or its short first sentence if more follows."""
    assert blocks(f"## H\n\n{body}\n")[0].lead == lead


@pytest.mark.parametrize(
    ("body", "items"),
    [
        ("- 一\n- 二\n", ["一", "二"]),
        ("1. 一つ\n2. 二つ\n", ["一つ", "二つ"]),
        ("* uno\n  - dentro\n* dos\n", ["uno", "dentro", "dos"]),
        ("- one\n\n  more\n- two\n", ["one", "more", "two"]),
        ("> - quoted\n> - list\n", ["quoted", "list"]),
        ("- a\n  b\n", ["a b"]),
        ("10) ten\n", ["ten"]),
        ("- [ ] task\n", ["[ ] task"]),
    ],
    ids=["zh", "ja numbered", "es nested", "loose", "in a quote", "soft break", "paren", "task"],
)
def test_list_items_stand_alone(body: str, items: list[str]) -> None:
    """Items of every list are blocks without their marks; none is lost in nesting."""
    found = blocks(f"## H\n\nIntro:\n\n{body}")[1:]
    assert [block.plain for block in found] == items
    assert {block.kind for block in found} == {"item"}


def test_code_is_kept_as_it_is() -> None:
    """A fence's code is text, markup-like or not, and its slice includes the fence."""
    (block,) = blocks("## H\n\n```sh\npip install <x> **y**\n\nls\n```\n")
    assert block.plain == "pip install <x> **y**\n\nls"
    assert block.text.startswith("```sh\n")


@pytest.mark.parametrize(
    ("body", "plain"),
    [
        ("<div>\n文字<br>更多\n</div>\n", "文字 更多"),
        ("<p>テキスト</p>\n", "テキスト"),
        ("<table><tr><td>uno</td></tr></table>\n", "uno"),
        ("<script>\nalert(1)\n</script> kept\n", "kept"),
        ("<!-- note -->\nshown\n", "shown"),
        ("<style>a{}</style>kept\n", "kept"),
    ],
    ids=["zh", "ja", "es", "script", "comment", "style"],
)
def test_html_gives_its_text_only(body: str, plain: str) -> None:
    """Tags never reach what is shown, nor do scripts, styles and comments; the text between them does."""
    found = " ".join(block.plain for block in blocks(f"## H\n\n{body}\nEnd.\n")[:-1])
    assert found.replace(" ", "") == plain.replace(" ", "")


@pytest.mark.parametrize(
    "body", ["<span></span>", "<img src=x onerror=alert(1)>", "<!-- only -->", "<script>x()</script>", "![](x.png)"]
)
def test_markup_without_text_is_no_block(body: str) -> None:
    """A paragraph that holds a tag and nothing to read leaves no passage."""
    assert [block.plain for block in blocks(f"## H\n\n{body}\n\nEnd.\n")] == ["End."]


def test_headings_make_paths_and_anchors() -> None:
    """ATX and setext headings nest; missing anchors are numbered by place; questions below a heading are FAQ pairs."""
    found = entries(
        "Before.\n\nOne\n===\n\na\n\n## Two {#two}\n\nb\n\n### ¿Tres? ###\n\nc\n\n## 为什么？ {#为什么}\n\nd\n"
    )
    assert [(entry.anchor, entry.given, entry.heading, entry.parents, entry.question) for entry in found] == [
        ("top", False, "", (), ""),
        ("s1", False, "One", (), ""),
        ("two", True, "Two", ("One",), ""),
        ("s3", False, "¿Tres?", ("One", "Two"), "¿Tres?"),
        ("为什么", True, "为什么？", ("One",), "为什么？"),
    ]


def test_a_derived_anchor_yields_to_a_given_one() -> None:
    """Where an author has taken the name a section would get, that section gets another."""
    anchors = [entry.anchor for entry in entries("## A {#s2}\n\na\n\n## B\n\nb\n")]
    assert anchors == ["s2", "s2x"]


def test_rows_carry_their_headers() -> None:
    """A row reads "header: cell", with bars and markup in cells resolved, and empty rows are left out."""
    found = blocks("## H\n\n| 层级 | **内容** |\n|---|:-:|\n| 通用云 | a \\| b |\n|  |  |\n| API | [x](y) |\n")
    assert [block.plain for block in found] == ["层级：通用云；内容：a | b", "层级：API；内容：x"]
    assert found[0].lead == "通用云"
    assert found[0].text == "| 层级 | **内容** |\n|---|:-:|\n| 通用云 | a \\| b |"


HEAD = "---\ntitle: T\nlanguage: en\n---\n"
REFUSED = {
    "no front matter": ("# Title\n", ":1:", "front matter"),
    "unclosed": ("---\ntitle: T\n\ntext\n", ":1:", "not closed"),
    "unknown key": ("---\ntitle: T\nauthor: me\n---\nx\n", ":3:", "author"),
    "bad date": ("---\ntitle: T\nrevised: soon\n---\nx\n", ":3:", "revised"),
    "impossible date": ("---\ntitle: T\nrevised: 2026-13-45\n---\nx\n", ":", "YAML"),
    "missing title": ("---\nlanguage: ja\n---\nx\n", ":1:", "title"),
    "empty title": ("---\ntitle: ''\n---\nx\n", ":2:", "title"),
    "bad url": ("---\ntitle: T\nurl: javascript:alert(1)\n---\nx\n", ":3:", "url"),
    "bad language": ("---\ntitle: T\nlanguage: jp\n---\nx\n", ":3:", "language"),
    "not a mapping": ("---\n- a\n---\nx\n", ":2:", "name: value"),
    "broken YAML": ("---\ntitle: 'T\n---\nx\n", ":", "YAML"),
    "python object": ("---\ntitle: !!python/object/apply:os.getcwd []\n---\nx\n", ":2:", "YAML"),
    "unhashable key": ("---\n? [a]\n: b\n---\nx\n", ":2:", "YAML"),
    "nothing below": (HEAD, "sample.md:", "no text"),
    "headings only": (f"{HEAD}## A\n\n## B\n", "sample.md:", "no text"),
    "duplicate anchor": (f"{HEAD}## A {{#a}}\n\nx\n\n## B {{#a}}\n", ":9:", "line 5 already"),
    "malformed anchor": (f"{HEAD}## A {{#a b}}\n\nx\n", ":5:", "letters, digits"),
    "empty anchor": (f"{HEAD}## A {{#}}\n\nx\n", ":5:", "letters, digits"),
    "anchor alone": (f"{HEAD}## {{#a}}\n\nx\n", ":5:", "without a heading"),
    "cell too few": (f"{HEAD}| a | b |\n|---|---|\n| c |\n", ":7:", "2 cells"),
    "cell too many": (f"{HEAD}| a | b |\n|---|---|\n| c | d | e |\n", ":7:", "2 cells"),
    "long heading": (f"{HEAD}## {'很' * 501}\n\nx\n", ":5:", "500"),
    "deep quotes": (f"{HEAD}x\n\n{'>' * 200} a\n", ":7:", "nested"),
    "deep lists": (HEAD + "".join("  " * depth + "- a\n" for depth in range(100)), ":", "nested"),
}


@pytest.mark.parametrize(("source", "line", "named"), REFUSED.values(), ids=REFUSED)
def test_refused_files_name_line_and_reason(source: str, line: str, named: str) -> None:
    """What is wrong is said in one sentence with the file, the line and the thing."""
    message = reason(source)
    assert message.startswith("en/sample.md:")
    assert line in message
    assert named in message
    assert "\n" not in message


def test_a_heading_without_text_is_no_error() -> None:
    """An empty heading between sections is passed over."""
    assert [block.plain for block in blocks("## A\n\na\n\n##\n\nb\n")] == ["a", "b"]


PIECES = st.sampled_from(
    [
        "# H",
        "## Q? {#q}",
        "text",
        "**b** c. d",
        "- i",
        "  - j",
        "1. k",
        "> q",
        "```",
        "| a | b |",
        "|---|---|",
        "| c | d |",
        "",
        "<div>",
        "</div>",
        "<script>x</script>",
        "[r]: u",
        "[r]",
        "    code",
        "===",
        "---",
        "漢字。",
        "\t- t",
        "&amp;",
        "\\",
        "{#x}",
        "\x0b",
        "\r",
    ]
)


@given(
    st.text(max_size=300).map(markdown)
    | st.text(max_size=200)
    | st.lists(PIECES, max_size=25).map("\n".join).map(markdown)
)
def test_any_text_parses_or_is_refused(source: str) -> None:
    """Nothing but SourceError is raised; blocks are slices of the source with something to read, anchors are unique."""
    try:
        _, found = parse_markdown(source, Path("x.md"))
    except SourceError:
        return
    assert len({entry.anchor for entry in found}) == len(found)
    for block in (block for entry in found for block in entry.blocks):
        assert source[block.start : block.start + len(block.text)] == block.text != ""
        assert block.plain.strip()
        assert "<script" not in block.plain or "`" in source or "    " in source or "\t" in source


MEGABYTE = {
    "prose": "A sentence of some words is here, and **bold** too. " * 6 + "\n\n",
    "zh": "利用率决定成本，[条款](https://example.com)很重要。" * 10 + "\n\n",
    "quotes": "> " * 18 + "a\n",
    "nested lists": "".join("  " * depth + "- an item of a list, with several words\n" for depth in range(8)),
    "tables": "| a | b |\n|---|---|\n" + "| a cell with a few words | another cell with words |\n" * 20 + "\n",
}
ONE_LINE = {
    "brackets": "[",
    "images": "![",
    "links": "[a](",
    "stars": "**a ",
    "emphasis": "*a_",
    "tags": "<div> a",
    "quotes": "> ",
    "bullets": "- ",
    "ticks": "`a``",
    "less than": "<",
    "Han": "漢",
}


@pytest.mark.parametrize(
    "piece", [*MEGABYTE.values(), *ONE_LINE.values()], ids=[*MEGABYTE, *(f"one line of {name}" for name in ONE_LINE)]
)
def test_a_megabyte_parses_in_time(piece: str) -> None:
    """A megabyte, well-formed or hostile, takes less than five seconds of work."""
    body = piece * (1_000_000 // len(piece.encode()))
    started = time.thread_time()
    reason(markdown(body))
    assert time.thread_time() - started < 5  # two seconds late in a long run; quadratic work would take minutes
