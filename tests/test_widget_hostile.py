"""The widget on hostile ground: strict policies, sandboxes, blocked storage, attacks, broken lines, foreign sites."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page, expect

from assistant.settings import read_settings
from tests.conftest import running
from tests.fakes import REPLIES, FakeAssistant, answer, citation
from tests.widgets import SITE, STRICT, Line, Visits, ask, label, open_panel, send, shown, site, tag

pytestmark = pytest.mark.browser
LANGUAGES = ["zh-Hans", "ja", "es", "en", "ar"]
PAYLOADS = (
    "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>"
    "<svg/onload=\"document.title='hacked'\"><a href=\"javascript:document.title='hacked'\">x</a>"
    "[y](javascript:document.title='hacked')"
)
BLOCKED = """
for (const name of ['localStorage', 'sessionStorage']) {
  Object.defineProperty(window, name, { get() { throw new DOMException('blocked', 'SecurityError'); } });
}
Object.defineProperty(navigator, 'clipboard', { value: undefined });
Object.defineProperty(document, 'cookie', { get() { throw new DOMException('blocked', 'SecurityError'); } });
"""
VIOLATIONS = "addEventListener('securitypolicyviolation', event => console.error('policy: ' + event.violatedDirective))"


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    """Fails the test where the browser complained of anything; tests that break lines forget what that caused."""
    visits = Visits(browser)
    yield visits
    visits.close()
    assert visits.complaints == []


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def shop(stack: ExitStack, server: str, language: str = "en", policy: str = "", **attributes: str) -> str:
    """Another site with the tag; gives its address."""
    html = SITE.format(language=language, body=tag(server, **attributes))
    headers = {"Content-Security-Policy": policy.format(server=server)} if policy else {}
    return stack.enter_context(site({"/": html}, headers))


@pytest.mark.parametrize("language", LANGUAGES)
def test_strict_policy_is_kept(
    visits: Visits, start_server: Callable[..., str], fake: FakeAssistant, stack: ExitStack, language: str
) -> None:
    """Complaint 27: under a policy without inline code, eval or HTML from strings, the widget on another origin looks
    and works as anywhere, and the browser reports no violation."""
    server = start_server(fake)
    page = visits.open(shop(stack, server, language, STRICT, accent="#8a2be2"), script=VIOLATIONS)
    open_panel(page)
    exchange = ask(page, REPLIES[language][0])
    exchange.locator(".cite").first.click()
    expect(exchange.locator("details[open] mark")).to_have_text(answer(language).citations[0].quote)
    expect(page.locator("faq-assistant .send")).to_have_css("border-radius", "50%")


def test_sandboxed_frame_works(
    visits: Visits, start_server: Callable[..., str], fake: FakeAssistant, stack: ExitStack
) -> None:
    """In a sandboxed frame without an origin and without storage, the widget works for a site that lists `null`."""
    server = start_server(fake, sites={"shop": ("null",)})
    inner = SITE.format(language="ja", body=tag(server, key="shop"))
    outer = SITE.format(
        language="ja", body='<iframe sandbox="allow-scripts" src="/inner" width=600 height=700></iframe>'
    )
    page = visits.open(stack.enter_context(site({"/": outer, "/inner": inner})))
    frame = page.frame_locator("iframe")
    frame.locator("faq-assistant .launcher").click()
    box = frame.locator("faq-assistant .ask textarea")
    box.fill(REPLIES["ja"][0])
    box.press("Enter")
    expect(frame.locator("[data-outcome=answered]")).to_have_count(1)


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
def test_blocked_storage_does_not_stop_it(
    visits: Visits, start_server: Callable[..., str], fake: FakeAssistant, language: str
) -> None:
    """Complaint 30: with storage, cookies and clipboard blocked it asks, answers and goes on with the conversation;
    copying selects the answer instead and says so."""
    page = visits.open(f"{start_server(fake)}/?language={language}", script=BLOCKED)
    open_panel(page)
    exchange = ask(page, REPLIES[language][0])
    exchange.get_by_role("button", name=label("copy_answer", language)).click()
    expect(exchange.get_by_role("status")).to_have_text(label("copy_failed", language))
    ask(page, "unknown")
    assert [conversation for _, conversation, *_ in fake.asked] == ["", "c-new"]


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
def test_attacks_are_inert(
    visits: Visits, start_server: Callable[..., str], fake: FakeAssistant, language: str
) -> None:
    """Markup from the visitor, from an article and from a model shows as text in the bubble, the streamed and the whole
    answer, the source and the options, also after a reload; nothing runs, no foreign link is made."""
    attack = answer(language, text=f"{REPLIES[language][1]}{PAYLOADS}[1]", suggestions=(PAYLOADS,))
    source = citation(1, language, PAYLOADS, url="javascript:document.title='hacked'")
    fake.limit = 2000
    fake.scripted[PAYLOADS] = replace(attack, citations=(source,))
    page = visits.open(f"{start_server(fake)}/?language={language}")
    title = page.title()
    open_panel(page)
    ask(page, PAYLOADS)
    for is_again in (False, True):
        if is_again:
            page.reload()
        exchange = page.locator(".exchange")
        expect(exchange.locator(".question")).to_contain_text(PAYLOADS)
        expect(exchange.locator(".text")).to_contain_text("<img src=x onerror=")
        exchange.locator(".cite").first.click()
        expect(exchange.locator("mark")).to_have_text(PAYLOADS)
        assert exchange.locator("img, script, a, svg[onload]").count() == 0
        assert page.title() == title


def test_stored_attack_is_inert(visits: Visits, start_server: Callable[..., str], fake: FakeAssistant) -> None:
    """HTML that another script put into the stored history does not run either."""
    page = visits.open(f"{start_server(fake)}/?language=en")
    title = page.title()
    open_panel(page)
    ask(page, REPLIES["en"][0])
    page.evaluate(
        """html => { const name = 'faq-assistant:', state = JSON.parse(localStorage[name]);
             state.exchanges[0].answer.html = html; localStorage[name] = JSON.stringify(state); }""",
        f"<div>{PAYLOADS}<p onclick=alert(1)>kept</p></div>",
    )
    page.reload()
    expect(page.locator(".exchange .text")).to_contain_text("kept")
    assert page.locator(".exchange .text").locator("img, script, svg, a[href^=javascript]").count() == 0
    assert page.title() == title


@pytest.mark.parametrize(
    "broken",
    [
        "[null]",
        '[{"id": 1, "question": {}}]',
        '[{"id": "a", "question": "q", "answer": {}}]',
        '[{"id": "a", "question": "q", "answer": {"html": "x", "language": "es", "citations": {}}}]',
        '[{"id": "a", "question": "q", "answer": "x"}]',
    ],
    ids=["null", "numbers", "empty-answer", "no-list", "text"],
)
def test_broken_history_does_not_stop_it(
    visits: Visits, start_server: Callable[..., str], fake: FakeAssistant, broken: str
) -> None:
    """Whatever stands in the storage, the widget appears and answers, and what can be read of the history is kept."""
    sound = '{"id": "b", "question": "kept?", "answer": {"html": "<p>kept</p>", "language": "es", "citations": []}}'
    state = f'{{"at": 9e15, "conversation": "", "exchanges": {broken[:-1]}, {sound}]}}'
    script = f"localStorage['faq-assistant:'] ??= {state!r}"
    page = visits.open(f"{start_server(fake)}/?language=es", script=script)
    open_panel(page)
    expect(page.locator(".exchange .text")).to_have_text("kept")
    expect(ask(page, REPLIES["es"][0])).to_have_attribute("data-outcome", "answered")


@pytest.mark.parametrize(
    ("named", "expected"), [("x-klingon", "es"), ("en_US.UTF-8", "es"), ("日本語", "es"), ("ja_JP", "ja"), ("", "es")]
)
def test_unusable_language_of_a_page_is_passed_over(
    visits: Visits, stack: ExitStack, start_server: Callable[..., str], fake: FakeAssistant, named: str, expected: str
) -> None:
    """A page whose `lang` is no language code still gets the widget, in the browser's language."""
    address = shop(stack, start_server(fake), named)
    page = visits.open(address, locale="es-MX")
    open_panel(page)
    expect(page.locator("faq-assistant .panel")).to_have_attribute("lang", expected)


