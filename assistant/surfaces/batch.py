"""A file of questions -> a JSON line for each, in the same order.

In: JSON Lines `{"id", "text", "history": [earlier user messages], "page_language"}`.
Out: for each row the Answer's JSON with the row's id as `id`, or `{"id", "error"}`.
Never: lets one row's words or failure touch another's.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assistant.errors import AssistantError, InputError
from assistant.records import Turn
from assistant.surfaces.backend import Answers, whole_answer
from assistant.surfaces.render import answer_json

AHEAD = 4  # rows in work at once: enough to keep a few cores busy, and no more than that in memory
LINE_BYTES = 4_000_000
Write = Callable[[object], None]


class Row(BaseModel):
    """One question with its surroundings."""

    model_config = ConfigDict(strict=True, extra="ignore")

    id: str | int
    text: str
    history: list[str] = Field(default_factory=list, max_length=1000)
    page_language: str | None = None


ANY_ID = TypeAdapter(dict[str, object])


@contextmanager
def open_rows(name: str) -> Iterator[BinaryIO]:
    """The file, or stdin for `-`.

    Raises:
        InputError: it can't be read.
    """
    if name == "-":
        yield sys.stdin.buffer
        return
    with ExitStack() as opened:
        try:
            file = opened.enter_context(Path(name).open("rb"))
        except OSError as error:
            raise InputError(f"--batch {name}: can't be read: {error.strerror or error}") from None
        yield file


def answer_rows(assistant: Answers, lines: BinaryIO, write: Write) -> int:
    """Answers each line of a file; returns how many could not be answered."""
    return asyncio.run(_answer_rows(assistant, _numbered(lines), write))


async def _answer_rows(assistant: Answers, lines: Iterable[tuple[int, bytes]], write: Write) -> int:
    failed = 0
    working: deque[asyncio.Task[dict[str, object]]] = deque()

    async def finish_first() -> None:
        nonlocal failed
        result = await working.popleft()
        failed += "error" in result
        write(result)

    for number, line in lines:
        working.append(asyncio.create_task(_answer_row(assistant, number, line)))
        if len(working) >= AHEAD:
            await finish_first()
    while working:
        await finish_first()
    return failed


def _numbered(lines: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers from 1, blank ones left out; what exceeds the longest line allowed is read past."""
    number = 0
    while line := lines.readline(LINE_BYTES + 1):
        number += 1
        rest = line
        while len(rest) > LINE_BYTES and not rest.endswith(b"\n"):
            rest = lines.readline(LINE_BYTES + 1)
        if line.strip():
            yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line


async def _answer_row(assistant: Answers, number: int, line: bytes) -> dict[str, object]:
    try:
        row = _read_row(number, line)
    except InputError as error:
        return {"id": _id_of(line), "error": str(error)}
    try:
        history = [Turn("user", message) for message in row.history]
        answer = await whole_answer(assistant.ask(row.text, page_language=row.page_language or "", history=history))
    except AssistantError as error:
        return {"id": row.id, "error": f"line {number}: {error}"}
    return {**answer_json(answer), "id": row.id}


def _read_row(number: int, line: bytes) -> Row:
    if len(line) > LINE_BYTES:
        raise InputError(f"line {number}: is longer than {LINE_BYTES // 1_000_000} MB; split it")
    try:
        return Row.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"line {number}: {place + ': ' if place else ''}{first['msg']}") from None


def _id_of(line: bytes) -> object:
    """The id of a row that is otherwise unusable, where it can be made out."""
    try:
        found = json.loads(line).get("id")
    except (ValueError, AttributeError, RecursionError):
        return None
    return found if isinstance(found, str | int) else None
