"""The eval cases and the facts they refer to, read and checked.

In: cases/<language>/<set>.yaml and facts.yaml, known_failures.yaml. Out: Cases and Facts, ids that are known to fail.
Never: a malformed or repeated case, an unknown fact or anchor. The format is described in evals/README.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from assistant.errors import InputError, what_is_wrong
from assistant.figures import find_figures
from assistant.language import is_language, normalise_code

FOLDER = Path(__file__).parent
SETS = ("tuning", "heldout")
KNOWN_FAILURES = FOLDER / "known_failures.yaml"
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the first is in C where PyYAML was built with it
Kind = Literal[
    "direct", "paraphrase", "colloquial", "short", "one-word", "typo", "romanised", "half", "figure", "row", "two",
    "follow-up", "switch", "greeting", "thanks", "person", "unanswerable", "off-topic", "injection",
]  # fmt: skip
# What the reply may be: `unanswerable` is any that claims no answer.
Expected = Literal["answered", "unanswerable", "related", "clarify", "abstained", "social", "handover"]
NO_CLAIM = frozenset({"related", "clarify", "abstained", "handover"})


class Fact(BaseModel):
    """Where a fact stands, and phrases any of which shows that an answer states it (see facts.yaml)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed_lines: list[int] = Field(min_length=1)
    anchors: list[str] = Field(min_length=1)
    says: dict[str, list[str]]