@pytest.mark.parametrize("language", LANGUAGES)
def test_cut_stream_is_taken_up_again(
    visits: Visits, start_server: Callable[..., str], fake: FakeAssistant, stack: ExitStack, language: str
) -> None:
    """Complaint 24, and more: a stream that is cut in the middle of a character goes on where it was, asked once."""
    second = REPLIES[language][2].encode()
    wide = next((at for at, byte in enumerate(second) if byte > 0x7F), 2)
    line = Line(start_server(fake), cut_after=second[: wide + 1])
    stack.callback(line.close)
    page = visits.open(f"{line.address}/?language={language}")
    open_panel(page)
    exchange = ask(page, REPLIES[language][0])
    assert shown(exchange) == answer(language).text.replace("[", "").replace("]", "")
    assert line.cuts == 1
    assert len(fake.asked) == 1
    visits.complaints.clear()  # the browser names the broken connection


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "ar"])
def test_characters_may_arrive_in_pieces(
    visits: Visits, start_server: Callable[..., str], fake: FakeAssistant, stack: ExitStack, language: str
) -> None:
    """Complaint 24: an answer that arrives byte by byte is the same answer."""
    line = Line(start_server(fake), drips=True)
    stack.callback(line.close)
    page = visits.open(f"{line.address}/?language={language}")
    open_panel(page)
    exchange = ask(page, REPLIES[language][0])
    assert shown(exchange) == answer(language).text.replace("[", "").replace("]", "")


