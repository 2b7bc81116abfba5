"""The chat widget in a real Chromium: asking, typing, sources, memory, feedback, languages, the help page around it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from assistant.records import Answer
from tests.fakes import REPLIES, FakeAssistant, answer, citation
from tests.widgets import Visits, ask, label, open_panel, send, shown

pytestmark = pytest.mark.browser
LANGUAGES = list(REPLIES)
BOX = "faq-assistant .ask textarea"


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    """Fails the test where the browser complained of anything."""
    visits = Visits(browser)
    yield visits
    visits.close()
    assert visits.complaints == []


@pytest.fixture
def server(start_server: Callable[..., str], fake: FakeAssistant) -> str:
    return start_server(fake, message_limit=100)


@pytest.fixture
def visit(visits: Visits, server: str) -> Callable[..., Page]:
    """Opens the help page in a language with its panel open."""

    def start(language: str = "en", **options: Any) -> Page:
        page = visits.open(f"{server}/?language={language}", **options)
        open_panel(page)
        return page

    return start


def questions(fake: FakeAssistant) -> list[str]:
    return [text for text, *_ in fake.asked]


@pytest.mark.parametrize("language", LANGUAGES)
def test_question_gets_its_answer(visit: Callable[..., Page], language: str) -> None:
    """A question sent with Enter gets its answer in its language and direction; a marker opens the quoted passage,
    highlighted, with a link to those words in the article."""
    page = visit(language)
    exchange = ask(page, REPLIES[language][0])
    text = exchange.locator(".text > div")
    expect(text).to_have_attribute("lang", language)
    expect(text).to_have_attribute("dir", "rtl" if language == "ar" else "ltr")
    assert shown(exchange) == answer(language).text.replace("[", "").replace("]", "")
    one = answer(language).citations[0]
    exchange.get_by_role("button", name=f"{label('sources', language)} 1").click()
    source = exchange.locator("details[open]")
    expect(source).to_have_count(1)
    expect(source.locator("summary")).to_be_focused()
    expect(source.locator("mark")).to_have_text(one.quote)
    assert source.locator("mark").evaluate("mark => getComputedStyle(mark).backgroundColor") != "rgba(0, 0, 0, 0)"
    expect(source.locator("blockquote")).to_have_attribute("lang", language)
    address, _, words = (source.locator("a").get_attribute("href") or "").partition("#:~:text=")
    assert address == one.url
    assert one.quote.startswith(unquote(words))


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_show_as_they_come(visit: Callable[..., Page], fake: FakeAssistant, language: str) -> None:
    """The first sentence stands there with its marker and source while the second is not yet known."""
    page = visit(language)
    question, first, second = REPLIES[language]
    send(page, f"{question} pause")
    exchange = page.locator(".exchange")
    expect(exchange.locator(".text")).to_contain_text(first.strip())
    expect(exchange.locator(".text .cite")).to_have_text("1")
    expect(exchange.locator(".text")).not_to_contain_text(second)
    expect(exchange).to_have_attribute("aria-busy", "true")
    expect(exchange.locator(".sources li")).to_have_count(1)
    fake.resumed.set()
    expect(exchange.locator(".text")).to_contain_text(second)
    expect(exchange.locator(".sources li")).to_have_count(2)


@pytest.mark.parametrize("question", ["クレジットは", "退款要多久", "환불은"], ids=["ja", "zh", "ko"])
def test_enter_of_an_input_method_does_not_send(visit: Callable[..., Page], fake: FakeAssistant, question: str) -> None:
    """Complaint 23: while an input method composes, Enter chooses a word; only the Enter after it sends."""
    page = visit("ja")
    page.focus(BOX)
    session = page.context.new_cdp_session(page)
    session.send("Input.imeSetComposition", {"text": question, "selectionStart": 0, "selectionEnd": len(question)})
    page.dispatch_event(BOX, "keydown", {"key": "Enter", "isComposing": True, "bubbles": True, "cancelable": True})
    page.locator(BOX).evaluate(
        "box => box.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', keyCode: 229, bubbles: true}))"
    )
    session.send("Input.insertText", {"text": question})
    expect(page.locator(BOX)).to_have_value(question)
    assert page.locator(".exchange").count() == 0
    assert fake.asked == []
    page.press(BOX, "Enter")
    expect(page.locator(".exchange")).to_have_count(1)


def test_shift_enter_makes_a_line(visit: Callable[..., Page], fake: FakeAssistant) -> None:
    """Shift+Enter begins a new line, and both lines are sent and shown."""
    page = visit()
    page.locator(BOX).press_sequentially("uno")
    page.press(BOX, "Shift+Enter")
    page.locator(BOX).press_sequentially("二")
    page.press(BOX, "Enter")
    expect(page.locator(".question")).to_contain_text("uno\n二")
    assert questions(fake) == ["uno\n二"]


@pytest.mark.parametrize("language", ["en", "es", "ja", "zh-Hans"])
def test_long_text_is_told_the_limit(visit: Callable[..., Page], fake: FakeAssistant, language: str) -> None:
    """A text over the limit, counted in characters, is kept, explained and not sent; one at the limit is sent."""
    page = visit(language)
    page.fill(BOX, "😀" * 101)
    page.press(BOX, "Enter")
    expect(page.locator(".problem")).to_have_text(label("too_long", language).replace("{limit}", "100"))
    expect(page.locator(BOX)).to_have_value("😀" * 101)
    assert fake.asked == []
    page.fill(BOX, "😀" * 100)
    page.press(BOX, "Enter")
    expect(page.locator(".exchange")).to_have_count(1)
    expect(page.locator(".problem")).to_be_hidden()


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
def test_reload_keeps_conversation_and_draft(visit: Callable[..., Page], fake: FakeAssistant, language: str) -> None:
    """After a reload the panel is open, the answers, sources and the draft are there, and the conversation goes on."""
    page = visit(language)
    ask(page, REPLIES[language][0])
    page.fill(BOX, "noch nicht gesendet 草稿")
    page.reload()
    expect(page.locator(".exchange .text > div")).to_have_attribute("lang", language)
    expect(page.locator(".sources li")).to_have_count(2)
    expect(page.locator(BOX)).to_have_value("noch nicht gesendet 草稿")
    ask(page, "unknown")
    assert [conversation for _, conversation, *_ in fake.asked] == ["", "c-new"]


def test_reload_in_mid_answer_asks_once(visit: Callable[..., Page], fake: FakeAssistant) -> None:
    """A page that is reloaded while an answer streams shows the whole answer, and the question was asked once."""
    page = visit("ja")
    question, first, second = REPLIES["ja"]
    send(page, f"{question} pause")
    expect(page.locator(".exchange .text")).to_contain_text(first)
    page.reload()
    expect(page.locator(".exchange .text")).to_contain_text(first)
    fake.resumed.set()
    expect(page.locator(".exchange .text > div")).to_contain_text(second)
    assert len(fake.asked) == 1


def test_second_tab_shows_the_conversation(
    visit: Callable[..., Page], visits: Visits, server: str, fake: FakeAssistant
) -> None:
    """A second tab has the conversation, follows what the first asks, and starting over in one empties both."""
    first = visit("es")
    ask(first, REPLIES["es"][0])
    second = visits.open_in(first.context, f"{server}/?language=es")
    open_panel(second)
    expect(second.locator(".exchange")).to_have_count(1)
    ask(first, REPLIES["zh-Hans"][0])
    expect(second.locator(".exchange .text > div").nth(1)).to_have_attribute("lang", "zh-Hans")
    assert len(fake.asked) == 2
    second.locator("faq-assistant .again").click()
    expect(second.locator(".exchange")).to_have_count(0)
    expect(first.locator(".exchange")).to_have_count(0)


def test_second_question_waits_its_turn(visit: Callable[..., Page], fake: FakeAssistant) -> None:
    """A question asked while one streams waits visibly; it can be taken back, and those left are asked in order."""
    page = visit("en")
    send(page, f"{REPLIES['en'][0]} pause")
    expect(page.locator(".exchange .text").first).to_contain_text("14 days")
    send(page, REPLIES["es"][0])
    send(page, REPLIES["ja"][0])
    second, third = page.locator(".exchange").nth(1), page.locator(".exchange").nth(2)
    expect(second.locator(".state")).to_contain_text(label("waiting"))
    third.get_by_role("button", name=label("remove")).click()
    expect(page.locator(".exchange")).to_have_count(2)
    expect(page.locator(BOX)).to_have_value(REPLIES["ja"][0])
    fake.resumed.set()
    expect(second.locator(".text > div")).to_have_attribute("lang", "es")
    assert questions(fake) == [f"{REPLIES['en'][0]} pause", REPLIES["es"][0]]


def test_stop_ends_the_answer(visit: Callable[..., Page], fake: FakeAssistant) -> None:
    """While an answer streams the empty box's button stops it; the question comes back, and one can go on."""
    page = visit("en")
    send(page, "slow")
    expect(page.locator(".exchange .state")).to_contain_text(label("working"))
    page.get_by_role("button", name=label("stop")).last.click()
    expect(page.locator(".exchange .state")).to_contain_text(label("stopped"))
    expect(page.locator(BOX)).to_have_value("slow")
    ask(page, REPLIES["en"][0])
    expect(page.locator("[data-outcome=answered]")).to_have_count(1)


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en", "ar"])
def test_options_are_asked_on_click(visit: Callable[..., Page], fake: FakeAssistant, language: str) -> None:
    """The options of a question back are buttons; choosing one asks it, and its suggestions are buttons again."""
    option = REPLIES[language][0]
    fake.scripted["?"] = answer(language, "clarify", "…?", suggestions=(option, "x"))
    page = visit(language)
    exchange = ask(page, "?")
    expect(exchange.locator(".option")).to_have_text([option, "x"])
    exchange.locator(".option").first.click()
    expect(page.locator(".exchange").nth(1)).to_have_attribute("data-outcome", "answered")
    assert questions(fake) == ["?", option]


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
def test_a_person_can_be_asked_for(
    visits: Visits, start_server: Callable[..., str], fake: FakeAssistant, language: str
) -> None:
    """Where there is somebody, the way to a person is always there, and offered where the articles do not answer."""
    words = label("talk_to_person", language)
    fake.scripted[words] = answer(language, "handover", "[Mail](https://help.example.com/contact)")
    server = start_server(fake, handover_url="https://help.example.com/contact")
    page = visits.open(f"{server}/?language={language}")
    open_panel(page)
    ask(page, "unknown").locator(".option", has_text=words).click()
    link = page.locator(".exchange").nth(1).locator(".text a")
    expect(link).to_have_attribute("href", "https://help.example.com/contact")
    page.locator("faq-assistant .person").click()
    expect(page.locator(".exchange").nth(2)).to_have_attribute("data-outcome", "handover")


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
def test_no_button_leads_to_nobody(visit: Callable[..., Page], language: str) -> None:
    """Where nobody is to be reached, no person is offered: neither below the box nor below an abstention."""
    page = visit(language)
    exchange = ask(page, "unknown")
    expect(exchange).to_have_attribute("data-outcome", "abstained")
    expect(exchange.locator(".option")).to_have_count(0)
    expect(page.locator("faq-assistant .person")).to_be_hidden()
    expect(page.locator("faq-assistant .again")).to_be_visible()


