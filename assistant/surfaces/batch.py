"""A file of questions -> a JSON line for each, in the same order.

In: JSON Lines `{"id", "text", "history": [earlier user messages], "page_language"}`.
Out: for each row the Answer's JSON with the row's id as `id`, or `{"id", "error"}`.
Never: lets one row's words or failure touch another's.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assistant.errors import AssistantError, InputError, SourceError, what_is_wrong
from assistant.files import open_file
from assistant.language import is_language
from assistant.records import Turn
from assistant.spelling import unify_lines
from assistant.surfaces.backend import Answers, whole_answer
from assistant.surfaces.render import answer_json

AHEAD = 4  # rows in work at once: enough to keep a few cores busy, and no more than that in memory
LINE_BYTES = 4_000_000
PASSED_BYTES = 100_000_000  # of a line that is too long; one longer still has no end
Write = Callable[[object], None]
Result = dict[str, object]


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
        if sys.stdin is None:
            raise InputError("--batch -: standard input is closed; give it a file or a pipe")
        yield sys.stdin.buffer
        return
    try:
        file = open_file(Path(name))
    except SourceError as error:
        raise InputError(f"--batch {error}, or pipe the rows to `--batch -`") from None
    with file:
        yield file


def answer_rows(assistant: Answers, lines: BinaryIO, write: Write) -> int:
    """Answers each line of a file; returns how many could not be answered.

    Raises:
        InputError: the file can't be read to its end; what came before is answered.
    """
    return asyncio.run(_answer_rows(assistant, lines, write))


async def _answer_rows(assistant: Answers, lines: BinaryIO, write: Write) -> int:
    failed = 0
    loop, places = asyncio.get_running_loop(), threading.Semaphore(AHEAD)
    working: asyncio.Queue[asyncio.Task[Result] | BaseException | None] = asyncio.Queue()

    def begin(number: int, line: bytes) -> None:
        working.put_nowait(asyncio.create_task(_answer_row(assistant, number, line)))

    def read() -> None:
        ended: BaseException | None = None
        with suppress(RuntimeError):  # the loop is closed: nobody waits for more
            try:
                for number, line in _numbered(lines):
                    places.acquire()
                    loop.call_soon_threadsafe(begin, number, line)
            except Exception as error:
                ended = error
            loop.call_soon_threadsafe(working.put_nowait, ended)

    # In a thread that nothing waits for: a pipe may be silent for long, and Ctrl-C and answers don't wait for its end.
    threading.Thread(target=read, daemon=True).start()
    while isinstance(task := await working.get(), asyncio.Task):
        result = await task
        places.release()
        failed += "error" in result
        write(result)
    if task is not None:
        raise task
    return failed


def _numbered(lines: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers from 1, blank ones left out; what exceeds the longest line allowed is read past.

    Raises:
        InputError: a line does not end, or can't be read.
    """
    number = 0
    try:
        while line := lines.readline(LINE_BYTES + 1):
            number += 1
            rest, passed = line, 0
            while len(rest) > LINE_BYTES and not rest.endswith(b"\n") and passed < PASSED_BYTES:
                rest = lines.readline(LINE_BYTES + 1)
                passed += len(rest)
            if line.strip():
                yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if passed >= PASSED_BYTES:
                raise InputError(f"line {number}: does not end; is it JSON Lines, a row a line?")
    except OSError as error:
        raise InputError(f"line {number + 1}: can't be read ({error.strerror or error}); give it a file") from None


async def _answer_row(assistant: Answers, number: int, line: bytes) -> Result:
    try:
        row = _read_row(number, line)
    except InputError as error:
        return {"id": _id_of(line), "error": str(error)}
    try:
        history = [Turn("user", unify_lines(message)) for message in row.history]
        answer = await whole_answer(assistant.ask(row.text, page_language=row.page_language or "", history=history))
    except AssistantError as error:
        return {"id": row.id, "error": f"line {number}: {error}"}
    return {**answer_json(answer), "id": row.id}


def _read_row(number: int, line: bytes) -> Row:
    if len(line) > LINE_BYTES:
        raise InputError(f"line {number}: is longer than {LINE_BYTES // 1_000_000} MB; split it")
    try:
        row = Row.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"line {number}: {place + ': ' if place else ''}{what_is_wrong(first)}") from None
    if row.page_language and not is_language(row.page_language):
        raise InputError(f"line {number}: page_language: is no language code; give one such as en, ja or zh-Hans")
    return row


def _id_of(line: bytes) -> object:
    """The id of a row that is otherwise unusable, where it can be made out."""
    try:
        found = json.loads(line).get("id")
    except (ValueError, AttributeError, RecursionError):
        return None
    return found if isinstance(found, str | int) else None
