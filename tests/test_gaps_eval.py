"""The simulated month: the same each time, of the right half, and scored as its README says."""

from __future__ import annotations

from collections import Counter

import pytest

from evals.gaps import SETS, Simulated, score, simulate


def month(*rows: tuple[str, str, int]) -> list[Simulated]:
    return [Simulated(topic, language, "q") for topic, language, count in rows for _ in range(count)]


def test_a_month_is_the_same_each_time() -> None:
    """The same seed gives the same questions, another seed others."""
    assert simulate("reported", 300) == simulate("reported", 300) != simulate("reported", 300, seed=2)


def test_halves_share_no_subject() -> None:
    """What tunes the clustering is not what is reported; what is asked once is in both."""
    tuning, reported = ({one.topic for one in simulate(half, 1500)} for half in list(SETS)[:2])
    assert {name for name in tuning & reported if not name.startswith("once-")} == set()
    assert len(tuning) > 80
    assert len(reported) > 80


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
def test_every_language_is_asked(language: str) -> None:
    """A month has many questions in each language, most of them in words of their own."""
    asked = [one.text for one in simulate("all") if one.language == language]
    assert len(asked) > 500
    assert len(set(asked)) > 300


def test_a_perfect_row_scores_full() -> None:
    """Each subject in one row of its own is pure, gathered, and one row."""
    asked = month(("a", "en", 3), ("a", "ja", 3), ("a", "zh-Hans", 3), ("b", "es", 2))
    found = score(asked, [one.topic for one in asked])
    assert (found.purity, found.gathered, found.several, found.one_row, found.rows) == (1.0, 1.0, 1, 1, 2)


def test_a_language_apart_is_not_one_row() -> None:
    """Rows by language are pure, but no subject is one row."""
    asked = month(("a", "en", 4), ("a", "ja", 3), ("a", "zh-Hans", 3))
    found = score(asked, [one.language for one in asked])
    assert (found.purity, found.gathered, found.one_row) == (1.0, 0.4, 0)


def test_everything_in_one_row_is_impure() -> None:
    """One row for all gathers everything, and is only as pure as its largest subject."""
    asked = month(("a", "en", 3), ("b", "ja", 7))
    found = score(asked, ["1"] * 10)
    assert (found.purity, found.gathered) == (0.7, 1.0)
    assert Counter(one.topic for one in asked)["b"] == 7
