"""Languages: which one a short message is in, where its sentences end, what a code means."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.language import (
    display_width,
    is_language,
    is_right_to_left,
    language_name,
    normalise_code,
    split_sentences,
)
from assistant.spelling import convert_chinese, fold_han
from tests.articles import detector

MESSAGES = {
    "zh-Hans": ["你好", "多少钱", "免费", "申请期限", "手续",
                "这个 credit 能用吗", "Trainium 和 GPU 哪个 cheaper?", "tensorflow 价格"],
    "zh-Hant": ["多少錢", "免費", "申請期限", "手續", "請問可以退款嗎", "Trainium 是什麼", "為何人們信任 Bitcoin ？"],
    "ja": ["こんにちは", "はい", "料金は？", "無料", "価格", "有効期限", "手続",
           "AWS Trainium とは", "e-mail を送る how to", "ﾊﾝｶｸ"],
    "es": ["Hola", "sí", "precio", "¿cuánto?", "qué es AWS Trainium", "cuanto cuesta", "¿cua\u0301nto cuesta?"],
    "en": ["hi", "hello", "price", "how much", "what is AWS Trainium?", "what does 利用率 mean?", "ｈｅｌｌｏ"],
    "fr": ["oui", "combien", "crédits"],
    "de": ["Was kostet Trainium?"],
    "pt": ["não"],
    "ko": ["얼마예요", "AWS Trainium이란?"],
    "ru": ["сколько стоит"],
    "ar": ["كم السعر"],
    "hi": ["कीमत क्या है"],
}  # fmt: skip
NAMELESS = ["😀", "👍👍", "123", "$300,000", "300K?", "???", "", "AWS", "PyTorch", "https://example.com/es/ayuda"]
PAIRS = [(code, text) for code, texts in MESSAGES.items() for text in texts]
ENDS = {
    "zh": ("第一句。第二句！第三句？", ["第一句。", "第二句！", "第三句？"]),
    "ja": ("はい。「いいえ。」と言った。", ["はい。", "「いいえ。」", "と言った。"]),
    "es": ("¿Cuánto? 7.7 millones. ¡Sí!", ["¿Cuánto? ", "7.7 millones. ", "¡Sí!"]),
    "en": ("See example.com. It costs $3.5. Ok", ["See example.com. ", "It costs $3.5. ", "Ok"]),
    "abbreviation": ("Tools, e.g. this one. Next", ["Tools, e.g. this one. ", "Next"]),
    "numbered": ("1. Sign in. 2. Pay.", ["1. Sign in. ", "2. Pay."]),
    "half width zh": ("多少?在哪!好", ["多少?", "在哪!", "好"]),
    "half width ja": ("いくら?期限は?", ["いくら?", "期限は?"]),
    "half width es": ("¿Cuánto?¿Dónde? a?b=1", ["¿Cuánto?", "¿Dónde? ", "a?b=1"]),
    "half width ko": ("얼마?어디?", ["얼마?", "어디?"]),
    "hi": ("यह है। वह भी।", ["यह है। ", "वह भी।"]),
    "ar": ("ما هذا؟ هذا هو.", ["ما هذا؟ ", "هذا هو."]),
    "lines": ("one\ntwo\n\nthree", ["one\n", "two\n\n", "three"]),
}


@pytest.mark.parametrize(("code", "text"), PAIRS, ids=[f"{code} {text}" for code, text in PAIRS])
def test_short_messages_are_recognised(code: str, text: str) -> None:
    """A message of a few characters is in its language without any hint, names in another script notwithstanding."""
    assert detector().detect(text).language == code


@pytest.mark.parametrize("text", NAMELESS, ids=repr)
@pytest.mark.parametrize("hint", ["zh-Hans", "ja", "es", "en"])
def test_what_has_no_language_takes_the_hint(text: str, hint: str) -> None:
    """Emoji, figures, addresses and bare names are in the language around them, and say that they don't know."""
    found = detector().detect(text, [hint])
    assert (found.language, found.certain) == (hint, False)
    assert detector().detect(text).language == "en"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("这是什么意思", "zh-Hans"),
        ("這是什麼意思", "zh-Hant"),
        ("これは何ですか", "ja"),
        ("手续", "zh-Hans"),
        ("手續", "zh-Hant"),
        ("¿Qué significa esto?", "es"),
        ("what does this mean", "en"),
        ("多少钱", "zh-Hans"),
    ],
)
@pytest.mark.parametrize("hint", ["zh-Hans", "zh-Hant", "ja", "es", "en", "fr"])
def test_a_hint_never_overrules_evidence(text: str, language: str, hint: str) -> None:
    """A clear message keeps its language on a page of any other."""
    assert detector().detect(text, [hint]).language == language


