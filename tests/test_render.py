"""Rendering: the contract's keys, HTML that is safe whatever the articles hold, text for terminals."""

from __future__ import annotations

import io
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from assistant.records import Answer
from assistant.surfaces.render import TAGS, answer_html, answer_json, answer_terminal, is_web_address, place_of
from assistant.wording import Wordings
from tests.fakes import answer, citation

LANGUAGES = ["zh-Hans", "ja", "es", "en", "ar"]
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "handler": '<img src=x onerror="alert(1)">',
    "javascript link": "[go](javascript:alert(1))",
    "data link": "[go](data:text/html,<script>alert(1)</script>)",
    "protocol-relative link": "[go](//evil.example)",
    "entity-coded link": "[go](&#106;avascript:alert(1))",
    "automatic link": "<javascript:alert(1)>",
    "reference": "[go]\n\n[go]: javascript:alert(1)",
    "picture": "![x](https://evil.example/pixel.png)",
    "style": "<style>*{display:none}</style><p style=x>",
    "attribute break": '[go](https://a.example/"onmouseover="alert(1))',
    "svg": "<svg/onload=alert(1)>",
}


class Reader(HTMLParser):
    """Collects tags, attributes and text of a fragment."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        self.links += [value or "" for name, value in attributes if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.text += data


def is_safe(html: str) -> bool:
    found = Reader(html)
    return (
        found.tags <= {*TAGS, "div"}
        and found.attributes <= {"lang", "dir", "href", "rel", "start"}
        and all(link.startswith("#cite-") or is_web_address(link) for link in found.links)
    )


def terminal(of: Answer) -> str:
    written = io.StringIO()
    Console(file=written, width=60).print(answer_terminal(of))
    return written.getvalue()


@pytest.mark.parametrize("language", LANGUAGES)
def test_json_has_the_contracts_keys(language: str) -> None:
    """The JSON of an Answer has exactly the keys of the contract, and so has each citation."""
    found = answer_json(answer(language))
    assert list(found) == [
        "id", "conversation_id", "outcome", "language", "text", "html", "confidence", "citations", "suggestions",
        "timings_ms",
    ]  # fmt: skip
    assert [list(one) for one in found["citations"]] == [  # type: ignore[attr-defined]
        ["n", "passage_id", "title", "heading", "url", "language", "quote"]
    ] * 2


@pytest.mark.parametrize(("language", "direction"), [*((code, "ltr") for code in LANGUAGES[:4]), ("ar", "rtl")])
def test_html_names_language_and_direction(language: str, direction: str) -> None:
    """The fragment says in which language and direction it is written."""
    assert answer_html(answer(language)).startswith(f'<div lang="{language}" dir="{direction}"><p>')


@pytest.mark.parametrize("language", LANGUAGES)
def test_markers_become_links(language: str) -> None:
    """Each marker leads to its citation, and the words around it stay as they are."""
    found = Reader(answer_html(answer(language)))
    assert found.links == ["#cite-1", "#cite-2"]
    assert found.text == answer(language).text.replace("[", "").replace("]", "")


@pytest.mark.parametrize("text", ["see [7]", "see [1\\]", "see [12345]", "see [x]", "see [１]"], ids=repr)
def test_only_citations_are_markers(text: str) -> None:
    """Brackets that are no citation of this answer, or are escaped, stay text."""
    html = answer_html(answer(text=text))
    assert "<sup>" not in html
    assert Reader(html).text == text.replace("\\", "")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_articles_are_harmless(text: str) -> None:
    """Markup in an article shows as text or not at all; no script, handler, picture or foreign scheme gets through."""
    html = answer_html(answer(text=f"Before {text} after"))
    assert is_safe(html)
    assert Reader(html).text.startswith("Before")


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(LANGUAGES))
def test_any_text_gives_safe_html(text: str, language: str) -> None:
    """Whatever the text, the HTML holds allowed tags, attributes and links only."""
    assert is_safe(answer_html(replace(answer(language), text=text)))


@given(st.text(alphabet="<>[]()!\"'&#:/\\*_`-|1 \nahref=javscript", max_size=60))
def test_any_markup_gives_safe_html(text: str) -> None:
    """Texts made of Markdown's and HTML's own characters give no more than allowed either."""
    assert is_safe(answer_html(replace(answer(), text=text)))


@pytest.mark.parametrize(
    "text", ["# 1 in the list", "> 5 seats", "    indented", "---", "a &amp; b", "2 * 3 * 4"], ids=repr
)
def test_sentences_that_look_like_markup_stay_sentences(text: str) -> None:
    """A sentence that begins like a heading, quotation, code block or rule is shown as written."""
    assert Reader(answer_html(answer(text=text))).text == text.strip()


def test_lists_and_links_are_kept() -> None:
    """List items, emphasis and web links of the text become HTML."""
    html = answer_html(answer(text="Two:\n- **one**\n- [two](https://help.example.com/2)"))
    assert "<li><strong>one</strong></li>" in html
    assert 'href="https://help.example.com/2"' in html


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_way_to_a_person_is_a_link(language: str) -> None:
    """The address that a reply gives for a person can be followed; one that can't be stays text."""
    wording = Wordings().nearest(language)
    html = answer_html(answer(language, "handover", wording.person.format(address="<https://help.example.com/a_b>")))
    assert Reader(html).links == ["https://help.example.com/a_b"]
    assert "&lt;" not in html
    assert Reader(answer_html(answer(text="<ftp://a.example> <a@b.example>"))).links == []


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("これは**「重要」**です。", "これは<strong>「重要」</strong>です。"),
        ("请注意**必须申请。**然后等待。", "请注意<strong>必须申请。</strong>然后等待。"),
        ("Llega **en 14 días**.", "Llega <strong>en 14 días</strong>."),
        ("It costs 2 ** 3 ** 4.", "It costs 2 ** 3 ** 4."),
        (r"As written: \*\*「a」\*\*です", "As written: **「a」**です"),
    ],
    ids=["ja", "zh", "es", "no bold", "escaped"],
)
def test_bold_needs_no_space_beside_it(text: str, html: str) -> None:
    """Bold words are bold whatever punctuation or script they touch; asterisks that mark nothing stay."""
    assert html in answer_html(answer(text=text))
    assert "\u2060" not in answer_html(answer(text=text))


