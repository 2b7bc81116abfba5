"""The frozen records that cross the seams between stages.

In and out: nothing but themselves; they hold plain values, so they can be compared, copied and written as JSON.
Never: touch files, models or clocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Outcome = Literal["answered", "related", "clarify", "abstained", "social", "handover"]
PassageKind = Literal["faq", "paragraph", "item", "row", "outline"]
Intent = Literal["question", "greeting", "thanks", "small_talk", "person", "feedback", "nothing"]
HandoverReason = Literal["asked", "abstained_twice", "negative_feedback"]


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item or table row of an article, with its exact source.

    Args:
        kind: `paragraph`, `item` or `row`.
        text: the exact slice of the file that holds it; a row's slice starts at its table's header.
        plain: the same without markup; a row's cells as "header: cell".
        lead: the short statement it opens with (a bold lead-in, a row's first cell), or "".
        start: offset of `text` in the article's source, in characters.
        line: 1-based line in the file.
    """

    kind: Literal["paragraph", "item", "row"]
    text: str
    plain: str
    start: int
    line: int
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A section or FAQ pair of one article.

    Args:
        anchor: its identity across translations, given (`{#…}`) or derived from its place.
        given: whether the author gave the anchor.
        heading: its own heading; "" above the first heading.
        question: the heading where it is the question of an FAQ pair, else "".
        parents: the headings above it, outermost first, without the article's title.
    """

    anchor: str
    heading: str
    blocks: tuple[Block, ...]
    line: int
    given: bool = False
    question: str = ""
    parents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Article:
    """One file in one language.

    Args:
        key: `folder/name`, unique in an index; translations that follow the corpus layout share `name`.
        path: the file as found on disk, resolved.
        digest: SHA-256 of its bytes, hexadecimal.
        source: the whole text, of which every block's `text` is a slice.
    """

    key: str
    path: str
    digest: str
    language: str
    title: str
    source: str
    entries: tuple[Entry, ...]
    url: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """The smallest thing that is found, quoted and cited; it makes sense alone.

    Args:
        id: `folder/name#anchor.n`.
        text: what quotes are cut from: an exact slice of the file.
        shown: what a reader sees of it: `text` without markup; for a table row its cells with their headers.
        question: what it answers: embedded as a query.
        context: heading path, question and text: embedded as a passage.
        lead: the short statement that stands for it in an outline, an exact part of `text`, or "".
        members: for an outline, the ids of the passages it lists.
        family: shared by all translations of this passage.
    """

    id: str
    article: str
    anchor: str
    kind: PassageKind
    language: str
    title: str
    heading: str
    url: str
    text: str
    shown: str
    question: str
    context: str
    line: int
    lead: str = ""
    members: tuple[str, ...] = ()
    family: str = ""

    @property
    def asked(self) -> str:
        """What its article asks or calls it: the question of an FAQ pair, else the heading above it."""
        return self.question if self.kind == "faq" else self.heading


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation, by its author's role.

    Args:
        outcome, options: of an assistant's reply: how it ended, and what it offered to choose from or to ask next.
    """

    role: Literal["user", "assistant"]
    text: str
    outcome: Outcome | Literal[""] = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked: cleaned text, the language to answer in, and what kind of message it is.

    Args:
        written: the language the text is written in, where the asker wants the answer in another; else "".
        context: what was said before, where the text leans on it: each is searched for together with the text.
        is_bare: the text's own words say nothing ("any more?"): the context alone tells what is asked.
        may_stand: the text points back only where it is not answered by itself (ストレージは？).
        rounds: so many replies to the context were given; what they showed is not wanted again.
    """

    text: str
    language: str
    intent: Intent = "question"
    written: str = ""
    context: tuple[str, ...] = ()
    is_bare: bool = False
    may_stand: bool = False
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class Understood:
    """A message taken apart.

    Args:
        language: of the reply.
        intent: of the whole message: `question` where any part asks something.
        questions: its parts, in order; none where it asks nothing.
        wants_person: beside its questions it asks for a person.
    """

    language: str
    intent: Intent
    questions: tuple[Question, ...] = ()
    wants_person: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found for a question.

    Args:
        score: fused score of its family, higher is better; comparable within one question only.
        confidence: calibrated probability that this passage answers the question, 0..1.
    """

    passage: Passage
    score: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence proposed for the answer, with the passage it rests on.

    Args:
        quote: the exact part of `passage.text` that shows it.
        starts: whether it opens a new paragraph (`paragraph`), list item (`item`), or goes on (`""`).
        phrased: whether a chat model wrote it; else it is the passage's own.
        asked: what the passage answers, where it says yes or no to that and not to what was asked: it is said first.
    """

    text: str
    passage: Passage
    quote: str
    starts: Literal["", "paragraph", "item"] = ""
    phrased: bool = False
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """What compose proposes: an outcome, words of our own to open with, and sentences that are yet to be verified.

    Args:
        unanswered: of several questions answered together, those that are not.
    """

    outcome: Outcome
    opening: str
    sentences: tuple[Sentence, ...]
    confidence: float
    unanswered: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """A source of the answer: `quote` is an exact substring of the passage named by `passage_id`."""

    n: int
    passage_id: str
    title: str
    heading: str
    url: str
    language: str
    quote: str


@dataclass(frozen=True, slots=True)
class Progress:
    """A stage has begun (`understand`, `retrieve`, `compose`)."""

    stage: str


@dataclass(frozen=True, slots=True)
class Spoken:
    """A piece of the reply as it leaves the pipeline, verified: joined, the pieces' texts are the Answer's text."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Handover:
    """The way to a person: why it is offered, and the address (`https:` or `mailto:`), "" where only a hook is told."""

    reason: HandoverReason
    url: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """Why a reply is what it is, for those who improve the articles.

    Args:
        intent: what the message was taken for.
        searched: the questions that the articles were searched for, each able to stand alone.
        found: (passage id, score) of the best hits, each question's in turn.
        signals: the inputs of the confidence, of the first question.
        unanswered: of several questions each without an answer, and the id of the passage nearest to it, or "".
    """

    intent: Intent
    searched: tuple[str, ...] = ()
    found: tuple[tuple[str, float], ...] = ()
    signals: dict[str, float] = field(default_factory=dict)
    unanswered: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole reply; `text` holds a marker [n] for each citation and no other marker.

    Args:
        suggestions: what may be asked next; where the outcome is `clarify`, the options to choose from.
        handover: the way to a person, where one is offered.
        trace: for the records; never shown to the asker.
    """

    id: str
    conversation_id: str
    outcome: Outcome
    language: str
    text: str
    confidence: float
    citations: tuple[Citation, ...] = ()
    suggestions: tuple[str, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict)
    handover: Handover | None = None
    trace: Trace | None = None


Event = Progress | Spoken | Answer
History = Sequence[Turn]
