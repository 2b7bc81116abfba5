"""Runs cases through the real pipeline.

In: an Assistant and Cases. Out: Verdicts with the time to the first sentence and to the whole reply.
Never: touches the pipeline's inside.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from assistant.pipeline import Assistant
from assistant.records import Answer, Spoken, Turn
from evals.cases import Case, read_facts
from evals.judge import Verdict, judge


def run_cases(
    assistant: Assistant, cases: Sequence[Case], report: Callable[[int], None] = lambda done: None
) -> list[Verdict]:
    """A verdict on each case, each asked as a conversation of its own, with the history and page it names;
    one of each language is asked before, so that times are those of a warm assistant."""
    facts = read_facts()
    rows = assistant.retriever.index.snapshot().rows
    passages = {row.passage.id: row.passage for row in rows}

    async def run() -> list[Verdict]:
        verdicts = []
        for case in {case.language: case for case in cases}.values():  # language models load at the first need
            await _ask(assistant, case)
        for number, case in enumerate(cases, 1):
            answer, first_ms = await _ask(assistant, case)
            verdicts.append(judge(case, answer, facts, passages, first_ms))
            report(number)
        return verdicts

    return asyncio.run(run())


async def _ask(assistant: Assistant, case: Case) -> tuple[Answer, float]:
    """The Answer, and the milliseconds to the first piece of it."""
    history = [Turn("user", message) for message in case.history]
    started, first_ms = time.perf_counter(), 0.0
    async for event in assistant.ask(case.text, page_language=case.page_language, history=history):
        if isinstance(event, Spoken) and not first_ms:
            first_ms = (time.perf_counter() - started) * 1000
        if isinstance(event, Answer):
            return event, first_ms
    raise AssertionError("the stream ends with an Answer")
