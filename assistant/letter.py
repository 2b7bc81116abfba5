"""A reply to a customer as it is kept: what was asked, and the parts that an agent edits.

In and out: nothing but frozen records of plain values, and how far one was changed. Never: touches files, models or the
index; what a part rests on is looked up anew whenever it is shown, so that deleted text is never cited again.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from typing import Any, Literal

import regex
from pydantic import TypeAdapter
from rapidfuzz.distance import Levenshtein

from assistant.errors import InputError
from assistant.ticket_words import Tone

PartKind = Literal["greeting", "answer", "gap", "closing"]
AskOutcome = Literal["answered", "related", "abstained"]
GRAPHEME = regex.compile(r"\X")


@dataclass(frozen=True, slots=True)
class Ask:
    """A question of the message, which is message[start:end].

    Args:
        evidence: ids of the passages that were found, best first.
        same_as: the number of an earlier question whose part answers this one too, so that it has none; else 0.
    """

    number: int
    text: str
    start: int
    end: int
    outcome: AskOutcome
    confidence: float
    evidence: tuple[str, ...]
    same_as: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """A paragraph; `text` is "" where the agent removed it.

    Args:
        question: the number of what it answers; 0 for greeting and closing.
        proposed: the text as it was written for the agent; of a gap, what is to be replaced.
    """

    id: str
    kind: PartKind
    question: int
    text: str
    proposed: str

    @property
    def is_open(self) -> bool:
        """Whether it is a gap that nobody has filled or removed."""
        return self.kind == "gap" and self.proposed.strip() in self.text


@dataclass(frozen=True, slots=True)
class Letter:
    """A reply to a message, in the customer's language."""

    message: str
    language: str
    tone: Tone
    asks: tuple[Ask, ...]
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The whole letter: its paragraphs, with an empty line between two."""
        return "\n\n".join(part.text.strip() for part in self.parts if part.text.strip())

    @property
    def open_gaps(self) -> int:
        """How many questions are neither answered nor dropped."""
        return sum(part.is_open for part in self.parts)

    def part(self, name: str) -> Part:
        """One part.

        Raises:
            InputError: there is none of that id.
        """
        for part in self.parts:
            if part.id == name:
                return part
        raise InputError(f"the draft has no part {name}; it has {', '.join(part.id for part in self.parts)}")

    def with_texts(self, texts: dict[str, str]) -> Letter:
        """The letter with other texts; a part that is not named is removed.

        Raises:
            InputError: a part is named that it does not have.
        """
        for name in texts:
            self.part(name)
        return replace(self, parts=tuple(replace(part, text=texts.get(part.id, "")) for part in self.parts))

    def with_part(self, part: Part) -> Letter:
        """The letter with one part in the place of that of the same id."""
        return replace(self, parts=tuple(part if one.id == part.id else one for one in self.parts))


_LETTER = TypeAdapter(Letter)


def to_json(letter: Letter) -> dict[str, Any]:
    """The letter as plain JSON values."""
    return dict(_LETTER.dump_python(letter, mode="json"))


def from_json(values: Any) -> Letter:
    """The letter that `to_json` gave."""
    return _LETTER.validate_python(values)


def edited(letter: Letter) -> tuple[int, float]:
    """How far the agent changed what was proposed: signs, and their share of the longer of both texts, 0..1.

    Signs are grapheme clusters (Unicode Standard Annex 29), so that an accent, a conjunct and an emoji count once; the
    distance is Levenshtein's (1966). Normal form (NFC) and white space do not count.
    """
    distance = longest = 0
    for part in letter.parts:
        before, after = _signs(part.proposed), _signs(part.text)
        distance += Levenshtein.distance(before, after)
        longest += max(len(before), len(after))
    return distance, round(distance / longest, 4) if longest else 0.0


def _signs(text: str) -> list[str]:
    return list(GRAPHEME.findall(" ".join(unicodedata.normalize("NFC", text).split())))
