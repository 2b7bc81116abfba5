"""Hearing: social words however they are written, commands for a language, choices, words that point back."""

from __future__ import annotations

from functools import cache

import pytest

from assistant.hearing import Hearing
from assistant.spoken import spoken
from assistant.understand import understand
from assistant.wording import Wordings
from tests.articles import detector

LANGUAGES = Wordings().languages


@cache
def hearing() -> Hearing:
    return Hearing(Wordings())


@pytest.mark.parametrize(
    ("text", "language", "intent"),
    [
        ("你好！", "zh-Hans", "greeting"),
        ("谢谢啦", "zh-Hans", "thanks"),
        ("谢谢谢谢！！", "zh-Hans", "thanks"),
        ("你是真人吗？", "zh-Hans", "small_talk"),
        ("没用", "zh-Hans", "feedback"),
        ("謝謝", "zh-Hant", "thanks"),
        ("こんにちは。", "ja", "greeting"),
        ("ありがと〜", "ja", "thanks"),
        ("ありがとうございますーー", "ja", "thanks"),
        ("あなたは誰ですか？", "ja", "small_talk"),
        ("役に立ちました！", "ja", "feedback"),
        ("¡¡Holaaa!!", "es", "greeting"),
        ("hola, buenas tardes a todos", "es", "greeting"),
        ("GRACIAS", "es", "thanks"),
        ("grcias", "es", "thanks"),
        ("¿eres un bot?", "es", "small_talk"),
        ("no me sirvió", "es", "feedback"),
        ("ＨＥＬＬＯ 😊", "en", "greeting"),
        ("hellooo", "en", "greeting"),
        ("thnaks", "en", "thanks"),
        ("ok, thanks a lot! bye", "en", "thanks"),
        ("hi, how are you?", "en", "small_talk"),
        ("that was not helpful", "en", "feedback"),
        ("привеееет", "ru", "greeting"),
        ("مرحبااا", "ar", "greeting"),
        ("감사합니다!!", "ko", "thanks"),
        ("धन्यवाद", "hi", "thanks"),
        ("merciii", "fr", "thanks"),
        ("Dankeschön", "de", "thanks"),
        ("oi, tudo bem", "pt", "greeting"),
        ("makasih yaa", "id", "thanks"),
        ("grazie mille", "it", "thanks"),
    ],
)
def test_social_words_are_heard_however_they_are_written(text: str, language: str, intent: str) -> None:
    """Case, width, accents, repeats, one slip, emoji and punctuation do not matter."""
    assert hearing().heard(text)[language] == intent


@pytest.mark.parametrize(
    "text",
    [
        "你好，多少钱？", "谢谢，那截止日期呢？", "早期公司", "こんにちは、料金は？", "ありがとう、期限は？",
        "Hola, ¿cuánto cuesta?", "gracias, ¿y el plazo?", "hi, how much can I get?", "thanks, and the deadline?",
        "hello world", "credits", "help with AWS", "", "😊",
    ],
)  # fmt: skip
def test_a_question_is_never_swallowed(text: str) -> None:
    """Only a whole message is social: whatever else it holds is a question."""
    assert hearing().heard(text) == {}
    assert spoken("😊 ¡!") == ""


def test_a_word_of_the_articles_is_no_slip() -> None:
    """What the articles speak of is never taken for a misspelt greeting."""
    assert hearing().heard("tanks") == {"en": "thanks"}
    assert hearing().heard("tanks", {"en": {"tanks"}}) == {}


@pytest.mark.parametrize(
    ("text", "language", "left"),
    [
        ("hi, how much can I get?", "en", "how much can I get?"),
        ("hi how much can I get", "en", "how much can I get"),
        ("thanks, and the deadline?", "en", "and the deadline?"),
        ("你好，最多多少钱？谢谢！", "zh-Hans", "最多多少钱？"),
        ("早期创业公司可以申请吗", "zh-Hans", "早期创业公司可以申请吗"),
        ("こんにちは、いくらですか", "ja", "いくらですか"),
        ("hola, ¿cuánto dura? gracias", "es", "¿cuánto dura?"),
        ("yo quiero saber el plazo", "es", "yo quiero saber el plazo"),
        ("hello", "en", "hello"),
    ],
)
def test_pleasantries_are_peeled(text: str, language: str, left: str) -> None:
    """A greeting before and thanks after a question go; words that only look like one stay."""
    assert hearing().peel(text, language) == left


