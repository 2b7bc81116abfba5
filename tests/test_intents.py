"""Greetings, thanks and wishes for a person in words that no list holds, told by the topics."""

from __future__ import annotations

import asyncio

import pytest

from assistant.pipeline import Assistant
from assistant.records import Outcome

SAID: list[tuple[str, str, Outcome]] = [
    ("en", "wow okay that really sorted me out, appreciate it", "social"),
    ("zh-Hans", "太感谢啦，这下我彻底懂了", "social"),
    ("ja", "すごく助かりました、どうもありがとうです", "social"),
    ("es", "me has ayudado un montón, se agradece", "social"),
    ("en", "I'd feel better discussing this with one of your colleagues directly, please put me through", "handover"),
    ("zh-Hans", "我还是想跟你们的工作人员当面聊，麻烦帮我转过去", "handover"),
    ("ja", "やっぱり人間の担当者さんと直接やりとりしたいです", "handover"),
    ("es", "preferiría hablarlo directamente con alguien de carne y hueso, ¿me pasas?", "handover"),
]


@pytest.mark.parametrize(("language", "text", "outcome"), SAID, ids=[f"{row[0]}-{row[2]}" for row in SAID])
def test_what_asks_nothing_is_not_answered_with_an_abstention(
    real_assistant: Assistant, language: str, text: str, outcome: Outcome
) -> None:
    """Thanks are taken as thanks and a wish for a person as one, however they are put, in the asker's language."""
    answer = asyncio.run(real_assistant.answer(text))
    assert (answer.outcome, answer.language, answer.citations) == (outcome, language, ())


@pytest.mark.parametrize(
    "text",
    [
        "Which person at AWS decides about the grant?",
        "AWS那边由谁来决定批不批额度？",
        "額度を決めるのはAWSの誰ですか？",
        "¿Quién en AWS decide si se concede la ayuda?",
    ],
    ids=["en", "zh-Hans", "ja", "es"],
)
def test_a_question_about_people_is_a_question(real_assistant: Assistant, text: str) -> None:
    """A question that only mentions people is neither thanks nor a wish for one."""
    answer = asyncio.run(real_assistant.answer(text))
    assert answer.outcome in ("answered", "related", "abstained", "clarify")
