"""The eval cases: complete, consistent with the facts, and refused with file and line where they are not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from assistant.errors import InputError
from assistant.wording import Wordings
from evals.cases import SETS, read_cases, read_facts

MAIN = ("zh-Hans", "ja", "es", "en")
CORPUS = Path(__file__).parent.parent / "corpus"
GOOD = '- {id: a, text: "What is it?", kind: short, outcome: answered, facts: [max-amount]}\n'


@pytest.mark.parametrize("name", SETS)
def test_every_main_language_has_both_kinds(name: str) -> None:
    """Each set asks at least 50 questions in each main language, some of which the articles don't answer."""
    for language in MAIN:
        cases = read_cases(name, [language])
        assert len(cases) >= 50
        assert sum(case.outcome == "unanswerable" for case in cases) >= 10


def test_sets_share_no_question() -> None:
    """No question is in both sets, so what is learned from one is measured on the other."""
    tuning, heldout = ({(case.language, case.text.casefold()) for case in read_cases(name)} for name in SETS)
    assert not tuning & heldout


def test_case_languages_have_phrases() -> None:
    """Cases are asked only in languages in which the assistant has words of its own."""
    assert {case.language for name in SETS for case in read_cases(name)} <= set(Wordings().languages)


@pytest.mark.parametrize("language", MAIN)
def test_facts_stand_in_the_corpus(language: str) -> None:
    """Each fact has a phrase in each corpus language that stands in that language's articles, extracts aside."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in (CORPUS / language).glob("*.md")).lower()
    missing = [
        name for name, fact in read_facts().items() if not any(phrase.lower() in text for phrase in fact.says[language])
    ]
    assert not missing


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (GOOD + GOOD, r"tuning\.yaml:2: a or its text is there twice"),
        (GOOD.replace("max-amount", "no-such-fact"), r"tuning\.yaml:1: unknown fact no-such-fact"),
        (GOOD.replace("[max-amount]", "[]"), "answered needs facts"),
        (GOOD.replace("outcome: answered", "outcome: unanswerable"), "unanswerable must have none"),
        (GOOD.replace("kind: short", "kind: long"), r"tuning\.yaml:1: Input should be"),
        (GOOD.replace("id: a", "name: a"), r"tuning\.yaml:1: "),
        (GOOD + "- just text\n", r"tuning\.yaml:2: is not a mapping"),
        ("", r"tuning\.yaml:1: holds no list of cases"),
    ],
    ids=["twice", "unknown fact", "no facts", "too many facts", "kind", "field", "not a mapping", "empty"],
)
def test_bad_case_is_named(tmp_path: Path, content: str, reason: str) -> None:
    """A malformed case stops the run with one sentence that names the file, the line and what is wrong."""
    folder = tmp_path / "ja"
    folder.mkdir()
    (folder / "tuning.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=reason):
        read_cases("tuning", folder=tmp_path)


def test_missing_cases_are_named(tmp_path: Path) -> None:
    """A folder without cases of the set stops the run."""
    with pytest.raises(InputError, match="no case of the set tuning"):
        read_cases("tuning", folder=tmp_path)


@pytest.mark.parametrize("languages", [["ja"], ["ja", "ar"]], ids=["one", "two"])
def test_languages_can_be_chosen(languages: Sequence[str]) -> None:
    """Only cases in the named languages are read, all of them."""
    chosen = read_cases("heldout", languages)
    assert chosen == [case for case in read_cases("heldout") if case.language in languages]
    folder = Path(__file__).parent.parent / "evals" / "cases"
    files = [yaml.safe_load((folder / code / "heldout.yaml").read_text(encoding="utf-8")) for code in languages]
    assert len(chosen) == sum(map(len, files))
