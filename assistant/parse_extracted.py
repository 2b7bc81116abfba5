"""Text extracted from a web page -> entries.

In: plain lines, one block a line: the title first; a short line without final punctuation, or a question on its own, is
a heading; pipe rows are tables; an FAQ comes last: a heading directly followed by question lines, each with its answer,
however short. At most two short lines after the last answer are advertising and left out.
Out: the title and the entries with derived anchors (`s1`, `s2`, … and `q1`, `q2`, …), the same for every translation.
Never: guesses a language or looks a word up: it goes by layout and punctuation of any script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Literal

import regex

from assistant.errors import SourceError
from assistant.language import display_width, split_sentences
from assistant.records import Block, Entry

HEADING_COLUMNS = 100  # a heading of 50 full-width or 100 Latin characters is already long
LEAD_COLUMNS = 70  # the bold statement a paragraph opens with, once its bold is gone
ADVERT_COLUMNS = 80
ROW_COLUMNS = 2000  # a row far below its header is quoted alone: a slice from there would be most of the table
TITLE_LIMIT = 500
FINAL = regex.compile(r"[.。!！…:：;；,，、]['\"”’」』）)]*$")
ASKS = regex.compile(r"[?？؟;]['\"”’」』）)]*$")
INTRODUCES = regex.compile(r"[:：]$")
BULLET = regex.compile(r"[-*+•·‣▪–—]\s+(?=\S)|[•·‣▪・](?=\S)")
LINE = regex.compile(r"[^\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")  # all that str.splitlines() knows but \r
FULL_WIDTH = regex.compile(r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]")
MARKED_LEAD = regex.compile(r"^[^。！？]+[。！？] +\S")  # a space after a full-width stop is where a bold lead-in ended
CELL_BAR = regex.compile(r"(?<!\\)\|")
TABLE_RULE = regex.compile(r"^\|?[\s:|-]*-[\s:|-]*\|?$")


@dataclass(frozen=True, slots=True)
class Line:
    """A non-empty line: its text, offset in the source and 1-based number; `bullet` says that one was cut off."""

    text: str
    start: int
    number: int
    bullet: bool = False

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
        if self.is_row or self.bullet:
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
    title, body = lines[0], _without_adverts(lines[1:])
    if len(title.text) > TITLE_LIMIT:
        raise SourceError(path, f"the first line is the title; keep it within {TITLE_LIMIT} characters", title.number)
    entries: list[Entry] = []
    counts: Counter[bool] = Counter()
    for heading, content, parents in _sections(body):
        is_pair = bool(parents) and heading is not None and heading.asks
        counts[is_pair] += 1
        name = heading.text if heading else ""
        entries.append(
            Entry(
                anchor=f"{'q' if is_pair else 's'}{counts[is_pair]}",
                heading=name,
                question=name if is_pair else "",
                blocks=tuple(_blocks(content, source)),
                line=heading.number if heading else content[0].number,
                parents=parents,
            )
        )
    if not entries:
        raise SourceError(
            path, "holds headings but no text under them; end each sentence with a full stop", title.number
        )
    return title.text, tuple(entries)


def _sections(lines: list[Line]) -> Iterator[tuple[Line | None, list[Line], tuple[str, ...]]]:
    """Heading, lines and parents of each section that has lines; the parent of an FAQ pair is the FAQ's heading."""
    parents: tuple[str, ...] = ()
    heading: Line | None = None
    position = 0
    while position < len(lines):
        line = lines[position]
        following = lines[position + 1] if position + 1 < len(lines) else None
        if line.is_heading:
            heading = line
            position += 1
            if not line.asks:
                parents = (line.text,) if following and following.asks else ()
                continue
        end = position
        if parents and heading and heading.asks and end < len(lines) and not lines[end].asks:
            end += 1  # an answer may be one word, without a full stop
        end = _end_of_section(lines, end)
        if end > position:
            yield heading, lines[position:end], parents
        position = end


def _end_of_section(lines: list[Line], position: int) -> int:
    """Where the lines that are no headings end; the short lines after a colon are a list, but for a last one that has
    text of its own."""
    while position < len(lines):
        if not lines[position].is_heading:
            position += 1
            continue
        end = position
        while end < len(lines) and lines[end].is_heading and not lines[end].asks:
            end += 1
        listed = end if end == len(lines) else end - 1
        if not position or not INTRODUCES.search(lines[position - 1].text) or listed - position < 2:
            return position
        position = listed
    return position


