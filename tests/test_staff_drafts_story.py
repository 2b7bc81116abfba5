"""One ticket from beginning to end over the real articles: the page, the drafts' API and the store together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from assistant.pipeline import Assistant
from tests.draft_desk import part, visit_drafts, word
from tests.staff import Desk, running_desk
from tests.test_staff_drafts_looks import violations
from tests.widgets import WORDINGS, Visits

pytestmark = pytest.mark.browser
# What a Japanese customer writes: two questions that the articles answer, one about what they don't treat.
TICKET = """サポートご担当者様

いつもお世話になっております。株式会社みらいの田中です。
Trainiumクレジットは最大でいくら受け取れますか？
PyTorchのコードは書き直す必要がありますか？
また、東京オフィスの電話番号を教えていただけますか？

よろしくお願いいたします。
田中
"""
FILLED = "担当者より改めてご連絡いたします。"
WRONG = "クレジットは毎年100万ドルまで増額されます。"


@pytest.fixture
def desk(real_assistant: Assistant) -> Iterator[Desk]:
    with running_desk(real_assistant) as running:
        yield running


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    visits = Visits(browser)
    yield visits
    visits.close()
    assert visits.complaints == []


def test_a_spanish_reading_agent_answers_a_japanese_ticket(visits: Visits, desk: Desk) -> None:
    """The draft is in Japanese, two paragraphs cited with their Spanish siblings, one gap; a sentence that the articles
    do not support is marked; a reload keeps all; the gap is confirmed; the reply is sent, and counted as such."""
    page = visit_drafts(visits, desk, size=(390, 844))
    page.get_by_label(word("message")).fill(TICKET)
    page.get_by_role("button", name=word("write")).first.click()
    expect(page.locator(".part")).to_have_count(5)
    expect(page.locator(".message mark")).to_have_count(3)
    for number in (1, 2):
        expect(part(page, number).locator(".marked")).to_have_attribute("lang", "ja")
        sibling = part(page, number).locator(".rest.supported > blockquote").first
        expect(sibling).to_have_attribute("lang", "es")
        expect(part(page, number).locator(".flag")).to_be_hidden()
    expect(part(page, 1).locator(".rest.supported").first).to_contain_text("300")
    expect(part(page, 2).locator(".rest.supported").first).to_contain_text("Neuron")
    expect(part(page, 3).locator(".flag")).to_have_text(word("gap"))
    assert violations(page) == []

    text = part(page, 1).locator("textarea")
    text.fill(text.input_value() + WRONG)
    expect(part(page, 1).locator(".copy .unsupported")).to_have_text(WRONG)
    expect(part(page, 1).locator(".reason")).not_to_be_empty()
    expect(page.locator(".saved")).to_have_text(word("saved"))
    page.reload()
    expect(part(page, 1).locator(".copy .unsupported")).to_have_text(WRONG)
    assert text.input_value().endswith(WRONG)

    text.fill(text.input_value().removesuffix(WRONG))
    expect(part(page, 1).locator(".flag")).to_be_hidden()
    part(page, 3).locator("textarea").fill(FILLED)
    expect(part(page, 3).locator(".flag")).to_have_text(word("unsupported"))
    page.get_by_role("button", name=word("mark_sent")).click()
    page.get_by_role("dialog").get_by_role("button", name=word("mark_sent")).click()
    expect(page.locator(".titles .chip")).to_have_text(word("sent_edited"))
    assert violations(page) == []
    page.get_by_role("link", name=word("all_drafts")).click()
    expect(page.locator(".rows .chip.sent")).to_have_text(word("sent_edited"))

    page.goto(f"{desk.address}/staff/insight?language=es")
    words = WORDINGS.nearest("es").staff_insight
    drafts = page.get_by_role("region", name=words["drafts_by_language"])
    expect(drafts.locator("tbody th")).to_have_text(["日本語"])
    cells = drafts.locator("tbody td").all_inner_texts()
    assert cells[:5] == ["1", "0", "1", "0", "0"]  # written: sent unchanged, with changes, rejected, open
    assert len(set(cells[5:])) == 1
    assert cells[5].removesuffix("%").strip() != "0"
    assert violations(page) == []
