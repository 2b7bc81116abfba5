"""The drafts page in a real Chromium: writing, evidence, doubts, saving, two agents, sending, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from playwright.sync_api import Browser, Page, expect

from assistant.cabinet import HandedOver
from tests.draft_desk import (
    NOW,
    REASON,
    TICKETS,
    FakeDrafts,
    part,
    running_drafts,
    visit_drafts,
    word,
)
from tests.staff import Desk
from tests.widgets import WORDINGS, Visits

pytestmark = pytest.mark.browser
# What the agent reads, and what the customer writes.
PAIRS = [("es", "ja"), ("en", "zh-Hans"), ("ja", "es"), ("zh-Hans", "en")]


@pytest.fixture
def drafts() -> FakeDrafts:
    return FakeDrafts()


@pytest.fixture
def desk(drafts: FakeDrafts) -> Iterator[Desk]:
    """A desk whose drafts are kept in memory."""
    with running_drafts(drafts) as running:
        yield running


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    """Fails the test where the browser complained of anything but requests that were refused on purpose."""
    visits = Visits(browser)
    yield visits
    visits.close()
    assert [line for line in visits.complaints if "Failed to load resource" not in line] == []


@pytest.fixture
def visit(visits: Visits, desk: Desk) -> Callable[..., Page]:
    """Opens the page, or a letter of it, as a new member."""
    return partial(visit_drafts, visits, desk)


def write(page: Page, number: int, text: str) -> None:
    """Puts a text into a paragraph, as by typing."""
    part(page, number).locator("textarea").fill(text)


def saved(page: Page, language: str = "es") -> None:
    """Waits until all is saved."""
    expect(page.locator(".saved")).to_have_text(word("saved", language))


@pytest.mark.parametrize(("agent", "customer"), PAIRS, ids=[f"{a} agent, {c} customer" for a, c in PAIRS])
def test_a_ticket_becomes_a_draft(visit: Callable[..., Page], drafts: FakeDrafts, agent: str, customer: str) -> None:
    """The pasted message's questions are marked in it; each has its paragraph in the customer's language beside the
    passage in the agent's, or a word that there is none; what the articles don't answer is a gap."""
    ticket = TICKETS[customer]
    page = visit(language=agent)
    page.get_by_label(word("message", agent)).fill(ticket.message)
    page.get_by_role("button", name=word("write", agent)).click()
    expect(page.locator(".part")).to_have_count(5)
    expect(page.locator(".message mark")).to_have_text([f"{n}{text}" for n, text in enumerate(ticket.questions, 1)])
    for number, answer in enumerate(ticket.answers, 1):
        text = part(page, number).locator("textarea")
        expect(text).to_have_value(answer)
        assert text.evaluate("one => one.closest('[lang]').lang") == customer
    sibling = part(page, 1).locator(".rest > blockquote")
    expect(sibling).to_have_text(TICKETS[agent].answers[0])
    expect(sibling).to_have_attribute("lang", agent)
    expect(part(page, 1).locator(".rest > .place a")).to_have_attribute(
        "href", f"https://help.example.com/{agent}/refunds#q1"
    )
    original = part(page, 1).locator(".rest details blockquote")
    expect(original).to_have_text(ticket.answers[0])
    expect(original).to_have_attribute("lang", customer)
    if agent in ("es", "en"):
        expect(part(page, 2).locator(".rest > blockquote")).to_have_text(TICKETS[agent].answers[1])
    else:
        expect(part(page, 2).locator(".missing")).to_be_visible()
        expect(part(page, 2).locator(".rest > blockquote")).to_have_text(ticket.answers[1])
    expect(part(page, 3).locator(".flag")).to_have_text(word("gap", agent))
    expect(part(page, 3).locator("textarea")).to_have_value(ticket.gap)
    expect(page.locator(".counts")).to_have_text(word("open_gaps", agent, count=1))
    assert [one.language for one in drafts.letters.values()] == [customer]


@pytest.mark.parametrize("customer", list(TICKETS))
def test_an_unsupported_edit_is_marked_while_it_is_typed(
    visit: Callable[..., Page], drafts: FakeDrafts, customer: str
) -> None:
    """A sentence that no passage says is underlined, named with its reason and said to screen readers, before it is
    saved; the mark goes when it does."""
    ticket = TICKETS[customer]
    page = visit(drafts.write(customer))
    page.route("**/api/v1/staff/drafts/*?*", lambda route: route.abort())  # nothing is saved meanwhile
    write(page, 1, f"{ticket.answers[0]} {ticket.wrong}")
    expect(part(page, 1).locator(".flag")).to_have_text(word("unsupported"))
    expect(part(page, 1).locator(".copy .unsupported")).to_have_text(ticket.wrong)
    expect(part(page, 1).locator(".rest.unsupported .reason")).to_have_text(REASON)
    expect(page.locator(".draft [role=status].unseen")).to_have_text(f"{word('unsupported')}: {REASON}")
    line = part(page, 1).locator(".copy .unsupported").evaluate("one => getComputedStyle(one).textDecorationStyle")
    assert line == "wavy"
    expect(part(page, 1).locator(".rest.supported")).to_have_count(1)
    write(page, 1, ticket.answers[0])
    expect(part(page, 1).locator(".flag")).to_be_hidden()
    expect(part(page, 1).locator(".copy .unsupported")).to_have_count(0)


def test_marks_lie_under_their_words(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """The copy that carries the marks breaks its lines exactly as the text above it, so that all of it is shown."""
    page = visit(drafts.write("ja"), size=(390, 844))
    for text in ("長い文です。" * 40, "word " * 90, "a\n\nb\n", "x" * 300, "كلمة " * 60 + "日本語 mixed " * 20):
        write(page, 1, text)
        heights = part(page, 1).locator("textarea").evaluate("one => [one.scrollHeight, one.clientHeight]")
        assert heights[0] == heights[1], text[:10]


def test_sentence_and_passage_point_at_each_other(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """The passage of the sentence that the caret is in stands out, and the sentence of a passage pointed at."""
    letter = drafts.write("ja")
    drafts.save(letter, {**letter.texts, "q1": "".join(TICKETS["ja"].answers)}, "Ana")
    page = visit(letter)
    text = part(page, 1).locator("textarea")
    text.focus()
    text.evaluate("one => one.setSelectionRange(one.value.length, one.value.length)")
    text.press("ArrowLeft")
    expect(part(page, 1).locator(".rest.lit .number")).to_have_text("2")
    text.blur()
    part(page, 1).locator(".rest").first.hover()
    expect(part(page, 1).locator(".copy .lit")).to_have_text(TICKETS["ja"].answers[0])


@pytest.mark.parametrize("language", ["es", "en", "ja", "zh-Hans"])
def test_gaps_are_confirmed_before_sending(visit: Callable[..., Page], drafts: FakeDrafts, language: str) -> None:
    """With a gap open or a sentence unsupported the page asks first, naming them; going back sends nothing."""
    letter = drafts.write("ja")
    page = visit(letter, language)
    write(page, 1, TICKETS["ja"].wrong)
    saved(page, language)
    page.get_by_role("button", name=word("mark_sent", language)).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("li")).to_have_text(
        [
            f"{word('unsupported', language)}: {TICKETS['ja'].wrong}",
            f"{word('gap', language)}: {TICKETS['ja'].questions[2]}",
        ]
    )
    dialog.get_by_role("button", name=word("back_to_draft", language)).click()
    assert letter.state == "open"
    page.get_by_role("button", name=word("mark_sent", language)).click()
    dialog.get_by_role("button", name=word("mark_sent", language)).click()
    expect(page.locator(".titles .chip")).to_have_text(word("sent_edited", language))
    assert letter.state == "sent"
    expect(part(page, 1).locator("textarea")).to_have_js_property("readOnly", True)
    expect(page.get_by_role("button", name=word("mark_sent", language))).to_have_count(0)


def test_without_doubts_it_is_sent_at_once(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """A filled gap that a passage supports, and nothing else in doubt: one click sends it."""
    letter = drafts.write("ja")
    page = visit(letter)
    part(page, 3).get_by_role("button", name=word("use")).click()
    expect(part(page, 3).locator("textarea")).to_have_value(TICKETS["ja"].answers[1])
    expect(part(page, 3).locator(".flag")).to_be_hidden()
    page.get_by_role("button", name=word("mark_sent")).click()
    expect(page.locator(".titles .chip")).to_be_visible()
    assert letter.state == "sent"


def test_a_draft_can_be_rejected(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """Rejecting needs no confirmation of gaps, and the list says what became of it."""
    letter = drafts.write("ja")
    page = visit(letter)
    page.get_by_role("button", name=word("reject"), exact=True).click()
    expect(page.locator(".titles .chip")).to_have_text(word("state_rejected"))
    page.get_by_role("link", name=word("all_drafts")).click()
    expect(page.locator(".rows .chip.rejected")).to_have_text(word("state_rejected"))
    assert letter.state == "rejected"


@pytest.mark.parametrize("customer", list(TICKETS))
def test_what_is_typed_is_kept_on_the_server(
    visit: Callable[..., Page], visits: Visits, drafts: FakeDrafts, customer: str
) -> None:
    """Complaint 29: a moment after typing the server has it; a reload and another browser show it."""
    letter = drafts.write(customer)
    page = visit(letter)
    write(page, 4, "ありがとう 谢谢 ¡gracias! 🙏")
    saved(page)
    assert letter.texts["closing"] == "ありがとう 谢谢 ¡gracias! 🙏"
    page.reload()
    expect(part(page, 4).locator("textarea")).to_have_value("ありがとう 谢谢 ¡gracias! 🙏")
    other = visit(letter, name="Bo")
    expect(part(other, 4).locator("textarea")).to_have_value("ありがとう 谢谢 ¡gracias! 🙏")


def test_a_tab_closed_at_once_loses_nothing(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """The tab is closed right after the last key: the server gets the text all the same."""
    letter = drafts.write("ja")
    page = visit(letter)
    write(page, 4, "敬具")
    page.close(run_before_unload=True)
    for _ in range(50):
        if letter.texts["closing"] == "敬具":
            break
        visit_again = visit(letter, name=f"Bo{_}")
        visit_again.close()
    assert letter.texts["closing"] == "敬具"


def test_a_server_in_trouble_is_told_and_made_good(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """While nothing can be saved the page says so, keeps the text even through a reload, and saves it afterwards."""
    letter = drafts.write("ja")
    page = visit(letter)
    drafts.is_broken = True
    write(page, 4, "草々")
    expect(page.locator(".saved")).to_have_text(word("not_saved"))
    page.on("dialog", lambda dialog: dialog.accept())  # the browser asks whether to leave
    page.reload()
    expect(part(page, 4).locator("textarea")).to_have_value("草々")
    assert letter.texts["closing"] == TICKETS["ja"].closing
    drafts.is_broken = False
    saved(page)
    assert letter.texts["closing"] == "草々"


def test_two_agents_in_different_paragraphs_keep_both(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """What another agent has changed elsewhere is taken over, said, and saved together with one's own words."""
    letter = drafts.write("ja")
    page = visit(letter)
    drafts.save(letter, {**letter.texts, "greeting": "こんにちは。"}, "Bo")
    write(page, 4, "敬具")
    saved(page)
    expect(part(page, 0).locator("textarea")).to_have_value("こんにちは。")
    expect(page.locator(".draft [role=status].unseen")).to_have_text(word("changed_too", name="Bo"))
    assert (letter.texts["greeting"], letter.texts["closing"]) == ("こんにちは。", "敬具")


