"""Text extracted from a web page -> entries.

In: plain lines, one block a line: the title first; a short line without final punctuation, or a question on its own, is
a heading; pipe rows are tables; an FAQ comes last: a heading directly followed by question lines. Trailing short lines
after the last answer are advertising and left out.
Out: the title and the entries with derived anchors (`s1`, `s2`, … and `q1`, `q2`, …), the same for every translation.
Never: guesses a language or looks a word up: it goes by layout and punctuation of any script.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import regex

from assistant.errors import SourceError
from assistant.language import display_width, split_sentences
from assistant.records import Block, Entry

HEADING_COLUMNS = 100  # a heading of 50 full-width or 100 Latin characters is already long
LEAD_COLUMNS = 70  # the bold statement a paragraph opens with, once its bold is gone
ADVERT_COLUMNS = 80
FINAL = regex.compile(r"[.。!！…:：;；,，、]['\"”’」』）)]*$")
ASKS = regex.compile(r"[?？؟;]['\"”’」』）)]*$")
INTRODUCES = regex.compile(r"[:：]$")
MARKED_LEAD = regex.compile(r"^[^。！？]+[。！？] +\S")  # a space after a full-width stop is where a bold lead-in ended
TABLE_RULE = regex.compile(r"^\|?[\s:|-]*-[\s:|-]*\|?$")


@dataclass(frozen=True, slots=True)
class Line:
    """A non-empty line: its text, offset in the source and 1-based number."""

    text: str
    start: int
    number: int

    @property
    def is_row(self) -> bool:
        """Whether it is a table row or rule."""
        return self.text.startswith("|") and self.text.endswith("|") and len(self.text) > 2

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return bool(ASKS.search(self.text)) and display_width(self.text) <= 2 * HEADING_COLUMNS

    @property
    def is_heading(self) -> bool:
        """Whether it looks like a heading."""
        if self.is_row:
            return False
        return self.asks or (display_width(self.text) <= HEADING_COLUMNS and not FINAL.search(self.text))


def parse_extracted(source: str, path: Path) -> tuple[str, tuple[Entry, ...]]:
    """The title and entries of an extracted page.

    Raises:
        SourceError: there is no title, or nothing under it.
    """
    lines = _lines(source)
    if len(lines) < 2:
        raise SourceError(path, "holds a title at most; put the article's text on the lines after it")
    title, body = lines[0], lines[1:]
    body = _without_adverts(body)
    entries: list[Entry] = []
    parents: tuple[str, ...] = ()
    in_faq = False
    position = 0
    heading: Line | None = None
    while position < len(body):
        if body[position].is_heading:
            heading = body[position]
            position += 1
            if position < len(body) and body[position].asks and not heading.asks:
                in_faq, parents = True, (heading.text,)
                continue
        end = position
        while end < len(body) and not body[end].is_heading:
            end += 1
        if end > position:
            entry = _entry(heading, body[position:end], source, entries, in_faq)
            entries.append(replace(entry, parents=parents))
        position = end
    if not entries:
        raise SourceError(path, "holds headings but no text under them", lines[0].number)
    return title.text, tuple(entries)


def _entry(heading: Line | None, lines: list[Line], source: str, before: list[Entry], in_faq: bool) -> Entry:
    """One section or FAQ pair; its anchor is derived from its place."""
    is_pair = in_faq and heading is not None and heading.asks
    name = heading.text if heading else ""
    count = sum(bool(entry.question) == is_pair for entry in before)
    return Entry(
        anchor=f"{'q' if is_pair else 's'}{count + 1}",
        heading=name,
        question=name if is_pair else "",
        blocks=tuple(_blocks(lines, source)),
        line=heading.number if heading else lines[0].number,
    )


def _lines(source: str) -> list[Line]:
    found, offset = [], 0
    for number, raw in enumerate(source.splitlines(keepends=True), 1):
        text = raw.strip()
        if text:
            found.append(Line(text, offset + raw.index(text), number))
        offset += len(raw)
    return found


def _without_adverts(lines: list[Line]) -> list[Line]:
    """Cuts at most two short closing lines that answer no question: slogans, "subscribe →"."""
    for _ in range(2):
        if len(lines) < 3:
            break
        last, previous = lines[-1], lines[-2]
        if display_width(last.text) > ADVERT_COLUMNS or last.is_row or previous.asks or INTRODUCES.search(previous.text):
            break
        lines = lines[:-1]
    return lines


def _blocks(lines: list[Line], source: str) -> list[Block]:
    """Blocks of one entry; after a line that ends with a colon, paragraphs that open with a lead are list items."""
    blocks: list[Block] = []
    in_list = False
    position = 0
    while position < len(lines):
        line = lines[position]
        if line.is_row:
            end = position
            while end < len(lines) and lines[end].is_row:
                end += 1
            blocks.extend(table_rows(lines[position:end], source))
            in_list, position = False, end
            continue
        lead = lead_of(line.text)
        in_list = bool(lead) and (in_list or bool(MARKED_LEAD.match(line.text)))
        kind = "item" if in_list else "paragraph"
        blocks.append(Block(kind, line.text, line.text, line.start, line.number, lead))  # type: ignore[arg-type]
        in_list = in_list or bool(INTRODUCES.search(line.text))
        position += 1
    return blocks


def lead_of(text: str) -> str:
    """The short statement a longer paragraph opens with, or ""."""
    sentences = split_sentences(text)
    first = sentences[0].strip() if sentences else ""
    is_lead = len(sentences) > 1 and display_width(first) <= LEAD_COLUMNS and not INTRODUCES.search(first)
    return first if is_lead else ""


def table_rows(lines: list[Line], source: str) -> list[Block]:
    """The data rows of a table; each block's slice runs from the header so that its labels are quoted too."""
    header = cells_of(lines[0].text)
    rows = [line for line in lines[1:] if not TABLE_RULE.match(line.text)]
    return [row_block(header, cells_of(line.text), source, lines[0].start, line) for line in rows]


def cells_of(row: str) -> list[str]:
    r"""The cells of a pipe row, with `\|` read as a bar."""
    inner = row.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace(r"\|", "|") for cell in regex.split(r"(?<!\\)\|", inner)]


def row_block(header: list[str], cells: list[str], source: str, start: int, line: Line) -> Block:
    """A row that can be read alone: "header: cell; header: cell", in the script's own punctuation."""
    stop = line.start + len(line.text)
    full_width = display_width("".join(cells)) > 1.5 * len("".join(cells))
    colon, semicolon = ("：", "；") if full_width else (": ", "; ")
    pairs = [f"{label}{colon}{cell}" for label, cell in zip(header, cells, strict=False) if cell]
    return Block("row", source[start:stop], semicolon.join(pairs), start, line.number, cells[0])
