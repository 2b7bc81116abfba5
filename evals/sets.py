"""Public question sets in their files' own format, read and checked row by row.

In: `<name>.bank.jsonl`, `<name>.queries.jsonl`, or a file of short texts with their language (JSON Lines).
Out: BankRows, QueryRows, TextRows. Never: a malformed or repeated row, or any of it copied into the project.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from assistant.errors import InputError, what_is_wrong
from assistant.files import MEGABYTE, decode_text, read_bytes
from assistant.language import is_language, normalise_code

FILE_LIMIT_MB = 500


class _Row(BaseModel):
    """What all rows share: fields nobody asks for are ignored, the language is one in this project's spelling."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    lang: str = Field(min_length=1)

    @field_validator("lang")
    @classmethod
    def _is_known(cls, code: str) -> str:
        if not is_language(code):
            raise ValueError(f"{code} is no language code")
        return normalise_code(code)


class BankRow(_Row):
    """A question with its answer, a text, or an intent with example questions (`variants`).

    `entity` or `domain` names the article that it belongs to; `holdout` marks rows to leave out for abstention.
    """

    id: str = Field(min_length=1)
    question: str | None = None
    answer: str | None = None
    text: str | None = None
    variants: list[str] = []
    entity: str | None = None
    domain: str | None = None
    holdout: bool = False

    @model_validator(mode="after")
    def _says_something(self) -> BankRow:
        if not any(part and part.strip() for part in (self.question, self.answer, self.text, *self.variants)):
            raise ValueError("needs a question, an answer, a text or variants")
        return self


class Message(BaseModel):
    """An earlier message of the conversation."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    role: Literal["user", "assistant"]
    text: str


class QueryRow(_Row):
    """A question with what answers it: `relevant`, bank ids with their grades (1 where none is given).

    `relevant` may be a list of ids, a list of `{"id", "grade"}`, or an object id -> grade; grade 0 is not relevant.
    `relevant_known` is false where it is known only whether the question can be answered.
    """

    qid: str = Field(min_length=1)
    query: str = Field(min_length=1)
    relevant: dict[str, int] = {}
    answerable: bool = True
    relevant_known: bool = True
    history: list[Message] = []
    domain: str | None = None

    @field_validator("relevant", mode="before")
    @classmethod
    def _with_grades(cls, given: Any) -> Any:
        if isinstance(given, list):
            pairs = [(one.get("id"), one.get("grade", 1)) if isinstance(one, dict) else (one, 1) for one in given]
            return dict(pairs)
        return given


class TextRow(_Row):
    """A short text with the language it is written in."""

    text: str = Field(min_length=1)


Row = TypeVar("Row", bound=_Row)


def read_bank(file: Path) -> list[BankRow]:
    """The rows of a bank.

    Raises:
        InputError: the file can't be read, holds no row, or a row is malformed or repeated; says file and line.
    """
    return _read(file, BankRow, lambda row: row.id)


def read_queries(file: Path) -> list[QueryRow]:
    """The questions; errors as `read_bank`'s."""
    return _read(file, QueryRow, lambda row: row.qid)


def read_texts(file: Path) -> list[TextRow]:
    """The short texts; errors as `read_bank`'s, but a text may be there twice."""
    return _read(file, TextRow, lambda row: "")


def _read(file: Path, kind: type[Row], identity: Callable[[Row], str]) -> list[Row]:
    rows: list[Row] = []
    seen: set[str] = set()
    content = decode_text(read_bytes(file, FILE_LIMIT_MB * MEGABYTE), file)
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        row = _parse(line, kind, f"{file}:{number}")
        if (name := identity(row)) and name in seen:
            raise InputError(f"{file}:{number}: {name} is there twice; ids name one row")
        seen.add(name)
        rows.append(row)
    if not rows:
        raise InputError(f"{file}: holds no row; see the formats in evals/README.md")
    return rows


def _parse(line: str, kind: type[Row], where: str) -> Row:
    try:
        return kind.model_validate(json.loads(line))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"{where}: {place + ': ' if place else ''}{what_is_wrong(first)}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{where}: is no JSON object; each line holds one") from None
