"""Which language's articles a question in each language finds its answer in.

In: Parts over all articles, Cases. Out: recall by language of the question and of the articles. Never: lets articles of
two languages into one index.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from assistant.bootstrap import Parts, build
from assistant.follow import gather
from assistant.pipeline import Assistant
from assistant.records import Turn
from assistant.settings import Settings
from evals.cases import Case, read_facts
from evals.judge import stands_in
from evals.prepare import prepare
from evals.retrieval import asked_as_one, understood

FIRST = 3  # families: as many as an answer shows at most
Matrix = dict[str, dict[str, float]]


def recall_matrix(
    parts: Parts,
    settings: Settings,
    cases: Sequence[Case],
    stack: ExitStack,
    report: Callable[[float], None] = lambda share: None,
) -> Matrix:
    """Share of questions with a place of what is asked among the first FIRST families, by [question][articles]."""
    paths: dict[str, set[Path]] = defaultdict(set)
    for row in parts.index.snapshot().rows:
        paths[row.passage.language].add(Path(row.path))
    asked = [case for case in cases if case.facts]
    matrix: Matrix = {case.language: {} for case in sorted(asked, key=lambda case: case.language)}
    for number, language in enumerate(sorted(paths)):
        own = prepare(settings, sorted(paths[language]), stack, None, parts)
        assistant = build(own.settings, parts=own)
        found: dict[str, list[bool]] = defaultdict(list)
        for done, case in enumerate(asked, 1):
            found[case.language].append(_finds(assistant, case))
            report((number + done / len(asked)) / len(paths))
        for code, hits in found.items():
            matrix[code][language] = round(sum(hits) / len(hits), 4)
    return matrix


def _finds(assistant: Assistant, case: Case) -> bool:
    facts = read_facts()
    message = understood(assistant, case.text, [Turn("user", message) for message in case.history])
    if not message.questions:
        return False
    candidates, _ = gather(asked_as_one(message, case.text), assistant.retriever)
    shown = [
        candidates.snapshot.rows[place].passage
        for family in candidates.families[:FIRST]
        for place in candidates.snapshot.families[family.name]
    ]
    return any(stands_in(facts[name], passage) for name in case.facts for passage in shown)
