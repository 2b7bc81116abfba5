"""What the Slack bot does: the real Bolt app over real HTTP, signed requests, a local stand-in for Slack's Web API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from assistant.attention import conversation_of
from assistant.records import Handover
from assistant.surfaces.slack.messages import clean
from assistant.wording import Wordings
from tests.fakes import REPLIES, FakeAssistant, answer
from tests.slack_events import Sender
from tests.slack_server import SlackServer
from tests.slack_talk import ask, buttons, replies

LANGUAGES = list(REPLIES)
LOCALES = {"zh-Hans": "zh-CN", "ja": "ja-JP", "es": "es-ES", "en": "en-US", "ar": "ar-SA"}
Start = Callable[..., str]


@pytest.fixture
async def sender(start_slack: Start) -> AsyncIterator[Sender]:
    async with Sender(start_slack(slack_handover_channel="CHELP")) as sending:
        yield sending


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_mention_is_answered_in_its_thread(slack: SlackServer, sender: Sender, language: str) -> None:
    """A question that mentions the bot is answered once, in the thread, though Slack sends two events for it."""
    asked = slack.workspace.mention("C1", "U1", REPLIES[language][0])
    for kind in ("app_mention", "message"):
        assert (await sender.event({**asked, "type": kind})).status_code == 200
    (found,) = await replies(slack, "C1", 1)
    assert found["thread_ts"] == asked["ts"]
    assert REPLIES[language][1].strip() in found["text"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_complaint_18_follow_ups_need_no_mention(
    slack: SlackServer, sender: Sender, fake: FakeAssistant, language: str
) -> None:
    """In a thread that the bot joined, its asker's next message is answered without a mention, with its history."""
    question = REPLIES[language][0]
    asked = await ask(slack, sender, f"<@UBOT> {question}")
    await replies(slack, "C1", 1)
    await ask(slack, sender, question, thread_ts=asked["ts"])
    await replies(slack, "C1", 2)
    assert fake.asked[1][3] == (question,)
    assert fake.asked[0][1] == fake.asked[1][1]


async def test_messages_that_are_not_for_the_bot_stay_without_reply(slack: SlackServer, sender: Sender) -> None:
    """Channel talk, threads it did not join, bots, itself, joins, and links that unfurl get no reply."""
    talk = await ask(slack, sender, "lunch?")
    await ask(slack, sender, "yes", thread_ts=talk["ts"], user="U2")
    await ask(slack, sender, "<@UBOT> hi", bot_id="B9")
    await ask(slack, sender, "<@UBOT> hi", user="UBOT")
    await ask(slack, sender, "U1 has joined", subtype="channel_join")
    same = {"ts": talk["ts"], "user": "U1", "text": "lunch?"}
    await ask(slack, sender, "", subtype="message_changed", message=same, previous_message=same)
    await asyncio.sleep(0.5)
    assert slack.workspace.by_bot("C1") == []


async def test_complaint_20_unseen_retries_are_processed(slack: SlackServer, sender: Sender) -> None:
    """An event whose first delivery never arrived is answered when it comes as a retry, and only once."""
    asked = slack.workspace.mention("C1", "U1", REPLIES["ja"][0])
    for retry in (1, 2, 3):
        assert (await sender.event(asked, "Ev-late", retry=retry)).status_code == 200
    await replies(slack, "C1", 1)


async def test_complaint_19_slow_work_brings_no_duplicates(
    slack: SlackServer, sender: Sender, fake: FakeAssistant
) -> None:
    """While an answer is slow, Slack gets its acknowledgement at once, and its retries bring no second reply."""
    asked = slack.workspace.mention("C1", "U1", "slow")
    for retry in range(4):
        assert (await sender.event(asked, "Ev-slow", retry=retry)).status_code == 200
    assert slack.workspace.by_bot("C1") == []
    assert max(sender.took_s) < 3
    fake.go.set()
    await replies(slack, "C1", 1)
    assert len(fake.asked) == 1


