"""The parity ledger on small articles in four languages: what it finds, where, and what it leaves alone."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from assistant.allowances import read_allowances, sift
from assistant.errors import InputError
from assistant.ingest import read_article
from assistant.language import Detector
from assistant.ledger import Finding
from assistant.parity import check_parity
from assistant.surfaces.check import check_files
from assistant.wording import Wordings

CORPUS = Path(__file__).parent.parent / "corpus"
WORDINGS = Wordings()
DETECTOR = Detector(WORDINGS.languages, WORDINGS.evidence)
BODIES = {
    "en": "You can return an item within 30 days. Refunds are not paid in cash. See [shipping](#shipping).",
    "es": "Puedes devolver un artículo en 30 días. Los reembolsos no se pagan en efectivo. Ver [envíos](#shipping).",
    "ja": "商品は30日以内に返品できます。返金は現金では行いません。[配送](#shipping)をご覧ください。",
    "zh-Hans": "商品可在30天内退货。退款不以现金支付。请参阅[配送](#shipping)。",
}  # fmt: skip
SHIPPING = {
    "en": "Shipping costs $5 and takes 2 years at most.",
    "es": "El envío cuesta 5 dólares y tarda 24 meses como máximo.",
    "ja": "送料は5ドルで、最長で2年かかります。",
    "zh-Hans": "运费为5美元，最长需要两年。",
}
HEADS = {
    "en": ("Returns", "Shipping"),
    "es": ("Devoluciones", "Envíos"),
    "ja": ("返品", "配送"),
    "zh-Hans": ("退货", "配送"),
}


def find(folder: Path, changes: dict[str, tuple[str, str]] | None = None) -> list[Finding]:
    """The findings over the four articles, each changed as said."""
    articles = []
    for code, body in BODIES.items():
        first, second = HEADS[code]
        text = f"## {first} {{#returns}}\n\n{body}\n\n## {second} {{#shipping}}\n\n{SHIPPING[code]}\n"
        before, after = (changes or {}).get(code, ("", ""))
        assert before in text
        path = folder / code / "help.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f"---\ntitle: {first}\nlanguage: {code}\n---\n"
        path.write_text(head + (text.replace(before, after, 1) if before else text), encoding="utf-8")
        articles.append(read_article(path, DETECTOR))
    return check_parity(articles, DETECTOR)


DRIFTS = {
    "figure, en": ("en", "30 days", "60 days", "figures", "60"),
    "figure, es": ("es", "30 días", "13 días", "figures", "13"),
    "figure, ja": ("ja", "30日", "3日", "figures", "3"),
    "figure, zh": ("zh-Hans", "30天", "300天", "figures", "300"),
    "currency, zh": ("zh-Hans", "5美元", "5欧元", "figures", "5"),
    "span, es": ("es", "24 meses", "25 meses", "figures", "25"),
    "denial lost, en": ("en", "are not paid", "are paid", "polarity", ""),
    "denial lost, es": ("es", "no se pagan", "se pagan", "polarity", ""),
    "denial lost, ja": ("ja", "現金では行いません", "現金で行います", "polarity", ""),
    "denial lost, zh": ("zh-Hans", "不以现金", "以现金", "polarity", ""),
    "denial added, en": ("en", "You can return", "You cannot return", "polarity", ""),
    "denial added, ja": ("ja", "返品できます", "返品できません", "polarity", ""),
    "stray word, ja": ("ja", "商品は", "商品は actually ", "word", "actually"),
    "stray word, zh": ("zh-Hans", "请参阅", "请 please 参阅", "word", "please"),
    "kana, zh": ("zh-Hans", "可在", "可が在", "word", "が"),
    "stray word, es": ("es", "un artículo", "an artículo through", "word", "through"),
    "stray word, en": ("en", "paid in cash", "paid in efectivo", "word", "efectivo"),
    "Simplified form, ja": ("ja", "送料は", "运料は", "word", "运"),
    "Traditional form, zh": ("zh-Hans", "运费为", "運费为", "word", "運"),
    "twice, en": ("en", "are not paid", "are not paid are not paid", "repeat", "are not paid"),
    "twice, es": ("es", "en efectivo", "en efectivo en efectivo", "repeat", "en efectivo"),
    "twice, ja": ("ja", "返金は", "返金は返金は", "repeat", "返金は"),
    "twice, zh": ("zh-Hans", "现金支付", "现金支付现金支付", "repeat", "现金支付"),
    "dead anchor, ja": ("ja", "(#shipping)", "(#haiso)", "dead_link", "#haiso"),
    "dead file, en": ("en", "(#shipping)", "(gone.md)", "dead_link", "gone.md"),
    "section, es": ("es", "## Envíos {#shipping}\n\n" + SHIPPING["es"], "", "section", "shipping"),
    "paragraph, zh": ("zh-Hans", "退款不以", "\n\n退款不以", "shape", "paragraphs"),
    "address, ja": ("ja", "をご覧ください", "とexample.comをご覧ください", "links", "example.com"),
}  # fmt: skip


@pytest.mark.parametrize("drift", DRIFTS.values(), ids=DRIFTS)
def test_drift_is_found(drift: tuple[str, str, str, str, str], tmp_path: Path) -> None:
    """A change in one language is found there, with its line, kind and what it is about."""
    code, before, after, kind, what = drift
    found = [finding for finding in find(tmp_path, {code: (before, after)}) if finding.kind == kind]
    assert found
    assert {finding.place.language for finding in found} == {code}
    assert what in found[0].what
    assert found[0].place.line > 1 or kind == "section"


def test_translations_that_agree_are_left_alone(tmp_path: Path) -> None:
    """24 months are two years, $5 are 5 dólares, and words for numbers count: nothing is found."""
    assert find(tmp_path) == []


def test_corpus_is_clean() -> None:
    """The articles of the repository hold nothing to report: what `make check` asks, too."""
    report = check_files([CORPUS], 10)
    assert [finding.reason for finding in report.findings] == []


LANGUAGE = {
    "en": "Los reembolsos no se pagan nunca en efectivo en ninguna de nuestras tiendas.",
    "es": "Refunds are never paid in cash in any of our shops or by any of our partners.",
    "ja": "Refunds are never paid in cash in any of our shops or by any of our partners.",
    "zh-Hans": "返金は現金では行いません。くわしくは店舗のスタッフにおたずねください。",
}


@pytest.mark.parametrize("code", LANGUAGE)
def test_text_in_another_language_is_found(code: str, tmp_path: Path) -> None:
    """A text that was left in, or came from, another language is one finding, not one a word."""
    kinds = [
        finding.kind
        for finding in find(tmp_path, {code: (SHIPPING[code], LANGUAGE[code])})
        if finding.place.language == code
    ]
    assert kinds.count("language") == 1
    assert "word" not in kinds


ALLOWED = "- {kind: figures, path: ja/help.md, anchor: returns, reason: Japan has a longer term}\n"


def test_allowed_finding_is_left_out_and_stale_entry_reported(tmp_path: Path) -> None:
    """An entry with a reason takes its finding out; one that allows nothing is a finding with its own line."""
    found = find(tmp_path, {"ja": ("30日", "60日")})
    file = tmp_path / "parity.yaml"
    file.write_text(ALLOWED + "- {kind: word, path: es/help.md, reason: a name}\n", encoding="utf-8")
    sifted = sift(found, read_allowances(file), file)
    assert [(finding.kind, entry.reason) for finding, entry in sifted.allowed] == [
        ("figures", "Japan has a longer term")
    ]
    assert [(finding.kind, finding.place.line) for finding in sifted.left] == [("allow", 2)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- {kind: figures, path: a.md}", "entry 1: reason"),
        ("- {kind: sums, path: a.md, reason: none}", "entry 1: kind"),
        ("kind: figures", "list"),
        ("- [", "can't be read"),
    ],
    ids=["no reason", "unknown kind", "no list", "no YAML"],
)
def test_unusable_list_is_named(text: str, words: str, tmp_path: Path) -> None:
    """A list that can't be used is named with the entry, in one line."""
    file = tmp_path / "allowed.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_allowances(file)
    assert words in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("sign", ["a", "a.b-", "11.", "字", "あいう", "1"])
