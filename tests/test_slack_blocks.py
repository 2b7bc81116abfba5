"""What a reader of Slack sees of an Answer: read back from the blocks, since Slack itself can't be looked at here."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block

from assistant.records import Answer
from assistant.surfaces.render import place_of
from assistant.surfaces.slack.blocks import (
    ASK,
    FALLBACK_BYTES,
    FEEDBACK,
    PERSON,
    SHARE,
    answer_message,
    below_question,
    escape,
    notice,
    person_message,
    shared_message,
)
from assistant.wording import Wordings
from tests.fakes import REPLIES, answer, citation
from tests.slack_limits import complaint, texts
from tests.slack_reader import bold_of, buttons_of, links_of, quotes_of, seen

WORDINGS = Wordings()
LANGUAGES = list(REPLIES)
BOLD = {
    "zh-Hans": ("退款**最多14天**到账。", "最多14天"),
    "ja": ("返金は**14日以内**に行われます。", "14日以内"),
    "ja, quoted": ("これは**「重要」**です。", "「重要」"),
    "zh-Hans, full stop": ("请注意**必须申请。**然后等待。", "必须申请。"),
    "zh-Hant, colon": ("**注意：**請先申請", "注意："),
    "ko": ("환불은**14일(최대)**입니다", "14일(최대)"),
    "es": ("Llega **en 14 días** como máximo.", "en 14 días"),
    "en": ("It arrives **within 14 days** at most.", "within 14 days"),
    "ar": ("يصل **خلال 14 يومًا** على الأكثر.", "خلال 14 يومًا"),
}


def message(of: Answer, **how: bool) -> dict[str, Any]:
    return answer_message(of, WORDINGS.nearest(of.language), **how)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_reply_shows_answer_and_sources(language: str) -> None:
    """A reader sees the answer's very text with its markers, then each source's number, place, address and quote."""
    shown = message(of := answer(language))
    assert seen(shown["blocks"][0]) == of.text
    sources = seen(shown["blocks"][1])
    for one in of.citations:
        assert f"[{one.n}] {place_of(one)}" in sources
    assert quotes_of(shown) == [one.quote for one in of.citations]
    assert links_of(shown["blocks"][1]) == [one.url for one in of.citations]
    assert links_of(shown["blocks"][0]) == [one.url for one in of.citations], "markers lead to their sources"
    assert WORDINGS.nearest(language).interface.sources in sources


@pytest.mark.parametrize("language", LANGUAGES)
def test_slack_accepts_a_reply(language: str) -> None:
    """A reply, a private one and one with a person to talk to keep within Slack's limits; links are not unfurled."""
    of = answer(language, suggestions=(REPLIES[language][0],))
    for how in ({}, {"private": True}, {"person": True}):
        shown = message(of, **how)
        assert complaint(shown, 4000) == ("", [])
        assert (shown["unfurl_links"], shown["unfurl_media"]) == (False, False)
        assert json.loads(json.dumps(shown)) == shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_slacks_own_library_knows_every_field(language: str) -> None:
    """The blocks are what Slack's library makes of them: no field is misspelled or misplaced."""
    of, wording = answer(language, suggestions=(REPLIES[language][0],)), WORDINGS.nearest(language)
    for shown in (
        message(of, person=True),
        message(of, private=True),
        shared_message(of, wording, REPLIES[language][0], "U1"),
        person_message(of, wording, REPLIES[language][0], "U1", "https://test.slack.com/p1"),
    ):
        assert [block.to_dict() for block in Block.parse_all(shown["blocks"])] == shown["blocks"]


