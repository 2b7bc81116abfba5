"""Markdown with front matter -> what the front matter says, and entries.

In: the corpus format: `title`, `language`, `url`, `revised` between `---` lines, then headings, some with `{#anchor}`.
Out: a FrontMatter and the entries, each block an exact slice of the source.
Never: renders HTML, follows links, or accepts a file it understood only in part: what is wrong is named with its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import regex
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import AnyHttpUrl, BaseModel, ConfigDict, Field, ValidationError, field_validator

from assistant.errors import SourceError, what_is_wrong
from assistant.files import RepeatedName, parse_yaml
from assistant.language import is_language
from assistant.parse_extracted import Line, cells_of, lead_of, row_block
from assistant.records import Block, Entry

ANCHOR = regex.compile(r"\s*\{#([^}]*)\}\s*$")
ANCHOR_NAME = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}_-]{0,99}")
ASKS = regex.compile(r"[?？؟;]\s*$")
BREAK = regex.compile(r"(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}。、，！？：；])\n\s*")
UNREAD = regex.compile(r"\s*<(script|style)\b(?:.*</\1\s*>|.*)", regex.IGNORECASE | regex.DOTALL)
SPACE = regex.compile(r"[ \t\n]+")  # not the no-break spaces inside figures
QUOTE_MARK = regex.compile(r"[>\s]+")
PARTING = regex.compile(r"</?(?:br|hr|sup|sub|td|th|li|p|div|img)\b", regex.IGNORECASE)
LIST_MARK = regex.compile(r"(?:[>\s]*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?)+|[>\s]+")
HEADING_LIMIT = 500
NESTING_LIMIT = 40
INLINE_LIMIT = 20_000  # characters, and BRACKETS_LIMIT brackets: beyond, pairing emphasis and links takes too long
BRACKETS_LIMIT = 500
BLOCKS = MarkdownIt("commonmark", {"maxNesting": NESTING_LIMIT}).enable("table").disable("inline")
INLINE = MarkdownIt("commonmark")
LONG_INLINE = MarkdownIt("commonmark").disable(["emphasis", "link", "image", "autolink"])


class FrontMatter(BaseModel):
    """The head of an article file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(min_length=1, max_length=500)
    language: str = Field("", max_length=35, pattern=r"^([A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*)?$")
    url: AnyHttpUrl | None = None
    revised: date | None = None

    @field_validator("language")
    @classmethod
    def _known(cls, code: str) -> str:
        if code and not is_language(code):
            raise ValueError(f"{code} is no language code; write one such as en, es, ja or zh-Hans")
        return code


def parse_markdown(source: str, path: Path) -> tuple[FrontMatter, tuple[Entry, ...]]:
    """The front matter and entries of a Markdown article.

    Raises:
        SourceError: front matter, anchors or tables are malformed, or no text follows; names the line.
    """
    head, body_line = _front_matter(source, path)
    lines = source.split("\n")
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    body = "\n".join([""] * body_line + lines[body_line:])  # keeps line numbers
    references: dict[str, object] = {}
    tokens = BLOCKS.parse(body.replace("\r", " "), references)
    entries = tuple(_Walk(source, lines, offsets, path, references).entries(tokens))
    if not any(entry.blocks for entry in entries):
        raise SourceError(path, "holds no text below its front matter")
    return head, entries


