"""The benchmark's measures as a table.

In: measures by name. Out: a table with the ratios to the tutorial stack. Never: measures anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

ANSWER_RATIO, INDEX_RATIO = "tutorial_to_answer", "tutorial_to_index"  # above 1: the assistant is faster


def speeds_table(measures: Mapping[str, Any], served: int) -> Table:
    """The table; `served` is how many questions the server had answered when its memory was read."""
    drawn = Table(title=f"{measures['questions']} questions in all languages of the cases; medians")
    for name in ("measure", "assistant", "tutorial stack", "ratio"):
        drawn.add_column(name, justify="left" if name == "measure" else "right")

    def row(label: str, unit: str, own: str, other: str = "", ratio: str = "") -> None:
        shown = [f"{measures[name]:,.2f} {unit}" if measures.get(name) is not None else "" for name in (own, other)]
        drawn.add_row(label, *shown, f"{measures[ratio]:.2f} ×" if ratio else "")

    row("a warm answer (tutorial: search alone), median", "ms", "answer_p50_ms", "tutorial_search_p50_ms", ANSWER_RATIO)
    row("the same, 95th percentile", "ms", "answer_p95_ms", "tutorial_search_p95_ms")
    row("indexing the corpus, model loaded", "s", "index_s", "tutorial_index_s", INDEX_RATIO)
    row("`assistant ask`, from nothing", "s", "ask_cold_s")
    row("server: start to ready", "s", "serve_ready_s")
    row("server: start to first answer", "s", "serve_first_answer_s")
    row("server: a warm answer over HTTP, median", "ms", "served_p50_ms")
    row(f"server: peak memory after {served} questions", "MB", "serve_peak_mb")
    row("a second `make run`: start to ready", "s", "make_run_s")
    for name in sorted(measures):
        if name.startswith(("visit", "browser", "desk")):
            row(name.replace("_", " "), "", name)
    return drawn
