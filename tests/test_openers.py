"""How answers open that say yes or no, in every language of the phrases."""

from __future__ import annotations

import pytest

from assistant.openers import Side
from assistant.wording import Wordings

WORDINGS = Wordings()
# Language -> sentences that affirm, that deny, and that stand without a question, some of which begin alike.
SAID: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "ar": (
        ("نعم، ومعظم الفرق تفعل ذلك.", "بالطبع."),
        ("لا، ليس حاليًا.", "للأسف، لا."),
        ("لا توجد رسوم على الدفع.", "يمكنك الدفع بالبطاقة."),
    ),
    "de": (
        ("Ja, und die meisten tun das.", "Natürlich."),
        ("Nein.", "Leider nein: das Konto bleibt.", "Nicht unbedingt, aber oft."),
        ("Jahresabos enden im Mai.", "Keine Gebühr fällt an."),
    ),
    "en": (
        ("Yes, and most teams should.", "Yes you can.", "In short: yes.", "**Yes** – for a year.", "Of course."),
        ("No.", "No, never.", "Unfortunately, no: it ends.", "Not necessarily; ask first.", "You can’t, but they can."),
        (
            "No card is needed.",
            "Yesterday it rained.",
            "You can pay by card.",
            "Only the owner can.",
            "A no-cost plan.",
        ),
    ),
    "es": (
        ("Sí, y la mayoría debería hacerlo.", "¡Claro que sí!", "Sí."),
        ("No, salvo en enero.", "Por lo general, no.", "Normalmente no hay que reescribirlo, pero cuenta con ello."),
        ("Si pagas con tarjeta, es inmediato.", "No se cobra comisión.", "Hasta 300 dólares."),
    ),
    "fr": (
        ("Oui, et c'est conseillé.", "Bien sûr."),
        ("Non : il expire.", "Pas forcément, mais souvent."),
        ("Si vous payez, il reste.", "Non-fumeurs, par ici."),
    ),
    "hi": (("हाँ, और ज़्यादातर ऐसा करते हैं।", "जी हाँ, आप ऐसा कर सकते हैं।"), ("नहीं।",), ("भुगतान कार्ड से होता है।",)),
    "id": (
        ("Ya, dan sebaiknya begitu.", "Tentu saja."),
        ("Tidak.", "Sayangnya, tidak."),
        ("Tidak ada biaya tambahan di sini.", "Yang tertua dulu."),
    ),
    "it": (("Sì, e conviene.", "Certo."), ("No.", "Di solito no, ma chieda."), ("Se paghi ora, resta.", "Nota bene.")),
    "ja": (
        ("はい。ほとんどのチームは併用します。", "はい、可能です。", "可能です。", "もちろんです。"),
        ("いいえ、できません。", "不要です。", "通常、書き直しは不要ですが、移植は必要です。"),
        ("最大30万ドルです。", "はいいろの箱に入れます。", "正直なところ、モデルによります。"),
    ),
    "ko": (
        ("네, 가능합니다.", "물론입니다."),
        ("아니요.", "일반적으로 다시 쓸 필요는 없지만, 준비하세요."),
        ("네트워크는 빠릅니다.", "예산은 30만 달러입니다."),
    ),
    "pt": (("Sim, e a maioria devia.", "Claro."), ("Não.", "Infelizmente não, mas tente."), ("Não cobramos taxas.",)),
    "ru": (
        ("Да, и большинству стоит.", "Конечно."),
        ("Нет, не нужно.", "К сожалению, нет."),
        ("Нет комиссии за вход.",),
    ),
    "zh-Hans": (
        ("可以，而且大多数团队都该这么做。", "是的。", "当然可以！"),
        ("不需要。", "不能，除非另有约定。", "一般不必重写，但要留出时间。", "目前不支持。"),
        ("可以使用信用卡支付。", "能否获得取决于阶段。", "不同公司的标准不同。", "最高可达30万美元。"),
    ),
    "zh-Hant": (
        ("可以，而且大多數團隊都該這麼做。", "是的。"),
        ("不需要。", "一般不必重寫，但要留出時間。"),
        ("可以使用信用卡付款。",),
    ),
}
SIDES: tuple[Side, ...] = ("yes", "no", "")
CASES: list[tuple[str, str, Side]] = [
    (language, text, side)
    for language, kinds in SAID.items()
    for texts, side in zip(kinds, SIDES, strict=True)
    for text in texts
]


def test_every_language_of_the_phrases_is_tried() -> None:
    """No language's openers go untested."""
    assert set(SAID) == set(WORDINGS.languages)


@pytest.mark.parametrize(("language", "text", "side"), CASES, ids=[f"{code} {text[:20]}" for code, text, _ in CASES])
def test_an_opener_is_told_from_a_statement(language: str, text: str, side: Side) -> None:
    """A clause that says yes or no is heard, behind hedges too; one that begins alike is none."""
    assert WORDINGS.by_language[language].opens.side(text) == side


@pytest.mark.parametrize("language", WORDINGS.languages)
def test_each_phrase_is_heard_on_one_side(language: str) -> None:
    """Every phrase of the data, said alone, is heard on its own side."""
    opens = WORDINGS.by_language[language].opens
    assert {text: opens.side(text.replace("…", "")) for text in opens.denies} == dict.fromkeys(opens.denies, "no")
    assert {text: opens.side(text.replace("…", "")) for text in opens.affirms} == dict.fromkeys(opens.affirms, "yes")
