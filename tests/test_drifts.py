"""Drifts of the corpus: each in a section of its own, the same with every run, and counted as they should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.ledger import Finding, Place
from assistant.records import Article
from evals.drifts import drift_corpus
from evals.parity import parity_reached, parity_shares

CORPUS = Path(__file__).parent.parent / "corpus"


@pytest.mark.parametrize("name", ["tuning", "held"])
def test_sixty_drifts_in_sections_of_their_own(name: str, tmp_path: Path) -> None:
    """A set drifts 60 sections, 15 a language, no section of a language twice, and the same ones with the same seed."""
    drifts = drift_corpus(CORPUS, tmp_path / "one", name, 1)
    assert drifts == drift_corpus(CORPUS, tmp_path / "two", name, 1)
    assert len({(drift.language, drift.anchor) for drift in drifts}) == 60
    for code in ("en", "es", "ja", "zh-Hans"):
        assert sum(drift.language == code for drift in drifts) == 15


@pytest.mark.parametrize("code", ["en", "es", "ja", "zh-Hans"])
def test_one_language_drifts_alone(code: str, tmp_path: Path) -> None:
    """Asked for one language, the others stay as they are."""
    drift_corpus(CORPUS, tmp_path / "copy", "tuning", 2, code)
    for file in CORPUS.glob("*/*.md"):
        other = tmp_path / "copy" / file.relative_to(CORPUS)
        same = file.read_text(encoding="utf-8") == other.read_text(encoding="utf-8")
        assert same == (file.parent.name != code)


@pytest.mark.parametrize(("found", "clean", "good"), [(57, 2, True), (56, 2, False), (60, 3, False)])
def test_aims(found: int, clean: int, good: bool) -> None:
    """Fewer than .95 of the held-out drifts, or more than two findings on the clean corpus, are not good enough."""
    run = {"set": "held", "drifted": "ja", "drifts": 60, "found": found}
    result = {"clean": ["finding"] * clean, "runs": [run]}
    assert parity_reached(result) == good
    assert parity_shares(result) == {("held", "one language a copy"): (found, 60)}


def test_finding_shows_what_it_is_about() -> None:
    """The excerpt of a long text is cut around what is meant."""
    text = "あ" * 300 + "watching" + "い" * 300
    place = Place(Article("ja/a", "a.md", "", "ja", "", "", ()), "x", 1, text)
    assert "watching" in Finding("word", place, "watching", "").place.excerpt("watching")
    assert len(place.excerpt("watching")) < 200
