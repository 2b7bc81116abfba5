"""The pages Gaps and Insight in a real browser: for anyone, on any screen, in any direction, without a mouse."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, Route, expect

from evals.records import fill
from tests.fakes import FakeAssistant
from tests.staff import Desk, keep_draft, running_desk
from tests.widgets import WORDINGS, Visits

pytestmark = pytest.mark.browser
PAGES = ["gaps", "insight"]
SIZES = {"desktop": (1280, 900), "phone": (320, 640)}


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    """A desk over two thousand records of a month and drafts of every ending, as a server."""
    with running_desk(FakeAssistant()) as running:
        fill(running.staff.store, 2000)
        for ended, changed in (("unedited", 0), ("edited", 3), ("rejected", 0), ("", 0)):
            keep_draft(running.staff.store, "ja", ended, changed, days_ago=changed)  # type: ignore[arg-type]  # literals
        yield running


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    """Pages of one test, which must not complain."""
    opened = Visits(browser)
    yield opened
    opened.close()
    assert opened.complaints == []


def visit(
    visits: Visits, desk: Desk, path: str, name: str, size: tuple[int, int] = (1280, 900), **options: str
) -> Page:
    """A staff page, opened by a new member."""
    context = visits.browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)  # type: ignore[arg-type]
    visits.contexts.append(context)
    desk.sign_in(context, name=name)
    return visits.open_in(context, f"{desk.address}{path}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en", "ar"])
@pytest.mark.parametrize("page", PAGES)
def test_pages_are_accessible(visits: Visits, desk: Desk, page: str, language: str, scheme: str) -> None:
    """axe finds nothing, with everything unfolded, on a phone; the page is no wider than the screen."""
    path = f"/staff/{page}?language={language}"
    shown = visit(visits, desk, path, f"{page} {language} {scheme}", SIZES["phone"], color_scheme=scheme)
    shown.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert Axe().run(shown).response["violations"] == []
    assert shown.evaluate("document.documentElement.scrollWidth") <= SIZES["phone"][0]


def test_filters_work_by_keyboard(visits: Visits, desk: Desk) -> None:
    """A filter is chosen and sent without a mouse, and stays chosen; the sheet is of the same selection."""
    page = visit(visits, desk, "/staff/insight?language=ja", "keys")
    page.get_by_label(WORDINGS.nearest("ja").staff_insight["channel"], exact=True).focus()
    page.keyboard.press("S")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**channel=slack**")
    expect(page.locator("#channel")).to_have_value("slack")
    assert "channel=slack" in str(page.locator(".export").get_attribute("href"))
    channels = page.get_by_role("region", name=WORDINGS.nearest("ja").staff_insight["by_channel"])
    expect(channels.locator("tbody th")).to_have_text(["Slack"])


@pytest.mark.parametrize("language", ["es", "ar"])
def test_time_runs_with_the_text(visits: Visits, desk: Desk, language: str) -> None:
    """The latest day stands at the end of the line: right from left to right, left from right to left."""
    page = visit(visits, desk, f"/staff/insight?language={language}", f"time {language}")
    days, bars = page.locator(".axis").first.locator("span"), page.locator(".bars").first.locator("rect")
    assert (left(days.first) < left(days.last)) is (left(bars.first) < left(bars.last)) is (language == "es")


def left(shown: Locator) -> float:
    """Where its left edge is, in pixels."""
    box = shown.bounding_box()
    assert box
    return box["x"]


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("language", ["ja", "ar"])
def test_examples_stay_in_their_card(visits: Visits, desk: Desk, language: str, width: int) -> None:
    """Examples in any script begin at the page's side, with their bullets inside the card."""
    page = visit(visits, desk, f"/staff/gaps?language={language}", f"card {language} {width}", (width, 780))
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    sides = page.locator(".gap-list details li").evaluate_all("all => all.map(one => getComputedStyle(one).direction)")
    assert set(sides) == {"rtl" if language == "ar" else "ltr"}
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_draft_begins_with_one_click(visits: Visits, desk: Desk, language: str) -> None:
    """The button sends the topic's question with the page's protection, and leads to the draft."""
    page = visit(visits, desk, f"/staff/gaps?language={language}", f"draft {language}")
    sent: list[dict[str, str]] = []

    def draft(route: Route) -> None:
        assert route.request.headers["x-request-token"]
        sent.append(json.loads(route.request.post_data or ""))
        route.fulfill(json={"id": "d1"})

    page.route("**/api/v1/staff/drafts", draft)
    page.route(
        "**/staff/drafts?draft=d1", lambda route: route.fulfill(body="<title>x</title>", content_type="text/html")
    )
    question = page.locator(".gap-list h2").first.inner_text()
    page.locator("button.draft").first.click()
    page.wait_for_url("**/staff/drafts?draft=d1")
    assert sent[0]["message"] == question
    assert sent[0]["agent_language"] == language


def test_a_draft_that_fails_is_told(visits: Visits, desk: Desk) -> None:
    """When no draft can be begun the page says so, and the button can be pressed again."""
    page = visit(visits, desk, "/staff/gaps?language=es", "failing")
    page.route("**/api/v1/staff/drafts", lambda route: route.fulfill(status=503, json={"error": "not now"}))
    page.locator("button.draft").first.click()
    expect(page.get_by_role("alert")).to_contain_text(WORDINGS.nearest("es").staff_insight["draft_failed"])
    expect(page.get_by_role("alert")).to_contain_text("not now")
    expect(page.locator("button.draft").first).to_be_enabled()
    visits.complaints.clear()  # the browser notes the refused request
