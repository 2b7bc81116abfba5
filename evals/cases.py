"""The eval cases and the facts they refer to, read and checked.

In: cases/<language>/<set>.yaml and facts.yaml. Out: Cases and Facts. Never: a malformed case or an unknown fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from assistant.errors import InputError

FOLDER = Path(__file__).parent
SETS = ("tuning", "heldout")
Kind = Literal[
    "paraphrase", "colloquial", "short", "one-word", "typo", "half", "figure", "row", "two", "unanswerable", "off-topic"
]


class Fact(BaseModel):
    """Where a fact stands, and phrases any of which shows that an answer states it (see facts.yaml)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed_lines: list[int] = Field(min_length=1)
    anchors: list[str] = Field(min_length=1)
    says: dict[str, list[str]]


class Case(BaseModel):
    """One question with what a right reply does: states any of `facts`, or does not claim an answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)
    kind: Kind
    outcome: Literal["answered", "unanswerable"]
    facts: list[str] = []
    language: str

    @model_validator(mode="after")
    def _agrees(self) -> Case:
        if bool(self.facts) != (self.outcome == "answered"):
            raise ValueError("answered needs facts, unanswerable must have none")
        return self


def read_facts(file: Path = FOLDER / "facts.yaml") -> dict[str, Fact]:
    """All facts by id."""
    tree = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {name: Fact(**fields) for name, fields in tree.items()}


def read_cases(name: str, languages: Sequence[str] = (), folder: Path = FOLDER / "cases") -> list[Case]:
    """The cases of one set, of all languages or those named.

    Raises:
        InputError: a case is malformed, repeated, or names an unknown fact; says file and line.
    """
    facts = read_facts()
    cases: dict[str, Case] = {}
    texts: set[tuple[str, str]] = set()
    for file in sorted(folder.glob(f"*/{name}.yaml")):
        language = file.parent.name
        if languages and language not in languages:
            continue
        root = yaml.compose(file.read_text(encoding="utf-8"))
        if not isinstance(root, yaml.SequenceNode):
            raise InputError(f"{file}:1: holds no list of cases")
        for node, row in zip(root.value, yaml.safe_load(file.read_text(encoding="utf-8")), strict=True):
            where = f"{file}:{node.start_mark.line + 1}"
            try:
                case = Case(**row, language=language)
            except (ValidationError, TypeError) as error:
                reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "is not a mapping"
                raise InputError(f"{where}: {reason}") from None
            unknown = [fact for fact in case.facts if fact not in facts]
            if unknown:
                raise InputError(f"{where}: unknown fact {unknown[0]}")
            if case.id in cases or (language, case.text) in texts:
                raise InputError(f"{where}: {case.id} or its text is there twice")
            cases[case.id] = case
            texts.add((language, case.text))
    if not cases:
        raise InputError(f"{folder}: no case of the set {name}")
    return list(cases.values())