def test_samples_come_from_the_articles(visit: Callable[..., Page]) -> None:
    """An empty conversation offers the articles' own questions in the page's language; a click asks one."""
    page = visit("ja")
    page.locator("faq-assistant .welcome .option").click()
    expect(page.locator("[data-outcome=answered] .question")).to_contain_text(REPLIES["ja"][0])
    expect(page.locator("faq-assistant .welcome")).to_be_hidden()


def test_feedback_is_sent(visit: Callable[..., Page]) -> None:
    """Thumbs send the answer's and conversation's ids, thumbs down asks why, and the choice outlives a reload."""
    page = visit("en")
    bodies: list[dict[str, str]] = []

    def take(route: Route) -> None:
        bodies.append(json.loads(route.request.post_data or ""))
        route.fulfill(status=200, json={"status": "ok"})

    page.route("**/api/v1/feedback*", take)
    exchange = ask(page, REPLIES["en"][0])
    exchange.get_by_role("button", name=label("helpful"), exact=True).click()
    expect(exchange.get_by_role("status")).to_have_text(label("rated"))
    down = exchange.get_by_role("button", name=label("unhelpful"))
    down.click()
    exchange.get_by_role("textbox", name=label("comment")).fill("Preis fehlt 価格")
    exchange.get_by_role("button", name=label("comment_send")).click()
    expect(down).to_be_focused()
    expect(down).to_have_attribute("aria-pressed", "true")
    ids = {"answer_id": "a1", "conversation_id": "c-new"}
    assert bodies == [
        {**ids, "value": "up"},
        {**ids, "value": "down"},
        {**ids, "value": "down", "comment": "Preis fehlt 価格"},
    ]
    page.reload()
    expect(page.get_by_role("button", name=label("unhelpful"))).to_have_attribute("aria-pressed", "true")


