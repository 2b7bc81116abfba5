"""Understanding: unusable messages are refused in words, usable ones get a language and an intent."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import InputError
from assistant.hearing import Hearing
from assistant.records import Turn, Understood
from assistant.understand import check_message, says_something, understand
from assistant.wording import Wordings
from tests.articles import detector

LIMIT = 200
HEARING = Hearing(Wordings())


def ask(message: str, hints: tuple[str, ...] = (), history: tuple[Turn, ...] = ()) -> Understood:
    """What the message asks, after checking."""
    return understand(check_message(message, LIMIT), detector(), HEARING, hints, history)


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("", "empty"),
        (" \n\t\u3000", "empty"),
        ("\u200b\u2060\ufeff", "empty"),
        ("\u200d", "empty"),
        ("长" * 201, "201"),
        ("a\x00b", "U+0000"),
        ("a\x1b[31m", "U+001B"),
        ("a\ud800b", "U+D800"),
        ("a\x80b", "U+0080"),
        ("\x7f", "U+007F"),
    ],
    ids=["nothing", "spaces", "zero-width", "joiner", "too long", "NUL", "escape", "surrogate", "C1", "delete"],
)
def test_unusable_messages_are_refused(message: str, named: str) -> None:
    """The error says in one sentence what is wrong, and does not repeat the message."""
    with pytest.raises(InputError) as caught:
        check_message(message, LIMIT)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("message", "clean"),
    [
        ("  多少钱？\r\n", "多少钱？"),
        ("か\u3099", "が"),
        ("¿Cua\u0301nto?", "¿Cuánto?"),
        ("pri\u200bce\u202e?", "price?"),
        ("\u2066price\u2069", "price"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👨\u200d👩", "👨\u200d👩"),
        ("a\nb", "a\nb"),
        ("多少钱\r什么时候", "多少钱\n什么时候"),
        ("いくら\u2028いつ", "いくら\nいつ"),
        ("cuánto\vcuándo\u2029", "cuánto\ncuándo"),
        ("how\fmuch\x85\r\nnow", "how\nmuch\n\nnow"),
        ("l" * 200, "l" * 200),
    ],
    ids=[
        "zh",
        "ja",
        "es",
        "bidi override",
        "bidi isolate",
        "non-joiner",
        "emoji",
        "lines",
        "zh CR",
        "ja separator",
        "es vertical tab",
        "en form feed",
        "at the limit",
    ],
)
def test_messages_are_cleaned(message: str, clean: str) -> None:
    """Invisible direction marks and decomposed letters go; joiners that letters need stay."""
    assert check_message(message, LIMIT) == clean


def test_piled_marks_are_bounded() -> None:
    """A letter under a hundred thousand combining marks is read at once, with a few of them."""
    message = "precio" + "\u0301\u0316" * 50_000
    started = time.perf_counter()
    clean = check_message(message, len(message))
    assert time.perf_counter() - started < 1
    assert len(clean) < 20


@given(st.text(max_size=LIMIT))
def test_a_checked_message_is_in_normal_form(message: str) -> None:
    """Whatever is not refused comes out composed and trimmed, and checking it again changes nothing."""
    try:
        clean = check_message(message, LIMIT)
    except InputError:
        return
    assert clean == unicodedata.normalize("NFC", clean).strip() != ""
    assert check_message(clean, LIMIT * 3) == clean


@pytest.mark.parametrize(
    ("message", "language", "intent"),
    [
        ("你好", "zh-Hans", "greeting"),
        ("謝謝", "zh-Hant", "thanks"),
        ("こんにちは", "ja", "greeting"),
        ("¡Hola!", "es", "greeting"),
        ("gracias", "es", "thanks"),
        ("hello", "en", "greeting"),
        ("hi", "en", "greeting"),
        ("AWS Trainium とは", "ja", "question"),
        ("这个 credit 能用吗", "zh-Hans", "question"),
        ("¿cuánto?", "es", "question"),
        ("how much", "en", "question"),
    ],
)
def test_intent_and_language(message: str, language: str, intent: str) -> None:
    """A greeting or thanks is told from a question, each in its language."""
    asked = ask(message)
    assert (asked.language, asked.intent) == (language, intent)


@pytest.mark.parametrize("message", ["😀", "???", "👍👍", "…"])
@pytest.mark.parametrize("page", ["zh-Hans", "ja", "es", "en"])
def test_a_message_without_words_asks_nothing(message: str, page: str) -> None:
    """Emoji and punctuation ask nothing, in the language of the page."""
    asked = ask(message, (page,))
    assert (asked.intent, asked.language) == ("nothing", page)


@pytest.mark.parametrize("page", ["zh-Hans", "ja", "es", "fr"])
def test_hi_is_answered_in_english_or_the_pages_language(page: str) -> None:
    """A greeting that several languages share is the page's if it is one of them, else English."""
    assert ask("hi", (page,)).language == "en"
    assert ask("ok", ("es",)).language == "es"
    assert ask("你好", ("zh-TW",)).language == "zh-Hant"


