"""`python -m evals planted`: what a lying chat model gets past the judge, and what of a truthful one it stops.

In: planted/<language>/<set>.yaml: sentences that a passage supports and planted falsehoods, by passage.
Out: for each language the share of falsehoods caught and of true sentences dropped.
Never: a chat model; the sentences stand in for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import RootModel, ValidationError
from rich.table import Table

from assistant.claims import Judge
from assistant.errors import InputError
from assistant.records import Passage
from evals.cases import FOLDER

ARTICLE = "aws-trainium-credits"
TRUE = "true"
LEAST_CAUGHT, MOST_DROPPED, MOST_APART = 0.95, 0.05, 0.03


class PlantedFile(RootModel[dict[str, dict[str, list[str] | str]]]):
    """Passage -> kind -> sentences."""


@dataclass(frozen=True, slots=True)
class Planted:
    """One sentence with the passage it cites; `kind` is `true`, or what is wrong with it."""

    text: str
    kind: str
    passage_id: str
    language: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the judge said of it; `reason` is empty where it let it pass."""

    planted: Planted
    reason: str

    @property
    def is_right(self) -> bool:
        """Whether a true sentence passed, or a false one was caught."""
        return bool(self.reason) != (self.planted.kind == TRUE)


def read_planted(name: str, languages: Sequence[str] = ()) -> list[Planted]:
    """The sentences of one set, of all languages or those named.

    Raises:
        InputError: a file is malformed or there is none.
    """
    rows = []
    for file in sorted((FOLDER / "planted").glob(f"*/{name}.yaml")):
        language = file.parent.name
        if not languages or language in languages:
            rows += list(_rows(file, language))
    if not rows:
        raise InputError(f"{FOLDER / 'planted'}: no sentence of the set {name}")
    return rows


def _rows(file: Path, language: str) -> list[Planted]:
    try:
        content = PlantedFile.model_validate(yaml.safe_load(file.read_text(encoding="utf-8"))).root
    except (ValidationError, yaml.YAMLError) as error:
        raise InputError(f"{file}: must be passage: kind: sentences ({' '.join(str(error).split())[:200]})") from None
    return [
        Planted(text, kind, f"{language}/{ARTICLE}#{passage}", language)
        for passage, kinds in content.items()
        for kind, texts in kinds.items()
        for text in ([texts] if isinstance(texts, str) else texts)
    ]


def judge_planted(judge: Judge, rows: Sequence[Planted]) -> list[Outcome]:
    """The judge's word on each."""
    passages: dict[str, Passage] = {row.passage.id: row.passage for row in judge.index.snapshot().rows}
    return [Outcome(row, judge.objection(row.text, passages[row.passage_id], row.language)) for row in rows]


def shares(outcomes: Sequence[Outcome]) -> dict[str, tuple[float, float]]:
    """Language -> (share of falsehoods caught, share of true sentences dropped)."""
    found = {}
    for language in dict.fromkeys(outcome.planted.language for outcome in outcomes):
        own = [outcome for outcome in outcomes if outcome.planted.language == language]
        false = [outcome for outcome in own if outcome.planted.kind != TRUE]
        true = [outcome for outcome in own if outcome.planted.kind == TRUE]
        caught = sum(outcome.is_right for outcome in false) / max(len(false), 1)
        found[language] = (caught, 1 - sum(outcome.is_right for outcome in true) / max(len(true), 1))
    return found


def reached(found: dict[str, tuple[float, float]]) -> bool:
    """Whether every language is good enough, and none far from the others."""
    caught = [share for share, _ in found.values()]
    good = min(caught) >= LEAST_CAUGHT and max(dropped for _, dropped in found.values()) <= MOST_DROPPED
    return good and max(caught) - min(caught) <= MOST_APART


def planted_table(found: dict[str, tuple[float, float]], outcomes: Sequence[Outcome]) -> Table:
    """The shares as a table."""
    drawn = Table("language", "sentences", "falsehoods caught", "true sentences dropped")
    for language, (caught, dropped) in found.items():
        count = sum(outcome.planted.language == language for outcome in outcomes)
        drawn.add_row(language, str(count), f"{caught:.3f}", f"{dropped:.3f}")
    return drawn
