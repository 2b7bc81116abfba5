"""A kept letter -> what an agent sees of it: its lines with what they rest on, and that in the agent's own language.

In: Kept, what writes and checks letters, the agent's language. Out: the bodies of `draft_bodies`; text, HTML to copy.
Never: shows a passage that is no longer in the articles, or lets markup of a letter through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from assistant.cabinet import Kept, Slip
from assistant.compose import reads
from assistant.drafts import Drafter
from assistant.language import language_name
from assistant.letter import Letter, Part
from assistant.recheck import Line
from assistant.records import Passage
from assistant.surfaces.render import direction, is_web_address
from assistant.surfaces.staff.draft_bodies import (
    CheckBody,
    DraftBody,
    DraftRow,
    LineBody,
    PartBody,
    QuestionBody,
    SourceBody,
    VersionRow,
)

ITEM = "- "


class Sources:
    """The passages that a draft's lines rest on, numbered as they come."""

    def __init__(self, drafter: Drafter, reader: str) -> None:
        self._drafter, self._reader = drafter, reader
        self._found: dict[str, tuple[Passage, str]] = {}

    def number(self, line: Line) -> int:
        """The number of what a line rests on; 0 where that is nothing."""
        if line.passage is None:
            return 0
        name = line.passage.id
        _, quote = self._found.get(name, (line.passage, line.quote))
        whole = quote if quote == line.quote else line.passage.text  # one source, one quote that holds all its lines
        self._found[name] = (line.passage, whole)
        return list(self._found).index(name) + 1

    def bodies(self) -> list[SourceBody]:
        """The sources, by number."""
        rows = enumerate(self._found.values(), 1)
        return [self.body(passage, quote, number) for number, (passage, quote) in rows]

    def body(self, passage: Passage, quote: str = "", number: int = 0) -> SourceBody:
        """One passage with its sibling."""
        readable = reads(self._reader, passage.language)
        sibling = None if readable else self._drafter.sibling(passage, self._reader)
        shown = _source(sibling, sibling.text, number, True) if sibling else None
        return _source(passage, quote or passage.text, number, readable, shown)


def _source(passage: Passage, quote: str, number: int, readable: bool, sibling: SourceBody | None = None) -> SourceBody:
    return SourceBody(
        number, passage.id, passage.title, passage.heading, passage.url, passage.language, direction(passage.language),
        quote, passage.shown, readable, sibling,
    )  # fmt: skip


def draft_body(kept: Kept, drafter: Drafter, reader: str, told: Callable[[str], str]) -> DraftBody:
    """A draft as a reader of that language sees it.

    Args:
        told: a reason of `recheck` in the reader's words.
    """
    slip, letter, sources = kept.slip, kept.letter, Sources(drafter, reader)
    parts = [_part(part, drafter.check(letter, part), sources, told) for part in letter.parts]
    questions = [
        QuestionBody(
            ask.number, ask.text, ask.start, ask.end, ask.outcome, ask.confidence,
            [sources.body(passage) for passage in drafter.retriever.passages(ask.evidence)], ask.same_as,
        )
        for ask in letter.asks
    ]  # fmt: skip
    return DraftBody(
        id=slip.id, version=kept.version, state=slip.state, outcome=slip.outcome, distance=slip.distance,
        message=letter.message, language=letter.language, language_name=language_name(letter.language, reader),
        direction=direction(letter.language), agent_language=reader, agent_direction=direction(reader),
        tone=letter.tone, conversation_id=slip.conversation_id, changed_by=kept.by, changed_at=kept.at,
        questions=questions, parts=parts, sources=sources.bodies(), open_gaps=letter.open_gaps,
        unsupported=sum(line.state == "unsupported" for part in parts for line in part.lines), share=slip.share,
    )  # fmt: skip


def check_body(letter: Letter, part: Part, drafter: Drafter, reader: str, told: Callable[[str], str]) -> CheckBody:
    """A part that is being edited, with the numbers that the saved draft would give its sources."""
    sources = Sources(drafter, reader)
    for other in letter.with_part(part).parts:
        lines = drafter.check(letter, other)
        if other.id == part.id:
            shown = _part(part, lines, sources, told)
            continue
        for line in lines:
            sources.number(line)
    return CheckBody(shown.lines, sources.bodies(), shown.is_open)


def _part(part: Part, lines: Sequence[Line], sources: Sources, told: Callable[[str], str]) -> PartBody:
    bodies = [
        LineBody(line.text, line.state, told(line.reason) if line.reason else "", sources.number(line))
        for line in lines
    ]
    return PartBody(part.id, part.kind, part.question, part.text, part.is_open, bodies)


def draft_row(slip: Slip) -> DraftRow:
    """A draft in a list."""
    return DraftRow(
        slip.id, slip.version, slip.state, slip.outcome, slip.distance, slip.language, slip.excerpt, slip.questions,
        slip.open_gaps, slip.changed_by, slip.changed_at, slip.conversation_id, slip.share,
    )  # fmt: skip


def version_row(kept: Kept) -> VersionRow:
    """A version in a list."""
    return VersionRow(kept.version, kept.by, kept.at, kept.what, kept.letter.text)


def as_text(draft: DraftBody, heading: str = "") -> str:
    """The letter as plain text; with markers and the list of sources under `heading` where there is one."""
    paragraphs = ["".join(_marked(part, bool(heading))).strip() for part in draft.parts]
    if heading and draft.sources:
        paragraphs.append("\n".join([heading, *(f"[{one.n}] {_place(one)}" for one in draft.sources)]))
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def as_html(draft: DraftBody, heading: str = "") -> str:
    """The same as an HTML fragment that says its language and direction."""
    blocks = [block for part in draft.parts for block in _blocks("".join(_marked(part, bool(heading))))]
    if heading and draft.sources:
        items = "".join(f"<li>{_link(one)}</li>" for one in draft.sources)
        blocks.append(f"<p>{escape(heading)}</p><ol>{items}</ol>")
    return f'<div lang="{escape(draft.language)}" dir="{draft.direction}">{"".join(blocks)}</div>'


def _marked(part: PartBody, with_markers: bool) -> list[str]:
    """The part's sentences, with a marker behind the last of those that rest on the same passage."""
    following = [*(line.source for line in part.lines[1:]), 0][: len(part.lines)]  # a part may be emptied
    pieces = []
    for line, after in zip(part.lines, following, strict=True):
        bare = line.text.rstrip()
        mark = f"[{line.source}]" if with_markers and line.source and line.source != after else ""
        pieces.append(bare + mark + line.text[len(bare) :])
    return pieces


def _blocks(text: str) -> list[str]:
    """Paragraphs and lists of a plain text, as HTML."""
    blocks = []
    for paragraph in text.strip().split("\n\n"):
        rows = [row for row in paragraph.split("\n") if row.strip()]
        items = [row for row in rows if row.startswith(ITEM)]
        plain = [escape(row) for row in rows if not row.startswith(ITEM)]
        if plain:
            blocks.append(f"<p>{'<br>'.join(plain)}</p>")
        if items:
            blocks.append(f"<ul>{''.join(f'<li>{escape(row.removeprefix(ITEM))}</li>' for row in items)}</ul>")
    return blocks


def _place(source: SourceBody) -> str:
    return " – ".join(part for part in (source.title, source.heading, source.url) if part)


def _link(source: SourceBody) -> str:
    name = escape(" – ".join(part for part in (source.title, source.heading) if part))
    return f'<a href="{escape(source.url)}">{name}</a>' if is_web_address(source.url) else name
