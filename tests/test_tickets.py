"""Questions in customers' messages: found where they stand, and not in greetings, signatures or quoted history."""

from __future__ import annotations

import pytest

from assistant.hearing import Hearing
from assistant.tickets import MOST, Ticket, read_ticket
from assistant.wording import Wordings

HEARING = Hearing(Wordings())
# Language -> greeting, two questions of which the second has no question mark, a farewell with a name, an introduction
# of what is quoted, a quoted question.
MAILS = {
    "zh-Hans": (
        "您好，希望您一切顺利！",
        ("额度最多可以拿到多少？", "请告知额度什么时候到期。"),
        "此致\n王小明",
        "2026年11月3日，客服写道：",
        "您还需要帮助吗？",
    ),
    "ja": (
        "お世話になっております。株式会社ABCの田中です。",
        ("クレジットはいくらですか？", "有効期限を教えてください。"),
        "よろしくお願いいたします。\n佐藤",
        "2026年11月3日 サポートさんは書きました:",
        "他にご質問はありますか？",
    ),
    "es": (
        "Buenos días, ¿qué tal?",
        ("¿Cuánto valen los créditos?", "Quisiera saber cuándo caducan."),
        "Un saludo,\nAna Pérez",
        "El 3 de noviembre de 2026, Soporte escribió:",
        "¿Necesita algo más?",
    ),
    "en": (
        "Hi there, how are you?",
        ("How much are the credits worth?", "Please let me know when they expire."),
        "Kind regards,\nAnn Smith",
        "On 3 November 2026, Support wrote:",
        "Is there anything else?",
    ),
}
LANGUAGES = list(MAILS)


def ticket_of(message: str, language: str) -> Ticket:
    """The ticket of a message whose language is known."""
    ticket = read_ticket(message, HEARING, lambda _: language)
    assert [message[one.start : one.end] for one in ticket.questions] == [one.text for one in ticket.questions]
    return ticket


def texts(message: str, language: str) -> list[str]:
    return [one.text for one in ticket_of(message, language).questions]


@pytest.mark.parametrize("language", LANGUAGES)
def test_only_the_customers_questions_are_found(language: str) -> None:
    """Of an e-mail with greeting, signature and quoted history the customer's own questions are found, each once."""
    greeting, questions, farewell, introduction, quoted = MAILS[language]
    message = "\n".join([greeting, "", *questions, "", farewell, "", introduction, f"> {quoted}"])
    ticket = ticket_of(message, language)
    assert [one.text for one in ticket.questions] == list(questions)
    assert quoted not in ticket.said
    assert farewell.split("\n")[1] not in ticket.said


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_quoted_without_marks_is_not_asked(language: str) -> None:
    """What stands below the line that introduces an earlier message is history, marked or not."""
    _, questions, _, introduction, quoted = MAILS[language]
    assert texts("\n".join([questions[0], "", introduction, quoted]), language) == [questions[0]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_answer_below_what_is_quoted_is_read(language: str) -> None:
    """Who writes below the quoted lines is heard."""
    _, questions, _, introduction, quoted = MAILS[language]
    assert texts("\n".join([introduction, f"> {quoted}", "", questions[0]]), language) == [questions[0]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_politeness_asks_nothing(language: str) -> None:
    """A greeting and a farewell alone hold no question, whatever their punctuation."""
    greeting, _, farewell, _, _ = MAILS[language]
    assert texts(f"{greeting}\n\n{farewell}", language) == []


@pytest.mark.parametrize(
    ("language", "question"),
    [
        pytest.param("ja", "請求はリクエストごとですかそれとも時間ごとですか？", id="ja"),
        pytest.param("ja", "請求はリクエストごとですか？それとも時間ごとですか？", id="ja, two marks"),
        pytest.param("zh-Hans", "是按次收费吗，还是按小时收费？", id="zh"),
        pytest.param("zh-Hans", "是按次收费吗？还是按小时收费？", id="zh, two marks"),
        pytest.param("es", "¿Se factura por hora o se factura por petición?", id="es"),
        pytest.param("es", "¿Se factura por hora? ¿O por petición?", id="es, two marks"),
        pytest.param("en", "Is it billed by the hour or is it billed by request?", id="en"),
        pytest.param("en", "Is it billed by the hour? Or by request?", id="en, two marks"),
    ],
)
def test_two_choices_are_one_question(language: str, question: str) -> None:
    """A question of two choices is asked as one question, which is what the articles are searched for."""
    assert texts(f"{MAILS[language][0]}\n{question}", language) == [question]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_list_of_questions_is_cut_at_its_items(language: str) -> None:
    """Numbered and bulleted questions are found without their numbers."""
    _, (first, second), _, _, _ = MAILS[language]
    assert texts(f"1. {first}\n2. {second}\n", language) == [first, second]
    assert texts(f"- {first}\n• {second}\n", language) == [first, second]


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_are_bounded(language: str) -> None:
    """A message with a hundred questions gives the first MOST of them."""
    assert len(texts(f"{MAILS[language][1][0]}\n" * 100, language)) == MOST