def test_a_long_unbroken_word_takes_no_time_of_its_square(sign: str, tmp_path: Path) -> None:
    """Forty thousand signs without a space are checked within seconds, in every language."""
    for code in ("en", "es", "ja", "zh-Hans"):
        (tmp_path / code).mkdir()
        head = f"---\ntitle: T\nlanguage: {code}\n---\n\n## A {{#a}}\n\n"
        (tmp_path / code / "x.md").write_text(head + sign * (40_000 // len(sign)) + "\n", encoding="utf-8")
    started = time.monotonic()
    assert check_files([tmp_path], 10).files == 4
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("name", [b"\xff.md", b"\xe9t\xe9/a.md"], ids=["file", "folder"])
def test_names_that_are_no_text_are_shown_escaped(name: bytes, tmp_path: Path) -> None:
    """A file or folder whose name is not UTF-8 is named, with its bytes escaped."""
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    try:
        file.parent.mkdir(exist_ok=True)
        file.write_text("---\ntitle: T\nlanguage: en\n---\n\nx\n")
    except OSError:
        pytest.skip("this disk takes no such names")
    with pytest.raises(InputError, match=r"\\x(ff|e9).* is not UTF-8; rename it") as caught:
        check_files([tmp_path], 10)
    assert str(caught.value).isprintable()
