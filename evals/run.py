"""Runs cases through the real pipeline and sums up.

In: an Assistant and Cases. Out: Verdicts, and a table by language. Never: touches the pipeline's inside.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from assistant.pipeline import Assistant
from evals.cases import Case, read_facts
from evals.judge import Verdict, judge


def run_cases(
    assistant: Assistant, cases: Sequence[Case], report: Callable[[int], None] = lambda done: None
) -> list[Verdict]:
    """A verdict on each case, each asked as a conversation of its own without a page language."""
    facts = read_facts()
    rows = assistant.retriever.index.snapshot().rows
    passages = {row.passage.id: row.passage for row in rows}

    async def run() -> list[Verdict]:
        verdicts = []
        for number, case in enumerate(cases, 1):
            verdicts.append(judge(case, await assistant.answer(case.text), facts, passages))
            report(number)
        return verdicts

    return asyncio.run(run())


def summarise(verdicts: Sequence[Verdict]) -> dict[str, dict[str, Any]]:
    """Measures by language and over all, each a share in 0..1, with the numbers of cases behind it.

    `holds`: answerable questions whose reply states a right fact; `answered`: answerable ones with outcome answered;
    `refused`: unanswerable ones abstained or related; `exact`: quotes; `faithful`: figures; `language`: the reply's.
    """
    groups: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        for name in (verdict.case.language, "all"):
            groups[name].append(verdict)
    return {name: _measures(group) for name, group in groups.items()}


def _measures(group: Sequence[Verdict]) -> dict[str, Any]:
    answerable = [verdict for verdict in group if verdict.case.facts]
    others = [verdict for verdict in group if not verdict.case.facts]
    near = [verdict for verdict in others if verdict.case.kind == "unanswerable"]
    return {
        "cases": len(group),
        "right": _share(verdict.is_right for verdict in group),
        "holds": _share(verdict.holds for verdict in answerable),
        "answered": _share(verdict.claims for verdict in answerable),
        "refused": _share(not verdict.claims for verdict in others),
        "refused_near": _share(not verdict.claims for verdict in near),
        "exact": _share(verdict.exact for verdict in group),
        "faithful": _share(verdict.faithful for verdict in group),
        "language": _share(verdict.answer.language == verdict.case.language for verdict in group),
        "citations": round(sum(len(verdict.answer.citations) for verdict in answerable) / max(len(answerable), 1), 2),
    }


def _share(values: Any) -> float:
    listed = [bool(value) for value in values]
    return round(sum(listed) / len(listed), 4) if listed else 1.0