def test_failing_feedback_says_so(visit: Callable[..., Page], visits: Visits) -> None:
    """Feedback that can't be sent says so, and does not ask why."""
    page = visit("es")
    page.route("**/api/v1/feedback*", lambda route: route.abort())
    exchange = ask(page, REPLIES["es"][0])
    exchange.get_by_role("button", name=label("unhelpful", "es")).click()
    expect(exchange.get_by_role("status")).to_have_text(label("not_rated", "es"))
    expect(exchange.locator(".comment")).to_have_count(0)
    visits.complaints.clear()


def test_answer_is_copied_with_its_sources(visit: Callable[..., Page]) -> None:
    """Copy puts the answer and its sources on the clipboard."""
    page = visit("zh-Hans", permissions=["clipboard-read", "clipboard-write"])
    exchange = ask(page, REPLIES["zh-Hans"][0])
    exchange.get_by_role("button", name=label("copy_answer", "zh-Hans")).click()
    expect(exchange.get_by_role("status")).to_have_text(label("copied", "zh-Hans"))
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith(answer("zh-Hans").text)
    assert "[2] Refunds https://help.example.com/refunds" in text


@pytest.mark.parametrize(("page_language", "asked"), [("es", "ja"), ("en", "ar"), ("ja", "zh-Hans"), ("ar", "en")])
def test_labels_follow_the_conversation(visit: Callable[..., Page], page_language: str, asked: str) -> None:
    """When the conversation switches language, so do the labels and direction; starting over returns to the page's."""
    page = visit(page_language)
    ask(page, REPLIES[asked][0])
    panel = page.locator("faq-assistant .panel")
    expect(panel).to_have_attribute("lang", asked)
    expect(panel).to_have_attribute("dir", "rtl" if asked == "ar" else "ltr")
    expect(page.locator(BOX)).to_have_attribute("placeholder", label("message_placeholder", asked))
    page.locator("faq-assistant .again").click()
    expect(page.locator(BOX)).to_have_attribute("placeholder", label("message_placeholder", page_language))


