"""The records: values that can be compared, copied and written as JSON, and can't be changed."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, asdict, fields, is_dataclass

import pytest

from assistant import records
from assistant.records import Answer, Citation

RECORDS = [value for value in vars(records).values() if isinstance(value, type) and is_dataclass(value)]
ANSWERS = {
    "zh": Answer(
        "1", "2", "answered", "zh-Hans", "最高30万美元。[1]", 0.9, (Citation(1, "a", "标题", "", "", "zh", "30"),)
    ),
    "ja": Answer(
        "1", "2", "answered", "ja", "最大30万ドルです。[1]", 0.9, (Citation(1, "a", "題", "", "", "ja", "30"),)
    ),
    "es": Answer("1", "2", "abstained", "es", "Los artículos no responden.", 0.1),
    "en": Answer("1", "2", "social", "en", "Hello!", 1.0),
}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_records_are_frozen(record: type) -> None:
    """No field of a record can be assigned once it is made."""
    made: object = object.__new__(record)
    with pytest.raises(FrozenInstanceError):
        setattr(made, fields(record)[0].name, "other")


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_survives_json(answer: Answer) -> None:
    """An Answer written as JSON and read back holds the same values in every script."""
    values = json.loads(json.dumps(asdict(answer), ensure_ascii=False))
    values["citations"] = tuple(Citation(**citation) for citation in values["citations"])
    values["suggestions"] = tuple(values["suggestions"])
    assert Answer(**values) == answer
