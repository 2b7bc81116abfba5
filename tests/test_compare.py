"""Reports and their comparison: measures by group, worse only beyond chance, a page that is whole and harmless."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from evals.compare import Change, beyond_chance, regressions
from evals.judge import Verdict
from evals.measures import CHECKS, bins, calibration_error, measure
from evals.page import as_html
from evals.report import make_report
from tests.test_judge import LANGUAGES, TEXTS, verdict

WHAT = {"set": "heldout", "articles": "the corpus", "model": "test", "made": "now"}


def asked(language: str, right: int, wrong: int, **changes: Any) -> list[Verdict]:
    """Verdicts on so many right and wrong replies, each on a case of its own, numbered from the right ones."""
    wrong_one = {"text": "?[1]"} | changes
    return [
        verdict(language, case={"id": f"{language}-{number}"}, **({} if number < right else wrong_one))
        for number in range(right + wrong)
    ]


def report(verdicts: Sequence[Verdict], **named: Any) -> dict[str, Any]:
    """The report on verdicts."""
    return make_report(verdicts, WHAT, **named)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("before", "now", "worse"),
    [(18, 18, False), (18, 16, False), (18, 8, True), (10, 18, False)],
    ids=["same", "chance", "far", "better"],
)
def test_regression_is_more_than_chance(language: str, before: int, now: int, worse: bool) -> None:
    """A drop that a fair coin could make is none; one it could not is named with what changed, by language and kind."""
    found = regressions(report(asked(language, now, 20 - now)), report(asked(language, before, 20 - before)))
    assert bool(found) is worse
    if worse:
        assert f"all: right got worse in {before - now} of 20 cases and better in 0 (p = 0.0010)" in found
        assert {line.partition(":")[0] for line in found} == {"all", language, "short"}


def test_cases_are_compared_in_pairs() -> None:
    """As many cases may get worse as get better: the share alone does not decide, and one-sidedness is kept."""
    before = report(asked("ja", 20, 20))
    swapped = [replace(one, case=one.case.model_copy(update={"id": f"ja-{(n + 20) % 40}"})) for n, one in
               enumerate(asked("ja", 20, 20))]  # fmt: skip
    assert regressions(report(swapped), before) == []


def test_only_shared_cases_count() -> None:
    """New cases that fail and old ones that are gone are no regression; a slice can be compared with a whole run."""
    before = report(asked("zh-Hans", 40, 0))
    assert regressions(report(asked("zh-Hans", 5, 0)), before) == []
    assert regressions(report([*asked("zh-Hans", 40, 0), *asked("es", 0, 40)]), before) == []


def test_many_tests_share_the_level() -> None:
    """With many groups a chance that one test alone would allow is not enough (Holm's method)."""
    borderline, clear = Change("ja", "right", 5, 0, 20), Change("es", "right", 12, 0, 20)
    nothing = [Change(str(number), "right", 1, 1, 20) for number in range(30)]
    assert borderline.chance == pytest.approx(0.03125)
    assert beyond_chance([borderline]) == [borderline]
    assert beyond_chance([borderline, clear, *nothing]) == [clear]


def test_guarantee_allows_no_lapse() -> None:
    """One inexact quote among many is a regression and its case is named; one that was there before is not."""
    broken = asked("en", 199, 1, text=f"{TEXTS['en']}[1]", quote="$300,000!")
    found = regressions(report(broken), report(asked("en", 200, 0)))
    assert found == ["all: exact no longer holds in en-199"]
    assert regressions(report(broken), report(broken)) == []


def test_report_survives_json() -> None:
    """A report written as JSON and read back compares as the same: that is what a baseline is."""
    found = report(asked("es", 9, 1))
    assert regressions(found, json.loads(json.dumps(found))) == []
    assert set(found["languages"]["all"]["sizes"]) == set(CHECKS)


def test_measures_by_hand() -> None:
    """Precision and recall of citations and of abstention, on verdicts that can be counted by hand."""
    group = [
        verdict("ja"),
        verdict("es", text="x[1]"),
        verdict("en", outcome="abstained", citations=()),
        verdict("zh-Hans", answerable=False, outcome="abstained", citations=()),
        verdict("ja", answerable=False),
        verdict("es", answerable=False, case={"kind": "greeting", "outcome": "social"}, outcome="social", citations=()),
    ]
    found = measure(group)
    assert found["right"] == pytest.approx(3 / 6, abs=1e-4)
    assert found["outcome"] == pytest.approx(4 / 6, abs=1e-4)
    assert found["citation_precision"] == pytest.approx(2 / 3, abs=1e-4)
    assert found["citation_recall"] == pytest.approx(2 / 3, abs=1e-4)
    assert found["abstention_precision"] == 0.5
    assert found["abstention_recall"] == 0.5
    assert found["sizes"]["refused"] == 2
    assert found["first_ms"] == 1.0


def test_what_is_not_there_is_not_measured() -> None:
    """A group without answerable or unanswerable cases has no share of them, instead of a perfect one."""
    assert measure([verdict("ja")])["refused"] is None
    assert measure([verdict("ja", answerable=False, outcome="abstained")])["states"] is None


def test_calibration_error_by_hand() -> None:
    """Two bins, one off by .1 and one by .4, weighted by their sizes; greetings have no part in it."""
    group = [verdict("ja", confidence=0.9)] * 3
    group += [verdict("es", answerable=False, confidence=0.4, outcome="related")]
    group += [verdict("es", answerable=False, case={"kind": "thanks", "outcome": "social"}, confidence=1.0)]
    assert bins(group) == [
        {"confidence": 0.4, "answerable": 0.0, "questions": 1},
        {"confidence": 0.9, "answerable": 1.0, "questions": 3},
    ]
    assert calibration_error(bins(group)) == pytest.approx((3 * 0.1 + 0.4) / 4)
    assert calibration_error([]) is None


def test_worst_comes_first() -> None:
    """Broken guarantees come before wrong claims, confident ones first, and these before what was held back."""
    broken = verdict("en", quote="no")
    bold, timid = (verdict("es", text="x[1]", confidence=sure) for sure in (0.9, 0.6))
    held = verdict("ja", outcome="abstained", confidence=0.1)
    listed = report([held, timid, bold, broken])["failed"]
    assert [(row["language"], row["confidence"]) for row in listed] == [
        ("en", 0.9),
        ("es", 0.9),
        ("es", 0.6),
        ("ja", 0.1),
    ]


def test_known_failure_that_passes_is_named() -> None:
    """A known failure is marked as such where it fails and reported where it passes."""
    found = report(asked("ja", 1, 1), known={"ja-0": "slang", "ja-1": "a typing error"})
    assert found["passing"] == ["ja-0"]
    assert [row["known"] for row in found["failed"]] == ["a typing error"]


@pytest.mark.parametrize("language", [*LANGUAGES, "ar"])
def test_page_is_whole_and_harmless(language: str) -> None:
    """The page shows question, reply, evidence and reason, escapes them all, and loads nothing from elsewhere."""
    evil = "<script>alert(1)</script>\"'><img src=x>"
    source = language if language in TEXTS else "en"
    found = verdict(
        source, text=evil, language=language, case={"language": language, "text": evil, "history": [evil], "id": evil}
    )
    matrix = {language: {"en": 0.5, "ja": 1.0}}
    shown = as_html(report([found], known={evil: evil}, matrix=matrix), [f"{language}: {evil}"])
    assert "<script" not in shown
    assert "<img" not in shown
    assert shown.count("&lt;script&gt;") >= 6
    assert all(word in shown for word in ("states none of: amount", "a#intro.1", "Worse than the baseline"))
    assert shown.count("<svg") == 4
    assert not any(word in shown for word in ("http:", "https:", "url(", "@import", "<link"))
    assert (f'lang="{language}" dir="rtl"' in shown) is (language == "ar")