@pytest.mark.parametrize("trouble", ["broken", "unavailable"])
@pytest.mark.parametrize("language", LANGUAGES)
async def test_complaint_22_an_outcome_is_always_posted(
    slack: SlackServer, sender: Sender, language: str, trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the assistant fails, the asker reads so in their language, and nothing of what they wrote is logged."""
    await ask(slack, sender, f"<@UBOT> {REPLIES[language][0]} {trouble}")
    (found,) = await replies(slack, "C1", 1)
    assert found["text"] == Wordings().nearest(language).interface.error_generic
    assert REPLIES[language][0] not in caplog.text


async def test_an_answer_that_takes_too_long_is_given_up_with_a_word(slack: SlackServer, start_slack: Start) -> None:
    """At the time limit the asker is told."""
    async with Sender(start_slack(request_timeout_s=0.3)) as sender:
        await ask(slack, sender, "<@UBOT> slow please, how long does a refund take?")
        (found,) = await replies(slack, "C1", 1)
    assert found["text"] == Wordings().nearest("en").interface.error_generic


@pytest.mark.parametrize(
    ("language", "taken_on"),
    [
        ("zh-Hans", "我来处理"),
        ("ja", "私が対応します"),
        ("es", "Ya me ocupo yo"),
        ("en", "I have got this"),
        ("ar", "سأتولى الأمر"),
        ("en", "And how long does it take for students?"),
        ("ja", "👍"),
    ],
    ids=["zh", "ja", "es", "en", "ar", "a question", "an emoji"],
)
async def test_complaint_25_silent_once_a_person_replies(
    slack: SlackServer, sender: Sender, fake: FakeAssistant, language: str, taken_on: str
) -> None:
    """After another person's message, whatever it says, the thread gets no more from the bot, its asker's replies to
    that person included, until somebody mentions it again; then the asker's follow-ups are answered again."""
    question = REPLIES[language][0]
    asked = await ask(slack, sender, f"<@UBOT> {question}")
    await replies(slack, "C1", 1)
    await ask(slack, sender, taken_on, thread_ts=asked["ts"], user="U2")
    for said in (question, "OK!", taken_on):
        await ask(slack, sender, said, thread_ts=asked["ts"])
    await replies(slack, "C1", 1)
    assert [text for text, *_ in fake.asked] == [question]
    await ask(slack, sender, f"<@UBOT> {question}", thread_ts=asked["ts"])
    await ask(slack, sender, question, thread_ts=asked["ts"])
    await replies(slack, "C1", 3)


async def test_complaint_25_who_mentions_it_is_its_asker(slack: SlackServer, sender: Sender) -> None:
    """When the second person mentions the bot the thread is theirs: their follow-up is answered, and what the first
    asker writes then is another person's."""
    question = REPLIES["zh-Hans"][0]
    asked = await ask(slack, sender, f"<@UBOT> {question}")
    await replies(slack, "C1", 1)
    await ask(slack, sender, f"<@UBOT> {question}", thread_ts=asked["ts"], user="U2")
    await ask(slack, sender, question, thread_ts=asked["ts"], user="U2")
    await replies(slack, "C1", 3)
    await ask(slack, sender, question, thread_ts=asked["ts"])
    await ask(slack, sender, question, thread_ts=asked["ts"], user="U2")
    await replies(slack, "C1", 3)


async def test_complaint_25_a_person_is_quicker_than_the_answer(
    slack: SlackServer, sender: Sender, fake: FakeAssistant
) -> None:
    """A follow-up that a person answers while the bot still works on it gets no reply of the bot's any more."""
    asked = await ask(slack, sender, f"<@UBOT> {REPLIES['zh-Hans'][0]}")
    await replies(slack, "C1", 1)
    await ask(slack, sender, "slow", thread_ts=asked["ts"])
    await asyncio.sleep(0.5)
    await ask(slack, sender, "我来回答", thread_ts=asked["ts"], user="U2")
    fake.go.set()
    await replies(slack, "C1", 1, after_s=0.7)


async def test_a_follow_up_that_overtakes_its_mention_is_not_lost(
    slack: SlackServer, sender: Sender, fake: FakeAssistant
) -> None:
    """A reply in a thread that is delivered before the mention that opened it is answered after it."""
    first = slack.workspace.mention("C1", "U1", REPLIES["en"][0])
    second = slack.workspace.say("C1", "U1", REPLIES["ja"][0], first["ts"])
    await sender.event(second)
    await asyncio.sleep(0.3)
    await sender.event(first, retry=1)
    await replies(slack, "C1", 2)
    assert [text for text, *_ in fake.asked] == [REPLIES["en"][0], REPLIES["ja"][0]]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_direct_message_is_a_conversation(
    slack: SlackServer, sender: Sender, fake: FakeAssistant, language: str
) -> None:
    """In a direct message every message is answered beside it, and the earlier ones are known."""
    for _ in range(2):
        await ask(slack, sender, REPLIES[language][0], "D1")
    found = await replies(slack, "D1", 2)
    assert "thread_ts" not in found[0]
    assert fake.asked[1][3] == (REPLIES[language][0],)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_profile_language_is_the_hint(
    slack: SlackServer, sender: Sender, fake: FakeAssistant, language: str
) -> None:
    """The profile's locale goes to the assistant as the page's language would, and speaks where there are no words."""
    slack.workspace.users["U1"]["locale"] = LOCALES[language]
    await ask(slack, sender, "PyTorch?", "D1")
    await ask(slack, sender, ":wave::skin-tone-3: :100:", "D1")
    await ask(slack, sender, "", "D1", subtype="file_share", files=[{"id": "F1"}])
    found = await replies(slack, "D1", 3)
    assert fake.asked[0][2] == LOCALES[language]
    wording = Wordings().nearest(language)
    assert [message["text"] for message in found[1:]] == [wording.ask_more, wording.slack["files"]]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_an_endless_message_is_refused_in_its_language(slack: SlackServer, sender: Sender, language: str) -> None:
    """40,000 characters are taken, and answered by one sentence that says how many are read."""
    text = (REPLIES[language][0] * 4000)[:40_000]
    await ask(slack, sender, text, "D1", blocks=[{"type": "section", "text": {"type": "mrkdwn", "text": text}}])
    (found,) = await replies(slack, "D1", 1)
    assert found["text"] == Wordings().nearest(language).interface.too_long.format(limit=2000)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_command_answers_privately_and_can_be_shared(slack: SlackServer, sender: Sender, language: str) -> None:
    """`/faq` shows the answer to its asker alone; their click shows it to the channel once, with who shares it."""
    response = await sender.command(REPLIES[language][0], slack.response_url())
    assert (response.status_code, response.text) == (200, "")
    await asyncio.to_thread(slack.wait_for, lambda served: bool(served.called("response_url")))
    private = slack.called("response_url")[0].arguments
    assert private["response_type"] == "ephemeral"
    assert slack.workspace.by_bot("C1") == []
    (share,) = buttons(private, "faq_share")
    for _ in range(2):
        await sender.action(share, response_url=slack.response_url("2"))
    (found,) = await replies(slack, "C1", 1)
    assert {"type": "user", "user_id": "U1"} in found["blocks"][0]["elements"][0]["elements"]
    assert REPLIES[language][1].strip() in found["text"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_forgotten_answer_is_not_shared(slack: SlackServer, sender: Sender, language: str) -> None:
    """Once its conversation is forgotten over HTTP, the button below a private answer only says that it is gone."""
    await sender.command(REPLIES[language][0], slack.response_url())
    await asyncio.to_thread(slack.wait_for, lambda served: bool(served.called("response_url")))
    (share,) = buttons(slack.called("response_url")[0].arguments, "faq_share")
    server = sender.url.removesuffix("/slack/events")
    async with httpx.AsyncClient(trust_env=False) as client:
        forgotten = await client.delete(f"{server}/api/v1/conversations/{conversation_of('T0001:C1:U1:private')}")
    assert forgotten.status_code == 200
    await sender.action(share, response_url=slack.response_url("2"))
    await asyncio.to_thread(slack.wait_for, lambda served: len(served.called("response_url")) == 2)
    said = {call.arguments["text"] for call in slack.called("response_url")[1:]}
    assert len(said) == 1
    assert said <= {wording.slack["gone"] for wording in Wordings().by_language.values()}
    assert slack.workspace.by_bot("C1") == []


async def test_a_command_without_a_question_says_how_to_ask(slack: SlackServer, sender: Sender) -> None:
    """`/faq` alone is told what to write after it."""
    slack.workspace.users["U1"]["locale"] = "ja-JP"
    await sender.command("  ", slack.response_url())
    await asyncio.to_thread(slack.wait_for, lambda served: bool(served.called("response_url")))
    said = slack.called("response_url")[0].arguments["text"]
    assert said == Wordings().nearest("ja").slack["usage"].format(command="/faq")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_pane_prompts_streams_and_ends_whole(slack: SlackServer, sender: Sender, language: str) -> None:
    """The assistant pane gets prompts in the profile's language, a status, sentences as they come, then the reply."""
    slack.workspace.users["U1"]["locale"] = LOCALES[language]
    opening = slack.workspace.say("D1", "UBOT", "New conversation")
    thread = {"user_id": "U1", "channel_id": "D1", "thread_ts": opening["ts"], "context": {}}
    await sender.event({"type": "assistant_thread_started", "assistant_thread": thread, "event_ts": opening["ts"]})
    await asyncio.to_thread(slack.wait_for, lambda served: bool(served.called("assistant.threads.setSuggestedPrompts")))
    prompts = slack.called("assistant.threads.setSuggestedPrompts")[0].arguments["prompts"]
    assert prompts[0]["message"] == REPLIES[language][0]
    await ask(slack, sender, REPLIES[language][0], "D1", thread_ts=opening["ts"])
    await asyncio.to_thread(slack.wait_for, lambda served: bool(served.called("chat.update")))
    (found,) = await replies(slack, "D1", 1)
    assert len(slack.called("chat.startStream")) == len(slack.called("chat.appendStream")) == 1
    assert not slack.workspace.streaming
    assert slack.workspace.statuses[0] == (opening["ts"], Wordings().nearest(language).slack["status"])
    assert REPLIES[language][2].strip() in found["text"]
    assert found["blocks"]


@pytest.mark.parametrize("method", ["chat.startStream", "chat.appendStream"])
@pytest.mark.parametrize("fault", [{"status": 429}, {"status": 503}, {"drop": "after"}, {"error": "not_allowed"}])
async def test_a_stream_that_fails_leaves_one_whole_reply(
    slack: SlackServer, sender: Sender, method: str, fault: dict[str, Any]
) -> None:
    """Whatever becomes of a stream's calls, one message stands in the end, and it is whole."""
    opening = slack.workspace.say("D1", "U1", "hello")
    slack.fail(method, **fault)
    await ask(slack, sender, REPLIES["ja"][0], "D1", thread_ts=opening["ts"])
    await asyncio.to_thread(
        slack.wait_for, lambda served: any(message.get("blocks") for message in served.workspace.by_bot("D1"))
    )
    (found,) = await replies(slack, "D1", 1)
    assert REPLIES["ja"][2] in found["text"]


async def test_an_edited_question_is_answered_anew_in_place(slack: SlackServer, sender: Sender) -> None:
    """An edit puts the new answer in the old one's place; one that comes before the answer is all that is asked."""
    asked = await ask(slack, sender, f"<@UBOT> {REPLIES['ja'][0]}")
    (before,) = await replies(slack, "C1", 1)
    edit = slack.workspace.edit("C1", asked["ts"], f"<@UBOT> {REPLIES['es'][0]}")
    for _ in range(2):
        await sender.event(edit)
    await asyncio.to_thread(slack.wait_for, lambda served: bool(served.called("chat.update")))
    (after,) = await replies(slack, "C1", 1)
    assert (after["ts"], len(slack.called("chat.update"))) == (before["ts"], 1)
    assert REPLIES["es"][1].strip() in after["text"]


async def test_a_question_edited_while_it_waits_is_asked_as_edited(
    slack: SlackServer, sender: Sender, fake: FakeAssistant
) -> None:
    """Of a question that waits behind another in its thread, only the last form is asked."""
    asked = await ask(slack, sender, "<@UBOT> slow")
    second = await ask(slack, sender, "lunch?", thread_ts=asked["ts"])
    await sender.event(slack.workspace.edit("C1", second["ts"], REPLIES["en"][0]))
    fake.go.set()
    await replies(slack, "C1", 2)
    assert [text for text, *_ in fake.asked] == ["slow", REPLIES["en"][0]]


async def test_deleted_questions_are_dropped(slack: SlackServer, sender: Sender, fake: FakeAssistant) -> None:
    """Deleted before its reply a question gets none; afterwards the reply goes too."""
    asked = await ask(slack, sender, f"<@UBOT> {REPLIES['en'][0]}")
    await replies(slack, "C1", 1)
    await sender.event(slack.workspace.remove("C1", asked["ts"]))
    await asyncio.to_thread(slack.wait_for, lambda served: bool(served.called("chat.delete")))
    other = await ask(slack, sender, "<@UBOT> slow")
    await fake.began.wait()
    await sender.event(slack.workspace.remove("C1", other["ts"]))
    fake.go.set()
    await replies(slack, "C1", 0, after_s=0.7)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_talk_to_a_person_tells_the_channel(
    slack: SlackServer, sender: Sender, fake: FakeAssistant, language: str
) -> None:
    """The button below a doubtful answer tells those who help: who asks, what, in which language, the evidence."""
    question = REPLIES[language][0]
    fake.scripted[question] = answer(language, "related")
    await ask(slack, sender, f"<@UBOT> {question}")
    (found,) = await replies(slack, "C1", 1)
    (button,) = buttons(found, "faq_person")
    body = {**found, "thread_ts": found["thread_ts"]}
    await sender.action(button, body, slack.response_url())
    (told,) = await replies(slack, "CHELP", 1)
    shown = json.dumps(told["blocks"], ensure_ascii=False)
    assert question in shown
    assert REPLIES[language][1].strip() in shown
    said = slack.called("response_url")[0].arguments["text"]
    assert said == Wordings().nearest(language).person_told


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
async def test_whom_slack_reaches_is_not_denied(
    slack: SlackServer, sender: Sender, fake: FakeAssistant, language: str
) -> None:
    """Beside a question, a wish for a person that the channel for people is told of is said to be passed on, not that
    there is nobody, and the channel is told."""
    question, wording = REPLIES[language][0], Wordings().nearest(language)
    given = answer(language)
    denied = replace(given, text=f"{given.text}\n\n{wording.no_person}", handover=Handover("asked", ""))
    fake.scripted[question] = denied
    await ask(slack, sender, f"<@UBOT> {question}")
    (found,) = await replies(slack, "C1", 1)
    shown = json.dumps(found, ensure_ascii=False)
    assert wording.no_person not in shown
    assert wording.person_told in shown
    await replies(slack, "CHELP", 1)


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
async def test_slack_offers_nobody_where_there_is_none(
    slack: SlackServer, start_slack: Start, fake: FakeAssistant, language: str
) -> None:
    """Without a channel for people no reply has the button that would tell it."""
    question = REPLIES[language][0]
    fake.scripted[question] = answer(language, "related")
    async with Sender(start_slack()) as sender:
        await ask(slack, sender, f"<@UBOT> {question}")
        (found,) = await replies(slack, "C1", 1)
    assert "faq_person" not in json.dumps(found)


async def test_thumbs_are_kept(slack: SlackServer, sender: Sender) -> None:
    """A thumb is kept with the answer, and its giver thanked in the answer's language."""
    await ask(slack, sender, f"<@UBOT> {REPLIES['ja'][0]}")
    (found,) = await replies(slack, "C1", 1)
    (thumbs,) = buttons(found, "faq_feedback")
    pressed = {"type": "feedback_buttons", "action_id": thumbs["action_id"], **thumbs["negative_button"]}
    await sender.action(pressed, found, slack.response_url())
    await asyncio.to_thread(slack.wait_for, lambda served: bool(served.called("response_url")))
    assert slack.called("response_url")[0].arguments["text"] == Wordings().nearest("ja").widget.rated


async def test_a_suggestion_is_asked_by_its_button(slack: SlackServer, sender: Sender, fake: FakeAssistant) -> None:
    """A button that suggests a question asks it in the thread; the reply says who asked what."""
    fake.scripted["?"] = answer("zh-Hans", "clarify", "哪一个？", suggestions=(REPLIES["zh-Hans"][0],))
    asked = await ask(slack, sender, "<@UBOT> ?")
    (found,) = await replies(slack, "C1", 1)
    await sender.action(buttons(found, "faq_ask")[0], found, slack.response_url())
    _, second = await replies(slack, "C1", 2)
    assert second["thread_ts"] == asked["ts"]
    assert REPLIES["zh-Hans"][0] in json.dumps(second["blocks"][0], ensure_ascii=False)


async def test_numbers_are_in_metrics(slack: SlackServer, sender: Sender) -> None:
    """`/metrics` counts what was delivered and what became of it, without a word of a message."""
    await ask(slack, sender, f"<@UBOT> {REPLIES['en'][0]}")
    await replies(slack, "C1", 1)
    async with httpx.AsyncClient(trust_env=False) as client:
        text = (await client.get(sender.url.replace("/slack/events", "/metrics"))).text
    assert 'assistant_slack_events_total{fate="new",kind="message"} 1.0' in text
    assert 'assistant_slack_done_total{outcome="answered"} 1.0' in text
    assert "refund" not in text


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("<@UBOT> 返金は？", "返金は？"),
        ("<@UBOT|faq> ¿cuánto?", "¿cuánto?"),
        ("see <https://a.example/x|the page> &amp; <https://b.example>", "see the page & https://b.example"),
        ("<!here> <#C1|general> <@U2|ana> a &lt; b", "#general @ana a < b"),
        ("費用:money_with_wings:？ at 10:30:45", "費用 ？ at 10:30:45"),
        (":+1::skin-tone-2:", ""),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
    ],
)
def test_slack_marks_are_read_as_their_reader_sees_them(written: str, expected: str) -> None:
    """Mentions of the bot, link marks, entities and emoji codes do not reach the assistant; times of day do."""
    assert clean(written, "UBOT") == expected
