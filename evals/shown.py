"""Results on stdout: as tables, or as JSON.

In: a result. Out: text. Never: measures.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from rich.console import Console


def give(as_json: bool, result: object, tables: Callable[[], Sequence[object]]) -> int:
    """Writes a result as JSON or as tables; 0, for a command to end with."""
    if as_json:
        print(json.dumps(result, indent=1, ensure_ascii=False))
        return 0
    screen = console()
    for table in tables():
        screen.print(table)
    return 0


def console() -> Console:
    """Where tables are drawn: wide enough for them where the output is no terminal."""
    screen = Console(highlight=False)
    screen.width = max(screen.width, 160)
    return screen
