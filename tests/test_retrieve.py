"""Retrieval: siblings, languages, candidates, confidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.calibration import Calibration, calibration_file, find_calibration, read_calibration
from assistant.errors import InputError
from assistant.pipeline import Assistant
from assistant.records import Question

SAME = {  # one question in four languages that the same section answers
    "zh-Hans": "集群只用到一半，按小时付的钱会少吗？",
    "ja": "利用率が低いクラスターでも1時間の費用は同じ？",
    "es": "¿Un clúster a medio usar cuesta menos por hora?",
    "en": "Does a half idle cluster cost less per hour?",
}


@pytest.mark.parametrize("corpus_language", list(SAME))
@pytest.mark.parametrize("asked_language", list(SAME))
def test_the_sibling_in_the_askers_language_is_shown(
    real_assistant: Assistant, asked_language: str, corpus_language: str
) -> None:
    """The same section answers in each language, and a reader of another one gets that language's sibling."""
    hits = real_assistant.retriever.find(Question(SAME[asked_language], corpus_language)).hits
    assert hits[0].passage.language == corpus_language
    assert hits[0].passage.anchor == "cost-utilization"


def test_an_unknown_language_follows_its_declared_chain(real_assistant: Assistant) -> None:
    """Portuguese falls back to Spanish, Korean to English, as their files declare."""
    find = real_assistant.retriever.find
    assert find(Question(SAME["es"], "pt")).hits[0].passage.language == "es"
    assert find(Question(SAME["en"], "ko")).hits[0].passage.language == "en"


def test_scores_are_ordered_and_confidence_is_a_probability(real_assistant: Assistant) -> None:
    """Hits come best first; the confidence lies in 0..1 and is the question's, the same on every hit."""
    for language, text in SAME.items():
        hits = real_assistant.retriever.find(Question(text, language)).hits
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert len({hit.confidence for hit in hits}) == 1
        assert 0 <= hits[0].confidence <= 1


def test_each_family_appears_once(real_assistant: Assistant) -> None:
    """Four translations of one passage are one candidate."""
    families = real_assistant.retriever.candidates(Question(SAME["en"], "en")).families
    assert len({family.name for family in families}) == len(families)


def test_every_learned_signal_is_computed(real_assistant: Assistant) -> None:
    """The calibration names exactly the signals that retrieval gives, so none is learned and then ignored."""
    signals = real_assistant.retriever.candidates(Question(SAME["ja"], "ja")).signals
    assert set(read_calibration().confidence) == {*signals, "bias"}


def test_a_broken_calibration_is_named(tmp_path: pytest.TempPathFactory) -> None:
    """A calibration file with a missing number is refused by file and field."""
    file = tmp_path / "calibration.json"  # type: ignore[operator]
    file.write_text('{"provenance": "x", "fusion": {"body": 1}}')
    with pytest.raises(InputError, match=r"calibration\.json: fusion\.lexical"):
        read_calibration(file)


def test_probability_grows_with_a_positive_signal() -> None:
    """The logistic model is monotone in each signal, in the direction of its weight."""
    made = Calibration(
        provenance="test",
        fusion={"body": 1, "lexical": 1, "topic": 1},  # type: ignore[arg-type]  # pydantic converts
        short_fusion={"body": 1, "lexical": 1, "topic": 1},  # type: ignore[arg-type]  # likewise
        confidence={"bias": -1, "body": 2, "elsewhere": -3},
        answered=0.5,
        related=0.2,
        close=1,
    )
    assert made.probability({"body": 1, "elsewhere": 0}) > made.probability({"body": 0, "elsewhere": 0})
    assert made.probability({"body": 1, "elsewhere": 1}) < made.probability({"body": 1, "elsewhere": 0})


def test_another_model_has_its_own_calibration(tmp_path: Path) -> None:
    """What was learned for a model is used with it alone; a model nothing was learned for uses the bundled one's."""
    own = read_calibration().model_copy(update={"answered": 0.77})
    file = calibration_file(tmp_path, "another model")
    file.parent.mkdir()
    file.write_text(own.model_dump_json(), encoding="utf-8")
    assert find_calibration(tmp_path, "another model").answered == 0.77
    assert find_calibration(tmp_path, "a third model") == read_calibration()
