"""An Answer -> what a reader sees: JSON values, safe HTML, terminal text.

In: an Answer. Out: the contract's dict, an HTML fragment that needs no further cleaning, a rich renderable.
Never: changes a word of the answer, lets markup of an article through, or links to anything but http and https.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from html import escape
from urllib.parse import urlsplit

import nh3
import regex
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from assistant.language import is_right_to_left, script_of
from assistant.records import Answer, Citation
from assistant.spelling import drop_direction_controls

MARKER = regex.compile(r"\[([0-9]{1,4})\]")
TARGET = regex.compile(r"#cite-[0-9]{1,4}")
CONTROLS = regex.compile(r"[\p{Cc}--[\n]]", regex.V1)  # a terminal would obey them
BOLD = regex.compile(r"(?<!\\)\*\*(?=[^\s*])(.+?)(?<=[^\s\\*])\*\*")
JOINER = "\u2060"  # no reader sees it, and CommonMark takes it for a letter
ESCAPED = regex.compile(r"\\([!-/:-@\[-`{-~])")
SPEAKS_OF_ITSELF = ("p", "ul", "ol", "table")
TAGS = {*SPEAKS_OF_ITSELF, "li", "strong", "em", "code", "br", "a", "sup", "thead", "tbody", "tr", "th", "td"}


def answer_json(answer: Answer) -> dict[str, object]:
    """The Answer under the contract's keys, with `html`, and `handover` where one is offered; plain JSON values."""
    return {
        "id": answer.id,
        "conversation_id": answer.conversation_id,
        "outcome": answer.outcome,
        "language": answer.language,
        "text": answer.text,
        "html": answer_html(answer),
        "confidence": answer.confidence,
        "citations": [asdict(citation) for citation in answer.citations],
        "suggestions": list(answer.suggestions),
        "timings_ms": dict(answer.timings_ms),
        **({"handover": asdict(answer.handover)} if answer.handover else {}),
    }


def answer_html(answer: Answer) -> str:
    """The text as an HTML fragment: one `div` with `lang` and `dir`; a marker [n] becomes a link to `#cite-n`.

    A paragraph that rests only on passages in another language than the asker's says so in its own `lang` and `dir`.
    """
    languages = {citation.n: citation.language for citation in answer.citations}
    tokens = read_markdown(answer)
    _name_languages(tokens, answer.language, languages)
    body = _markdown().renderer.render(tokens, _markdown().options, {})
    safe = _cleaner().clean(body).strip()
    return f'<div lang="{escape(answer.language)}" dir="{direction(answer.language)}">{safe}</div>'


def read_markdown(answer: Answer) -> list[Token]:
    """The text as markdown-it's tokens: a `marker` for each citation; no HTML, pictures, headings or code blocks.

    Bold is read whatever stands beside its asterisks: CommonMark's rule about what may flank them
    (https://spec.commonmark.org/0.31.2/#left-flanking-delimiter-run) supposes that words have spaces between them.
    """
    text = BOLD.sub(rf"**{JOINER}\1{JOINER}**", drop_direction_controls(answer.text).replace(JOINER, ""))
    tokens = _markdown().parse(text, {"numbers": {citation.n for citation in answer.citations}})
    for token in tokens:
        for child in token.children or ():
            child.content = child.content.replace(JOINER, "")
    return tokens


def answer_terminal(answer: Answer) -> RenderableType:
    """The answer for a terminal: the text, then each source with its heading, address and quote."""
    text = Text(plain_text(ESCAPED.sub(r"\1", answer.text)), style=_tone(answer))
    text.highlight_regex(r"\[[0-9]{1,4}\]", "bold cyan")
    return Group(text, *(line for citation in answer.citations for line in _source_lines(citation)))


def direction(language: str) -> str:
    """`rtl` or `ltr`, as HTML's `dir` wants it."""
    return "rtl" if is_right_to_left(language) else "ltr"


def place_of(citation: Citation) -> str:
    """Where a citation stands, for readers: title › heading."""
    return " › ".join(part for part in (citation.title, citation.heading) if part)


def is_web_address(url: str) -> bool:
    """Whether a link may be followed from a page: an absolute http or https address."""
    try:
        parts = urlsplit(url)
        return parts.scheme.lower() in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def _tone(answer: Answer) -> str:
    return {"related": "yellow", "abstained": "dim"}.get(answer.outcome, "")


def _source_lines(citation: Citation) -> Sequence[RenderableType]:
    head = Text.assemble("\n", (f"[{citation.n}]", "bold cyan"), " ", (plain_text(place_of(citation)), "bold"))
    rest = [Text(plain_text(citation.url), style="blue")] if citation.url else []
    rest += [Text(plain_text(line), style="dim") for line in citation.quote.splitlines() if line.strip()]
    return [head, *(Padding(line, (0, 0, 0, 4), expand=False) for line in rest)]


def plain_text(text: str) -> str:
    """The text without what a terminal would obey or what turns the direction of the rest."""
    return drop_direction_controls(CONTROLS.sub("", text))


@cache
def _markdown() -> MarkdownIt:
    """CommonMark without HTML, pictures, headings, quotes and code blocks: an article's sentence may begin like one."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.disable(["html_block", "html_inline", "image", "reference", "code", "fence"])
    markdown.disable(["heading", "lheading", "hr", "blockquote", "entity"])
    markdown.inline.ruler.before("link", "marker", _read_marker)
    markdown.add_render_rule("marker", _write_marker)
    markdown.validateLink = is_web_address  # type: ignore[method-assign]  # the library's documented way
    return markdown


def _read_marker(state: StateInline, silent: bool) -> bool:
    """An inline rule: [n] is a marker where the answer has that citation; anything else stays text."""
    match = MARKER.match(state.src, state.pos, state.posMax)
    if not match or int(match[1]) not in state.env.get("numbers", ()):
        return False
    if not silent:
        state.push("marker", "", 0).content = match[1]
    state.pos = match.end()
    return True


def _write_marker(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    number = tokens[at].content
    return f'<sup><a href="#cite-{number}">{number}</a></sup>'


def _name_languages(tokens: Sequence[Token], asker: str, languages: dict[int, str]) -> None:
    """Gives each outermost block that quotes only one other language that language's attributes."""
    opened: Token | None = None
    quoted: set[str] = set()
    for token in tokens:
        if opened is None and token.nesting == 1 and token.tag in SPEAKS_OF_ITSELF:
            opened, quoted = token, set()
        quoted |= {languages[int(child.content)] for child in token.children or () if child.type == "marker"}
        if opened is not None and token.nesting == -1 and token.level == opened.level:
            if len(quoted) == 1 and _is_foreign(language := quoted.pop(), asker):
                opened.attrSet("lang", language)
                opened.attrSet("dir", direction(language))
            opened = None


def _is_foreign(language: str, asker: str) -> bool:
    """Whether a quotation differs from the asker's language; the Chinese spellings are converted into each other."""
    chinese = {script_of(language), script_of(asker)} <= {"Hans", "Hant"}
    return language != asker and not chinese


@cache
def _cleaner() -> nh3.Cleaner:
    """The last word on what leaves as HTML; the parser above should leave it nothing to do."""
    attributes = {tag: {"lang", "dir"} for tag in SPEAKS_OF_ITSELF}
    attributes["ol"].add("start")
    return nh3.Cleaner(
        tags=TAGS,
        attributes={**attributes, "a": {"href"}},
        attribute_filter=_filter_attribute,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    if name == "href":
        return value if TARGET.fullmatch(value) or is_web_address(value) else None
    return value
