"""The page at `/` in a real Chromium: asking, input methods, sources, outcomes, directions, and what it must not do."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from assistant.wording import Wordings
from tests.fakes import REPLIES, FakeAssistant, answer

pytestmark = pytest.mark.browser
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
LANGUAGES = list(REPLIES)
PAYLOAD = "<img src=x onerror=\"document.title='broken in'\"><script>document.title='broken in'</script>"
SIZES = {"320px": (320, 640), "phone": (390, 844), "desktop": (1280, 800)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "Chromium is missing; install it, for example with `apt-get install chromium`"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser objected to: violated policies, errors in the script, requests to elsewhere."""
    return []


@pytest.fixture
def open_page(
    browser: Browser, start_server: Callable[..., str], fake: FakeAssistant, complaints: list[str]
) -> Iterator[Callable[..., Page]]:
    """Opens the page in a language and size; fails the test where the browser complained."""
    server = start_server(fake, message_limit=100)
    contexts = []

    def start(language: str = "en", size: tuple[int, int] = (1280, 800)) -> Page:
        context = browser.new_context(viewport={"width": size[0], "height": size[1]})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda line: complaints.append(line.text) if line.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda one: complaints.append(one.url) if not one.url.startswith(server) else None)
        page.goto(f"{server}/?language={language}")
        expect(page.locator("#samples li")).to_have_count(1 if language in REPLIES else 0)
        return page

    yield start
    for context in contexts:
        context.close()
    assert complaints == []


def ask(page: Page, question: str) -> None:
    page.fill("#message", question)
    page.press("#message", "Enter")
    expect(page.locator(".exchange").last).not_to_have_attribute("aria-busy", "true")


@pytest.mark.parametrize("language", LANGUAGES)
def test_question_gets_its_answer(open_page: Callable[..., Page], language: str) -> None:
    """A question typed and sent with Enter shows the answer with markers, in its language and direction."""
    page = open_page(language)
    ask(page, REPLIES[language][0])
    text = page.locator(".exchange .text > div")
    expect(text).to_have_attribute("lang", language)
    expect(text).to_have_attribute("dir", "rtl" if language == "ar" else "ltr")
    assert text.inner_text().replace("\u2060", "") == answer(language).text.replace("[", "").replace("]", "")
    expect(page.locator(".question")).to_have_text(REPLIES[language][0])
    expect(page.locator("#message")).to_have_value("")


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_show_as_they_come(open_page: Callable[..., Page], fake: FakeAssistant, language: str) -> None:
    """The first sentence stands on the page, with its marker and source, while the second is not yet known."""
    page = open_page(language)
    question, first, second = REPLIES[language]
    page.fill("#message", f"{question} pause")
    page.press("#message", "Enter")
    text = page.locator(".exchange .text")
    expect(text.locator("sup a")).to_have_text("1")
    expect(text).to_contain_text(first.strip())
    expect(text).not_to_contain_text(second)
    expect(page.locator(".exchange")).to_have_attribute("aria-busy", "true")
    expect(page.locator(".sources li")).to_have_count(1)
    fake.resumed.set()
    expect(text).to_contain_text(second)
    expect(page.locator(".sources li")).to_have_count(2)


@pytest.mark.parametrize("language", LANGUAGES)
def test_marker_opens_the_passage(open_page: Callable[..., Page], language: str) -> None:
    """A marker opens its own answer's passage: title, heading, language, quote, and a link to the article."""
    page = open_page(language)
    for _ in range(2):  # two answers have a citation 1 each
        ask(page, REPLIES[language][0])
    page.locator(".exchange").last.locator("sup a").first.click()
    expect(page.locator("details[open]")).to_have_count(1)
    source = page.locator(".exchange").last.locator("details[open]")
    expect(source.locator("summary")).to_be_focused()
    one = answer(language).citations[0]
    expect(source.locator("blockquote")).to_have_text(one.quote)
    expect(source.locator("blockquote")).to_have_attribute("lang", language)
    expect(source.locator(".title")).to_have_text(one.title)
    expect(source.locator(".heading")).to_have_text(one.heading)
    expect(source.locator("a")).to_have_attribute("href", one.url)
    own_name = page.evaluate("code => new Intl.DisplayNames([code], {type: 'language'}).of(code)", language)
    expect(source.locator(".tag")).to_have_text(own_name)


