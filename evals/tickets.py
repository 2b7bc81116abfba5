"""Customers' tickets: are their questions found? What becomes of the replies to them, see `drafted`.

In: tickets/<language>.yaml, checked. Out: precision and recall of the questions by language and set, counts.
Never: looks at a ticket's questions while it finds them. The format is described in evals/README.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rich.table import Table

from assistant.errors import InputError
from assistant.hearing import Hearing
from assistant.tickets import Asked, read_ticket

FOLDER = Path(__file__).parent / "tickets"
SETS = ("tuning", "heldout", "fresh")
OVERLAP = 0.5  # a question is found where the two spans share so much of all that either covers


class Marked(BaseModel):
    """A question of a ticket, word for word, and whether the articles answer it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(min_length=1)
    answerable: bool


class TicketCase(BaseModel):
    """One ticket."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    set: Literal["tuning", "heldout", "fresh"]
    language: str
    message: str = Field(min_length=1)
    questions: list[Marked]

    def spans(self) -> Iterator[tuple[int, int]]:
        """Where its questions stand.

        Raises:
            InputError: one does not.
        """
        flat = "".join(" " if sign.isspace() else sign for sign in self.message)
        for question in self.questions:
            start = flat.find(question.text)
            if start < 0:
                raise InputError(f"ticket {self.id}: its message does not hold {question.text!r}")
            yield start, start + len(question.text)


def read_tickets(folder: Path = FOLDER) -> list[TicketCase]:
    """All tickets.

    Raises:
        InputError: one is malformed; says which.
    """
    found = []
    for file in sorted(folder.glob("*.yaml")):
        for number, row in enumerate(yaml.safe_load(file.read_text(encoding="utf-8")), 1):
            try:
                case = TicketCase(**{"language": file.stem, **row})
            except (ValidationError, TypeError) as error:
                raise InputError(f"{file}: ticket {number} is malformed: {error}") from None
            list(case.spans())
            found.append(case)
    return found


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found in one ticket: hits, what was found besides, what was missed."""

    case: TicketCase
    hits: int
    spurious: tuple[str, ...]
    missed: tuple[str, ...]


class Placed(Protocol):
    """What stands at message[start:end]."""

    @property
    def start(self) -> int: ...  # noqa: D102

    @property
    def end(self) -> int: ...  # noqa: D102


P = TypeVar("P", bound=Placed)


def matched(case: TicketCase, asked: Sequence[P]) -> tuple[list[tuple[Marked, P | None]], list[P]]:
    """Each question with what was found of it, at most once, by the span that overlaps most; what was found besides."""
    left = list(asked)
    pairs: list[tuple[Marked, P | None]] = []
    for question, span in zip(case.questions, case.spans(), strict=True):
        best = max(left, key=lambda one: _overlap(span, (one.start, one.end)), default=None)
        if best and _overlap(span, (best.start, best.end)) >= OVERLAP:
            left.remove(best)
            pairs.append((question, best))
        else:
            pairs.append((question, None))
    return pairs, left


def compare(case: TicketCase, asked: Sequence[Asked]) -> Finding:
    """How the questions found in a ticket compare with those it has."""
    pairs, left = matched(case, asked)
    missed = tuple(question.text for question, found in pairs if found is None)
    return Finding(case, len(pairs) - len(missed), tuple(one.text for one in left), missed)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> float:
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return max(0, shared) / (max(one[1], other[1]) - min(one[0], other[0]))


def find_all(cases: Sequence[TicketCase], hearing: Hearing, tell: Callable[[str], str]) -> list[Finding]:
    """What is found in each ticket."""
    return [compare(case, read_ticket(case.message, hearing, tell).questions) for case in cases]


def measures(findings: Sequence[Finding]) -> dict[str, Any]:
    """Precision and recall over all questions."""
    hits = sum(one.hits for one in findings)
    found = hits + sum(len(one.spurious) for one in findings)
    marked = hits + sum(len(one.missed) for one in findings)
    return {
        "tickets": len(findings),
        "questions": marked,
        "precision": round(hits / found, 3) if found else 0.0,
        "recall": round(hits / marked, 3) if marked else 0.0,
    }


def measure_tickets(
    cases: Sequence[TicketCase], hearing: Hearing, tell: Callable[[str], str], sets: Sequence[str]
) -> dict[str, Any]:
    """For each set the measures of each language and of all, and what was missed or found besides."""
    findings = [one for one in find_all(cases, hearing, tell) if one.case.set in sets]
    groups: dict[tuple[str, str], list[Finding]] = {}
    for one in findings:
        for language in (one.case.language, "all"):
            groups.setdefault((one.case.set, language), []).append(one)
    return {
        "measures": [{"set": name, "language": language} | measures(own) for (name, language), own in groups.items()],
        "wrong": [
            {"id": one.case.id, "set": one.case.set, "spurious": one.spurious, "missed": one.missed}
            for one in findings
            if one.spurious or one.missed
        ],
    }


def tickets_table(result: dict[str, Any]) -> Table:
    """The measures as a table."""
    drawn = Table("set", "language", "tickets", "questions", "precision", "recall", title="Questions found in tickets")
    for row in result["measures"]:
        drawn.add_row(*(str(value) for value in row.values()))
    drawn.caption = "; ".join(
        f"{one['id']}: {len(one['spurious'])} besides, {len(one['missed'])} missed" for one in result["wrong"]
    )
    return drawn
