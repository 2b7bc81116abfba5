"""Progress bars on stderr, for people only.

In: stages with the share of them that is done. Out: one bar a stage, gone when all is done.
Never: draws where stderr is no terminal, or imports the drawing before there is anything to draw.
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

NAMES = {
    "topics": "embedding usual questions",
    "read": "reading articles",
    "embed": "embedding articles",
    "index": "storing",
    "done": "model ready",
}


class Progress:
    """A context manager that gives a function `report(stage, share)`, share being 0..1."""

    def __init__(self) -> None:
        self._bars: Bars | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, stage: str, share: float) -> None:
        """Reports that `share` of a stage is done."""
        if not sys.stderr.isatty():
            return
        if self._bars is None:
            self._bars = _bars()
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(NAMES.get(stage, stage), total=1.0)
        self._bars.update(self._tasks[stage], completed=share)


def _bars() -> Bars:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    name = TextColumn("{task.description}")
    columns = (SpinnerColumn(), name, BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    bars = Progress(*columns, console=Console(stderr=True), transient=True)
    bars.start()
    return bars
