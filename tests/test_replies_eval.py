"""What is measured of the staff desk's replies: additions to sentences, drafts to tickets; and that it can fail."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from assistant.bootstrap import build_drafter
from assistant.drafts import Drafter
from assistant.letter import Letter, Part
from assistant.pipeline import Assistant
from assistant.recheck import Line
from evals.appended import mark_all, read_appended, shares
from evals.drafted import measure_drafts
from evals.tickets import read_tickets

LANGUAGES = ("en", "es", "ja", "zh-Hans")
# Set -> language -> least share of additions marked, most of rephrasings marked: as measured, one sentence off.
FLOORS = {
    "tuning": {"en": (0.95, 0.15), "es": (0.95, 0.05), "ja": (0.85, 0.05), "zh-Hans": (0.9, 0.1)},
    "heldout": {"en": (0.95, 0.1), "es": (0.9, 0.15), "ja": (0.85, 0.25), "zh-Hans": (0.85, 0.05)},
}


@pytest.fixture(scope="module")
def drafter(real_assistant: Assistant) -> Drafter:
    return build_drafter(real_assistant)


@pytest.mark.parametrize("language", LANGUAGES)
def test_forty_of_each_are_there(language: str) -> None:
    """Each language has forty additions and forty rephrasings, half of each held out, of other passages."""
    rows = read_appended(languages=[language])
    assert Counter((row.set, row.adds) for row in rows) == dict.fromkeys(
        [("tuning", True), ("tuning", False), ("heldout", True), ("heldout", False)], 20
    )
    tuning, heldout = ({row.passage_id for row in rows if row.set == name} for name in FLOORS)
    assert tuning.isdisjoint(heldout)


@pytest.mark.parametrize("language", LANGUAGES)
def test_additions_are_marked_and_rephrasings_are_not(drafter: Drafter, language: str) -> None:
    """As many additions are marked, and as few rephrasings, as when it was last measured."""
    marked = mark_all(drafter, read_appended(languages=[language]))
    wrong = [(one.edited.text, one.reasons) for one in marked if not one.is_right]
    for (name, _), (added, same) in shares(marked).items():
        least, most = FLOORS[name][language]
        assert added >= least, wrong
        assert same <= most, wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_of_a_draft_is_supported_or_marked(drafter: Drafter, language: str) -> None:
    """Of drafts to the tuning tickets no sentence is neither; what articles answer is answered, the rest left open."""
    cases = [case for case in read_tickets() if case.language == language]
    [own, _] = measure_drafts(cases, drafter, ["tuning"])["measures"]
    assert own["sentences"] == own["supported"] + own["marked"] > 10
    assert own["neither"] == 0
    assert own["left open"] == own["unanswerable"] > 0
    assert own["answered"] == own["answerable"] > 0


class Trusting:
    """A drafter whose desk calls everything supported by the first passage that it was given."""

    def __init__(self, drafter: Drafter) -> None:
        self._drafter = drafter

    def write(self, message: str) -> Letter:
        letter = self._drafter.write(message)
        parts = tuple(replace(one, text=f"{one.text} 100%!") if one.kind == "answer" else one for one in letter.parts)
        return replace(letter, parts=parts)

    def check(self, letter: Letter, part: Part) -> list[Line]:
        passage = self._drafter.retriever.passages(letter.asks[0].evidence[:1])[0]
        return [Line(part.text, "supported", "", passage, passage.text)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_desk_that_marks_nothing_is_found_out(drafter: Drafter, language: str) -> None:
    """What the desk calls supported is read again in the passage that it names."""
    case = next(case for case in read_tickets() if case.language == language and case.set == "tuning")
    [own, _] = measure_drafts([case], Trusting(drafter), ["tuning"])["measures"]  # type: ignore[arg-type]
    assert own["neither"] == own["sentences"] > 0