@pytest.mark.parametrize(
    ("text", "reader", "wanted", "left"),
    [
        ("answer in English please", "en", "en", ""),
        ("in Spanish pls", "en", "es", ""),
        ("What is the cap? Answer in Japanese please", "en", "ja", "What is the cap?"),
        ("用英文回答", "zh-Hans", "en", ""),
        ("请用英文回答：额度多少？", "zh-Hans", "en", "额度多少？"),
        ("用日语说一下额度", "zh-Hans", "ja", "一下额度"),
        ("額度多少？請用日文回答", "zh-Hant", "ja", "額度多少？"),
        ("日本語で", "ja", "ja", ""),
        ("いくらですか？英語で教えてください", "ja", "en", "いくらですか？"),
        ("en español", "es", "es", ""),
        ("¿Cuánto dura? responde en inglés por favor", "es", "en", "¿Cuánto dura?"),
        ("réponds en anglais", "fr", "en", ""),
        ("auf Englisch bitte", "de", "en", ""),
        ("responda em inglês", "pt", "en", ""),
        ("rispondi in inglese", "it", "en", ""),
        ("ответь на английском", "ru", "en", ""),
        ("영어로 답해줘", "ko", "en", ""),
        ("أجب بالإنجليزية", "ar", "en", ""),
        ("अंग्रेज़ी में जवाब दो", "hi", "en", ""),
        ("jawab dalam bahasa Inggris", "id", "en", ""),
        ("Trainium值多少钱 in English please", "zh-Hans", "en", "Trainium值多少钱"),
        ("額度多少 Spanish please", "zh-Hant", "es", "額度多少"),
        ("資格は？ in Spanish", "ja", "es", "資格は？"),
        ("怎么申请 en español por favor", "zh-Hans", "es", "怎么申请"),
        ("How long do they last 日本語で", "en", "ja", "How long do they last"),
        ("¿cuánto dura? 用中文回答", "es", "zh-Hans", "¿cuánto dura?"),
        ("in English, 额度多少", "zh-Hans", "en", "额度多少"),
        ("كم الرصيد in English", "ar", "en", "كم الرصيد"),
        ("能跑 English 模型吗", "zh-Hans", "", "能跑 English 模型吗"),
        ("支持 Spanish", "zh-Hans", "", "支持 Spanish"),
        ("is there support in Spanish?", "en", "", "is there support in Spanish?"),
        ("英文文档在哪里", "zh-Hans", "", "英文文档在哪里"),
        ("日本語で書かれた資料はありますか", "ja", "", "日本語で書かれた資料はありますか"),
        ("¿hay ayuda en español?", "es", "", "¿hay ayuda en español?"),
    ],
)
def test_commands_for_a_language(text: str, reader: str, wanted: str, left: str) -> None:
    """A command for the reply's language is told from a question about a language, and taken off its question."""
    assert hearing().instruction(text, [reader]) == (wanted, left)


@pytest.mark.parametrize(
    "text",
    ["1", "１", "١", "一", "第一个", "最初の", "el primero", "the first one", "First", "첫 번째", "первый", "Kosten?"],
)
def test_options_are_chosen(text: str) -> None:
    """An option is chosen by its number in any script, its place in any language, or its own text."""
    assert hearing().choice(text, ["Kosten?", "期限", "¿Quién?"]) == "Kosten?"


@pytest.mark.parametrize("text", ["the last one", "最后一个", "最後一個", "最後の", "el último", "마지막", "последний"])
@pytest.mark.parametrize("count", [2, 3])
def test_the_last_option_is_chosen(text: str, count: int) -> None:
    """The last option is chosen as such, of two as of three."""
    options = ["Kosten?", "期限", "¿Quién?"][:count]
    assert hearing().choice(text, options) == options[-1]


@pytest.mark.parametrize("text", ["third", "第三个", "三つ目", "tercero"])
def test_a_third_option_of_two_chooses_nothing(text: str) -> None:
    """The third of two options is none of them."""
    assert hearing().choice(text, ["Kosten?", "期限"]) == ""


@pytest.mark.parametrize("text", ["4", "0", "第四个", "what is the first step", "2 年", "期间"])
def test_what_chooses_nothing_is_a_question(text: str) -> None:
    """A number without an option, or more than a choice, chooses nothing."""
    assert hearing().choice(text, ["Kosten?", "期限", "¿Quién?"]) == ""


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("那学生呢？", "zh-Hans"), ("还有吗", "zh-Hans"), ("還有嗎", "zh-Hant"), ("他に？", "ja"),
        ("学生の場合は？", "ja"),
        ("¿y para estudiantes?", "es"), ("¿algo más?", "es"), ("and for students?", "en"), ("any more?", "en"),
        ("und für Studenten?", "de"), ("et pour les étudiants ?", "fr"), ("e para estudantes?", "pt"),
        ("а для студентов?", "ru"), ("그럼 학생은요?", "ko"), ("وماذا عن الطلاب؟", "ar"), ("और छात्रों के लिए?", "hi"),
        ("kalau untuk mahasiswa?", "id"), ("e per gli studenti?", "it"),
    ],
)  # fmt: skip
def test_words_that_point_back(text: str, language: str) -> None:
    """Pronouns and fragments lean on what was said before, in every language."""
    assert hearing().leans(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("额度是多少？", "zh-Hans"), ("有効期限はいつですか", "ja"), ("¿Cómo solicito los créditos?", "es"),
        ("How do I apply?", "en"), ("Wie beantrage ich Credits?", "de"),
    ],
)  # fmt: skip
def test_standalone_questions_point_nowhere(text: str, language: str) -> None:
    """A question that stands alone holds no such word."""
    assert not hearing().leans(text, language)


@pytest.mark.parametrize(
    "text",
    [
        "转人工", "我要找真人客服", "請幫我轉接真人", "オペレーターにつないでください", "quiero hablar con una persona",
        "Can I talk to a human please?", "je veux parler à un conseiller", "Ich möchte mit einem Menschen sprechen",
        "quero falar com um atendente", "voglio parlare con un operatore", "соедините с оператором",
        "상담원 연결해 주세요", "أريد التحدث مع شخص", "मुझे किसी इंसान से बात करनी है", "mau bicara dengan petugas",
    ],
)  # fmt: skip
def test_a_person_is_asked_for(text: str) -> None:
    """A request for a person is heard in every language."""
    assert hearing().wants_person(text)


@pytest.mark.parametrize(
    "text", ["人工智能额度怎么用？", "Human review of applications?", "¿cuántas personas hay?", "人気の質問は？"]
)
def test_people_as_a_subject_are_no_request(text: str) -> None:
    """A question about people or anything alike is a question."""
    assert not hearing().wants_person(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_interfaces_own_words_ask_for_a_person(language: str) -> None:
    """What the widget's button says is heard as a request for a person, in each language, and answered in it."""
    wording = Wordings().by_language[language]
    asked = understand(wording.widget.talk_to_person, detector(), hearing(), (language,))
    assert (asked.intent, asked.language, asked.wants_person) == ("person", language, True)
