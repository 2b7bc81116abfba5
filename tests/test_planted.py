"""The judge of phrased sentences on the planted set: falsehoods of every kind, and true sentences in free words."""

from __future__ import annotations

from collections import Counter

import pytest

from assistant.claims import Judge
from assistant.pipeline import Assistant
from evals.planted import TRUE, Outcome, judge_planted, read_planted, shares

# Set -> language -> least share of falsehoods caught, most of true sentences dropped: as measured, with a margin of one
# or two sentences. The aim is .95 and .05; on sentences that nothing was set on the judge is far from it.
FLOORS = {
    "tuning": {"en": (0.98, 0.05), "es": (0.98, 0.03), "ja": (0.95, 0.06), "zh-Hans": (0.98, 0.05)},
    "heldout": {"en": (0.82, 0.5), "es": (0.87, 0.5), "ja": (0.75, 0.57), "zh-Hans": (0.82, 0.47)},
}
LANGUAGES = ("en", "es", "ja", "zh-Hans")


@pytest.fixture(scope="module")
def outcomes(real_assistant: Assistant) -> dict[str, list[Outcome]]:
    judge = Judge(real_assistant.retriever.index, real_assistant.retriever.embedder, real_assistant.detector)
    return {name: judge_planted(judge, read_planted(name)) for name in FLOORS}


def test_the_planted_set_is_large_enough() -> None:
    """At least 300 sentences; in each language 40 true ones or more, and the same kinds of falsehood."""
    rows = [row for name in FLOORS for row in read_planted(name)]
    assert len(rows) >= 300
    true = Counter(row.language for row in rows if row.kind == TRUE)
    assert set(true) == set(LANGUAGES)
    assert min(true.values()) >= 40
    kinds = {language: {row.kind for row in rows if row.language == language} for language in LANGUAGES}
    assert len({frozenset(found) for found in kinds.values()}) == 1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["tuning", "heldout"])
def test_falsehoods_are_caught_and_true_sentences_pass(
    outcomes: dict[str, list[Outcome]], name: str, language: str
) -> None:
    """In each language as many falsehoods are caught, and as many true sentences pass, as when it was last measured."""
    least_caught, most_dropped = FLOORS[name][language]
    caught, dropped = shares(outcomes[name])[language]
    wrong = [(row.planted.text, row.reason) for row in outcomes[name] if not row.is_right]
    assert caught >= least_caught, wrong
    assert dropped <= most_dropped, wrong
