"""What the drafts' API takes and gives: the forms of its JSON.

In: requests, checked. Out: bodies. Never: decides anything.

`"".join(line.text for line in part.lines) == part.text`: a line is a sentence with the white space behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

LONGEST_MESSAGE = 20_000  # characters of a pasted e-mail with its history
LONGEST_PART = 8_000
MOST_PARTS = 40
MOST = 2**31 - 1  # what a column of whole numbers holds
CODE = r"^([A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,4})?$"
ID = r"^[\x21-\x7e]{1,128}$"

Tone = Literal["formal", "friendly", "brief"]
State = Literal["open", "sent", "rejected"]
Outcome = Literal["", "unedited", "edited", "rejected"]
PartKind = Literal["greeting", "answer", "gap", "closing"]
LineState = Literal["supported", "unsupported", "own", "gap"]


class Strict(BaseModel):
    """A request without fields that nobody knows."""

    model_config = ConfigDict(extra="forbid", strict=True)


class DraftRequest(Strict):
    """A customer's message to draft a reply to; or a conversation that was handed over, whose messages are taken."""

    message: str = Field("", max_length=LONGEST_MESSAGE, description="may be empty where `conversation_id` is given")
    language: str = Field("", pattern=CODE, description="of the reply; else the message's own")
    agent_language: str = Field("", pattern=CODE, description="of the evidence shown to the agent")
    tone: Tone = "formal"
    conversation_id: str = Field("", pattern=r"^[\x21-\x7e]{0,128}$")


class PartText(Strict):
    """One part as the agent wrote it."""

    id: str = Field(pattern=ID)
    text: str = Field(max_length=LONGEST_PART)


class SaveRequest(Strict):
    """The whole letter as edited; a part that is left out becomes empty, and is not sent."""

    version: int = Field(ge=1, le=MOST, description="the version that was edited; if another was saved since: 409")
    parts: list[PartText] = Field(min_length=1, max_length=MOST_PARTS)


class CheckRequest(Strict):
    """A text being edited."""

    part_id: str = Field(pattern=ID)
    text: str = Field(max_length=LONGEST_PART)


class RegenerateRequest(Strict):
    """One part to be written anew.

    Args:
        passage_ids: of the question's evidence, to be used instead of the best; turns a gap into an answer.
    """

    version: int = Field(ge=1, le=MOST)
    tone: Tone | None = Field(None, description="from now on; greeting and closing are written in it")
    passage_ids: list[str] = Field([], max_length=3)


class CloseRequest(Strict):
    """Marks a draft sent or rejected."""

    version: int = Field(ge=1, le=MOST)
    confirm: bool = Field(False, description="sent although gaps are open or sentences are not supported")


class ProposalRequest(Strict):
    """An answer to be proposed as an FAQ entry, or to become an eval case."""

    version: int = Field(ge=1, le=MOST)
    part_id: str = Field(pattern=ID)


@dataclass(frozen=True, slots=True)
class SourceBody:
    """A passage: `quote` is an exact substring of it; `shown` reads without markup.

    Args:
        n: its number in this draft where a line rests on it, else 0.
        sibling: the same passage in the agent's language; None where there is none (or it is the agent's already).
        is_readable: the passage itself is in the agent's language.
    """

    n: int
    passage_id: str
    title: str
    heading: str
    url: str
    language: str
    direction: str
    quote: str
    shown: str
    is_readable: bool = False
    sibling: SourceBody | None = None


@dataclass(frozen=True, slots=True)
class QuestionBody:
    """A question found in the message, at message[start:end] (counted in Unicode characters, not UTF-16 units).

    Args:
        outcome: `answered`, `related` (only something near) or `abstained`.
        evidence: the best passages, also those of a gap; best first.
        same_as: the number of an earlier question whose part answers this one too; 0 where it has its own.
    """

    number: int
    text: str
    start: int
    end: int
    outcome: Literal["answered", "related", "abstained"]
    confidence: float
    evidence: list[SourceBody]
    same_as: int = 0


@dataclass(frozen=True, slots=True)
class LineBody:
    """One sentence of a part.

    Args:
        state: `own` words need no evidence (greeting, closing); a `gap` is to be filled.
        reason: why it is not supported, for the agent to read; "" else.
        source: number of the passage it rests on, an entry of the draft's `sources`; 0 where there is none.
    """

    text: str
    state: LineState
    reason: str = ""
    source: int = 0


@dataclass(frozen=True, slots=True)
class PartBody:
    """A paragraph of the letter; `question` is its question's number, 0 for greeting and closing."""

    id: str
    kind: PartKind
    question: int
    text: str
    is_open: bool
    lines: list[LineBody]


@dataclass(frozen=True, slots=True)
class DraftBody:
    """A draft as it stands; open_gaps and unsupported count what must be looked at before it is sent.

    Args:
        direction: of the customer's language, as HTML's `dir`; agent_direction: of the agent's.
        changed_by, changed_at: who saved this version, when (seconds since 1970).
        outcome, distance: how it ended and how many signs (grapheme clusters) the agent changed of what was
            proposed; share: that by the longer text, 0..1.
    """

    id: str
    version: int
    state: State
    outcome: Outcome
    distance: int
    message: str
    language: str
    language_name: str
    direction: str
    agent_language: str
    agent_direction: str
    tone: Tone
    conversation_id: str
    changed_by: str
    changed_at: float
    questions: list[QuestionBody]
    parts: list[PartBody]
    sources: list[SourceBody]
    open_gaps: int
    unsupported: int
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class CheckBody:
    """The lines of a text being edited, and the passages they rest on, numbered as in the draft."""

    lines: list[LineBody]
    sources: list[SourceBody]
    is_open: bool


@dataclass(frozen=True, slots=True)
class ConflictBody:
    """409: somebody saved another version; `current` is what stands now."""

    error: str
    changed_by: str
    changed_at: float
    current: DraftBody


@dataclass(frozen=True, slots=True)
class DraftRow:
    """A draft in a list; `excerpt` is the beginning of the customer's message."""

    id: str
    version: int
    state: State
    outcome: Outcome
    distance: int
    language: str
    excerpt: str
    questions: int
    open_gaps: int
    changed_by: str
    changed_at: float
    conversation_id: str
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One saved version; `text` is the whole letter as plain text."""

    version: int
    changed_by: str
    changed_at: float
    what: Literal["written", "edited", "regenerated", "sent", "rejected"]
    text: str


@dataclass(frozen=True, slots=True)
class CopyBody:
    """The letter to copy; markers [n] and the list of sources only where they were asked for."""

    text: str
    html: str


@dataclass(frozen=True, slots=True)
class EntryBody:
    """A proposed entry in one language; where it is missing both texts are ""."""

    language: str
    name: str
    is_missing: bool
    question: str
    answer: str
    markdown: str


@dataclass(frozen=True, slots=True)
class ProposalBody:
    """A proposed FAQ entry in all languages of the articles."""

    id: str
    draft_id: str
    anchor: str
    proposed_by: str
    proposed_at: float
    entries: list[EntryBody]
    missing: list[str]