@pytest.mark.parametrize("kept", ["mine", "theirs"])
@pytest.mark.parametrize("language", ["es", "en", "ja", "zh-Hans"])
def test_two_agents_in_one_paragraph_choose(
    visit: Callable[..., Page], drafts: FakeDrafts, language: str, kept: str
) -> None:
    """Both texts stand side by side and nothing is overwritten until one of them is chosen; that one is saved."""
    letter = drafts.write("ja")
    page = visit(letter, language)
    drafts.save(letter, {**letter.texts, "closing": "彼の結び。"}, "Bo")
    write(page, 4, "私の結び。")
    dialog = page.get_by_role("dialog", name=word("conflict", language, name="Bo"))
    expect(dialog.locator(".choice .words")).to_have_text(["彼の結び。", "私の結び。"])
    assert letter.texts["closing"] == "彼の結び。"
    dialog.get_by_role("button", name=word("keep_chosen", language)).click()
    expect(dialog).to_be_visible()  # nothing is chosen yet
    dialog.get_by_role("radio", name=word(kept, language, name="Bo")).check()
    dialog.get_by_role("button", name=word("keep_chosen", language)).click()
    saved(page, language)
    assert letter.texts["closing"] == {"mine": "私の結び。", "theirs": "彼の結び。"}[kept]
    expect(part(page, 4).locator("textarea")).to_have_value(letter.texts["closing"])


