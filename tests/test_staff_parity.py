"""The parity page: who may see it, what it shows, in the reader's language."""

from __future__ import annotations

import shutil
from html import escape
from pathlib import Path

import pytest
from babel.numbers import format_decimal

from assistant.settings import read_settings
from assistant.surfaces.staff import parity
from assistant.surfaces.staff.parity import Ledger
from assistant.wording import Wordings
from tests.fakes import FakeAssistant
from tests.staff import make_desk

CORPUS = Path(__file__).parent.parent / "corpus"
NAME = "aws-trainium-credits.md"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A copy of the corpus with a figure changed in Japanese."""
    folder = tmp_path / "corpus"
    shutil.copytree(CORPUS, folder)
    change(
        folder / "ja" / NAME, "194社、合計770万ドル分のクレジットを追跡し", "149社、合計770万ドル分のクレジットを追跡し"
    )
    return folder


def change(file: Path, before: str, after: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en", "ar"])
async def test_page_shows_findings_in_the_readers_language(corpus: Path, language: str) -> None:
    """An agent sees what differs, both texts tagged with their language, under headings they can read."""
    desk = make_desk(FakeAssistant(), corpus=corpus)
    async with desk.signed_in() as client:
        page = (await client.get(f"/staff/parity?language={language}")).text
    text = Wordings().nearest(language).staff_parity
    assert f"{text['kind_figures']} (1)" in page
    assert "<bdi>149</bdi>" in page
    assert '<blockquote lang="ja" dir="ltr">' in page
    assert page.count("<blockquote") == 2


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en", "ar"])
async def test_what_is_left_out_is_said(corpus: Path, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are more findings than the page shows it says how many of how many, and counts all by kind; where
    all are shown it says nothing of it."""
    change(corpus / "ja" / NAME, "770万ドル", "771万ドル")
    desk = make_desk(FakeAssistant(), corpus=corpus)
    text = Wordings().nearest(language).staff_parity
    async with desk.signed_in() as client:
        whole = (await client.get(f"/staff/parity?language={language}")).text
        monkeypatch.setattr(parity, "SHOWN", 1)
        short = (await client.get(f"/staff/parity?language={language}")).text
        count = len((await client.get("/api/v1/staff/parity")).json()["findings"])
    assert count > 1
    locale = language.replace("-", "_")
    numbers = {"shown": format_decimal(1, locale=locale), "found": format_decimal(count, locale=locale)}
    said = escape(text["cut"]).format(**numbers)
    assert said in short
    assert said not in whole
    assert (whole.count('<li class="card">'), short.count('<li class="card">')) == (count, 1)
    assert f"{escape(text['kind_figures'])} ({count})" in short


async def test_api_gives_findings_as_json(corpus: Path) -> None:
    """The API gives the fields of `assistant check --json`; nobody gets them without signing in."""
    desk = make_desk(FakeAssistant(), corpus=corpus)
    async with desk.client() as client:
        assert (await client.get("/api/v1/staff/parity")).status_code == 401
    async with desk.signed_in() as client:
        report = (await client.get("/api/v1/staff/parity")).json()
    assert report["files"] == 4
    (finding,) = report["findings"]
    assert (finding["kind"], finding["language"], finding["anchor"], finding["what"]) == (
        "figures", "ja", "faq-other-programs", "149",
    )  # fmt: skip
    assert finding["sibling"]["language"] != "ja"


async def test_unreadable_corpus_is_said(tmp_path: Path) -> None:
    """Where there are no articles the page says so instead of breaking."""
    desk = make_desk(FakeAssistant(), corpus=tmp_path / "nowhere")
    async with desk.signed_in() as client:
        page = await client.get("/staff/parity")
    assert page.status_code == 200
    assert "no such file or folder" in page.text


def test_report_follows_the_files(corpus: Path) -> None:
    """The same files are checked once; a corrected file is seen at the next look."""
    ledger = Ledger(read_settings(corpus=corpus))
    first = ledger.report()
    assert ledger.report() is first
    change(corpus / "ja" / NAME, "149社", "194社")
    assert ledger.report().findings == ()
