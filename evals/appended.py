"""`python -m evals appended`: is what an agent adds to a supported sentence marked, and what is only rephrased not?

In: planted/<language>/appended.yaml: sentences of passages with something appended, and in other words. Out: for each
set and language the share of additions marked, and of rephrasings marked.
Never: gives the desk another passage than it would find itself for the sentence, beside the one that holds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex
import yaml
from pydantic import BaseModel, ConfigDict, RootModel, ValidationError
from rich.table import Table

from assistant.drafts import EVIDENCE, Drafter
from assistant.errors import InputError
from assistant.follow import search
from assistant.letter import Ask, Letter, Part
from assistant.records import Question
from evals.cases import FOLDER
from evals.planted import ARTICLE

SETS = ("tuning", "heldout")
WHOLE = "…"  # stands for the sentence without its last sign
LAST = regex.compile(r"[.。]$")


class Sentences(BaseModel):
    """A sentence of a passage, what may be made of it by adding, and by saying it otherwise."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    says: str
    appended: list[str]
    rephrased: list[str]


class AppendedFile(RootModel[dict[str, dict[str, Sentences]]]):
    """Set -> passage -> its sentences."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A sentence as an agent wrote it in the place of `says`; `adds` where it says more."""

    set: str
    language: str
    passage_id: str
    says: str
    text: str
    adds: bool


@dataclass(frozen=True, slots=True)
class Marked:
    """Whether any of it was marked, and why."""

    edited: Edited
    reasons: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether an addition was marked, or a rephrasing was not."""
        return bool(self.reasons) == self.edited.adds


def read_appended(sets: Sequence[str] = SETS, languages: Sequence[str] = ()) -> list[Edited]:
    """All sentences of some sets, of all languages or those named.

    Raises:
        InputError: a file is malformed.
    """
    found = []
    for file in sorted((FOLDER / "planted").glob("*/appended.yaml")):
        language = file.parent.name
        if languages and language not in languages:
            continue
        try:
            content = AppendedFile.model_validate(yaml.safe_load(file.read_text(encoding="utf-8"))).root
        except (ValidationError, yaml.YAMLError) as error:
            raise InputError(
                f"{file}: must be set: passage: sentences ({' '.join(str(error).split())[:200]})"
            ) from None
        for name in sets:
            for passage, own in content.get(name, {}).items():
                found += list(_edited(name, language, f"{language}/{ARTICLE}#{passage}", own))
    return found


def _edited(name: str, language: str, passage_id: str, own: Sentences) -> Iterator[Edited]:
    bare = LAST.sub("", own.says)
    for text in own.appended:
        yield Edited(name, language, passage_id, own.says, text.replace(WHOLE, bare), True)
    for text in own.rephrased:
        yield Edited(name, language, passage_id, own.says, text, False)


def mark_all(drafter: Drafter, rows: Sequence[Edited]) -> list[Marked]:
    """What the desk marks of each, with the passages it finds for the sentence."""
    return [Marked(row, tuple(_reasons(drafter, row))) for row in rows]


def _reasons(drafter: Drafter, row: Edited) -> Iterator[str]:
    found = search(Question(row.says, row.language, "question"), drafter.retriever)
    ids = dict.fromkeys([row.passage_id, *(hit.passage.id for hit in found.hits[:EVIDENCE])])
    part = Part("q1", "answer", 1, row.text, row.says)
    # asked what the passage answers: a yes or no is not to be marked here for standing under another question
    asked = next((one.asked for one in drafter.retriever.passages([row.passage_id])), "") or row.says
    ask = Ask(1, asked, 0, len(asked), "answered", 1.0, tuple(ids))
    letter = Letter(asked, row.language, "formal", (ask,), (part,))
    yield from (line.reason for line in drafter.check(letter, part) if line.state == "unsupported")


def shares(marked: Sequence[Marked]) -> dict[tuple[str, str], tuple[float, float]]:
    """(Set, language) -> (share of additions marked, share of rephrasings marked)."""
    found = {}
    for name, language in dict.fromkeys((one.edited.set, one.edited.language) for one in marked):
        own = [one for one in marked if (one.edited.set, one.edited.language) == (name, language)]
        added = [bool(one.reasons) for one in own if one.edited.adds]
        same = [bool(one.reasons) for one in own if not one.edited.adds]
        found[name, language] = (sum(added) / max(len(added), 1), sum(same) / max(len(same), 1))
    return found


def appended_table(found: dict[tuple[str, str], tuple[float, float]]) -> Table:
    """The shares as a table."""
    drawn = Table("set", "language", "additions marked", "rephrasings marked")
    for (name, language), (added, same) in found.items():
        drawn.add_row(name, language, f"{added:.3f}", f"{same:.3f}")
    return drawn