def test_labels_follow_the_page(visit: Callable[..., Page]) -> None:
    """A page that changes its language in place changes the widget's; a language without words leaves it as it is."""
    page = visit("en")
    for language, expected in (("ja", "ja"), ("tlh", "ja"), ("zh-CN", "zh-Hans")):
        page.evaluate("language => { document.documentElement.lang = language; }", language)
        expect(page.locator(BOX)).to_have_attribute("placeholder", label("message_placeholder", expected))


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
def test_screen_readers_hear_each_sentence_once(visit: Callable[..., Page], fake: FakeAssistant, language: str) -> None:
    """The live region gets whole sentences as they come, each once and without markers, and nothing at a reload."""
    page = visit(language)
    live = page.locator("faq-assistant [aria-live=polite]")
    send(page, f"{REPLIES[language][0]} pause")
    expect(live.locator("p")).to_contain_text([REPLIES[language][1].strip()])
    fake.resumed.set()
    expect(page.locator(".exchange")).to_have_attribute("aria-busy", "false")
    said = [line for line in live.locator("p").all_inner_texts() if line != label("working", language)]
    assert said == [REPLIES[language][1].strip(), REPLIES[language][2]]
    page.reload()
    expect(page.locator(".exchange .text > div")).to_be_visible()
    expect(live).to_be_empty()


def test_escape_closes_and_focus_returns(visit: Callable[..., Page]) -> None:
    """Opening puts the focus into the box, Escape closes the panel and gives it back to the launcher."""
    page = visit("en")
    expect(page.locator(BOX)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("faq-assistant .panel")).to_be_hidden()
    expect(page.locator("faq-assistant .launcher")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(BOX)).to_be_focused()


@pytest.mark.parametrize("touches", [False, True], ids=["mouse", "touch"])
def test_a_question_asked_on_the_page_leaves_the_focus_where_one_types(
    visits: Visits, server: str, touches: bool
) -> None:
    """After a question from the page's own field the focus is in the widget's box, or, where a keyboard would come up,
    in the thread; never on the button that closes."""
    page = visits.open(f"{server}/?language=en", has_touch=touches, is_mobile=touches)
    page.locator("#question").fill(REPLIES["en"][0])
    page.locator("#question").press("Enter")
    expect(page.locator("faq-assistant .panel")).to_be_visible()
    expect(page.locator("faq-assistant .thread" if touches else BOX)).to_be_focused()