@pytest.mark.parametrize("language", ["es", "ja"])
def test_server_killed_and_back(visits: Visits, stack: ExitStack, language: str) -> None:
    """A question under way when the server goes away is answered once it is back; meanwhile the widget says so."""
    fake, settings = FakeAssistant(), read_settings()
    with ExitStack() as first:
        server = first.enter_context(running(fake, settings))
        page = visits.open(f"{server}/?language={language}")
        open_panel(page)
        send(page, f"{REPLIES[language][0]} slow")
        expect(page.locator(".exchange")).to_have_attribute("aria-busy", "true")
    expect(page.locator(".state")).to_contain_text(label("reconnecting", language))
    successor = FakeAssistant()
    successor.go.set()
    stack.enter_context(running(successor, settings, int(server.rpartition(":")[2])))
    expect(page.locator(".exchange")).to_have_attribute("data-outcome", "answered", timeout=20_000)
    assert len(successor.asked) == 1
    visits.complaints.clear()


@pytest.mark.parametrize("language", ["zh-Hans", "en"])
def test_offline_and_back(visits: Visits, start_server: Callable[..., str], fake: FakeAssistant, language: str) -> None:
    """Offline, the widget says what it waits for; back online, the question is answered without being typed again."""
    page = visits.open(f"{start_server(fake)}/?language={language}")
    open_panel(page)
    page.context.set_offline(True)
    send(page, REPLIES[language][0])
    expect(page.locator(".state")).to_contain_text(label("offline", language))
    page.context.set_offline(False)
    expect(page.locator(".exchange")).to_have_attribute("data-outcome", "answered")
    visits.complaints.clear()


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
def test_too_many_questions_are_told_when_to_go_on(
    visits: Visits, start_server: Callable[..., str], fake: FakeAssistant, language: str
) -> None:
    """Over the rate the visitor is told in their language when to go on, and the question stays in the box."""
    page = visits.open(f"{start_server(fake, rate_per_client=1)}/?language={language}")
    open_panel(page)
    ask(page, REPLIES[language][0])
    exchange = ask(page, "unknown")
    expect(exchange).to_have_attribute("data-outcome", "error")
    before, _, after = label("too_many", language).partition("{time}")
    words = shown(exchange)
    assert words.startswith(before)
    assert words.endswith(after)
    expect(page.locator("faq-assistant .ask textarea")).to_have_value("unknown")
    visits.complaints.clear()  # the browser names the 429


def test_failure_is_said_and_can_be_tried_again(
    visits: Visits, start_server: Callable[..., str], fake: FakeAssistant
) -> None:
    """Where the server fails the widget says so in its language, keeps the question, and goes on."""
    page = visits.open(f"{start_server(fake)}/?language=es")
    open_panel(page)
    exchange = ask(page, "broken")
    assert shown(exchange) == label("error_generic", "es")
    expect(page.locator("faq-assistant .ask textarea")).to_have_value("broken")
    ask(page, REPLIES["es"][0])
    expect(page.locator("[data-outcome=answered]")).to_have_count(1)


def test_site_that_is_not_listed_gets_nothing(
    visits: Visits, start_server: Callable[..., str], fake: FakeAssistant, stack: ExitStack
) -> None:
    """On a page of another site than its key's the widget does not appear, and the console says why."""
    server = start_server(fake, sites={"shop": ("https://shop.example.com",)})
    page = visits.open(shop(stack, server, key="shop"))
    for _ in range(200):
        if visits.complaints:
            break
        time.sleep(0.02)
    expect(page.locator("faq-assistant .launcher")).to_be_hidden()
    assert fake.asked == []
    assert visits.complaints
    visits.complaints.clear()


def look(page: Page) -> object:
    return page.locator("faq-assistant .intro").evaluate(
        """intro => { const look = getComputedStyle(intro);
             return [look.fontSize, look.color, look.direction, look.letterSpacing, look.textTransform]; }"""
    )


def test_host_styles_stay_outside(
    visits: Visits, start_server: Callable[..., str], fake: FakeAssistant, stack: ExitStack
) -> None:
    """A page whose own styles are wild changes neither size, colour, direction nor letters of the widget."""
    server = start_server(fake)
    wild = "html{font-size:62.5%;color:red;direction:rtl}*{text-transform:uppercase!important;letter-spacing:9px}"
    plain = visits.open(shop(stack, server))
    html = SITE.format(language="en", body=f"<style>{wild}</style>{tag(server)}")
    styled = visits.open(stack.enter_context(site({"/": html})))
    for page in (plain, styled):
        open_panel(page)
    assert look(plain) == look(styled)