@pytest.mark.parametrize("question", ["クレジットは", "退款要多久", "환불은"], ids=["ja", "zh", "ko"])
def test_enter_of_an_input_method_does_not_send(
    open_page: Callable[..., Page], fake: FakeAssistant, question: str
) -> None:
    """While an input method composes, Enter chooses a word; only the Enter after it sends."""
    page = open_page("ja")
    page.focus("#message")
    session = page.context.new_cdp_session(page)
    session.send("Input.imeSetComposition", {"text": question, "selectionStart": 0, "selectionEnd": len(question)})
    composing = {"key": "Enter", "isComposing": True, "bubbles": True, "cancelable": True}
    page.dispatch_event("#message", "keydown", composing)
    page.evaluate(
        """() => { const event = new KeyboardEvent('keydown', {key: 'Enter', keyCode: 229, bubbles: true});
           document.getElementById('message').dispatchEvent(event); }"""
    )
    session.send("Input.insertText", {"text": question})
    expect(page.locator("#message")).to_have_value(question)
    assert page.locator(".exchange").count() == 0
    assert fake.asked == []
    page.press("#message", "Enter")
    expect(page.locator(".exchange")).to_have_count(1)


def test_shift_enter_makes_a_line(open_page: Callable[..., Page], fake: FakeAssistant) -> None:
    """Shift+Enter begins a new line, and both lines are sent."""
    page = open_page()
    page.locator("#message").press_sequentially("uno")
    page.press("#message", "Shift+Enter")
    page.locator("#message").press_sequentially("二")
    page.press("#message", "Enter")
    expect(page.locator(".question")).to_have_text("uno\n二")
    assert [text for text, *_ in fake.asked] == ["uno\n二"]


def test_hostile_question_is_inert(open_page: Callable[..., Page]) -> None:
    """Markup in a question shows as the characters it is made of."""
    page = open_page()
    ask(page, PAYLOAD)
    expect(page.locator(".question")).to_have_text(PAYLOAD)
    assert page.locator(".exchange img, .exchange script").count() == 0
    expect(page).to_have_title("Help assistant")


def test_outcomes_look_different(open_page: Callable[..., Page]) -> None:
    """Answered, related and abstained replies are told apart by more than their words."""
    page = open_page()
    looks = []
    for question in (REPLIES["en"][0], "related", "unknown"):
        ask(page, question)
        looks.append(
            page.locator(".exchange .reply").last.evaluate(
                """reply => { const first = reply.querySelector('.text > div > p');
                   return [getComputedStyle(reply).borderStyle, getComputedStyle(first).backgroundColor]; }"""
            )
        )
    assert len({str(look) for look in looks}) == 3


def test_failure_is_said_in_the_pages_language(open_page: Callable[..., Page], complaints: list[str]) -> None:
    """Where the server fails the page says so in its language, keeps the question to send again, and goes on."""
    page = open_page("es")
    wording = Wordings().nearest("es").interface
    ask(page, "broken")
    expect(page.locator("[data-outcome=error] .text")).to_have_text(wording.error_generic)
    expect(page.locator("#message")).to_have_value("broken")
    page.context.set_offline(True)
    ask(page, "a")
    expect(page.locator("[data-outcome=error] .text").last).to_have_text(wording.error_network)
    page.context.set_offline(False)
    ask(page, REPLIES["es"][0])
    expect(page.locator("[data-outcome=answered]")).to_have_count(1)
    assert all("ERR_INTERNET_DISCONNECTED" in line for line in complaints)
    complaints.clear()


