"""Running cases: what reaches the assistant, what is timed, and whose articles a question finds its answer in."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import evals.matrix
from assistant.records import Question
from assistant.settings import read_settings
from evals.cases import Case
from evals.matrix import recall_matrix
from evals.run import run_cases
from tests.fakes import REPLIES, FakeAssistant
from tests.test_judge import FACTS, LANGUAGES, case_of, passage


def case(language: str, text: str, **changes: Any) -> Case:
    """A case without facts, so that no corpus is needed."""
    return case_of(language, answerable=False, text=text, **changes)


@pytest.mark.parametrize("language", LANGUAGES)
def test_surroundings_reach_the_assistant(language: str) -> None:
    """Earlier messages and the page's language are given to the pipeline, each case as a conversation of its own."""
    fake = FakeAssistant()
    nothing = SimpleNamespace(index=SimpleNamespace(snapshot=lambda: SimpleNamespace(rows=[])))
    fake.retriever = nothing  # type: ignore[attr-defined]
    question = REPLIES[language][0]
    asked = [case(language, question, history=["a", "b"], page_language=language), case(language, question, id="2")]
    reported: list[int] = []
    verdicts = run_cases(cast("Any", fake), asked, reported.append)
    assert fake.asked[-2:] == [(question, "", language, ("a", "b")), (question, "", "", ())]
    assert [one.claims for one in verdicts] == [True, True]
    assert reported == [1, 2]
    assert all(0 < one.first_ms < 10_000 for one in verdicts)


def test_matrix_tells_questions_from_articles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each language's articles are indexed alone; a question counts where one of the first three families answers."""
    paths = {"ja": Path("ja.md"), "es": Path("es.md")}
    rows = [SimpleNamespace(passage=passage(code), path=str(path)) for code, path in paths.items()]
    parts = SimpleNamespace(index=SimpleNamespace(snapshot=lambda: SimpleNamespace(rows=rows)))
    indexed: list[list[Path]] = []

    def prepare(settings: object, articles: list[Path], *_: object) -> object:
        indexed.append(articles)
        return SimpleNamespace(settings=None, language=articles[0].stem)

    def build(_: object, parts: Any) -> object:
        answers = parts.language == "ja"  # the Japanese articles alone say it, as their third family

        def candidates(question: Question) -> object:
            others = [passage("en", anchor="other")] * (2 if question.language == "zh-Hans" else 3)
            found = [*others, passage("ja")] if answers else others
            families = [SimpleNamespace(name=str(place)) for place in range(len(found))]
            snapshot = SimpleNamespace(
                rows=[SimpleNamespace(passage=one) for one in found], families={str(n): [n] for n in range(len(found))}
            )
            return SimpleNamespace(families=families, snapshot=snapshot)

        return SimpleNamespace(retriever=SimpleNamespace(candidates=candidates))

    monkeypatch.setattr(evals.matrix, "prepare", prepare)
    monkeypatch.setattr(evals.matrix, "build", build)
    monkeypatch.setattr(evals.matrix, "read_facts", lambda: FACTS)
    monkeypatch.setattr(evals.matrix, "understood", lambda _, text, __: Question(text, text))
    asked = [case_of(code, id=code, text=code) for code in ("zh-Hans", "en")]
    with ExitStack() as stack:
        found = recall_matrix(cast("Any", parts), read_settings(), asked, stack)
    assert indexed == [[paths["es"]], [paths["ja"]]]
    assert found == {"en": {"es": 0.0, "ja": 0.0}, "zh-Hans": {"es": 0.0, "ja": 1.0}}
