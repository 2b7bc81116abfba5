"""The eval cases: complete, consistent with the facts, and refused with file and line where they are not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from assistant.errors import InputError
from assistant.wording import Wordings
from evals.cases import SETS, read_cases, read_facts, read_known_failures, set_names

MAIN = ("zh-Hans", "ja", "es", "en")
CORPUS = Path(__file__).parent.parent / "corpus"
GOOD = '- {id: a, text: "What is it?", kind: short, outcome: answered, facts: [max-amount]}\n'


@pytest.mark.parametrize("name", SETS)
def test_every_main_language_has_both_kinds(name: str) -> None:
    """Each set asks at least 50 questions in each main language, some of which the articles don't answer."""
    for language in MAIN:
        cases = read_cases(name, [language])
        assert len(cases) >= 50
        assert sum(not case.is_answerable for case in cases) >= 10


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
        (GOOD.replace("outcome: answered", "outcome: unanswerable"), "unanswerable must have no facts"),
        (GOOD.replace("kind: short", "kind: long"), r"tuning\.yaml:1: kind: Input should be"),
        (GOOD.replace("outcome: answered", "outcome: right"), r"tuning\.yaml:1: outcome\.0: Input should be"),
        (GOOD.replace("facts: [max-amount]", "anchors: [nowhere]"), r"tuning\.yaml:1: unknown anchor nowhere"),
        (GOOD.replace("]}", "], needs: [[max-amount]]}"), r"tuning\.yaml:1: give facts or needs, not both"),
        (GOOD.replace("]}", "], figures: [many]}"), r"tuning\.yaml:1: many holds no figure"),
        (GOOD.replace("]}", "], page_language: klingon}"), r"tuning\.yaml:1: klingon is no language code"),
        (GOOD.replace("]}", "], history: just text}"), r"tuning\.yaml:1: history: Input should be"),
        (GOOD + "- {id: b, text: [", r"tuning\.yaml:\d: is no YAML"),
        (GOOD.replace("id: a", "name: a"), r"tuning\.yaml:1: "),
        (GOOD + "- just text\n", r"tuning\.yaml:2: is not a mapping"),
        ("", r"tuning\.yaml:1: holds no list of cases"),
    ],
    ids=[
        "twice",
        "unknown fact",
        "no facts",
        "too many facts",
        "kind",
        "outcome",
        "unknown anchor",
        "facts and needs",
        "no figure",
        "page language",
        "history",
        "no YAML",
        "field",
        "not a mapping",
        "empty",
    ],
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


@pytest.mark.parametrize("language", MAIN)
def test_conversation_case_is_read(tmp_path: Path, language: str) -> None:
    """A case may carry earlier messages, a page language, several needs, phrases and figures, and another language."""
    (tmp_path / language).mkdir()
    row = (
        "- {id: a, text: why, kind: switch, outcome: [answered, related],\n"
        "   needs: [[max-amount], [tracker, why-large]],\n"
        "   must: [x, [y, z]], must_not: [w], figures: [30万], history: [first, second],\n"
        "   page_language: ja, language: ko}\n"
        "- {id: b, text: hola, kind: greeting, outcome: social}\n"
    )
    (tmp_path / language / "tuning.yaml").write_text(row, encoding="utf-8")
    case, greeting = read_cases("tuning", folder=tmp_path)
    assert (case.language, case.history, case.page_language) == ("ko", ["first", "second"], "ja")
    assert (case.wanted, case.facts) == (
        [["max-amount"], ["tracker", "why-large"]],
        ["max-amount", "tracker", "why-large"],
    )
    assert sorted(case.allowed) == ["answered", "related"]
    assert sorted(greeting.allowed) == ["social"]
    assert (greeting.language, greeting.is_answerable) == (language, False)


def test_same_words_may_follow_other_words(tmp_path: Path) -> None:
    """A message counts as a repetition only where what was said before is the same, too."""
    (tmp_path / "es").mkdir()
    first, second = GOOD.replace("]}", "], history: [x]}"), GOOD.replace("id: a", "id: b")
    (tmp_path / "es" / "tuning.yaml").write_text(first + second, encoding="utf-8")
    assert len(read_cases("tuning", folder=tmp_path)) == 2


def test_slice_is_spread_and_stable() -> None:
    """A slice holds that share of every language's cases, from all over the file, the same each time."""
    whole, part = read_cases("heldout"), read_cases("heldout", share=0.2)
    assert part == read_cases("heldout", share=0.2)
    assert {case.language for case in part} == {case.language for case in whole}
    english = [case.id for case in whole if case.language == "en"]
    places = [english.index(case.id) for case in part if case.language == "en"]
    assert len(places) == round(len(english) * 0.2)
    assert max(places) > len(english) * 0.7


def test_all_sets_are_in_order() -> None:
    """Every case file there is passes the checks, and no id stands in two of them."""
    assert set(SETS) <= set(set_names())
    assert read_cases(set_names())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("no-such-case: slang\n", "no case has the id no-such-case; remove the entry"),
        ("a:\n", "must hold lines of"),
        ("- a\n", "must hold lines of"),
        ("a: [", "is no YAML"),
    ],
    ids=["unknown", "no reason", "a list", "no YAML"],
)
def test_bad_known_failures_are_named(tmp_path: Path, content: str, reason: str) -> None:
    """A list of known failures that names an unknown case, or gives no reason, is refused with one sentence."""
    file = tmp_path / "known_failures.yaml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=reason):
        read_known_failures({"a"}, file)


def test_known_failures_are_read(tmp_path: Path) -> None:
    """The reason is kept by case; an empty or missing file names none."""
    file = tmp_path / "known_failures.yaml"
    assert read_known_failures({"a"}, file) == {}
    file.write_text("# nothing\n", encoding="utf-8")
    assert read_known_failures({"a"}, file) == {}
    file.write_text("a: 俗語\n", encoding="utf-8")
    assert read_known_failures({"a"}, file) == {"a": "俗語"}
