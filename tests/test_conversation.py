"""Conversations with the real model over the project's own corpus: history, language, parts, options, suggestions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from assistant.pipeline import Assistant
from assistant.records import Answer, Turn

FIRST = {
    "zh-Hans": "免费额度最多多少钱？",
    "ja": "クレジットは最大いくら？",
    "es": "¿Cuánto valen los créditos como máximo?",
    "en": "How much are the credits worth at most?",
}
OFF_TOPIC = {
    "zh-Hans": "明天北京会下雨吗？",
    "ja": "明日の東京の天気は？",
    "es": "¿Quién ganó el mundial de fútbol?",
    "en": "Who won the football world cup?",
}
GREETINGS = {"zh-Hans": "你好", "ja": "こんにちは", "es": "hola", "en": "hello"}


def ask(assistant: Assistant, message: str, history: Sequence[Turn] = (), page: str = "") -> Answer:
    return asyncio.run(assistant.answer(message, history=history, page_language=page))


def said(*messages: str) -> list[Turn]:
    return [Turn("user", message) for message in messages]


def cited(answer: Answer) -> list[str]:
    return [citation.passage_id for citation in answer.citations]


def anchors(answer: Answer) -> set[str]:
    return {name.split("#")[1].split(".")[0] for name in cited(answer)}


@pytest.mark.parametrize("language", FIRST)
@pytest.mark.parametrize("other", FIRST)
def test_the_language_is_the_askers(real_assistant: Assistant, language: str, other: str) -> None:
    """Whatever was spoken before and wherever the page is, the reply is in the message's language."""
    answer = ask(real_assistant, FIRST[language], said(FIRST[other]), other)
    assert answer.language == language
    assert {citation.language for citation in answer.citations} == {language}


@pytest.mark.parametrize("language", FIRST)
def test_a_greeting_gets_the_right_language(real_assistant: Assistant, language: str) -> None:
    """A greeting is answered in its language, and a question after it in the question's own."""
    greeted = ask(real_assistant, GREETINGS[language])
    assert (greeted.outcome, greeted.language) == ("social", language)
    assert ask(real_assistant, FIRST["en"], said(GREETINGS[language])).language == "en"
    assert ask(real_assistant, "Hi", (), language).language in {"en", language}


@pytest.mark.parametrize("language", FIRST)
@pytest.mark.parametrize("other", FIRST)
def test_a_standalone_question_is_not_polluted(real_assistant: Assistant, language: str, other: str) -> None:
    """After an unrelated question the same passages answer as when it is asked first."""
    assert cited(ask(real_assistant, FIRST[language], said(OFF_TOPIC[other]))) == cited(
        ask(real_assistant, FIRST[language])
    )


@pytest.mark.parametrize("language", FIRST)
def test_off_topic_after_a_good_question_is_refused(real_assistant: Assistant, language: str) -> None:
    """What the articles do not treat is not answered because the question before it was."""
    assert ask(real_assistant, OFF_TOPIC[language], said(FIRST[language])).outcome != "answered"


@pytest.mark.parametrize(
    ("language", "message"),
    [("zh-Hans", "还有其他的吗？"), ("ja", "他には？"), ("es", "¿algo más?"), ("en", "any more?"), ("en", "why?")],
)
def test_any_more_stays_with_its_topic(real_assistant: Assistant, language: str, message: str) -> None:
    """A follow-up without a subject of its own is about the question before it."""
    answer = ask(real_assistant, message, said(FIRST[language]))
    assert (answer.outcome, answer.language) == ("answered", language)
    assert cited(answer) == cited(ask(real_assistant, FIRST[language]))