@pytest.mark.parametrize(("text", "bold"), BOLD.values(), ids=BOLD.keys())
def test_bold_beside_cjk_shows_no_asterisks(text: str, bold: str) -> None:
    """Complaint 21: bold words stand beside Japanese and other text as bold, without a single asterisk."""
    shown = message(answer(text=text))
    assert seen(shown["blocks"][0]) == text.replace("**", "")
    assert bold_of(shown["blocks"][0]) == [bold]
    assert shown["text"] == text.replace("**", "")
    assert "\u2060" not in json.dumps(shown, ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    ["<!channel>", "<!here|here>", "<@U123>", "<#C123>", "<!subteam^S1>", "<https://evil.example|bank>", "a & b < c"],
)
def test_articles_notify_nobody(text: str) -> None:
    """Slack's special sequences in an article are shown as they are written, and mean nothing."""
    quoted = replace(citation(1, "en", text), title=text, heading=text)
    of = answer(text=f"{text.replace('<', chr(92) + '<')} [1]", citations=(quoted,), suggestions=(text,))
    shown = message(of)
    assert seen(shown["blocks"][0]).startswith(text)
    assert quotes_of(shown) == [text]
    assert not set(shown["text"]) & set("<>")
    assert escape(text) in shown["text"]
    kinds = {part.get("type") for block in shown["blocks"] for part in parts_of(block)}
    assert not kinds & {"user", "channel", "usergroup", "broadcast", "mrkdwn", "emoji"}


def parts_of(value: object) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value, *(part for inner in value.values() for part in parts_of(inner))]
    return [part for inner in value for part in parts_of(inner)] if isinstance(value, list) else []