@pytest.mark.parametrize(
    ("asker", "quoted", "attributes"),
    [
        ("ar", "en", '<p lang="en" dir="ltr">'),
        ("en", "ar", '<p lang="ar" dir="rtl">'),
        ("ja", "zh-Hans", '<p lang="zh-Hans" dir="ltr">'),
        ("es", "es", "<p>"),
        ("zh-Hant", "zh-Hans", "<p>"),
    ],
)
def test_quotations_in_another_language_say_so(asker: str, quoted: str, attributes: str) -> None:
    """A paragraph that quotes another language carries its language and direction; converted Chinese does not."""
    text = "Own words.\n\nQuoted words.[1]"
    html = answer_html(replace(answer("en", text=text), language=asker, citations=(citation(1, quoted, "Quoted"),)))
    assert f"{attributes}Quoted words." in html
    assert "<p>Own words.</p>" in html


@pytest.mark.parametrize("language", LANGUAGES)
def test_terminal_shows_answer_and_sources(language: str) -> None:
    """The terminal shows the text, then each source with number, place, address and quote."""
    shown = "".join(terminal(answer(language)).split())
    for one in answer(language).citations:
        for part in (f"[{one.n}]", place_of(one), one.url, one.quote):
            assert "".join(part.split()) in shown


def test_terminal_obeys_no_article() -> None:
    """Control sequences and console markup in an article reach the terminal as plain characters."""
    shown = terminal(answer(text="a\x1b[31mb\x07 [bold]c[/bold] [1\\]"))
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "[bold]c[/bold] [1]" in shown


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://help.example.com/a", True),
        ("HTTP://help.example.com", True),
        ("https://例え.jp/日本", True),
        ("javascript:alert(1)", False),
        ("//help.example.com", False),
        ("https:", False),
        ("/local", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_web_addresses(address: str, expected: bool) -> None:
    """Only absolute http and https addresses may be followed."""
    assert is_web_address(address) is expected


def test_direction_controls_reach_no_reader() -> None:
    """A title, heading, quote or text that would turn what follows around is shown without what turns it."""
    turned = "Refund\u202egnirts\u2066x\u2069"
    shown = answer(text=f"{turned} [1]", citations=(replace(citation(1, "en", turned), title=turned, heading=turned),))
    for seen in (terminal(shown), answer_html(shown)):
        assert "Refundgnirtsx" in seen
        assert not set(seen) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