@pytest.mark.parametrize(
    ("text", "hints"),
    [("你好", ("zh-Hans", "zh-Hant")), ("費用", ("ja", "zh-Hant")), ("no", ("es", "en")), ("créditos", ("es", "fr"))],
)
def test_a_hint_breaks_a_tie(text: str, hints: tuple[str, str]) -> None:
    """A message that could be either is in the language of the page, and not certain."""
    for hint in hints:
        found = detector().detect(text, [hint])
        assert (found.language, found.certain) == (hint, False)


@pytest.mark.parametrize("hint", ["xx", "", "tlh", "zz-ZZ"])
def test_an_unknown_hint_is_ignored(hint: str) -> None:
    """A hint that names none of our languages changes nothing."""
    assert detector().detect("😀", [hint]).language == "en"


def test_names_say_nothing() -> None:
    """Words that are written alike everywhere are left out, so the hint decides."""
    names = {"trainium", "neuron"}
    assert detector().detect("Trainium Neuron", ["es"], names).language == "es"
    assert detector().detect("trainium neuron 价格", ["es"], names).language == "zh-Hans"


def test_detection_stays_fast_on_long_text() -> None:
    """What is pasted in bulk is judged by its beginning."""
    detector().detect("warm up")
    started = time.perf_counter()
    assert detector().detect("una frase bastante larga " * 40_000).language == "es"
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("text", ["ᄀ㐀", "가漢", "я漢", "نф", "कع漢", "가ア"])
def test_scripts_in_balance_still_give_one_language(text: str) -> None:
    """Where two scripts weigh the same, one of them decides."""
    assert detector().detect(text).language in detector().languages


@given(st.text(max_size=60))
def test_detection_answers_for_any_text(text: str) -> None:
    """Any text gets one of our languages."""
    assert detector().detect(text, ["ja"]).language in detector().languages


@pytest.mark.parametrize(("text", "pieces"), ENDS.values(), ids=ENDS)
def test_sentences_end_as_the_script_says(text: str, pieces: list[str]) -> None:
    """Full-width stops split without a space; a stop inside a figure, an address or an abbreviation does not."""
    assert split_sentences(text) == pieces


@given(st.text(alphabet='ab。.!？?」") \n…3。', max_size=60) | st.text(max_size=200))
def test_sentences_join_back_to_the_text(text: str) -> None:
    """No character is lost or made up, and no piece is empty."""
    pieces = split_sentences(text)
    assert "".join(pieces) == text
    assert all(pieces)


@pytest.mark.parametrize(
    ("code", "canonical"),
    [
        ("zh", "zh-Hans"),
        ("zh-CN", "zh-Hans"),
        ("ZH_tw", "zh-Hant"),
        ("zh-Hant-HK", "zh-Hant"),
        ("yue", "zh-Hant"),
        ("es-MX", "es"),
        ("EN_us", "en"),
        (" ja ", "ja"),
        ("pt-BR", "pt"),
    ],
)
def test_codes_are_made_canonical(code: str, canonical: str) -> None:
    """Regional and odd spellings of a code mean the language that we speak."""
    assert normalise_code(code) == canonical
    assert normalise_code(canonical) == canonical


@pytest.mark.parametrize(
    ("code", "known"), [("ja", True), ("zh-TW", True), ("nl", True), ("jp", False), ("english", False)]
)
def test_unknown_codes_are_told(code: str, known: bool) -> None:
    """CLDR's languages are languages, slips such as `jp` are not."""
    assert is_language(code) is known


def test_languages_are_named_for_the_reader() -> None:
    """A language is named as the reader writes it, an unknown one by its code."""
    assert [language_name("ja", reader) for reader in ("zh-Hans", "ja", "es", "en")] == [
        "日语",
        "日本語",
        "japonés",
        "Japanese",
    ]
    assert language_name("xx-nope", "en") == "xx-nope"


def test_direction_comes_from_the_language() -> None:
    """Arabic and Hebrew run from right to left, the others from left to right."""
    codes = ("ar", "he", "en", "ja", "zh-Hans", "nope")
    assert [is_right_to_left(code) for code in codes] == [True, True, False, False, False, False]


def test_chinese_converts_and_folds() -> None:
    """The two spellings convert into each other; for matching, Japanese forms fold as well."""
    assert convert_chinese("免费软件", "zh-Hant") == "免費軟體"
    assert convert_chinese("免費軟體", "zh-Hans") == "免费软件"
    assert convert_chinese("無料", "ja") == "無料"
    assert fold_han("価格") == fold_han("價格") == fold_han("价格")


def test_width_counts_columns() -> None:
    """A full-width character takes two columns, a Latin letter one."""
    assert [display_width(text) for text in ("ab", "漢字", "ｱ", "Ａ", "")] == [2, 4, 1, 2, 0]
