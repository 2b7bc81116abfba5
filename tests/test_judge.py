"""The judge of replies: right for the right reason, in any language."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.records import Answer, Citation, Outcome, Passage
from evals.cases import Case, Fact
from evals.judge import Verdict, judge
from evals.report import reasons

FACTS = {
    "other": Fact(seed_lines=[77], anchors=["elsewhere"], says={}),
    "amount": Fact(
        seed_lines=[2],
        anchors=["intro"],
        says={
            "en": ["up to $300,000"],
            "es": ["hasta 300.000"],
            "ja": ["最大30万ドル"],
            "zh-Hans": ["最高30万美元"],
        },
    ),
}
TEXTS = {
    "en": "A startup can get up to $300,000.",
    "es": "Una startup puede recibir hasta 300.000 dólares.",
    "ja": "スタートアップは最大30万ドルを受け取れます。",
    "zh-Hans": "初创公司最高30万美元。",
}
LANGUAGES = list(TEXTS)


def passage(language: str, **changes: Any) -> Passage:
    """The passage that states the amount."""
    text = TEXTS[language]
    fields: dict[str, Any] = {
        "id": f"{language}/a#intro.1", "article": f"{language}/a", "anchor": "intro", "kind": "paragraph",
        "language": language, "title": "", "heading": "", "url": "", "text": text, "shown": text, "question": "",
        "context": text, "line": 9,
    }  # fmt: skip
    return Passage(**fields | changes)


def case_of(language: str, /, answerable: bool = True, **changes: Any) -> Case:
    """A case in that language that asks for the amount, or for what the articles do not say."""
    fields: dict[str, Any] = {
        "id": language,
        "text": "?",
        "kind": "short" if answerable else "unanswerable",
        "language": language,
        "outcome": "answered" if answerable else "unanswerable",
        "facts": ["amount"] if answerable else [],
    }
    return Case(**fields | changes)


def verdict(
    language: str,
    /,
    cited: Passage | None = None,
    answerable: bool = True,
    case: dict[str, Any] | None = None,
    first_ms: float = 1.0,
    **changes: Any,
) -> Verdict:
    """The verdict on a reply that cites the passage; `case` changes the case, `changes` the reply."""
    cited = cited or passage(language)
    asked = case_of(language, answerable, **case or {})
    quote = Citation(1, cited.id, "", "", "", cited.language, changes.pop("quote", cited.text))
    fields: dict[str, Any] = {
        "id": "1", "conversation_id": "1", "outcome": "answered", "language": language, "text": f"{cited.text}[1]",
        "confidence": 0.9, "citations": (quote,),
    }  # fmt: skip
    return judge(asked, Answer(**fields | changes), FACTS, {cited.id: cited}, first_ms)


@pytest.mark.parametrize("language", LANGUAGES)
def test_right_reply_is_right(language: str) -> None:
    """A reply that states the fact and cites its place is right, exact and faithful, and nothing is said against it."""
    found = verdict(language)
    assert (found.is_right, found.exact, found.faithful) == (True, True, True)
    assert reasons(found) == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"text": "300[1]"}, "states none of: amount"),
        ({"outcome": "related"}, "holds back (related); the right fact is shown"),
        ({"quote": "something else $300,000 300.000 30万"}, "a quote is no exact part of its passage"),
        ({"quote": ""}, "a quote is no exact part of its passage"),
        ({"language": "pt"}, "speaks pt, not "),
    ],
    ids=["fact missing", "held back", "quote changed", "quote empty", "other language"],
)
def test_wrong_reply_is_explained(language: str, changes: dict[str, Any], reason: str) -> None:
    """A reply that misses the fact, holds back, misquotes or speaks another language is told apart from the others."""
    assert any(line.startswith(reason) for line in reasons(verdict(language, **changes)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_invented_figure_is_unfaithful(language: str) -> None:
    """A figure that stands in no quote is found, whatever the language around it."""
    found = verdict(language, text=f"{TEXTS[language]}[1] 47 %")
    assert not found.faithful
    assert "a figure stands in no quote" in reasons(found)


def test_other_place_does_not_count() -> None:
    """The right words cited from a section that does not state the fact don't make a reply right."""
    assert not verdict("en", passage("en", anchor="other")).holds