def _lines(source: str) -> list[Line]:
    found: list[Line] = []
    number, counted = 1, 0
    for match in LINE.finditer(source):
        text = match.group().strip()
        if not text:
            continue
        start = match.start() + match.group().index(text)
        number += source.count("\n", counted, start)
        counted = start
        bullet = BULLET.match(text)
        mark = bullet.end() if bullet else 0
        found.append(Line(text[mark:], start + mark, number, bullet is not None))
    return found


def _without_adverts(lines: list[Line]) -> list[Line]:
    """Cuts at most two short closing lines that answer no question: slogans, "subscribe →".

    They follow an FAQ, whose last answer has no more lines than its longest other one; without an FAQ nothing is cut.
    """
    asked = [number for number, line in enumerate(lines) if line.asks]
    if not asked or not any(above.is_heading and below.asks for above, below in pairwise(lines)):
        return lines
    in_faq = next(number for number, (above, below) in enumerate(pairwise(lines)) if above.is_heading and below.asks)
    answers = [after - before - 1 for before, after in pairwise(number for number in asked if number > in_faq)]
    longest = max(answers, default=1)
    for _ in range(2):
        last, previous = lines[-1], lines[-2]
        is_needed = len(lines) - 1 - asked[-1] <= max(longest, 1)
        if is_needed or display_width(last.text) > ADVERT_COLUMNS or last.is_row or INTRODUCES.search(previous.text):
            break
        lines = lines[:-1]
    return lines


def _blocks(lines: list[Line], source: str) -> Iterator[Block]:
    """Blocks of one entry.

    List items are bullets, short lines after a colon, and paragraphs that open with a lead, where a colon introduces
    them or two in a row have marked leads; where the first has a marked lead, all have.
    """
    in_list = marked = False
    position = 0
    while position < len(lines):
        line = lines[position]
        if line.is_row:
            end = position
            while end < len(lines) and lines[end].is_row:
                end += 1
            yield from table_rows(lines[position:end], source)
            in_list, position = False, end
            continue
        following = lines[position + 1].text if position + 1 < len(lines) else ""
        lead, is_marked = lead_of(line.text), bool(MARKED_LEAD.match(line.text))
        introduced = position > 0 and bool(INTRODUCES.search(lines[position - 1].text))
        if not in_list or introduced:
            in_list = marked = is_marked and bool(MARKED_LEAD.match(following))
            in_list = in_list or introduced
            marked = marked or (introduced and is_marked)
        is_short = position > 0 and line.is_heading and not line.asks
        in_list = in_list and (is_short or (bool(lead) and (is_marked or not marked)))
        kind: Literal["item", "paragraph"] = "item" if in_list or line.bullet else "paragraph"
        yield Block(kind, line.text, line.text, line.start, line.number, lead)
        position += 1


def lead_of(text: str) -> str:
    """The short statement a longer paragraph opens with, or ""."""
    sentences = split_sentences(text)
    first = sentences[0].strip() if sentences else ""
    is_lead = len(sentences) > 1 and display_width(first) <= LEAD_COLUMNS and not INTRODUCES.search(first)
    return first if is_lead else ""


def table_rows(lines: list[Line], source: str) -> Iterator[Block]:
    """The data rows of a table; each block's slice runs from the header so that its labels are quoted too."""
    header = cells_of(lines[0].text)
    for line in lines[1:]:
        if not TABLE_RULE.match(line.text):
            yield row_block(header, cells_of(line.text), source, lines[0].start, line)


def cells_of(row: str) -> list[str]:
    r"""The cells of a pipe row, with `\|` read as a bar."""
    inner = row.strip().removeprefix("|")
    inner = inner if inner.endswith(r"\|") else inner.removesuffix("|")
    return [cell.strip().replace(r"\|", "|") for cell in CELL_BAR.split(inner)]


def row_block(header: list[str], cells: list[str], source: str, start: int, line: Line) -> Block:
    """A row that can be read alone: "header: cell; header: cell", in the script's own punctuation.

    Cells beyond the header's stand without one. A row too far below its header is quoted without it.
    """
    stop = line.start + len(line.text)
    if stop - start > ROW_COLUMNS or display_width(source[start:stop]) > ROW_COLUMNS:
        start = line.start
    colon, semicolon = ("：", "；") if FULL_WIDTH.search("".join(header)) else (": ", "; ")
    pairs = zip_longest(header, cells, fillvalue="")
    plain = semicolon.join(f"{label}{colon}{cell}" if label else cell for label, cell in pairs if cell)
    return Block("row", source[start:stop], plain or line.text, start, line.number, next(filter(None, cells), ""))