@pytest.mark.parametrize(
    ("earlier", "message", "language"),
    [
        ("这个多少钱？", "PyTorch", "zh-Hans"),
        ("料金はいくらですか", "PyTorch", "ja"),
        ("¿cuánto cuesta esto?", "PyTorch", "es"),
        ("这个多少钱？", "how much is it?", "en"),
        ("how much is it?", "¿y cuánto dura?", "es"),
        ("¿cuánto es?", "いくら？", "ja"),
    ],
)
def test_the_conversation_breaks_ties_only(earlier: str, message: str, language: str) -> None:
    """A name keeps the conversation's language; a switch of language is followed at once."""
    assert ask(message, ("en",), (Turn("user", earlier), Turn("assistant", "…"))).language == language


def test_a_long_conversation_is_not_read_again() -> None:
    """Only the last few turns tell the language, so that the thousandth message costs what the tenth does."""
    history = (Turn("user", "这个多少钱？"),) + (Turn("user", "¿cuánto cuesta esto exactamente?"),) * 5
    assert ask("PyTorch", (), history).language == "es"
    started = time.perf_counter()
    ask("PyTorch", (), history * 2000)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    "text", ["x", "42", "の", "量", "١", "x" * 2000, "什" * 200, "a " * 100, "٣٠"], ids=lambda text: text[:3]
)
def test_what_holds_no_words_asks_nothing(text: str) -> None:
    """A single letter, a number, or one sign over and over is no question, in any script."""
    assert not says_something(text)


@pytest.mark.parametrize("text", ["资格", "いくら", "¿300k?", "AI", "30万", "ok", "كم"])
def test_the_shortest_questions_ask_something(text: str) -> None:
    """Two signs are enough for a word, in any script."""
    assert says_something(text)


@pytest.mark.parametrize(
    ("message", "language"),
    [("any more?", "en"), ("anything else?", "en"), ("还有吗", "zh-Hans"), ("他には？", "ja"), ("¿algo más?", "es")],
)
def test_more_of_nothing_asks_nothing(message: str, language: str) -> None:
    """Words that only point back ask nothing at the start of a conversation, and lean on it later."""
    asked = ask(message, (language,))
    assert (asked.intent, asked.language, asked.questions) == ("nothing", language, ())
    assert ask(message, (language,), (Turn("user", "PyTorch?"),)).intent == "question"


@pytest.mark.parametrize(
    ("message", "language"),
    [("how much?", "en"), ("多少钱？", "zh-Hans"), ("いくら？", "ja"), ("¿cuánto?", "es"), ("other plans?", "en")],
)
def test_a_few_words_that_ask_are_a_question(message: str, language: str) -> None:
    """What asks of something is a question without any conversation before it, however short."""
    assert ask(message, (language,)).intent == "question"


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("额度值多少?你们办公室在哪?", "zh-Hans"),
        ("いくらですか?社長は誰?", "ja"),
        ("¿Cuánto vale?¿Quién es el fundador?", "es"),
        ("How much? Who is the founder?", "en"),
    ],
)
def test_questions_side_by_side_are_two(message: str, language: str) -> None:
    """Two questions are told apart where marks of half width stand between them without a space."""
    assert len(ask(message, (language,)).questions) == 2


@pytest.mark.parametrize(
    ("message", "page", "language"),
    [
        ("yes", "en", "en"),
        ("No.", "ja", "ja"),
        ("No.", "es", "es"),
        ("sí", "en", "es"),
        ("はい", "en", "ja"),
        ("いいえ。", "ja", "ja"),
        ("可以", "zh-Hans", "zh-Hans"),
        ("不是", "en", "zh-Hans"),
    ],
)
def test_a_yes_or_no_asks_nothing(message: str, page: str, language: str) -> None:
    """A bare yes or no is no question, in the page's language where it is a word of that; with a mark it may be one."""
    asked = ask(message, (page,))
    assert (asked.intent, asked.language) == ("nothing", language)
    assert ask(f"{message}?", (page,)).intent == "question"