@pytest.mark.parametrize(
    ("language", "command"),
    [("en", "用英文回答"), ("ja", "answer in Japanese please"), ("es", "en español"), ("zh-Hans", "中国語で")],
)
def test_a_language_that_is_asked_for_is_obeyed(real_assistant: Assistant, language: str, command: str) -> None:
    """A command alone has the question before it answered again in that language, from that language's articles."""
    before = FIRST["ja" if language == "zh-Hans" else "zh-Hans"]
    answer = ask(real_assistant, command, said(before))
    assert (answer.outcome, answer.language) == ("answered", language)
    assert {citation.language for citation in answer.citations} == {language}
    after = ask(real_assistant, before, said(before, command))
    assert after.language == language
    assert ask(real_assistant, FIRST["es"], said(before, command, before)).language == "es"


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("额度最多多少，怎么申请？", "zh-Hans"),
        ("クレジットは最大いくらですか？それと申請方法は何ですか？", "ja"),
        ("¿Cuánto valen los créditos y cómo se solicitan?", "es"),
        ("How much are the credits worth, and what are common mistakes?", "en"),
    ],
    ids=["zh", "ja", "es", "en"],
)
def test_two_questions_get_two_answers(real_assistant: Assistant, message: str, language: str) -> None:
    """Both questions of a message are searched for and answered, each from passages of its own."""
    answer = ask(real_assistant, message)
    assert (answer.outcome, answer.language) == ("answered", language)
    assert answer.trace is not None
    assert len(answer.trace.searched) == 2
    assert len(cited(answer)) >= 2


@pytest.mark.parametrize("language", FIRST)
def test_suggestions_are_answered_and_new(real_assistant: Assistant, language: str) -> None:
    """Suggestions come in the reply's language, are answered when asked, and are not what was just asked."""
    answer = ask(real_assistant, FIRST[language])
    assert 1 <= len(answer.suggestions) <= 3
    for suggestion in answer.suggestions:
        assert suggestion != FIRST[language]
        again = ask(real_assistant, suggestion, page=language)
        assert (again.outcome, again.language) == ("answered", language)
    asked = ask(real_assistant, answer.suggestions[0], page=language)
    assert answer.suggestions[0] not in asked.suggestions


def test_suggestions_follow_the_askers_spelling(real_assistant: Assistant) -> None:
    """A Traditional asker gets suggestions in Traditional script."""
    answer = ask(real_assistant, "免費額度最多多少錢？")
    assert answer.language == "zh-Hant"
    assert answer.suggestions
    assert not set("".join(answer.suggestions)) & set("额请学这费")


@pytest.mark.parametrize("language", FIRST)
def test_a_choice_is_answered(real_assistant: Assistant, language: str) -> None:
    """An option is chosen by its text or its number, and then answered."""
    options = ask(real_assistant, FIRST[language]).suggestions
    wording = real_assistant.wordings.nearest(language)
    history = [Turn("user", "?"), Turn("assistant", wording.choose, "clarify", options)]
    for choice in ("1", options[0]):
        answer = ask(real_assistant, choice, history)
        assert (answer.outcome, answer.language) == ("answered", language)


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("转人工", "zh-Hans"),
        ("担当者につないでください", "ja"),
        ("quiero hablar con una persona", "es"),
        ("can I talk to a human?", "en"),
    ],
)
def test_a_person_can_be_asked_for(real_assistant: Assistant, message: str, language: str) -> None:
    """Asked for a person, the reply says whether and where there is one, and the record says why."""
    answer = ask(real_assistant, message)
    assert (answer.outcome, answer.language) == ("handover", language)
    assert answer.handover is not None
    assert answer.handover.reason == "asked"
    assert answer.text == real_assistant.wordings.nearest(language).nobody


@pytest.mark.parametrize(
    ("message", "page", "expected"),
    [("Jinsi ya kuomba mkopo huu?", "", "en"), ("Hur mycket får man?", "ja", None), ("Ile to kosztuje?", "", None)],
    ids=["sw", "sv", "pl"],
)
def test_a_language_without_words_of_ours(
    real_assistant: Assistant, message: str, page: str, expected: str | None
) -> None:
    """A language we have no file for falls back along the declared chain: the page's language, else the default."""
    assert ask(real_assistant, message, (), page).language == (expected or page or "en")
