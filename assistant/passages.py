"""Articles -> passages: the pieces that are embedded, found, quoted and cited.

In: an Article. Out: its Passages in reading order.
Never: an empty passage, or one whose text is not a slice of the file.

A passage is an FAQ answer, a paragraph, a list item, one table row, or an outline: the sentence that introduces a list
together with the statements its members open with, which answers "which mistakes are common?".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import regex

from assistant.language import display_width, split_sentences
from assistant.records import Article, Block, Entry, Passage, PassageKind

LONG_COLUMNS = 1400  # about 350 tokens: the model reads 512, and a longer quote is not read by people either
INTRODUCES = regex.compile(r"[:：]\s*$")
OUTLINE_COLUMNS = 200
WORD = regex.compile(r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+")
CLOSING = regex.compile(r"[^\p{L}\p{N}\s]{0,20}")
PAUSE = regex.compile(r"[，、；：,;:]+\s*|\s+")
MARKS = regex.compile(r"[\p{M}\u200d\ufe0f]{0,20}")


def cut_passages(article: Article) -> list[Passage]:
    """All passages of an article; `family` is still empty."""
    passages: list[Passage] = []
    firsts: dict[str, Passage] = {}
    for entry in article.entries:
        own = list(_of_entry(article, entry))
        passages.extend(own)
        if own:
            firsts[entry.anchor] = own[0]
    headed: dict[str, Passage] = {}
    for entry, children in _with_children(article.entries):
        members = [_with_heading(article, child, firsts[child.anchor]) for child in children if child.anchor in firsts]
        introduction = [block for block in entry.blocks[-1:] if INTRODUCES.search(block.text)]
        outline = _outline(article, entry, introduction, members, [child.heading for child in children])
        if outline:
            passages.append(outline)
            headed |= {member.id: member for member in members}
    return [headed.get(passage.id, passage) for passage in passages]


def _with_heading(article: Article, entry: Entry, passage: Passage) -> Passage:
    """A sub-section's first passage, its slice begun at the heading, which then stands for it in an outline."""
    end = article.source.find(passage.text, sum(map(len, article.source.splitlines(keepends=True)[: entry.line - 1])))
    start = article.source.rfind(entry.heading, 0, max(end, 0))
    if end < 0 or start < 0 or article.source.count("\n\n", start, end) > 1:
        return passage
    return replace(passage, text=article.source[start : end + len(passage.text)], lead=entry.heading)


def _of_entry(article: Article, entry: Entry) -> Iterator[Passage]:
    """The entry's own blocks, an FAQ answer in one piece; then an outline of each list in it."""
    blocks = [piece for block in _joined(article, entry) for piece in _split_long(article, block)]
    passages = [_passage(article, entry, block, number) for number, block in enumerate(blocks, 1)]
    yield from passages
    if entry.question:
        return
    for start, block in enumerate(blocks):
        end = start + 1
        if block.kind == "item":
            continue
        while end < len(blocks) and blocks[end].kind == "item":
            end += 1
        if block.kind == "paragraph" and end - start > 2:
            leads = [item.lead or item.plain for item in blocks[start + 1 : end]]
            outline = _outline(article, entry, [block], passages[start + 1 : end], leads)
            if outline:
                yield outline


def _joined(article: Article, entry: Entry) -> Sequence[Block]:
    """The blocks; those of an FAQ answer as one, unless that is too long to quote."""
    if not entry.question or len(entry.blocks) < 2:
        return entry.blocks
    first, last = entry.blocks[0], entry.blocks[-1]
    text = article.source[first.start : last.start + len(last.text)]
    if display_width(text) > LONG_COLUMNS or any(block.kind == "row" for block in entry.blocks):
        return entry.blocks
    plain = "\n".join(("- " if block.kind == "item" else "") + block.plain for block in entry.blocks)
    return [replace(first, kind="paragraph", text=text, plain=plain)]


def _split_long(article: Article, block: Block) -> Iterator[Block]:
    """A block cut between sentences into slices that can be quoted; one without sentence ends is cut by length.

    The text without markup is cut, and each piece's words are looked up in the source, which may have markup between.
    """
    if display_width(block.plain) <= LONG_COLUMNS or block.kind == "row":
        yield block
        return
    stop = block.start + len(block.text)
    at, line = block.start, block.line
    groups = list(_groups([part for sentence in split_sentences(block.plain) for part in _slices(sentence)]))
    for number, group in enumerate(groups):
        end = stop if number + 1 == len(groups) else _end_of(group, article.source, at, stop)
        raw = article.source[at:end]
        start = at + len(raw) - len(raw.lstrip())
        line += article.source.count("\n", at, start)
        if raw.strip() and group.strip():
            yield replace(block, text=raw.strip(), plain=group.strip(), start=start, line=line)
        line += article.source.count("\n", start, end)
        at = end