@pytest.mark.parametrize("language", LANGUAGES)
def test_suggestions_are_buttons(language: str) -> None:
    """What may be asked next is offered as buttons in the reply's language, whose value is the whole question."""
    question = REPLIES[language][0]
    long = question * 20
    shown = buttons_of(message(answer(language, suggestions=(question, long))))
    asks = [button for button in shown if button["action_id"].startswith(ASK)]
    assert [button["value"] for button in asks] == [question, long]
    assert asks[0]["text"]["text"] == question
    assert asks[1]["text"]["text"].endswith("…")
    assert len({button["action_id"] for button in asks}) == 2
    assert WORDINGS.nearest(language).slack["also"] in "".join(
        texts(message(answer(language, suggestions=("?",)))["blocks"])
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_options_are_buttons(language: str) -> None:
    """The options of a question back are buttons, and the numbered list stays a list."""
    options = ("A", "B", "C")
    of = answer(language, "clarify", f"{WORDINGS.nearest(language).choose}\n\n1. A\n2. B\n3. C", suggestions=options)
    shown = message(of)
    assert [button["value"] for button in buttons_of(shown)] == list(options)
    assert shown["blocks"][0]["elements"][1]["style"] == "ordered"
    assert seen(shown["blocks"][0]) == of.text.replace("\n\n", "\n")


@pytest.mark.parametrize("outcome", ["answered", "related", "abstained", "social", "clarify", "handover"])
def test_thumbs_where_there_is_something_to_rate(outcome: Any) -> None:
    """Answers and abstentions can be rated with the answer's id; greetings and questions back can't."""
    shown = parts_of(message(answer(outcome=outcome))["blocks"])
    thumbs = [part for part in shown if part.get("action_id") == FEEDBACK]
    assert bool(thumbs) == (outcome in ("answered", "related", "abstained"))
    for thumb in thumbs:
        values = [thumb[name]["value"] for name in ("positive_button", "negative_button")]
        assert values == ["up a1", "down a1"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_private_reply_can_be_shared_and_rated(language: str) -> None:
    """Only the asker sees a private reply: it has a button to share it, and plain ones to rate it."""
    shown = buttons_of(message(answer(language), private=True))
    assert [(button["action_id"], button["value"]) for button in shown] == [
        (SHARE, "a1"), (f"{FEEDBACK}_up", "up a1"), (f"{FEEDBACK}_down", "down a1"),
    ]  # fmt: skip
    assert shown[0]["text"]["text"] == WORDINGS.nearest(language).slack["share"]


@pytest.mark.parametrize(("outcome", "offered"), [("answered", 0), ("related", 1), ("abstained", 1)])
def test_a_person_is_offered_where_the_articles_fail(outcome: Any, offered: int) -> None:
    """Where the articles do not answer, and somebody can be reached, a button offers a person."""
    shown = buttons_of(message(answer(outcome=outcome), person=True))
    assert len([button for button in shown if button["action_id"] == PERSON]) == offered
    assert not [button for button in buttons_of(message(answer(outcome=outcome))) if button["action_id"] == PERSON]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_shared_reply_says_who_asked_what(language: str) -> None:
    """A shared reply names the person who shares it and the question, before the same answer and sources."""
    wording = WORDINGS.nearest(language)
    shown = shared_message(answer(language), wording, REPLIES[language][0], "U7")
    assert complaint(shown) == ("", [])
    assert {"type": "user", "user_id": "U7"} in parts_of(shown["blocks"][0])
    assert quotes_of(shown)[0] == REPLIES[language][0]
    assert shown["blocks"][1:] == message(answer(language))["blocks"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_that_a_button_asked_is_shown(language: str) -> None:
    """The reply to a pressed button stands below the question it answers, in words of its language."""
    reply, sentence = message(answer(language)), WORDINGS.nearest(language).slack["asked"]
    shown = below_question(reply, sentence, REPLIES[language][0], "U7")
    assert complaint(shown) == ("", [])
    assert seen(shown["blocks"][0]) == f"{sentence.format(person='@U7')}\n{REPLIES[language][0]}"
    assert shown["blocks"][1:] == reply["blocks"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_helpers_learn_question_language_and_evidence(language: str) -> None:
    """Who helps sees who asked, a link to the thread, the question as asked, its language and the passages found."""
    of, english = answer(language), WORDINGS.nearest("en")
    shown = person_message(of, english, REPLIES[language][0], "U7", "https://test.slack.com/p1")
    assert complaint(shown) == ("", [])
    assert {"type": "user", "user_id": "U7"} in parts_of(shown["blocks"][0])
    assert links_of(shown["blocks"][0]) == ["https://test.slack.com/p1"]
    assert quotes_of(shown) == [REPLIES[language][0], *(one.quote for one in of.citations)]
    assert "Language: " in seen(shown["blocks"][0])
    none = person_message(replace(of, citations=()), english, "?", "U7", "")
    assert english.slack["no_evidence"] in seen(none["blocks"][1])


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_way_to_a_person_is_a_link(language: str) -> None:
    """The address that a reply gives for a person can be followed."""
    said = WORDINGS.nearest(language).person.format(address="<https://help.example.com/a_b>")
    shown = message(answer(language, "handover", said))["blocks"][0]
    assert links_of(shown) == ["https://help.example.com/a_b"]
    assert "<" not in seen(shown)


def test_structure_survives() -> None:
    """Lists within lists, ordered lists that go on, tables, links and code keep their form."""
    text = (
        "See **[the guide](https://help.example.com/g)** and `code`:\n\n"
        "3. three\n   - under\n4. four\n\nAfter.\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    )
    shown = message(answer(text=text))["blocks"][0]["elements"]
    kinds = [(one["type"], one.get("style"), one.get("indent"), one.get("offset")) for one in shown]
    assert kinds == [
        ("rich_text_section", None, None, None),
        ("rich_text_list", "ordered", 0, 2),
        ("rich_text_list", "bullet", 1, None),
        ("rich_text_list", "ordered", 0, 3),
        ("rich_text_section", None, None, None),
    ]
    assert shown[0]["elements"][1] == {
        "type": "link", "url": "https://help.example.com/g", "text": "the guide", "style": {"bold": True},
    }  # fmt: skip
    assert shown[0]["elements"][3] == {"type": "text", "text": "code", "style": {"code": True}}
    assert seen(shown[4]) == "After.\n\na | b\n1 | 2"
    told = message(answer(text=text))["text"].splitlines()
    assert told == ["See the guide and code:", "3. three", "  • under", "4. four", "After.", "a | b", "1 | 2"]


@pytest.mark.parametrize(
    ("language", "text", "turned"),
    [
        ("ar", "Trainium يكلف 14 دولارًا.", True),
        ("ar", "يصل المبلغ خلال Trainium.", False),
        ("ar", "14 يومًا", False),
        ("ar", "The refund takes 14 days.", False),
        ("ja", "Trainiumの料金です。", False),
        ("en", "Trainium يكلف", False),
    ],
    ids=["ar, name first", "ar, name later", "ar, digits first", "ar, quoting en", "ja", "en, quoting ar"],
)
def test_right_to_left_lines_begin_on_the_right(language: str, text: str, turned: bool) -> None:
    """A line of an Arabic reply that begins with a Latin name still runs from the right; nothing else is touched."""
    shown = seen(message(replace(answer(text=text), language=language))["blocks"][0])
    assert shown == ("\u200f" if turned else "") + text


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_too_long_says_so(language: str) -> None:
    """A reply beyond Slack's limits ends at a sentence, says that there is more, and keeps every source's link."""
    _, first, second = REPLIES[language]
    long = citation(1, language, first * 300)
    of = answer(language, text=f"{first}{second}" * 400 + "[1]", citations=(long,))
    shown = message(of)
    assert complaint(shown, 4000) == ("", [])
    body = seen(shown["blocks"][0])
    cut = WORDINGS.nearest(language).slack["cut"]
    assert body.endswith(cut)
    assert of.text.startswith(body.removesuffix(cut).rstrip("\n"))
    assert body.removesuffix(cut).rstrip().endswith((first.strip(), second.strip()))
    assert len(body.encode()) > 5000
    assert links_of(shown["blocks"][1]) == [long.url]
    assert shown["text"].endswith("…")


@pytest.mark.parametrize("language", LANGUAGES)
def test_quotes_give_way_before_the_answer(language: str) -> None:
    """Where answer and quotes have no room beside each other, quotes are shortened, visibly; the answer is whole."""
    _, first, second = REPLIES[language]
    body = first + second
    text = body * (6000 // len(body.encode()))
    of = answer(language, text=text + "[1]", citations=tuple(citation(n, language, body * 20) for n in range(1, 30)))
    shown = message(of)
    assert complaint(shown, 4000) == ("", [])
    assert seen(shown["blocks"][0]) == of.text
    assert all(one.endswith("…") for one in quotes_of(shown))
    assert len(links_of(shown["blocks"][1])) == 29


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=3000), st.lists(st.text(max_size=400), max_size=12), st.text(max_size=4000))
def test_slack_accepts_whatever_is_written(text: str, names: list[str], option: str) -> None:
    """Whatever an article or a message holds, the message keeps within Slack's limits, and nothing in it is empty."""
    sources = tuple(
        replace(citation(n, "ja", name * 3), title=name, heading=name, url=name) for n, name in enumerate(names, 1)
    )
    of = answer(text=text or "?", citations=sources, suggestions=(option, text))
    for shown in (message(of, private=True), message(of, person=True), notice(text)):
        assert complaint(shown, 4000) == ("", [])
        assert len(shown["text"].encode()) <= FALLBACK_BYTES
        assert all(part != "" for part in texts(shown["blocks"]))
    helper = person_message(of, WORDINGS.nearest("en"), text, "U1", option)
    assert complaint(helper, 4000) == ("", [])


def test_a_notice_is_said_as_it_is() -> None:
    """Words of the assistant's own come as a message like any other, within the same limits."""
    assert complaint(notice("額&" * 9000), 4000) == ("", [])
    shown = notice("A & B")
    assert (seen(shown["blocks"][0]), shown["text"]) == ("A & B", "A &amp; B")
