"""How the widget looks and is reached: axe in every state, widths, zoom, keyboards, colours, motion, mirroring."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.fakes import REPLIES, FakeAssistant, answer
from tests.widgets import SITE, Visits, ask, label, open_panel, send, site, tag

pytestmark = pytest.mark.browser
SIZES = {"320px": (320, 640), "phone": (390, 844), "desktop": (1280, 800), "4K": (3840, 2160)}
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
BOX = "faq-assistant .ask textarea"
SMALL = """
() => [...document.querySelector('faq-assistant').shadowRoot.querySelectorAll('button, summary, a, textarea')]
  .filter(one => one.checkVisibility() && !one.closest('.text'))
  .filter(one => { const { width, height } = one.getBoundingClientRect(); return width < 24 || height < 24; })
  .map(one => one.className || one.tagName)
"""
EDGES = """
() => { const frame = document.querySelector('faq-assistant').shadowRoot.querySelector('.panel');
  const { left, right, top, bottom } = frame.getBoundingClientRect();
  const thread = frame.querySelector('.thread');
  return { left, right, top, bottom, inside: thread.scrollWidth <= thread.clientWidth,
           page: document.documentElement.scrollWidth <= innerWidth }; }
"""


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    visits = Visits(browser)
    yield visits
    visits.close()


@pytest.fixture
def visit(visits: Visits, start_server: Callable[..., str], fake: FakeAssistant) -> Callable[..., Page]:
    """Opens the help page in a language, the panel closed."""
    server = start_server(fake, message_limit=100)

    def start(language: str = "en", **options: Any) -> Page:
        page = visits.open(f"{server}/?language={language}", **options)
        expect(page.locator("faq-assistant .launcher")).to_be_visible()
        return page

    return start


def violations(page: Page) -> list[str]:
    """What axe finds; animations are over first."""
    page.evaluate("Promise.all(document.getAnimations({ subtree: true }).map(one => one.playState))")
    found = Axe().run(page, options=RULES).response["violations"]
    return [f"{one['id']}: {node['target']} {node['failureSummary']}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ar"])
def test_axe_finds_nothing_in_any_state(
    visit: Callable[..., Page], fake: FakeAssistant, language: str, scheme: str
) -> None:
    """WCAG 2.2 AA, left to right and right to left, light and dark: the page, the empty panel, an answer under way, a
    question that waits, an answer with an open source, feedback, each other outcome, a long text, a failure."""
    question = REPLIES[language][0]
    fake.scripted["?"] = answer(language, "clarify", "…?", suggestions=(question, "2"))
    fake.scripted["!"] = answer(language, "handover", "[Mail](https://help.example.com/contact)")
    page = visit(language, color_scheme=scheme, reduced_motion="reduce")
    page.route("**/api/v1/feedback*", lambda route: route.fulfill(status=200, json={}))
    found = {"closed": violations(page)}
    open_panel(page)
    found["empty"] = violations(page)
    send(page, f"{question} pause")
    expect(page.locator(".exchange .cite")).to_have_count(1)
    send(page, "unknown")
    expect(page.locator("[data-state=waiting]")).to_have_count(1)
    found["under way"] = violations(page)
    fake.resumed.set()
    expect(page.locator("[data-outcome=abstained]")).to_have_count(1)
    page.locator(".cite").first.click()
    found["answered, abstained, source open"] = violations(page)
    page.get_by_role("button", name=label("unhelpful", language)).first.click()
    expect(page.locator(".comment")).to_be_visible()
    found["feedback"] = violations(page)
    for name in ("related", "?", "!", "broken"):
        ask(page, name)
        found[name] = violations(page)
    page.fill(BOX, "x" * 101)
    found["too long"] = violations(page)
    assert {state: problems for state, problems in found.items() if problems} == {}


@pytest.mark.parametrize("size", [(390, 844), (320, 640)], ids=["phone", "320px"])
@pytest.mark.parametrize("language", ["ja", "ar"])
def test_axe_finds_nothing_on_a_phone(visit: Callable[..., Page], language: str, size: tuple[int, int]) -> None:
    """The panel that fills a phone is as accessible, and what lies behind it can't be reached."""
    page = visit(language, size=size, reduced_motion="reduce")
    open_panel(page)
    ask(page, REPLIES[language][0])
    page.locator(".cite").first.click()
    assert violations(page) == []
    for _ in range(20):
        page.keyboard.press("Tab")
        assert page.evaluate("['FAQ-ASSISTANT', 'BODY'].includes(document.activeElement.tagName)")


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "ar", "de"])
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_nothing_runs_over_the_edge(visit: Callable[..., Page], language: str, size: tuple[int, int]) -> None:
    """At no width does anything scroll sideways or leave the window, with an open source and an endless word."""
    page = visit(language, size=size, reduced_motion="reduce")
    open_panel(page)
    ask(page, REPLIES.get(language, REPLIES["en"])[0])
    page.locator(".cite").first.click()
    ask(page, "x" * 100)
    edges = page.evaluate(EDGES)
    assert edges["inside"]
    assert edges["page"]
    assert edges["left"] >= 0
    assert edges["top"] >= 0
    assert edges["right"] <= size[0]
    assert edges["bottom"] <= size[1]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_zoom_of_200_percent_fits(visit: Callable[..., Page], language: str) -> None:
    """At 200 % zoom of a laptop's window, and with the browser's text twice as large, everything can be reached."""
    page = visit(language, size=(640, 400), device_scale_factor=2, reduced_motion="reduce")
    open_panel(page)
    ask(page, REPLIES[language][0])
    for larger in (False, True):
        if larger:
            page.evaluate("document.documentElement.style.fontSize = '200%'")
        edges = page.evaluate(EDGES)
        assert edges["top"] >= 0
        assert edges["bottom"] <= 400
        assert edges["inside"]
        expect(page.locator(BOX)).to_be_in_viewport()
        expect(page.locator("faq-assistant .send")).to_be_in_viewport()


