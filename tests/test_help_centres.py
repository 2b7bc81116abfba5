"""The written help centres: their format, their spread, and their articles."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from assistant.errors import InputError
from assistant.ingest import read_article
from assistant.language import Detector
from evals.sites import HELD_OUT, read_sites, write_article


def test_the_sites_are_whole() -> None:
    """Every site has passages, questions for each of them, and questions nobody can answer, in many languages."""
    for site in [*read_sites(held_out=False), *read_sites(held_out=True)]:
        asked = Counter(fact for question in site.questions for fact in question.facts)
        assert len(site.passages) >= 12
        assert set(asked) == set(site.passages), site.name
        assert sum(not question.answerable for question in site.questions) >= 12
        assert {"en", "es", "ja", "zh-Hans"} <= {question.language for question in site.questions}


def test_three_sites_of_each_language_are_held_out() -> None:
    """The held-out sites exist, are not learned from, and are spread evenly over the languages."""
    held_out = read_sites(held_out=True)
    assert {site.name for site in held_out} == HELD_OUT
    assert not HELD_OUT & {site.name for site in read_sites(held_out=False)}
    assert Counter(site.language for site in held_out) == {"en": 3, "es": 3, "ja": 3, "zh-Hans": 3}


@pytest.mark.parametrize(
    ("line", "reason"),
    [("Q\tp9\ten\tHow?", "unknown passage p9"), ("P\tp1\tno text", "parted by tabs"), ("X\ta\tb", "parted by tabs")],
    ids=["unknown passage", "too few fields", "unknown kind"],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str, reason: str) -> None:
    """A line that can't be used is refused by file and line."""
    (tmp_path / "shop.txt").write_text(f"S\tshop\ten\ta shop\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"shop\.txt:2: .*{reason}"):
        read_sites(held_out=False, folder=tmp_path)


@pytest.mark.parametrize("name", sorted(HELD_OUT))
def test_a_site_becomes_an_article(tmp_path: Path, name: str) -> None:
    """The article of a site holds each passage under an anchor of its id."""
    site = next(site for site in read_sites(held_out=True) if site.name == name)
    article = read_article(write_article(site, tmp_path), Detector(["en", "es", "ja", "zh-Hans"]))
    assert {entry.anchor for entry in article.entries if entry.blocks} == set(site.passages)
    assert article.language == site.language
