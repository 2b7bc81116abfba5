"""Conversations with the real model over the project's own corpus: history, language, parts, options, suggestions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from assistant.desk import Desk
from assistant.pipeline import Assistant
from assistant.records import Answer, Turn
from assistant.settings import read_settings
from assistant.suggest import Suggestions

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
    [("zh-Hans", "为什么？"), ("ja", "それはなぜ？"), ("es", "¿por qué?"), ("en", "why?"), ("en", "how come?")],
)
def test_a_bare_question_stays_with_its_topic(real_assistant: Assistant, language: str, message: str) -> None:
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
        ("额度最多多少，有哪些常见错误？", "zh-Hans"),
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


WISHES = {
    "zh-Hans": ("转人工", "免费额度最多多少钱？可以转人工吗？"),
    "ja": ("担当者につないでください", "クレジットは最大いくらですか？担当者と話せますか？"),
    "es": ("quiero hablar con una persona", "¿Cuánto valen los créditos como máximo? ¿Puedo hablar con una persona?"),
    "en": ("can I talk to a human?", "How much are the credits worth at most? Can I talk to a human?"),
}
REACHED: dict[str, tuple[dict[str, object], str, str]] = {  # settings -> what a wish alone, and beside a question, gets
    "nobody": ({}, "nobody", "no_person"),
    "page": ({"handover_url": "https://help.example.com/contact"}, "person", "offer"),
    "e-mail": ({"handover_email": "help@example.com"}, "person", "offer"),
    "webhook": ({"handover_webhook": "https://help.example.com/hook"}, "person_told", "person_told"),
}


@pytest.mark.parametrize("language", WISHES)
@pytest.mark.parametrize("target", REACHED)
def test_a_wish_for_a_person_never_goes_without_a_word(real_assistant: Assistant, language: str, target: str) -> None:
    """Alone or beside a question, it is said where a person is, that one was told, or that nobody can be reached; after
    two abstentions a person is offered only where there is one."""
    settings, alone, beside = REACHED[target]
    desk = Desk(read_settings(**settings))
    assistant, wording = replace(real_assistant, desk=desk), real_assistant.wordings.nearest(language)
    only, both = (ask(assistant, wish) for wish in WISHES[language])
    assert (only.outcome, only.text) == ("handover", getattr(wording, alone).format(address=desk.address))
    assert both.outcome != "handover"
    assert both.text.endswith("\n\n" + getattr(wording, beside).format(address=desk.address))
    history = [Turn("user", "?"), Turn("assistant", wording.abstained, "abstained")]
    twice = ask(assistant, OFF_TOPIC[language], history)
    assert twice.outcome == "abstained"
    assert bool(twice.handover) is (target != "nobody")
    offered = "" if target == "nobody" else "\n\n" + getattr(wording, beside).format(address=desk.address)
    assert twice.text == wording.abstained + offered


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


MISTAKES = {
    "zh-Hans": ("使用 Trainium 额度有哪些常见错误？", "还有吗？"),
    "ja": ("Trainiumクレジットでよくある間違いは？", "他には？"),
    "es": ("¿Cuáles son los errores comunes con los créditos?", "¿algo más?"),
    "en": ("What are common mistakes with Trainium credits?", "any more?"),
}


@pytest.mark.parametrize("language", MISTAKES)
def test_any_more_gives_what_was_not_shown(real_assistant: Assistant, language: str) -> None:
    """Asked for more, the reply goes on with the same subject: points of a list in full, then others, none twice."""
    question, more = MISTAKES[language]
    first = ask(real_assistant, question)
    second = ask(real_assistant, more, said(question))
    third = ask(real_assistant, more, said(question, more))
    assert (first.outcome, second.outcome, second.language) == ("answered", "answered", language)
    assert any(anchor.startswith("mistake") for anchor in anchors(second))
    assert second.text not in first.text
    assert not set(cited(second)) & set(cited(third))


@pytest.mark.parametrize(
    ("language", "question", "elliptic", "anchor"),
    [
        ("ja", "アクセラレータの料金はどう請求されますか？", "ストレージは？", "cost-storage"),
        ("zh-Hans", "加速器费用怎么计费？", "那存储呢？", "cost-storage"),
        ("es", "¿Cómo se factura el gasto en aceleradores?", "¿y el almacenamiento?", "cost-storage"),
        ("en", "How is accelerator spending billed?", "and storage?", "cost-storage"),
    ],
)
def test_an_ellipsis_is_completed(
    real_assistant: Assistant, language: str, question: str, elliptic: str, anchor: str
) -> None:
    """A subject alone, with a particle or "and", is asked about as the question before asked."""
    answer = ask(real_assistant, elliptic, said(question))
    assert (answer.outcome, answer.language) == ("answered", language)
    assert anchor in anchors(answer)


@pytest.mark.parametrize(
    ("message", "part"),
    [
        ("额度最多多少？明天北京会下雨吗？", "明天北京会下雨吗？"),
        ("クレジットは最大いくらですか？明日の東京の天気はどうですか？", "明日の東京の天気はどうですか？"),
        ("¿Cuánto valen los créditos? ¿Quién ganó el mundial de fútbol?", "¿Quién ganó el mundial de fútbol?"),
        ("How much are the credits worth? Who won the football world cup?", "Who won the football world cup?"),
    ],
    ids=["zh", "ja", "es", "en"],
)
def test_the_part_without_an_answer_is_named(real_assistant: Assistant, message: str, part: str) -> None:
    """Of two questions the one that the articles do not answer is named, in the asker's language."""
    answer = ask(real_assistant, message)
    wording = real_assistant.wordings.nearest(answer.language)
    assert answer.outcome == "answered"
    assert answer.text.startswith(wording.partly.format(part=part))


@pytest.mark.parametrize("language", FIRST)
def test_suggestions_are_verified_behind(real_assistant: Assistant, language: str) -> None:
    """Once the work goes on behind, a reply asks the index nothing for its suggestions, and has the same ones."""
    behind = Suggestions(real_assistant.retriever)
    behind.work_behind()
    deadline = time.monotonic() + 60
    while not behind.is_idle() and time.monotonic() < deadline:
        time.sleep(0.05)
    told = replace(real_assistant, suggestions=behind)
    assert behind.is_idle()
    expected = ask(real_assistant, FIRST[language]).suggestions
    assert ask(told, FIRST[language]).suggestions == expected != ()
    assert behind.is_idle()
