"""The staff desk in a real browser: signing in by keyboard, languages, phones, accessibility."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from assistant.wording import Wordings
from tests.fakes import FakeAssistant
from tests.staff import Desk, running_desk
from tests.widgets import Visits

pytestmark = pytest.mark.browser
LANGUAGES = ("zh-Hans", "ja", "es", "en", "ar")
LOOKS = {"phone, light": ((320, 640), "light"), "desktop, dark": ((1280, 800), "dark")}


@pytest.fixture
def desk() -> Iterator[Desk]:
    with running_desk(FakeAssistant()) as desk:
        yield desk


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    visits = Visits(browser)
    yield visits
    visits.close()


def text(name: str, language: str) -> str:
    return Wordings().nearest(language).staff[name]


def failures(page: Page) -> list[str]:
    """What axe finds wrong."""
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:100]}" for one in found]


def sign_in_by_keyboard(page: Page, token: str) -> None:
    """Tab to the field, the token, Enter."""
    for _ in range(4):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "token":
            break
    page.keyboard.type(token)
    page.keyboard.press("Enter")


@pytest.mark.parametrize("language", LANGUAGES)
def test_signing_in_and_out_by_keyboard(desk: Desk, visits: Visits, language: str) -> None:
    """Without a mouse one signs in, lands where one wanted to, and signs out; afterwards the way back is closed."""
    page = visits.open(f"{desk.address}/staff/audit?language={language}")
    expect(page.locator("h1")).to_have_text(text("sign_in", language))
    sign_in_by_keyboard(page, desk.token("editor", "Ana"))
    expect(page.locator("h1")).to_have_text(text("page_audit", language))
    expect(page.locator("[aria-current]").first).to_have_text(text("page_audit", language))
    assert page.locator("html").get_attribute("dir") == ("rtl" if language == "ar" else "ltr")
    page.get_by_role("button", name=text("sign_out", language)).press("Enter")
    expect(page.locator("h1")).to_have_text(text("sign_in", language))
    page.go_back()
    expect(page.locator("#token")).to_be_visible()
    assert visits.complaints == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_wrong_token_is_explained(desk: Desk, visits: Visits, language: str) -> None:
    """A refusal is said in the page's language, to screen readers too, and the field can be typed over at once."""
    page = visits.open(f"{desk.address}/staff/sign-in?language={language}")
    sign_in_by_keyboard(page, "staff_wrong")
    problem = page.get_by_role("alert")
    expect(problem).to_have_text(text("wrong_token", language))
    expect(page.locator("#token")).to_have_attribute("aria-invalid", "true")
    assert failures(page) == []
    page.keyboard.type(desk.token("editor"))
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(text("page_drafts", language))


def test_locking_out_is_explained(desk: Desk, visits: Visits) -> None:
    """After too many wrong tokens the page says to wait."""
    page = visits.open(f"{desk.address}/staff/sign-in?language=es")
    for number in range(6):
        page.fill("#token", f"staff_{number}")
        with page.expect_response("**/sign-in"):
            page.press("#token", "Enter")
        expect(page.get_by_role("alert")).not_to_be_empty()
    expect(page.get_by_role("alert")).to_have_text(text("locked_out", "es"))


@pytest.mark.parametrize(("size", "scheme"), LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_are_accessible_and_fit(
    desk: Desk, visits: Visits, language: str, size: tuple[int, int], scheme: str
) -> None:
    """Axe finds nothing, and nothing is wider than the screen, on the sign-in page and on one behind it."""
    page = visits.open(f"{desk.address}/staff/sign-in?language={language}", size, color_scheme=scheme)
    for _ in range(2):
        assert failures(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        desk.staff.audit.add(desk.member("editor", f"Núñez {page.url[-12:]}"), "draft.sent", "d" * 64)
        desk.sign_in(page.context, "editor", f"佐藤 {page.url[-12:]}")
        page.goto(f"{desk.address}/staff/audit")
    expect(page.get_by_role("row")).to_have_count(3)
    assert visits.complaints == []


def test_forced_colours_keep_edges(desk: Desk, visits: Visits) -> None:
    """With forced colours the button keeps an edge, and the page one is on is told apart by more than colour."""
    page = visits.open(f"{desk.address}/staff/sign-in", forced_colors="active")
    assert page.locator("#sign-in button").evaluate("one => getComputedStyle(one).borderTopStyle") == "solid"
    desk.sign_in(page.context, "editor")
    page.goto(f"{desk.address}/staff/audit")
    current = page.locator(".pages [aria-current]")
    assert "underline" in current.evaluate("one => getComputedStyle(one).textDecorationLine")


def test_whoever_is_signed_out_keeps_the_page(desk: Desk, visits: Visits) -> None:
    """A page whose session has ended says so when it next asks the server, instead of losing what was typed."""
    page = visits.open(f"{desk.address}/staff/sign-in?language=ja")
    desk.sign_in(page.context, "editor")
    page.goto(f"{desk.address}/staff/audit")
    desk.staff.members.revoke("Ana")
    ask = """async () => {
        const { call } = await import(document.querySelector('script[src$="staff.js"]').src);
        return call("/api/v1/staff/audit").catch((error) => [error.status, error.message]);
    }"""
    assert page.evaluate(ask) == [401, text("signed_out", "ja")]
    assert page.url.endswith("/staff/audit")


def test_the_page_can_not_be_framed(desk: Desk, visits: Visits) -> None:
    """Another page can't show the desk in a frame to have it clicked."""
    page = visits.open(f"{desk.address}/staff/sign-in")
    desk.sign_in(page.context, "editor")
    page.goto(f"{desk.address}/healthz")
    page.evaluate(
        """address => { const frame = document.createElement("iframe"); frame.src = address;
        document.body.append(frame); return new Promise((resolve) => (frame.onload = resolve)); }""",
        f"{desk.address}/staff/audit",
    )
    assert not any(re.search("audit", frame.url) for frame in page.frames)