@pytest.mark.parametrize(("line", "holds"), [(2, True), (3, False)], ids=["its line", "another line"])
def test_extracted_article_is_judged_by_line(line: int, holds: bool) -> None:
    """In an extracted article, whose anchors are derived, the line decides whether a passage states the fact."""
    assert verdict("ja", passage("ja", anchor="s4", line=line)).holds is holds


def test_other_spelling_of_chinese_counts() -> None:
    """A reply in traditional characters states a fact that the articles state in simplified ones."""
    assert verdict("zh-Hans", language="zh-Hant", text="初創公司最高30萬美元。[1]").holds


@pytest.mark.parametrize(
    ("outcome", "right"), [("answered", False), ("related", True), ("abstained", True)], ids=["claim", "near", "none"]
)
def test_unanswerable_wants_no_claim(outcome: Outcome, right: bool) -> None:
    """Where the articles say nothing, a reply is right unless it claims to answer."""
    assert verdict("es", answerable=False, outcome=outcome).is_right is right


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("demands", "lacks"),
    [
        ({"must": [["300,000", "30万", "300.000"]]}, ""),
        ({"must": ["no such words"]}, "lacks “no such words”"),
        ({"must_not": ["3"]}, "must not say “3”"),
        ({"figures": ["$300K"]}, ""),
        ({"figures": ["47 %"]}, "lacks the figure 47 %"),
        ({"no_figures": ["300000 USD"]}, "must not hold the figure 300000 USD"),
    ],
    ids=["a choice of phrases", "missing phrase", "forbidden phrase", "figure", "missing figure", "forbidden figure"],
)
def test_phrases_and_figures_are_checked(language: str, demands: dict[str, Any], lacks: str) -> None:
    """Figures count however they are written; a phrase missing or out of place makes a reply wrong, in words."""
    found = verdict(language, case=demands)
    assert found.lacks == ((lacks,) if lacks else ())
    assert found.is_right is (lacks == "")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("needs", "holds", "cited"),
    [([["amount"], ["amount", "other"]], True, 2), ([["amount"], ["other"]], False, 1), ([["other"]], False, 0)],
    ids=["both", "one of two", "none"],
)
def test_each_of_several_things_is_needed(language: str, needs: list[list[str]], holds: bool, cited: int) -> None:
    """Where a message asks for several things, all must be stated; each that has its place cited counts as recalled."""
    found = verdict(language, case={"needs": needs, "facts": []})
    assert (found.holds, found.cited, found.needed) == (holds, cited, len(needs))
    assert found.right_citations == int(cited > 0)


@pytest.mark.parametrize(("anchor", "holds"), [("intro", True), ("other", False)], ids=["its section", "another"])
def test_section_can_be_named_instead_of_facts(anchor: str, holds: bool) -> None:
    """A case that names sections wants one of them cited, whatever is said."""
    assert verdict("ja", passage("ja", anchor=anchor), case={"facts": [], "anchors": ["intro"]}).is_right is holds


@pytest.mark.parametrize(
    ("expected", "outcome", "fits"),
    [
        ("social", "social", True),
        ("social", "abstained", False),
        ("handover", "handover", True),
        (["clarify", "abstained"], "clarify", True),
        ("unanswerable", "related", True),
        ("unanswerable", "social", False),
    ],
    ids=["greeted", "greeting not heard", "a person", "one of two", "near", "small talk"],
)
def test_outcome_is_one_that_is_right(expected: str | list[str], outcome: Outcome, fits: bool) -> None:
    """The reply must be of a kind that the case allows; `unanswerable` allows any that claims nothing."""
    found = verdict("es", answerable=False, case={"outcome": expected}, outcome=outcome)
    assert (found.fits, found.is_right) == (fits, fits)