@pytest.mark.parametrize("size", [(320, 640), (1280, 800)], ids=["320px", "desktop"])
def test_targets_are_large_enough(visit: Callable[..., Page], size: tuple[int, int]) -> None:
    """Every control outside running text is at least 24 by 24 pixels."""
    page = visit("en", size=size)
    open_panel(page)
    assert page.evaluate(SMALL) == []
    ask(page, REPLIES["en"][0])
    page.locator(".cite").first.click()
    ask(page, "unknown")
    assert page.evaluate(SMALL) == []


@pytest.mark.parametrize("language", ["ja", "ar"])
def test_phone_keyboard_leaves_the_box_visible(visit: Callable[..., Page], language: str) -> None:
    """Complaint 28: when a phone's keyboard takes the lower half of the window, the box stays above it."""
    page = visit(language, size=(390, 844), has_touch=True, reduced_motion="reduce")
    open_panel(page)
    ask(page, REPLIES[language][0])
    page.evaluate(
        """() => { for (const [name, value] of [['height', 420], ['offsetTop', 60]])
               Object.defineProperty(visualViewport, name, { value, configurable: true });
             visualViewport.dispatchEvent(new Event('resize')); }"""
    )
    box = page.locator("faq-assistant .ask .box").bounding_box()
    frame = page.locator("faq-assistant .panel").bounding_box()
    assert box
    assert frame
    assert frame["y"] == 60
    assert box["y"] >= 60
    assert box["y"] + box["height"] <= 480
    font = page.locator(BOX).evaluate("box => parseFloat(getComputedStyle(box).fontSize)")
    assert font >= 16  # below that, phones zoom into the page


def test_forced_colours_keep_the_shapes(visit: Callable[..., Page]) -> None:
    """With the colours of a high-contrast theme, buttons, markers and the question still have a visible edge."""
    page = visit("en", forced_colors="active")
    edge = "one => getComputedStyle(one).borderTopStyle"
    assert page.locator("faq-assistant .launcher").evaluate(edge) == "solid"
    open_panel(page)
    ask(page, REPLIES["en"][0])
    for name in (".send", ".cite", ".question"):
        assert page.locator(f"faq-assistant {name}").first.evaluate(edge) == "solid"