def _front_matter(source: str, path: Path) -> tuple[FrontMatter, int]:
    lines = source.split("\n")
    if lines[0].strip() != "---":
        raise SourceError(
            path, "does not start with front matter; put `---`, `title: …`, `language: …`, `---` on top", 1
        )
    number = next((number for number, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)
    if not number:
        raise SourceError(path, "front matter is not closed; add a line `---` after it", 1)
    try:
        values = parse_yaml("\n".join(lines[1:number])) or {}
        if not isinstance(values, dict):
            raise SourceError(path, "front matter must be `name: value` lines", 2)
        return FrontMatter.model_validate({str(name): value for name, value in values.items()}), number + 1
    except ValidationError as error:
        problem = error.errors()[0]
        name = str(problem["loc"][0])
        at = next((index + 1 for index, line in enumerate(lines[:number]) if line.startswith(f"{name}:")), 1)
        hint = ""
        if problem["type"] == "extra_forbidden":
            hint = f"; it may hold {', '.join(FrontMatter.model_fields)}"
        raise SourceError(path, f"front matter `{name}`: {what_is_wrong(problem)}{hint}", at) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = mark.line + 2 if mark else 2
        if isinstance(error, RepeatedName):
            raise SourceError(path, f"front matter {error.problem}", at) from None
        raise SourceError(path, "front matter is not valid YAML; put text with : or # in quotes", at) from None


class _Walk:
    """One pass over the block tokens of a file."""

    def __init__(
        self, source: str, lines: list[str], offsets: list[int], path: Path, references: dict[str, object]
    ) -> None:
        self.source, self.lines, self.offsets, self.path = source, lines, offsets, path
        self.references = references
        self.list_depth = 0

    def entries(self, tokens: list[Token]) -> Iterator[Entry]:
        """The entries in order; anchors must be unique, missing ones are derived from the place."""
        parents: list[tuple[int, str]] = []
        anchors: dict[str, int] = {}
        heading, anchor, given, line, blocks = "", "top", False, 1, list[Block]()
        position = count = 0
        while position < len(tokens):
            token = tokens[position]
            if token.level >= NESTING_LIMIT - 2:
                at = (token.map or [0])[0] + 1
                raise SourceError(self.path, f"lists or quotes are nested deeper than {NESTING_LIMIT // 2}", at)
            if token.type == "heading_open" and token.level == 0:
                if heading or blocks:
                    yield self._entry(anchor, given, heading, blocks, line, parents)
                    anchors[anchor] = line
                count += 1
                level, line = int(token.tag[1]), (token.map or [0])[0] + 1
                heading, anchor, given = self._heading(tokens[position + 1], line, count)
                while not given and anchor in anchors:
                    anchor += "x"  # an author gave another section the name that this one would get
                if anchor in anchors:
                    raise SourceError(self.path, f"anchor #{anchor} is used on line {anchors[anchor]} already", line)
                parents = [parent for parent in parents if parent[0] < level]
                parents.append((level, heading))
                blocks, position = [], position + 3
                continue
            new, position = self._blocks(tokens, position)
            blocks.extend(new)
        if heading or blocks:
            yield self._entry(anchor, given, heading, blocks, line, parents)

    def _entry(
        self, anchor: str, given: bool, heading: str, blocks: list[Block], line: int, parents: list[tuple[int, str]]
    ) -> Entry:
        above = tuple(name for _, name in parents[:-1])
        question = heading if above and ASKS.search(heading) else ""
        return Entry(anchor, heading, tuple(blocks), line, given, question, above)

    def _heading(self, inline: Token, line: int, count: int) -> tuple[str, str, bool]:
        self._read(inline)
        plain = _plain(inline)
        if len(plain) > HEADING_LIMIT:
            raise SourceError(self.path, f"heading is longer than {HEADING_LIMIT} characters; make it text", line)
        found = ANCHOR.search(inline.content)
        if not found:
            return plain, f"s{count}", False
        if not ANCHOR_NAME.fullmatch(found.group(1)):
            shown = found.group(1)[:100]
            raise SourceError(self.path, f"anchor {{#{shown}}} may hold letters, digits, - and _ only", line)
        if not ANCHOR.sub("", plain):
            raise SourceError(self.path, f"anchor {{#{found.group(1)}}} stands without a heading; write one", line)
        return ANCHOR.sub("", plain), found.group(1), True

    def _read(self, inline: Token) -> None:
        """Parses the token's text; a very long one without emphasis and links, which then stay visible as typed."""
        is_long = len(inline.content) > INLINE_LIMIT or inline.content.count("[") > BRACKETS_LIMIT
        children: list[Token] = []
        parser = LONG_INLINE if is_long else INLINE
        parser.inline.parse(inline.content, parser, self.references, children)
        inline.children = children

    def _blocks(self, tokens: list[Token], position: int) -> tuple[list[Block], int]:
        """The blocks that the token at `position` opens, and the position after it."""
        token = tokens[position]
        self.list_depth += {"list_item_open": 1, "list_item_close": -1}.get(token.type, 0)
        if token.type == "table_open":
            return self._table(tokens, position)
        if token.type == "inline":
            return list(self._paragraph(token, tokens[position - 1], in_list=self.list_depth > 0)), position + 1
        if token.type in ("fence", "code_block", "html_block"):
            start, stop = token.map or (0, 0)
            text = "\n".join(self.lines[start:stop]).strip()
            plain = token.content.strip()
            if token.type == "html_block":
                unread = UNREAD.match(token.content)
                token.content = token.content[unread.end() if unread else 0 :]
                self._read(token)
                plain = _plain(token)
            if plain:
                at = self.source.index(text, self.offsets[start])
                return [Block("paragraph", text, plain, at, start + 1)], position + 1
        return [], position + 1

    def _paragraph(self, inline: Token, opener: Token, in_list: bool) -> Iterator[Block]:
        start, stop = inline.map or opener.map or (0, 1)
        raw = "\n".join(self.lines[start:stop])
        mark = (LIST_MARK if in_list else QUOTE_MARK).match(raw)
        text = raw[mark.end() if mark else 0 :].strip() or raw.strip()
        at = self.source.index(text, self.offsets[start])
        self._read(inline)
        plain = _plain(inline)
        if plain:  # not a tag alone
            yield Block("item" if in_list else "paragraph", text, plain, at, start + 1, _lead(inline, plain))

    def _table(self, tokens: list[Token], position: int) -> tuple[list[Block], int]:
        end = next(index for index in range(position, len(tokens)) if tokens[index].type == "table_close")
        first = (tokens[position].map or [0])[0]
        header = self._row(tokens, position, end)
        blocks = []
        for index in range(position, end):
            if tokens[index].type != "tr_open" or (tokens[index].map or [first])[0] <= first:
                continue
            number = (tokens[index].map or [0])[0]
            cells = self._row(tokens, index, end)
            if len(cells_of(self.lines[number])) != len(header):
                message = f"table row has not the {len(header)} cells of its header; write | inside a cell as \\|"
                raise SourceError(self.path, message, number + 1)
            if not any(cells):
                continue
            text = self.lines[number].strip()
            line = Line(text, self.source.index(text, self.offsets[number]), number + 1)
            start = self.source.index(self.lines[first].strip(), self.offsets[first])
            blocks.append(row_block(header, cells, self.source, start, line))
        return blocks, end + 1

    def _row(self, tokens: list[Token], position: int, end: int) -> list[str]:
        cells = []
        for index in range(position, end):
            if tokens[index].type == "tr_close":
                break
            if tokens[index].type == "inline":
                self._read(tokens[index])
                cells.append(_plain(tokens[index]))
        return cells


def _plain(inline: Token) -> str:
    """The text of an inline token without markup; a soft break between full-width characters is nothing."""
    parts = [_spoken(child) for child in inline.children or []]
    return SPACE.sub(" ", BREAK.sub("", "".join(parts))).strip()


def _spoken(child: Token) -> str:
    if child.type == "html_inline":  # most tags are within a word, some part figures: 10<sup>6</sup>, 5<br>10
        return " " if PARTING.match(child.content) else ""
    return "\n" if child.type in ("softbreak", "hardbreak") else child.content


def _lead(inline: Token, plain: str) -> str:
    """The bold words a paragraph opens with, else its short first sentence."""
    children = [child for child in inline.children or [] if child.content or child.type != "text"]
    if children and children[0].type == "strong_open":
        closing = next(index for index, child in enumerate(children) if child.type == "strong_close")
        bold = "".join(child.content for child in children[:closing]).strip()
        if bold and bold != plain:
            return bold
    return lead_of(plain)
