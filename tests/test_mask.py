"""Masking: private details go, whatever script their digits are in; amounts, dates and figures stay."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.mask import mask


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("请联系 wang@example.com 谢谢", "请联系 [email] 谢谢"),
        ("メールはｔａｒｏ＠ｅｘａｍｐｌｅ．ｃｏ．ｊｐです", "メールは[email]です"),
        ("mi correo es josé.peña+faq@correo.example.es, gracias", "mi correo es [email], gracias"),
        ("写信到 客服@例子.公司 吧", "写信到 [email] 吧"),
        ("write to a_b@sub.example.co.uk.", "write to [email]."),
        ("我的手机号是13800138000", "我的手机号是[phone]"),
        ("电话：＋８６ １３８ ００１３ ８０００", "电话：[phone]"),
        ("電話は090-1234-5678です", "電話は[phone]です"),
        ("電話は０３（１２３４）５６７８です", "電話は[phone]です"),
        ("llámame al +34 612 345 678", "llámame al [phone]"),
        ("call (415) 555-2671 or 415.555.2671", "call [phone] or [phone]"),
        ("رقمي ٠٥٥١٢٣٤٥٦٧", "رقمي [phone]"),
        ("मेरा नंबर ९८७६५४३२१० है", "मेरा नंबर [phone] है"),
        ("卡号6222 0212 3456 7890 128", "卡号[card]"),
        ("カードは4111-1111-1111-1111", "カードは[card]"),
        ("tarjeta 5500005555555559", "tarjeta [card]"),
        ("card 3782 822463 10005 expires", "card [card] expires"),
        ("密钥 sk-proj-abcDEF0123456789", "密钥 [key]"),
        ("キーは AKIAIOSFODNN7EXAMPLE です", "キーは [key] です"),
        ("token ghp_16C7e42F292c6912E7710c838347Ae178B4a", "token [key]"),
        ("xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy", "[key]"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----", "[key]"),
    ],
)
def test_private_details_go(text: str, masked: str) -> None:
    """Each kind of detail is replaced by its mark, and the words around it stay."""
    assert mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "最高30万美元，即 300,000 美元",
        "1億2000万円、2026年11月30日から",
        "hasta 1.000.000 € o 300 000 000 de dólares",
        "$ 7,700,000 or USD 12000000 in 2025-2026",
        "2026-11-30 12:45, 30/11/2026, 77.5% of 1,234,567",
        "der Preis: 1 250 000 Euro",
        "trn1.32xlarge aws-neuronx-runtime-discovery ml_model_final_version_for_everyone",
        "https://example.com/docs/Getting-Started-2026-With-Trainium-Instances",
        "AWS Trainium2 とは？ 24か月",
        "step 1, 2, 3, 4, 5, 6, 7, 8, 9",
    ],
)
def test_figures_stay(text: str) -> None:
    """Amounts, dates, names and addresses of pages are what people ask about: they stay."""
    assert mask(text) == text


def test_what_is_public_stays() -> None:
    """A telephone number that stands in the quoted article is no secret."""
    said = "Ruf +49 30 123456 an, nicht +49 40 654321."
    assert mask(said, keep="Telefon: +49 30 123456") == "Ruf +49 30 123456 an, nicht [phone]."


@given(st.text(alphabet=st.sampled_from("ab1٢९@. -+(),。７\n"), max_size=80))
def test_masking_again_changes_nothing(text: str) -> None:
    """What is masked stays as it is, whatever the text."""
    assert mask(mask(text)) == mask(text)


@pytest.mark.parametrize("unit", ["1 ", "a@", "a.", "A1", "eyJ", "("])
def test_masking_is_quick(unit: str) -> None:
    """No long message makes the patterns slow."""
    started = time.thread_time()
    mask(unit * 5_000)
    assert time.thread_time() - started < 1