def test_a_conflict_left_undecided_overwrites_nothing(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """Escape leaves both texts as they are: one's own on the screen, marked unsaved, the other's on the server."""
    letter = drafts.write("ja")
    page = visit(letter)
    drafts.save(letter, {**letter.texts, "closing": "彼の結び。"}, "Bo")
    write(page, 4, "私の結び。")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".saved")).to_have_text(word("not_saved"))
    expect(part(page, 4).locator("textarea")).to_have_value("私の結び。")
    assert letter.texts["closing"] == "彼の結び。"


def test_a_draft_closed_meanwhile_shows_ones_own_words(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """Another agent has sent the draft: it is shown as sent, and what was typed here stands in a box to be copied."""
    letter = drafts.write("ja")
    page = visit(letter)
    letter.state = "sent"
    letter.keep("Bo", "sent")
    write(page, 4, "私の結び。")
    dialog = page.get_by_role("dialog", name=word("conflict", name="Bo"))
    expect(dialog.locator("textarea")).to_have_value("私の結び。")
    page.keyboard.press("Escape")
    expect(page.locator(".titles .chip")).to_be_visible()
    expect(part(page, 4).locator("textarea")).to_have_value(TICKETS["ja"].closing)
    assert letter.texts["closing"] == TICKETS["ja"].closing


def test_another_agents_work_appears(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """Coming back to a page with nothing unsaved shows what another agent has saved meanwhile."""
    letter = drafts.write("ja")
    page = visit(letter)
    drafts.save(letter, {**letter.texts, "closing": "彼の結び。"}, "Bo")
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(part(page, 4).locator("textarea")).to_have_value("彼の結び。")


def test_tone_and_language_are_chosen(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """Another tone has greeting and closing written anew; another language of the agent's changes the passages."""
    letter = drafts.write("ja")
    page = visit(letter)
    page.get_by_role("radio", name=word("tone_friendly")).check()
    expect(page.get_by_role("radio", name=word("tone_friendly"))).to_be_checked()
    page.get_by_label(word("i_read")).select_option("en")
    expect(part(page, 1).locator(".rest > blockquote")).to_have_text(TICKETS["en"].answers[0])
    assert letter.tone == "friendly"
    page.get_by_label(word("i_read")).select_option("de")
    expect(part(page, 1).locator(".missing")).to_have_text(word("no_sibling", language="alemán"))
    page.reload()
    expect(page.get_by_label(word("i_read"))).to_have_value("de")


@pytest.mark.parametrize("kind", ["text", "html"])
def test_the_letter_is_copied(visit: Callable[..., Page], drafts: FakeDrafts, kind: str) -> None:
    """The clipboard gets the letter as it stands, the last key included: as text, or as HTML beside the text."""
    page = visit(drafts.write("ja"), permissions=["clipboard-read", "clipboard-write"])
    write(page, 4, "敬具")
    page.get_by_role("button", name=word(f"copy_{kind}")).click()
    expect(page.locator(".saved")).to_have_text(WORDINGS.nearest("es").interface.copied)
    found = page.evaluate(
        """async () => Object.fromEntries(await Promise.all((await navigator.clipboard.read()).flatMap(
             item => item.types.map(async type => [type, await (await item.getType(type)).text()]))))"""
    )
    assert found["text/plain"].endswith("\n\n敬具")
    assert ("<p>敬具</p>" in found.get("text/html", "")) == (kind == "html")


def test_where_copying_is_refused_the_text_is_shown(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """A browser that keeps its clipboard shut leaves the letter selected in a box."""
    page = visit(drafts.write("ja"), script="if (globalThis.Clipboard) delete Clipboard.prototype.write;")
    page.get_by_role("button", name=word("copy_text")).click()
    box = page.get_by_role("dialog").locator("textarea")
    expect(box).to_have_value("\n\n".join(drafts.letters["d0"].texts.values()))
    assert box.evaluate("one => one.selectionEnd - one.selectionStart") > 20


def test_parts_are_rewritten_left_out_and_brought_back(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """A paragraph is written again, another left out; an earlier version brings both back as they were."""
    letter = drafts.write("ja")
    page = visit(letter)
    write(page, 1, TICKETS["ja"].wrong)
    saved(page)
    part(page, 1).get_by_role("button", name=word("regenerate")).click()
    expect(part(page, 1).locator("textarea")).to_have_value(TICKETS["ja"].answers[0])
    part(page, 2).get_by_role("button", name=word("remove")).click()
    expect(part(page, 2).locator(".flag")).to_have_text(word("removed"))
    assert letter.texts["q2"] == ""
    page.get_by_role("button", name=word("versions")).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".version")).to_have_count(4)
    dialog.locator(".version summary").nth(2).click()
    expect(dialog.locator(".version[open] .words")).to_contain_text(TICKETS["ja"].wrong)
    dialog.get_by_role("button", name=word("bring_back")).click()
    expect(part(page, 2).locator("textarea")).to_have_value(TICKETS["ja"].answers[1])
    expect(part(page, 1).locator("textarea")).to_have_value(TICKETS["ja"].wrong)


@pytest.mark.parametrize("language", ["es", "en", "ja", "zh-Hans"])
def test_a_conversation_handed_over_is_picked(visit: Callable[..., Page], drafts: FakeDrafts, language: str) -> None:
    """A conversation that waits for a person becomes a draft with one click."""
    drafts.handovers = [
        HandedOver("c1", "asked", NOW, "ja", "人と話したいです。", ""),
        HandedOver("c2", "asked", NOW, "en", "Done already", "d9"),
    ]
    page = visit(language=language)
    waiting = page.locator("section").first
    expect(waiting.locator(".excerpt")).to_have_text(["人と話したいです。"])
    waiting.get_by_role("button", name=word("write", language)).click()
    expect(page.locator(".part")).to_have_count(5)
    page.go_back()
    expect(page.locator(".paste")).to_be_visible()


def test_an_editor_proposes_an_entry(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """A proposed entry lists every language, marks the missing ones, and is downloaded; agents are not offered it."""
    page = visit(drafts.write("ja"), role="editor")
    part(page, 1).get_by_role("button", name=word("propose")).click()
    entries = page.get_by_role("dialog").locator(".entries li")
    expect(entries).to_have_count(4)
    expect(entries.locator(".missing")).to_have_count(3)
    expect(entries.nth(2)).to_contain_text(TICKETS["ja"].answers[0])
    expect(entries.get_by_role("link")).to_have_attribute("href", "/api/v1/staff/proposals/p1/ja.md")
    other = visit(drafts.write("ja"), name="Bo")
    expect(part(other, 1).get_by_role("button", name=word("regenerate"))).to_be_visible()
    expect(part(other, 1).get_by_role("button", name=word("propose"))).to_have_count(0)


def test_an_answer_becomes_a_case_file(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """The case is downloaded under the server's name."""
    page = visit(drafts.write("ja"))
    with page.expect_download() as waiting:
        part(page, 1).get_by_role("button", name=word("case")).click()
    assert waiting.value.suggested_filename == "refund.yaml"
    assert waiting.value.path().read_text() == "- id: refund\n"


def test_what_people_write_stays_text(visit: Callable[..., Page], drafts: FakeDrafts) -> None:
    """Markup in a message, a paragraph or a name is shown as it was written and does nothing."""
    letter = drafts.write("ja", name="<img src=x onerror=alert(1)>")
    letter.texts["q1"] = "<script>alert(1)</script>"
    drafts.handovers = [HandedOver("c1", "asked", NOW, "en", "<b onclick=alert(1)>hi</b>", "")]
    page = visit(letter)
    expect(part(page, 1).locator(".copy")).to_contain_text("<script>alert(1)</script>")
    page.get_by_role("link", name=word("all_drafts")).click()
    expect(page.locator(".rows .excerpt").first).to_have_text("<b onclick=alert(1)>hi</b>")
    expect(page.locator(".rows .about").nth(1)).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("main :is(img, script, b)").count() == 0


def test_an_unknown_draft_is_told(visits: Visits, desk: Desk, drafts: FakeDrafts) -> None:
    """An address without its draft says so in a sentence and leads back to the list."""
    page = visits.open("about:blank")
    desk.sign_in(page.context)
    page.goto(f"{desk.address}/staff/drafts?language=es&draft=nothing")
    expect(page.get_by_role("alert")).not_to_be_empty()
    page.get_by_role("link", name=word("all_drafts")).click()
    expect(page.locator(".paste")).to_be_visible()
