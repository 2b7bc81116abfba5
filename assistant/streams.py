"""Standard input, output and error, as a command finds and leaves them.

In: the streams of this process. Out: streams that can be written, as UTF-8; what went wrong with them. Never: lets
another file take the number of a stream that is closed, or leaves anything that Python would complain of at its end.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from assistant.errors import OutputLost


def ready_streams() -> None:
    """Makes the streams fit to use.

    Raises:
        OutputLost: standard output is closed.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as long as the process lives
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        raise OutputLost("standard output is closed; send it somewhere, to /dev/null if nobody reads it")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout is sys.__stdout__:
        raw = _Output(sys.stdout.fileno(), "w", closefd=False)
        whole_lines = sys.stdout.line_buffering
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "backslashreplace", line_buffering=whole_lines)


class _Output(io.FileIO):
    """Standard output whose failure is told from a file's; a reader that has gone is another matter."""

    def write(self, data: Any, /) -> Any:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            reason = f"standard output can't be written ({error.strerror}); what is missing was not shown"
            raise OutputLost(reason) from None


def say_what_failed(error: OSError) -> str:
    """One sentence for an operating system's error."""
    reason = error.strerror or str(error) or type(error).__name__
    advice = "see that it may be read and written, and that the disk has room"
    return f"{error.filename}: {reason}; {advice}" if error.filename else f"a file can't be used ({reason}); {advice}"


def give_up_output() -> None:
    """What is not written yet goes nowhere: nobody takes it, and Python must not try when it ends."""
    with suppress(OSError):  # no file, where tests look on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def leave_at_once(code: int = 0) -> None:
    """Ends the process without taking models, store and threads apart piece by piece.

    Raises:
        OutputLost, BrokenPipeError: what is left for standard output can't be written.
    """
    sys.stdout.flush()
    with suppress(OSError):
        if sys.stderr.isatty():
            sys.stderr.write("\x1b[?25h")  # a progress bar may have hidden the cursor
        sys.stderr.flush()
    os._exit(code)