def test_typing_is_no_shortcut_of_the_page(visit: Callable[..., Page]) -> None:
    """Keys typed into the widget do not reach the page's own shortcuts."""
    page = visit("en")
    page.evaluate("document.addEventListener('keydown', event => { document.title += event.key; })")
    title = page.title()
    page.locator(BOX).press_sequentially("/?s")
    assert page.title() == title


def test_everything_works_by_keyboard(visits: Visits, start_server: Callable[..., str], fake: FakeAssistant) -> None:
    """Tab reaches every control with a visible focus; Enter opens a passage from its marker; nothing is a trap."""
    page = visits.open(f"{start_server(fake, handover_url='https://help.example.com/contact')}/?language=en")
    open_panel(page)
    ask(page, REPLIES["en"][0])
    page.locator("faq-assistant .close").focus()
    names, last = [], ""
    for _ in range(16):
        page.keyboard.press("Tab")
        name, is_visible = page.evaluate(
            """() => { const at = document.querySelector('faq-assistant').shadowRoot.activeElement;
                 if (!at) return ['outside', true];
                 const look = getComputedStyle(at), box = getComputedStyle(at.closest('.box') ?? at);
                 return [at.className || at.tagName, look.outlineStyle !== 'none' || box.boxShadow !== 'none']; }"""
        )
        assert is_visible, name
        names.append(name)
        last = name
        if name == "outside":
            break
    assert last == "outside"
    assert {"thread", "cite", "SUMMARY", "tool", "TEXTAREA", "send", "person", "again"} <= set(names)
    page.locator(".cite").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("details[open] mark")).to_be_visible()


def test_page_may_drive_the_widget(visit: Callable[..., Page]) -> None:
    """A page's script can ask, open and close, and hears of answers and of sources that are followed."""
    page = visit("en")
    page.evaluate(
        """question => { const widget = document.querySelector('faq-assistant');
             document.addEventListener('faq-assistant:answer', event => { document.title = event.detail.outcome; });
             widget.close(); widget.ask(question); }""",
        REPLIES["en"][0],
    )
    expect(page).to_have_title("answered")
    expect(page.locator("faq-assistant .panel")).to_be_visible()


def cited(language: str, name: str, quote: str) -> Answer:
    return replace(
        answer(language, text=f"{quote}[1]"), citations=(replace(citation(1, language, quote), passage_id=name),)
    )


@pytest.mark.parametrize(
    ("language", "quote"),
    [
        ("en", "Trainium is a chip rather than a service."),
        ("es", "Trainium"),
        ("ja", "AWS"),
        ("zh-Hans", "Trainium是一款芯片，不是一项服务。"),
    ],
)
def test_help_page_shows_the_passage_in_its_article(
    visit: Callable[..., Page], fake: FakeAssistant, language: str, quote: str
) -> None:
    """On the help page a source's link shows the passage in the article on that page, highlighted, without leaving."""
    fake.scripted["?"] = cited(language, f"{language}/aws-trainium-credits#what-it-is.1", quote)
    page = visit(language)
    exchange = ask(page, "?")
    exchange.locator(".cite").click()
    exchange.locator(".passage a").click()
    found = page.evaluate("[...CSS.highlights.get('cited') ?? []].map(range => range.toString())")
    assert [one.rstrip("。.") for one in found] == [quote.rstrip("。.")]
    assert len(page.context.pages) == 1


@pytest.mark.parametrize("language", ["en", "es", "ja", "zh-Hans"])
def test_help_page_has_article_question_box_and_tag(visits: Visits, server: str, language: str) -> None:
    """The help page shows the article in its language, asks from its own box and popular questions, and has the tag."""
    page = visits.open(f"{server}/?language={language}")
    expect(page.locator("article")).to_have_attribute("lang", language)
    assert page.locator("article h2").count() > 3
    expect(page.locator("header nav a")).to_have_count(4)
    expect(page.locator("#tag")).to_have_text(
        f'<script type="module" src="{server}/widget.js" data-key="your-key"></script>'
    )
    page.fill("#question", REPLIES[language][0])
    page.press("#question", "Enter")
    expect(page.locator("[data-outcome=answered]")).to_have_count(1)
    page.locator(".popular button").first.click()
    expect(page.locator(".exchange")).to_have_count(2)