@pytest.mark.parametrize(
    ("language", "number"), [("en", "100"), ("ar", "100"), ("hi", "100"), ("zh-Hans", "100"), ("ja", "100")]
)
def test_long_message_is_not_sent(
    open_page: Callable[..., Page], fake: FakeAssistant, language: str, number: str
) -> None:
    """A message over the limit, counted in characters, is kept and explained; one at the limit is sent."""
    page = open_page(language)
    page.fill("#message", "😀" * 101)
    page.press("#message", "Enter")
    expect(page.locator("#problem")).to_have_text(
        Wordings().nearest(language).interface.too_long.replace("{limit}", number)
    )
    assert fake.asked == []
    page.fill("#message", "😀" * 100)
    page.press("#message", "Enter")
    expect(page.locator(".exchange")).to_have_count(1)


def test_sample_question_is_asked_on_click(open_page: Callable[..., Page]) -> None:
    """A sample question, taken from the articles, is asked by a click; a language without articles has none."""
    page = open_page("ja")
    page.locator("#samples button").click()
    expect(page.locator(".question")).to_have_text(REPLIES["ja"][0])
    expect(page.locator("[data-outcome=answered]")).to_have_count(1)
    open_page("fr")


def test_language_changes_in_place(open_page: Callable[..., Page]) -> None:
    """Choosing a language changes labels, direction and sample questions and keeps the conversation."""
    page = open_page("en")
    ask(page, REPLIES["en"][0])
    page.select_option("#language", "ar")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.locator("html")).to_have_attribute("lang", "ar")
    wording = Wordings().nearest("ar").interface
    expect(page.locator("h1")).to_have_text(wording.page_title)
    expect(page.locator("#message")).to_have_attribute("placeholder", wording.message_placeholder)
    expect(page.locator(".sources h3")).to_have_text(wording.sources)
    expect(page.locator("#samples li")).to_have_text([REPLIES["ar"][0]])
    expect(page.locator(".exchange")).to_have_count(1)


def test_arabic_is_mirrored(open_page: Callable[..., Page]) -> None:
    """Right to left, the title stands right of the language and the send button left of the message."""
    page = open_page("ar")
    places = [page.locator(name).bounding_box() for name in ("h1", "#language", "#message", "#send")]
    title, language, message, send = (place["x"] for place in places if place)
    assert title > language
    assert message > send


@pytest.mark.parametrize("language", ["zh-Hans", "es", "ar", "de"])
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_nothing_runs_over_the_edge(open_page: Callable[..., Page], language: str, size: tuple[int, int]) -> None:
    """At no width does the page scroll sideways, before or after answers, with an open source and an endless word."""
    page = open_page(language, size)
    widths = [page.evaluate("document.documentElement.scrollWidth")]
    ask(page, REPLIES.get(language, REPLIES["en"])[0])
    page.locator("sup a").first.click()
    ask(page, "x" * 100)
    widths.append(page.evaluate("document.documentElement.scrollWidth"))
    assert max(widths) <= size[0]


def test_page_works_by_keyboard(open_page: Callable[..., Page]) -> None:
    """Every control is reached by Tab with a visible focus, and Enter on a source opens it."""
    page = open_page()
    ask(page, REPLIES["en"][0])
    reached = []
    for _ in range(10):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                """() => { const at = document.activeElement, look = getComputedStyle(at);
                   const box = getComputedStyle(at.closest('.box') ?? at);
                   return [at.tagName, look.outlineStyle !== 'none' || box.boxShadow !== 'none']; }"""
            )
        )
    assert {name for name, _ in reached} >= {"SELECT", "A", "SUMMARY", "TEXTAREA", "BUTTON"}
    assert all(is_visible for name, is_visible in reached if name != "BODY")
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("details[open]")).to_have_count(1)


def test_answer_is_announced(open_page: Callable[..., Page]) -> None:
    """The conversation is a polite live region, and every control has a name."""
    page = open_page("ja")
    expect(page.locator("#thread")).to_have_attribute("aria-live", "polite")
    wording = Wordings().nearest("ja").interface
    for role, name in (
        ("textbox", wording.message_label),
        ("button", wording.send),
        ("combobox", wording.language_label),
    ):
        expect(page.get_by_role(role, name=name, exact=True)).to_be_visible()  # type: ignore[arg-type]
