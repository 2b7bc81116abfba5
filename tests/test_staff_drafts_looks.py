"""How the drafts page looks and is reached: axe in every state, widths, keyboard alone, mixed directions, colours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from assistant.cabinet import HandedOver
from tests.draft_desk import NOW, TICKETS, FakeDrafts, Letter, part, running_drafts, visit_drafts, word
from tests.staff import Desk
from tests.widgets import Visits

pytestmark = pytest.mark.browser
SIZES = {"320px": (320, 640), "phone": (390, 844), "desktop": (1280, 800), "4K": (3840, 2160)}
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
SMALL = """
() => [...document.querySelectorAll('main :is(button, summary, select, textarea, input)')]
  .filter(one => one.checkVisibility())
  .filter(one => { const { width, height } = one.getBoundingClientRect(); return width < 24 || height < 24; })
  .map(one => one.className || one.tagName)
"""


@pytest.fixture
def drafts() -> FakeDrafts:
    return FakeDrafts(handovers=[HandedOver("c1", "asked", NOW, "zh-Hans", "我想找人工客服。", "")])


@pytest.fixture
def letter(drafts: FakeDrafts) -> Letter:
    """A Japanese letter with a gap and a sentence that no passage says."""
    letter = drafts.write("ja")
    drafts.save(letter, {**letter.texts, "q2": "".join([TICKETS["ja"].answers[1], TICKETS["ja"].wrong])}, "Bo")
    return letter


@pytest.fixture
def desk(drafts: FakeDrafts) -> Iterator[Desk]:
    with running_drafts(drafts) as running:
        yield running


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    visits = Visits(browser)
    yield visits
    visits.close()


@pytest.fixture
def visit(visits: Visits, desk: Desk) -> Callable[..., Page]:
    """Opens the page, or a letter of it, as a new member."""
    return partial(visit_drafts, visits, desk)


def violations(page: Page) -> list[str]:
    """What axe finds."""
    found = Axe().run(page, options=RULES).response["violations"]
    return [f"{one['id']}: {node['target']} {node['failureSummary']}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("size", [(1280, 800), (320, 640)], ids=["desktop", "320px"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["es", "ar"])
def test_axe_finds_nothing_in_any_state(
    visit: Callable[..., Page], drafts: FakeDrafts, letter: Letter, language: str, scheme: str, size: tuple[int, int]
) -> None:
    """WCAG 2.2 AA, both directions, light and dark, wide and narrow: the list, a letter with a gap and a doubt, what is
    asked before sending, versions, a proposal, two texts to choose from, a letter that is sent."""
    start = visit(language=language, color_scheme=scheme, size=size)
    expect(start.locator(".rows a")).to_have_count(1)
    found = {"list": violations(start)}
    page = visit(letter, language, color_scheme=scheme, size=size, name="Eva", role="editor")
    page.locator(".rest details summary").first.click()
    found["letter"] = violations(page)
    dialog = page.get_by_role("dialog")
    for name, button in (
        ("sending", page.get_by_role("button", name=word("mark_sent", language))),
        ("versions", page.get_by_role("button", name=word("versions", language))),
        ("proposal", part(page, 1).locator("[data-action=propose]")),
    ):
        button.click()
        expect(dialog).to_be_visible()
        found[name] = violations(page)
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    drafts.save(letter, {**letter.texts, "closing": "敬具"}, "Bo")
    part(page, 4).locator("textarea").fill("草々")
    expect(dialog).to_be_visible()
    found["conflict"] = violations(page)
    dialog.get_by_role("radio").first.check()
    dialog.get_by_role("button").click()
    page.get_by_role("button", name=word("mark_sent", language)).click()
    dialog.get_by_role("button", name=word("mark_sent", language)).click()
    expect(page.locator(".titles .chip")).to_be_visible()
    found["sent"] = violations(page)
    assert {state: problems for state, problems in found.items() if problems} == {}


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en", "ar", "de", "hi"])
def test_nothing_runs_over_the_edge(visit: Callable[..., Page], letter: Letter, language: str) -> None:
    """At no width, with an endless word too, does the page scroll sideways, and every control can be hit."""
    letter.texts["q1"] = "x" * 300
    page = visit(letter, language)
    for size in SIZES.values():
        page.set_viewport_size({"width": size[0], "height": size[1]})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), size
        assert page.evaluate(SMALL) == []
    page.get_by_role("link", name=word("all_drafts", language)).click()
    expect(page.locator(".rows a")).to_have_count(1)
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(SMALL) == []


@pytest.mark.parametrize(("agent", "customer"), [("ar", "ja"), ("es", "ar")], ids=["rtl agent", "rtl customer"])
def test_each_text_has_its_own_direction(
    visit: Callable[..., Page], drafts: FakeDrafts, agent: str, customer: str
) -> None:
    """The page runs in the agent's direction, letter and originals in the customer's."""
    page = visit(drafts.write(customer), agent)
    own, other = ("rtl", "ltr") if agent == "ar" else ("ltr", "rtl")

    def runs(selector: str) -> str:
        return str(part(page, 1).locator(selector).first.evaluate("one => getComputedStyle(one).direction"))

    assert page.evaluate("getComputedStyle(document.querySelector('main')).direction") == own
    assert [runs(name) for name in ("textarea", ".copy", ".said", ".rest details blockquote")] == [other] * 4
    assert [runs(name) for name in (".rest > blockquote", ".rest > .place", ".tools")] == [own] * 3
    left, right = (page.locator(name).first.bounding_box() for name in (".letter", ".beside"))
    assert left
    assert right
    assert (left["x"] > right["x"]) == (agent == "ar")


def test_the_keyboard_is_enough(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """From pasting to sending with no mouse: the focus is always seen and never lost behind a dialog."""
    page = visit()

    def reach(selector: str) -> None:
        for _ in range(60):
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                break
            page.keyboard.press("Tab")
        assert page.evaluate("selector => document.activeElement.matches(selector)", selector), selector
        assert page.evaluate(
            """() => { const one = document.activeElement, look = getComputedStyle(one), next = one.nextElementSibling;
                 return look.outlineStyle !== 'none' || (next && getComputedStyle(next).outlineStyle !== 'none'); }"""
        )

    reach("#message")
    page.keyboard.insert_text(TICKETS["ja"].message)
    reach(".tones input")
    page.keyboard.press("ArrowRight")
    reach(".choices > button")
    page.keyboard.press("Enter")
    expect(page.locator(".part")).to_have_count(5)
    assert page.evaluate("document.activeElement.tagName") == "H1"
    reach(".part:nth-child(4) textarea")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(TICKETS["ja"].answers[1])
    expect(part(page, 3).locator(".flag")).to_be_hidden()
    reach(".part:nth-child(2) summary")
    page.keyboard.press("Enter")
    expect(part(page, 1).locator("details[open]")).to_have_count(1)
    reach(".part:nth-child(5) textarea")
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("敬具")
    reach(".buttons button:last-child")
    page.keyboard.press("Enter")
    expect(page.locator(".titles .chip")).to_be_visible()
    assert page.evaluate("document.activeElement.tagName") == "H1"
    letter = next(iter(drafts.letters.values()))
    assert (letter.state, letter.tone) == ("sent", "friendly")
    assert letter.texts["closing"].endswith("敬具")


def test_forced_colours_keep_the_marks(visit: Callable[..., Page], letter: Letter) -> None:
    """Where the system forces its colours, what is not supported is underlined all the same, and a gap has an edge."""
    page = visit(letter, forced_colors="active")
    wrong = part(page, 2).locator(".copy .unsupported")
    assert wrong.evaluate("one => getComputedStyle(one).textDecorationStyle") == "wavy"
    assert part(page, 3).locator("textarea").evaluate("one => getComputedStyle(one).borderTopStyle") == "dashed"
    assert violations(page) == []
