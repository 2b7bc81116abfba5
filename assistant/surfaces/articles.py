"""The articles as the help page shows them: safe HTML with an id at every section.

In: the corpus folder. Out: a ShownArticle for each Markdown file that can be read, anew after every change.
Never: lets an article's markup through, or fails the page because of one broken file.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from assistant.errors import AssistantError
from assistant.files import MEGABYTE, read_text
from assistant.ingest import MARKDOWN, find_files
from assistant.language import normalise_code
from assistant.parse_markdown import ANCHOR, parse_markdown
from assistant.records import Entry
from assistant.spelling import drop_direction_controls
from assistant.surfaces.render import is_web_address

FRESH_S = 30.0  # a change of the articles shows after at most this long
QUESTIONS = 3
TAGS = {"h2", "h3", "h4", "p", "ul", "ol", "li", "strong", "em", "code", "pre", "br", "a", "blockquote", "hr"}
TABLE = {"table", "thead", "tbody", "tr", "th", "td"}


@dataclass(frozen=True, slots=True)
class ShownArticle:
    """One article of the page; `sections` are (id, heading) of its uppermost level."""

    name: str
    language: str
    title: str
    revised: str
    html: str
    sections: tuple[tuple[str, str], ...]
    questions: tuple[str, ...]


class Shelf:
    """The articles of a corpus, read again when they may have changed."""

    def __init__(self, corpus: Path, limit_mb: int) -> None:
        self._corpus, self._limit = corpus, limit_mb * MEGABYTE
        self._articles: tuple[ShownArticle, ...] = ()
        self._read_at = float("-inf")

    def articles(self) -> tuple[ShownArticle, ...]:
        """All of them, by name; blocking, for it may read files."""
        if time.monotonic() - self._read_at > FRESH_S:
            self._articles = tuple(self._read())
            self._read_at = time.monotonic()
        return self._articles

    def _read(self) -> list[ShownArticle]:
        try:
            files = [path for path in find_files([self._corpus]) if path.suffix.lower() in MARKDOWN]
        except AssistantError:
            return []
        shown = []
        for path in files:
            try:
                shown.append(show_article(read_text(path, self._limit), path))
            except AssistantError:
                continue  # `assistant check` names what is wrong with it
        return shown


def show_article(source: str, path: Path) -> ShownArticle:
    """One Markdown article.

    Raises:
        SourceError: the file is malformed.
    """
    source = drop_direction_controls(source)
    head, entries = parse_markdown(source, path)
    anchors = {entry.line: entry for entry in entries if entry.heading}
    lines = source.split("\n")
    body_line = next(number for number, line in enumerate(lines[1:], 1) if line.strip() == "---") + 1
    body = "\n".join([""] * body_line + lines[body_line:])
    tokens = _markdown().parse(body)
    _name_headings(tokens, anchors)
    html = _cleaner().clean(_markdown().renderer.render(tokens, _markdown().options, {}))
    return ShownArticle(
        name=path.stem,
        language=normalise_code(head.language or path.parent.name),
        title=head.title,
        revised=head.revised.isoformat() if head.revised else "",
        html=html,
        sections=tuple((entry.anchor, entry.heading) for entry in entries if entry.heading and not entry.parents),
        questions=tuple(entry.question for entry in entries if entry.question)[:QUESTIONS],
    )


def _name_headings(tokens: Sequence[Token], entries: dict[int, Entry]) -> None:
    """Gives each heading its anchor as id, and takes `{#…}` out of its words; a table, which may scroll, gets focus."""
    for at, token in enumerate(tokens):
        if token.type == "table_open":
            token.attrSet("tabindex", "0")
        if token.type != "heading_open" or token.level:
            continue
        closing, inline = tokens[at + 2], tokens[at + 1]
        token.tag = closing.tag = f"h{min(max(int(token.tag[1]), 2), 4)}"
        entry = entries.get((token.map or [0])[0] + 1)
        if entry:
            token.attrSet("id", entry.anchor)
        for child in reversed(inline.children or []):
            if child.type == "text":
                child.content = ANCHOR.sub("", child.content)
                break


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "html_block", "html_inline"])
    markdown.validateLink = is_web_address  # type: ignore[method-assign]  # the library's documented way
    return markdown


@cache
def _cleaner() -> nh3.Cleaner:
    headings = {tag: {"id"} for tag in ("h2", "h3", "h4")}
    return nh3.Cleaner(
        tags=TAGS | TABLE,
        attributes={**headings, "a": {"href"}, "ol": {"start"}, "table": {"tabindex"}},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer",
    )
