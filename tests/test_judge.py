"""The judge of replies, and the report on many: right for the right reason, worse only beyond chance."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assistant.records import Answer, Citation, Outcome, Passage
from evals.cases import Case, Fact
from evals.judge import Verdict, judge
from evals.report import MEASURES, as_html, make_report, reasons, regressions

FACTS = {
    "amount": Fact(
        seed_lines=[2],
        anchors=["intro"],
        says={
            "en": ["up to $300,000"],
            "es": ["hasta 300.000"],
            "ja": ["最大30万ドル"],
            "zh-Hans": ["最高30万美元"],
        },
    )
}
TEXTS = {
    "en": "A startup can get up to $300,000.",
    "es": "Una startup puede recibir hasta 300.000 dólares.",
    "ja": "スタートアップは最大30万ドルを受け取れます。",
    "zh-Hans": "初创公司最高30万美元。",
}
LANGUAGES = list(TEXTS)
WHAT = {"set": "heldout", "articles": "the corpus", "model": "test", "made": "now"}


def passage(language: str, **changes: Any) -> Passage:
    """The passage that states the amount."""
    text = TEXTS[language]
    fields: dict[str, Any] = {
        "id": f"{language}/a#intro.1", "article": f"{language}/a", "anchor": "intro", "kind": "paragraph",
        "language": language, "title": "", "heading": "", "url": "", "text": text, "shown": text, "question": "",
        "context": text, "line": 9,
    }  # fmt: skip
    return Passage(**fields | changes)


def verdict(language: str, /, cited: Passage | None = None, answerable: bool = True, **changes: Any) -> Verdict:
    """The verdict on a reply that cites the passage; `changes` to the reply."""
    cited = cited or passage(language)
    case = Case(
        id=language,
        text="?",
        kind="short" if answerable else "unanswerable",
        language=language,
        outcome="answered" if answerable else "unanswerable",
        facts=["amount"] if answerable else [],
    )
    quote = Citation(1, cited.id, "", "", "", cited.language, changes.pop("quote", cited.text))
    fields: dict[str, Any] = {
        "id": "1", "conversation_id": "1", "outcome": "answered", "language": language, "text": f"{cited.text}[1]",
        "confidence": 0.9, "citations": (quote,),
    }  # fmt: skip
    return judge(case, Answer(**fields | changes), FACTS, {cited.id: cited})


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
        ({"language": "pt"}, "speaks pt, asked in "),
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


def report(right: int, wrong: int, **changes: Any) -> dict[str, Any]:
    """A report on so many right and wrong English replies."""
    wrong_one = {"text": "$[1]"} | changes
    return make_report([verdict("en")] * right + [verdict("en", **wrong_one) for _ in range(wrong)], WHAT)


@pytest.mark.parametrize(
    ("before", "now", "worse"),
    [((18, 2), (18, 2), False), ((18, 2), (16, 4), False), ((18, 2), (12, 8), True), ((180, 20), (160, 40), True)],
    ids=["same", "chance", "far", "many cases"],
)
def test_regression_is_more_than_chance(before: tuple[int, int], now: tuple[int, int], worse: bool) -> None:
    """A share that falls by more than two standard errors is a regression; the more cases, the less may be chance."""
    found = regressions(report(*now), report(*before))
    assert bool(found) is worse
    assert all("fell from 0.900" in line for line in found)


def test_guarantee_allows_no_lapse() -> None:
    """One inexact quote among many is a regression."""
    found = regressions(report(199, 1, text=f"{TEXTS['en']}[1]", quote="$300,000!"), report(200, 0))
    assert any(line.startswith("en: exact fell from 1.000 to 0.995") for line in found)


def test_lost_language_is_a_regression() -> None:
    """A language that is no longer measured is named."""
    before = make_report([verdict(language) for language in LANGUAGES], WHAT)
    assert "ja: no longer measured" in regressions(report(1, 0), before)


def test_report_survives_json() -> None:
    """A report written as JSON and read back compares as the same: that is what a baseline is."""
    found = report(9, 1)
    assert regressions(found, json.loads(json.dumps(found))) == []
    assert set(found["languages"]["all"]["sizes"]) == set(MEASURES)


def test_worst_comes_first() -> None:
    """Broken guarantees come before wrong claims, confident ones first, and these before what was held back."""
    broken = verdict("en", quote="no")
    bold, timid = (verdict("es", text="x[1]", confidence=sure) for sure in (0.9, 0.6))
    held = verdict("ja", outcome="abstained", confidence=0.1)
    listed = make_report([held, timid, bold, broken], WHAT)["failed"]
    assert [(row["language"], row["confidence"]) for row in listed] == [
        ("en", 0.9),
        ("es", 0.9),
        ("es", 0.6),
        ("ja", 0.1),
    ]


def test_page_is_whole_and_harmless() -> None:
    """The page shows question, reply, evidence and reason, escapes them, and loads nothing from elsewhere."""
    shown = as_html(report(1, 1, text="<script>alert(1)</script>"), ["en: right fell"])
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert all(word in shown for word in ("states none of: amount", "en/a#intro.1", "Worse than the baseline"))
    assert "http" not in shown
    assert "src=" not in shown