class Case(BaseModel):
    """One message with what a right reply does.

    Args:
        facts: it cites a place of any of these and states it; where several things are asked, all that `needs` names.
        needs: several things to be stated, each a list of facts any of which will do; `facts` is then all of them.
        anchors: instead of facts, sections any of which it cites.
        outcome: what kind of reply is right, one or several.
        must, must_not: phrases of which each, or none, stands in the reply, ignoring case; a list within is a choice.
        figures, no_figures: figures that all, or none of which, stand in it, however the language writes them.
        history: earlier messages of the user, the oldest first.
        language: of the reply; the folder's where it is not said.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)
    kind: Kind
    outcome: list[Expected] = Field(min_length=1)
    language: str
    facts: list[str] = []
    needs: list[list[str]] = []
    anchors: list[str] = []
    must: list[str | list[str]] = []
    must_not: list[str] = []
    figures: list[str] = []
    no_figures: list[str] = []
    history: list[str] = []
    page_language: str = ""

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        row = dict(given)
        if isinstance(row.get("outcome"), str):
            row["outcome"] = [row["outcome"]]
        if row.get("needs") and row.get("facts"):
            raise ValueError("give facts or needs, not both")
        if row.get("needs") and all(isinstance(need, list) for need in row["needs"]):
            row["facts"] = list(dict.fromkeys(fact for need in row["needs"] for fact in need))
        return row

    @model_validator(mode="after")
    def _agrees(self) -> Case:
        if "answered" in self.outcome and not (self.facts or self.anchors):
            raise ValueError("answered needs facts, needs or anchors")
        if "answered" not in self.outcome and (self.facts or self.anchors):
            raise ValueError(f"{' or '.join(self.outcome)} must have no facts, needs or anchors")
        for code in filter(None, (self.language, self.page_language)):
            if not is_language(code) or normalise_code(code) != code:
                raise ValueError(f"{code} is no language code of this project, such as zh-Hans, ja, es")
        without = [text for text in (*self.figures, *self.no_figures) if not find_figures(text)]
        if without:
            raise ValueError(f"{without[0]} holds no figure")
        return self

    @property
    def is_answerable(self) -> bool:
        """Whether the articles answer it."""
        return bool(self.facts or self.anchors)

    @property
    def wanted(self) -> list[list[str]]:
        """The things to be stated, each a list of facts any of which will do."""
        return self.needs or ([self.facts] if self.facts else [])

    @property
    def allowed(self) -> frozenset[str]:
        """The outcomes that are right."""
        return frozenset(self.outcome) - {"unanswerable"} | (NO_CLAIM if "unanswerable" in self.outcome else set())


@cache
def read_facts(file: Path = FOLDER / "facts.yaml") -> dict[str, Fact]:
    """All facts by id."""
    tree = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {name: Fact(**fields) for name, fields in tree.items()}


def set_names(folder: Path = FOLDER / "cases") -> list[str]:
    """The names of all sets."""
    return sorted({file.stem for file in folder.glob("*/*.yaml")})


def read_cases(
    sets: str | Sequence[str], languages: Sequence[str] = (), folder: Path = FOLDER / "cases", share: float = 1.0
) -> list[Case]:
    """The cases of one or several sets, of all languages or those named.

    Args:
        share: of each file's cases only so many, evenly spread: the same each time.

    Raises:
        InputError: a case is malformed, repeated, or names an unknown fact or anchor; says file and line.
    """
    names = [sets] if isinstance(sets, str) else list(sets)
    cases: dict[str, Case] = {}
    said: set[tuple[str, str, str]] = set()
    chosen: list[Case] = []
    for file in sorted(file for name in names for file in folder.glob(f"*/{name}.yaml")):
        if languages and file.parent.name not in languages:
            continue
        own = []
        for where, case in _cases_of(file):
            said_here = (file.parent.name, "\n".join(case.history), case.text)
            if case.id in cases or said_here in said:
                raise InputError(f"{where}: {case.id} or its text is there twice")
            cases[case.id] = case
            said.add(said_here)
            own.append(case)
        chosen += _spread(own, share)
    if not chosen:
        raise InputError(f"{folder}: no case of the set {' or '.join(names)}")
    return chosen


def _spread(cases: Sequence[Case], share: float) -> list[Case]:
    count = max(1, round(len(cases) * share))
    return [cases[place * len(cases) // count] for place in range(count)]


def _cases_of(file: Path) -> Iterator[tuple[str, Case]]:
    """The cases of one file with the place of each."""
    facts, anchors = read_facts(), known_anchors()
    for line, row in _rows_of(file):
        where = f"{file}:{line}"
        if not isinstance(row, dict):
            raise InputError(f"{where}: is not a mapping")
        try:
            case = Case(**{"language": file.parent.name, **row})
        except (ValidationError, TypeError) as error:
            raise InputError(f"{where}: {_reason(error)}") from None
        for name in case.facts:
            if name not in facts:
                raise InputError(f"{where}: unknown fact {name}")
        for name in case.anchors:
            if name not in anchors:
                raise InputError(f"{where}: unknown anchor {name}; facts.yaml names none like it")
        yield where, case


def _rows_of(file: Path) -> Iterator[tuple[int, Any]]:
    try:
        loader = LOADER(file.read_text(encoding="utf-8"))
        root = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{file}:{line}: is no YAML: {error.problem}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: can't be read: {error}") from None
    if not isinstance(root, yaml.SequenceNode):
        raise InputError(f"{file}:1: holds no list of cases")
    for node in root.value:
        yield node.start_mark.line + 1, loader.construct_document(node)


def _reason(error: ValidationError | TypeError) -> str:
    if isinstance(error, TypeError):
        return "a field has no name"
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place + ': ' if place else ''}{what_is_wrong(first)}"


@cache
def known_anchors() -> frozenset[str]:
    """All anchors that a fact stands at."""
    return frozenset(anchor for fact in read_facts().values() for anchor in fact.anchors)


def read_known_failures(ids: Collection[str], file: Path = KNOWN_FAILURES) -> dict[str, str]:
    """Case id -> why it fails, for cases that are known to.

    Args:
        ids: of all cases there are.

    Raises:
        InputError: the file is malformed, or names a case that is not there; says which.
    """
    if not file.exists():
        return {}
    try:
        tree = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError:
        raise InputError(f"{file}: is no YAML; write lines of `case-id: why it fails`") from None
    if not isinstance(tree, dict) or not all(isinstance(why, str) and why.strip() for why in tree.values()):
        raise InputError(f"{file}: must hold lines of `case-id: why it fails`")
    unknown = sorted(set(map(str, tree)) - set(ids))
    if unknown:
        raise InputError(f"{file}: no case has the id {unknown[0]}; remove the entry")
    return {str(name): why for name, why in tree.items()}
