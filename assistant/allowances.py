"""Findings of the parity ledger that are meant to be so, each with its reason: a YAML list.

In: the list's file, Findings. Out: those that nobody allowed, and for each line of the list that allows nothing a
Finding of its own. Never: allows anything without a reason, or a kind everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from assistant.errors import InputError, what_is_wrong
from assistant.files import MEGABYTE, parse_yaml, read_text
from assistant.ledger import KINDS, Finding, Place
from assistant.records import Article

NAME = "parity.yaml"  # looked for in a folder that is checked, where no file is named
LIMIT = MEGABYTE


class Allowance(BaseModel):
    """What is allowed: a kind at a place, and why.

    Args:
        path: the end of the file's path, such as `ja/refunds.md`.
        anchor: of the section; "" is all of the file.
        what: the figure, word, address or phrase; "" is all of the kind there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    path: str = Field(min_length=1)
    anchor: str = ""
    what: str = ""
    reason: str = Field(min_length=3)

    @field_validator("kind")
    @classmethod
    def _known(cls, kind: str) -> str:
        if kind not in KINDS:
            raise ValueError(f"is none of {', '.join(KINDS)}")
        return kind

    def covers(self, finding: Finding) -> bool:
        """Whether it allows this finding."""
        parts, own = PurePath(finding.place.article.path).parts, PurePath(self.path).parts
        here = parts[-len(own) :] == own and self.anchor in ("", finding.place.anchor)
        return self.kind == finding.kind and here and self.what in ("", finding.what)


@dataclass(frozen=True, slots=True)
class Sifted:
    """Findings that are left, and those that were allowed."""

    left: tuple[Finding, ...]
    allowed: tuple[tuple[Finding, Allowance], ...]


def read_allowances(file: Path) -> list[Allowance]:
    """The list.

    Raises:
        InputError: it can't be read or is malformed; names the entry.
    """
    try:
        return TypeAdapter(list[Allowance]).validate_python(parse_yaml(read_text(file, LIMIT)) or [])
    except ValidationError as error:
        first = error.errors()[0]
        number = next((part + 1 for part in first["loc"] if isinstance(part, int)), 1)
        name = next((part for part in reversed(first["loc"]) if isinstance(part, str)), "list")
        raise InputError(f"{file}: entry {number}: {name}: {what_is_wrong(first)}") from None
    except yaml.YAMLError as error:
        raise InputError(f"{file}: can't be read as a YAML list ({' '.join(str(error).split())[:200]})") from None


def sift(found: Sequence[Finding], allowances: Sequence[Allowance], file: Path) -> Sifted:
    """The findings without those that are allowed; an entry that allows nothing is a finding itself."""
    left: list[Finding] = []
    allowed: list[tuple[Finding, Allowance]] = []
    for finding in found:
        own = next((one for one in allowances if one.covers(finding)), None)
        if own:
            allowed.append((finding, own))
        else:
            left.append(finding)
    used = {id(allowance) for _, allowance in allowed}
    for number, allowance in enumerate(allowances, 1):
        if id(allowance) not in used:
            left.append(_stale(file, number, allowance))
    return Sifted(tuple(left), tuple(allowed))


def _stale(file: Path, number: int, allowance: Allowance) -> Finding:
    shown = f"{allowance.kind} in {allowance.path}" + (f"#{allowance.anchor}" if allowance.anchor else "")
    article = Article(file.name, str(file), "", "", file.name, "", ())
    starts = [n for n, line in enumerate(read_text(file, LIMIT).split("\n"), 1) if line.startswith("-")]
    line = starts[number - 1] if number <= len(starts) else 1
    reason = f"entry {number} ({shown}) allows nothing that is found; remove it"
    return Finding("allow", Place(article, "", line, allowance.reason), allowance.kind, reason)
