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


# Language -> a line that announces questions, items that do not look like questions, a line that announces none.
LISTS = {
    "zh-Hans": ("想请教几个问题：", ("计费单位", "额度能否转让"), "我们的环境是："),
    "ja": ("下記についてご教示ください。", ("請求の単位", "電話サポートの有無"), "利用環境は以下のとおりです。"),
    "es": ("Tengo algunas dudas:", ("unidad de facturación", "soporte por teléfono"), "Usamos lo siguiente:"),
    "en": ("I have a few questions:", ("unit of billing", "support by phone"), "We use the following:"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_announced_list_is_one_of_questions(language: str) -> None:
    """Items below a line that says they are questions are asked, however they end, and the line itself is not."""
    announcing, items, _ = LISTS[language]
    assert texts("\n".join([MAILS[language][0], announcing, f"(1) {items[0]}", f"(2) {items[1]}"]), language) == list(
        items
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_another_list_asks_nothing(language: str) -> None:
    """Items below a line that announces no questions are none."""
    _, items, other = LISTS[language]
    assert texts("\n".join([other, *(f"- {item}" for item in items)]), language) == []


@pytest.mark.parametrize(
    ("language", "message", "question"),
    [
        pytest.param("zh-Hans", "我们只有三个人，麻烦问下额度怎么算", "麻烦问下额度怎么算", id="zh, 麻烦问下"),
        pytest.param("zh-Hans", "另外我想了解一下审核的流程。", "另外我想了解一下审核的流程。", id="zh, 想了解"),
        pytest.param("zh-Hans", "还有就是代码用不用重写", "还有就是代码用不用重写", id="zh, A-not-A"),
        pytest.param("zh-Hant", "我們只有三個人，想問一下額度怎麼算", "想問一下額度怎麼算", id="zh-Hant"),
        pytest.param(
            "ja", "復旧の見込みについてご確認をお願いします。", "復旧の見込みについてご確認をお願いします。", id="ja"
        ),
        pytest.param(
            "es", "No sé si los estudiantes pueden pedirlo.", "No sé si los estudiantes pueden pedirlo.", id="es"
        ),
        pytest.param("en", "Not sure whether students can apply", "Not sure whether students can apply", id="en"),
    ],
)
def test_a_question_needs_no_mark(language: str, message: str, question: str) -> None:
    """What is asked without a question mark is found, without the statement before it where commas part sentences."""
    assert texts(f"{MAILS.get(language, MAILS['zh-Hans'])[0]}\n{message}", language) == [question]


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("账单扣了两次款，怎么退款？", "怎么退款？"),
        ("如果账单扣了两次款，怎么退款？", "如果账单扣了两次款，怎么退款？"),
        ("账单扣了两次款的话，怎么退款？", "账单扣了两次款的话，怎么退款？"),
        ("还有就是账单扣了两次款，怎么退款？", "还有就是账单扣了两次款，怎么退款？"),
    ],
    ids=["statement", "condition before", "condition behind", "joined"],
)
def test_a_condition_stays_with_its_question(message: str, question: str) -> None:
    """Of Chinese clauses before the one that asks, conditions and what is joined stay; statements go."""
    assert texts(f"您好，\n{message}", "zh-Hans") == [question]


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("zh-Hans", "亲，在不在？打扰一下哈～"),
        ("zh-Hant", "在不在？打擾一下～"),
        ("ja", "突然のご連絡失礼いたします。ご対応をお願いします。"),
        ("es", "¿Me pueden ayudar, por favor?"),
        ("en", "Could you help me with this, please?"),
    ],
)
def test_a_knock_at_the_door_asks_nothing(language: str, message: str) -> None:
    """Asking whether somebody is there, or for help alone, is politeness."""
    assert texts(message, language) == []