def test_reduced_motion_is_respected(visit: Callable[..., Page], fake: FakeAssistant) -> None:
    """Whoever wants less motion gets none: no animation runs while an answer is under way."""
    page = visit("en", reduced_motion="reduce")
    open_panel(page)
    send(page, "slow")
    expect(page.locator(".exchange .dots")).to_be_visible()
    running = "document.querySelector('faq-assistant').shadowRoot.getAnimations().length"
    assert page.evaluate(running) == 0
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(running) >= 3


def test_right_to_left_is_mirrored(visit: Callable[..., Page]) -> None:
    """On an Arabic page the launcher is on the left, the question on the left, and the send button left of the box."""
    page = visit("ar")
    launcher = page.locator("faq-assistant .launcher").bounding_box()
    assert launcher
    assert launcher["x"] < 640
    open_panel(page)
    exchange = ask(page, REPLIES["ar"][0])
    places = [one.bounding_box() for one in (page.locator("faq-assistant .send"), page.locator(BOX))]
    sender, box = (place["x"] for place in places if place)
    assert sender < box
    question, reply = exchange.locator(".question").bounding_box(), exchange.locator(".reply").bounding_box()
    assert question
    assert reply
    assert question["x"] - reply["x"] < 2


def place(page: Page, selector: str) -> tuple[float, float]:
    """Top and bottom edge of an element, in pixels."""
    box = page.locator(f"faq-assistant {selector}").bounding_box()
    assert box
    return box["y"], box["y"] + box["height"]


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)], ids=["phone", "desktop"])
@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "ar"])
def test_each_new_question_stands_at_the_top(
    visit: Callable[..., Page], fake: FakeAssistant, language: str, size: tuple[int, int]
) -> None:
    """However much was said before, a new question moves to the top and its whole reply is in sight, without a jump
    when the reply is complete; after a reload the last question stands there again."""
    page = visit(language, size=size, reduced_motion="reduce")
    open_panel(page)
    for _ in range(3):
        ask(page, REPLIES[language][0])
    send(page, f"{REPLIES[language][0]} pause")
    expect(page.locator(".exchange").nth(3).locator(".cite")).to_have_count(1)
    before = place(page, ".exchange:last-child .question")[0]
    fake.resumed.set()
    expect(page.locator(".exchange").nth(3)).to_have_attribute("data-outcome", "answered")
    top, bottom = place(page, ".thread")
    question = place(page, ".exchange:last-child .question")[0]
    assert top <= question < top + 40
    assert question == before
    assert place(page, ".exchange:last-child .tools")[1] <= bottom
    page.reload()
    if size[0] < 500:
        open_panel(page)
    expect(page.locator(".exchange")).to_have_count(4)
    assert top <= place(page, ".exchange:last-child .question")[0] < top + 40


@pytest.mark.parametrize("language", ["ja", "en"])
def test_waiting_question_leaves_the_answer_in_sight(
    visit: Callable[..., Page], fake: FakeAssistant, language: str
) -> None:
    """A question that waits its turn shows below the answer under way, and both are in sight."""
    page = visit(language, reduced_motion="reduce")
    open_panel(page)
    ask(page, REPLIES[language][0])
    send(page, f"{REPLIES[language][0]} pause")
    expect(page.locator(".exchange").nth(1).locator(".cite")).to_have_count(1)
    top, bottom = place(page, ".thread")
    send(page, "unknown")
    expect(page.locator("[data-state=waiting]")).to_be_visible()
    assert place(page, ".exchange:nth-child(2) .question")[0] >= top
    assert place(page, "[data-state=waiting] .state")[1] <= bottom
    fake.resumed.set()
    expect(page.locator("[data-outcome=abstained]")).to_have_count(1)