def _end_of(piece: str, source: str, start: int, stop: int) -> int:
    """Where in source[start:stop] the piece ends, which opens that part but for markup."""
    if source.startswith(piece, start):
        return start + len(piece)
    for word in WORD.finditer(piece):
        found = source.find(word.group(), start, stop)
        start = found + len(word.group()) if found >= 0 else start
    return CLOSING.match(source, start, stop).end()  # type: ignore[union-attr]  # it matches nothing, too


def _groups(pieces: Sequence[str]) -> Iterator[str]:
    """Neighbours joined up to half the longest passage."""
    held, width = "", 0
    for piece in pieces:
        columns = display_width(piece)
        if held and width + columns > LONG_COLUMNS // 2:
            yield held
            held, width = "", 0
        held, width = held + piece, width + columns
    if held:
        yield held


def _slices(sentence: str) -> Iterator[str]:
    """A sentence too long to be quoted, cut behind a comma or space where there is one, never before a mark."""
    start = 0
    while display_width(sentence[start : start + LONG_COLUMNS]) > LONG_COLUMNS // 2:
        end = start + LONG_COLUMNS // 4
        pauses = [pause.end() for pause in PAUSE.finditer(sentence, start + LONG_COLUMNS // 8, end)]
        end = pauses[-1] if pauses else end
        end = MARKS.match(sentence, end).end()  # type: ignore[union-attr]  # matches nothing, too
        yield sentence[start:end]
        start = end
    if start < len(sentence):
        yield sentence[start:]


def _passage(article: Article, entry: Entry, block: Block, number: int) -> Passage:
    kind: PassageKind = "faq" if entry.question and block.kind != "row" else block.kind
    headings = [*entry.parents, *([] if entry.question else [entry.heading])]
    question = entry.question or block.lead or entry.heading or article.title
    return Passage(
        id=f"{article.key}#{entry.anchor}.{number}",
        article=article.key,
        anchor=entry.anchor,
        kind=kind,
        language=article.language,
        title=article.title,
        heading=entry.heading or article.title,
        url=_link(article, entry),
        text=block.text,
        shown=block.plain,
        question=question,
        context=_context([article.title, *headings], block.plain if kind != "faq" else f"{question}\n{block.plain}"),
        line=block.line,
        lead=block.lead if block.lead in block.text else "",
    )


def _outline(
    article: Article, entry: Entry, introduction: Sequence[Block], members: Sequence[Passage], leads: Sequence[str]
) -> Passage | None:
    """The introducing sentence with what it introduces, or None where nothing introduces."""
    if len(members) < 2 or not introduction or introduction[0].kind == "row":
        return None
    block = introduction[0]
    sentences = split_sentences(block.text)
    last = sentences[-1].strip()
    if display_width(last) > OUTLINE_COLUMNS:
        return None
    start = block.start + block.text.rindex(last)
    made = _passage(article, entry, replace(block, text=last, plain=last, start=start, lead=""), 0)
    listed = "\n".join([last, *leads])
    return replace(
        made,
        id=f"{article.key}#{entry.anchor}.list{block.line}",
        kind="outline",
        context=_context([article.title, entry.heading], listed),
        members=tuple(member.id for member in members),
    )


def _with_children(entries: Sequence[Entry]) -> Iterator[tuple[Entry, list[Entry]]]:
    """Each section that has blocks and sub-sections which are no FAQ pairs."""
    starts = [
        index for index, (above, below) in enumerate(pairwise(entries)) if len(below.parents) > len(above.parents)
    ]
    for index in starts:
        parent = entries[index]
        path = (*parent.parents, parent.heading)
        children = []
        for entry in entries[index + 1 :]:
            if entry.parents[: len(path)] != path:
                break
            if entry.parents == path:
                children.append(entry)
        if parent.blocks and not any(child.question for child in children):
            yield parent, children


def _link(article: Article, entry: Entry) -> str:
    return f"{article.url}#{entry.anchor}" if article.url and entry.given else article.url


def _context(headings: Sequence[str], text: str) -> str:
    return "\n".join([" › ".join(dict.fromkeys(heading for heading in headings if heading)), text])