def test_quick_answers_come_without_a_flash(visit: Callable[..., Page]) -> None:
    """That something is under way shows after a moment only: the line keeps its room, unseen, and then fades in."""
    page = visit("en")
    open_panel(page)
    seen = page.evaluate(
        """() => { const widget = document.querySelector('faq-assistant'); widget.ask('slow');
             const state = widget.shadowRoot.querySelector('.state');
             return [getComputedStyle(state).opacity, state.checkVisibility(), state.offsetHeight > 20]; }"""
    )
    assert seen == ["0", True, True]
    expect(page.locator(".exchange .state")).to_have_css("opacity", "1")


def test_no_line_ends_with_a_single_character(visit: Callable[..., Page]) -> None:
    """Questions, suggestions and paragraphs break so that no last line holds one character or word alone."""
    page = visit("ja", reduced_motion="reduce")
    open_panel(page)
    ask(page, REPLIES["ja"][0])
    for name in (".question", ".text p"):
        assert page.locator(f"faq-assistant .exchange {name}").evaluate(
            "one => getComputedStyle(one).textWrapStyle"
        ) == ("pretty")


def test_outcomes_look_different(visit: Callable[..., Page]) -> None:
    """Answered, related and abstained replies are told apart by more than their words."""
    page = visit("en")
    open_panel(page)
    looks = [
        ask(page, question)
        .locator(".text p")
        .first.evaluate("one => { const look = getComputedStyle(one); return [look.color, look.borderLeftStyle]; }")
        for question in (REPLIES["en"][0], "related", "unknown")
    ]
    assert len({str(look) for look in looks}) == 3


def test_nothing_jumps(visit: Callable[..., Page], fake: FakeAssistant) -> None:
    """Loading the widget and answering shift nothing that stood there."""
    page = visit("en", reduced_motion="reduce")
    page.evaluate(
        """() => { window.shifts = 0; new PerformanceObserver(list => { for (const one of list.getEntries())
             if (!one.hadRecentInput) shifts += one.value; }).observe({ type: 'layout-shift', buffered: true }); }"""
    )
    open_panel(page)
    page.wait_for_timeout(600)  # shifts within half a second of a click do not count
    page.evaluate("question => document.querySelector('faq-assistant').ask(question)", f"{REPLIES['en'][0]} pause")
    expect(page.locator(".exchange .cite")).to_have_count(1)
    fake.resumed.set()
    expect(page.locator("[data-outcome=answered]")).to_have_count(1)
    page.wait_for_timeout(100)
    assert page.evaluate("shifts") < 0.02


@pytest.mark.parametrize("accent", ["#ffd400", "#0a0a2a", "hotpink"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_any_accent_stays_readable(
    visits: Visits, start_server: Callable[..., str], fake: FakeAssistant, accent: str, scheme: str
) -> None:
    """Whatever colour a site gives, buttons and markers keep their contrast."""
    server = start_server(fake)
    with site({"/": SITE.format(language="en", body=f"<main>{tag(server, accent=accent)}</main>")}) as address:
        page = visits.open(address, color_scheme=scheme, reduced_motion="reduce")
        expect(page.locator("faq-assistant .launcher")).to_be_visible()
        assert [line for line in violations(page) if line.startswith("color-contrast")] == []
        open_panel(page)
        ask(page, REPLIES["en"][0])
        page.locator(".cite").first.click()
        assert [line for line in violations(page) if line.startswith("color-contrast")] == []


def test_inline_mode_stands_in_the_page(visits: Visits, start_server: Callable[..., str], fake: FakeAssistant) -> None:
    """With `data-mode="inline"` and a target the panel stands in its place in the page, without launcher and close."""
    server = start_server(fake)
    body = f'<main><div id="help"></div>{tag(server, mode="inline", target="#help", theme="dark")}</main>'
    with site({"/": SITE.format(language="ja", body=body)}) as address:
        page = visits.open(address, reduced_motion="reduce")
        expect(page.locator("#help faq-assistant .panel")).to_be_visible()
        expect(page.locator("faq-assistant .launcher")).to_have_count(0)
        expect(page.locator("faq-assistant .close")).to_have_count(0)
        ask(page, REPLIES["ja"][0])
        assert violations(page) == []
