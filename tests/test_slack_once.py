"""One reply to each question from Slack: deliveries repeated, calls that fail, processes that die."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from assistant.attention import Job, conversation_of
from assistant.inbox import Inbox
from assistant.store import Store
from assistant.surfaces.slack import delivery, worker
from assistant.tables import jobs, threads
from assistant.wording import Wordings
from tests.fakes import REPLIES, FakeAssistant
from tests.slack_events import Sender
from tests.slack_server import SlackServer
from tests.slack_storm import storm
from tests.slack_talk import ask, replies


@pytest.fixture
async def sender(start_slack: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Sender]:
    """A server that is quicker to try again than a real one."""
    monkeypatch.setattr(delivery, "FIRST_DELAY_S", 0.05)
    monkeypatch.setattr(delivery, "LONGEST_DELAY_S", 0.1)
    monkeypatch.setattr(delivery, "LOOK_DELAY_S", 0.05)
    async with Sender(start_slack()) as sending:
        yield sending


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store in each kind of database."""
    url = f"sqlite:///{tmp_path / 'store.sqlite3'}"
    if request.param == "postgres":
        url = str(request.getfixturevalue("postgres"))
    opened = Store(url)
    yield opened
    opened.close()


def job(number: int, thread: str = "T:C:1", **changes: Any) -> Job:
    values: dict[str, Any] = {
        "id": f"message:{thread}:{number}", "kind": "message", "thread": thread, "position": f"100.{number:06d}",
        "user": "U1", "body": {"text": f"質問 {number}"}, "needs": "join",
    }  # fmt: skip
    return Job(**{**values, **changes})


async def test_a_storm_leaves_one_reply_each() -> None:
    """Two processes, four deliveries each, kill -9 at random points, calls that break: one reply each, in order."""
    found = await storm(questions=30, threads=10, seconds=0.5, kills=2, patience_s=120)
    asked = sorted(text for texts in found.asked.values() for text in texts)
    assert sorted(found.replies) == asked
    assert found.overtaken == []
    assert found.kills == 2


async def test_acknowledgements_do_not_wait_for_answers(
    slack: SlackServer, sender: Sender, fake: FakeAssistant
) -> None:
    """While as many answers as there is room for are in work, events are acknowledged within half a second."""
    for number in range(40):
        await ask(slack, sender, f"<@UBOT> slow {number}")
    took = sorted(sender.took_s)
    assert took[len(took) // 2] < 0.5
    fake.go.set()
    await replies(slack, "C1", 40)


async def test_a_rate_limit_is_honoured(slack: SlackServer, sender: Sender) -> None:
    """After 429 nothing is posted before the time that Slack names, and then once."""
    slack.fail("chat.postMessage", status=429, retry_after_s=2)
    await ask(slack, sender, f"<@UBOT> {REPLIES['es'][0]}")
    await replies(slack, "C1", 1)
    first, second = slack.called("chat.postMessage")
    assert second.at - first.at >= 2


@pytest.mark.parametrize(
    "fault",
    [{"status": 503}, {"drop": "before"}, {"drop": "after"}, {"error": "internal_error"}],
    ids=["server error", "cut off before", "cut off after", "internal error"],
)
async def test_a_post_of_unknown_fate_is_looked_for(
    slack: SlackServer, sender: Sender, fake: FakeAssistant, fault: dict[str, Any]
) -> None:
    """A post that broke off is posted again only where it is not there; the assistant is not asked again."""
    slack.fail("chat.postMessage", **fault)
    await ask(slack, sender, f"<@UBOT> {REPLIES['zh-Hans'][0]}")
    await asyncio.to_thread(slack.wait_for, lambda served: served.called("conversations.replies"))
    await replies(slack, "C1", 1)
    assert len(fake.asked) == 1


async def test_a_direct_post_of_unknown_fate_is_looked_for(slack: SlackServer, sender: Sender) -> None:
    """The same holds beside a direct message, which is no thread."""
    slack.fail("chat.postMessage", drop="after")
    await ask(slack, sender, REPLIES["ja"][0], "D1")
    await asyncio.to_thread(slack.wait_for, lambda served: served.called("conversations.history"))
    await replies(slack, "D1", 1)


async def test_a_post_that_goes_on_failing_is_reported(slack: SlackServer, sender: Sender) -> None:
    """After some attempts the thread is told, in the asker's language, and that is all."""
    slack.fail("chat.postMessage", status=500, times=worker.ATTEMPTS)
    await ask(slack, sender, f"<@UBOT> {REPLIES['ja'][0]}")
    (found,) = await replies(slack, "C1", 1)
    assert found["text"] == Wordings().nearest("ja").slack["not_posted"]


async def test_refused_blocks_are_posted_as_text(slack: SlackServer, sender: Sender) -> None:
    """Where Slack takes a message's blocks for malformed, its text is posted."""
    slack.fail("chat.postMessage", error="invalid_blocks")
    await ask(slack, sender, f"<@UBOT> {REPLIES['en'][0]}")
    (found,) = await replies(slack, "C1", 1)
    assert "blocks" not in found
    assert REPLIES["en"][1].strip() in found["text"]


async def test_what_slack_never_allows_is_given_up(
    slack: SlackServer, sender: Sender, caplog: pytest.LogCaptureFixture
) -> None:
    """Where nothing can be posted the log says so, and the thread's next question is dealt with."""
    slack.fail("chat.postMessage", error="restricted_action")
    first = await ask(slack, sender, f"<@UBOT> {REPLIES['en'][0]}")
    await ask(slack, sender, f"<@UBOT> {REPLIES['ja'][0]}", thread_ts=first["ts"])
    (found,) = await replies(slack, "C1", 1)
    assert REPLIES["ja"][1] in found["text"]
    assert "restricted_action" in caplog.text


def test_a_job_is_kept_once(store: Store) -> None:
    """However often a message is delivered, one process works on it, and never again once it is finished."""
    first, second = Inbox(store, "a"), Inbox(store, "b")
    assert [first.record(job(1)), second.record(job(1))] == ["new", "known"]
    (taken,) = first.take(5)
    assert second.take(5) == []
    first.finish(taken, "200.1")
    assert second.record(job(1)) == "known"
    assert second.take(5) == []


def test_a_thread_is_worked_on_in_order(store: Store) -> None:
    """Of a thread one job is given out at a time, the earliest; one put off holds up the rest, not other threads."""
    inbox = Inbox(store, "a")
    for number in (2, 1, 3):
        inbox.record(job(number))
    inbox.record(job(9, "T:C:9"))
    taken = inbox.take(5)
    assert [one.body["text"] for one in taken] == ["質問 1", "質問 9"]
    inbox.again(taken[0], 60.0)
    assert inbox.take(5) == []


def test_an_earlier_message_that_comes_late_goes_first(store: Store) -> None:
    """A reply whose thread meanwhile got an earlier message waits for that one."""
    inbox = Inbox(store, "a")
    inbox.record(job(2))
    (taken,) = inbox.take(5)
    inbox.record(job(1))
    assert inbox.begin_post(taken) == "wait"


def test_what_a_process_died_over_is_taken_up(store: Store) -> None:
    """When its lease has run out another process gets the job, and knows that a post was begun; the first may not."""
    first, second = Inbox(store, "a"), Inbox(store, "b")
    first.record(job(1))
    (taken,) = first.take(5)
    assert first.begin_post(taken) == "go"
    assert second.take(5) == []
    first.lease_s = -1.0
    first.renew([taken.id])
    (again,) = second.take(5)
    assert again.is_posting
    assert first.begin_post(taken) == "lost"


def test_nothing_written_is_kept_once_it_is_dealt_with(store: Store, tmp_path: Path) -> None:
    """Finished, a job holds neither the message nor its author."""
    inbox = Inbox(store, "a")
    inbox.record(job(1, body={"text": "secret-words"}))
    (taken,) = inbox.take(1)
    inbox.finish(taken, "200.1")
    with store.engine.read() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM slack_jobs").all()
    assert "secret-words" not in str(rows)
    assert "U1" not in str(rows)


@pytest.mark.parametrize(
    "secret",
    ["我的秘密问题", "秘密の質問", "pregunta secreta", "secret question", "سؤال سري"],
    ids=["zh", "ja", "es", "en", "ar"],
)
def test_a_forgotten_conversation_leaves_no_word(store: Store, secret: str) -> None:
    """Forgetting a thread's conversation empties its questions, replies and passings-on, dealt with or not; what is
    delivered again or was in work is not answered, and another thread keeps all."""
    inbox = Inbox(store, "a")
    answered = {"answer": {"citations": ["c"], "text": secret}, "question": secret}
    for number, thread in ((1, "T:C:1"), (2, "T:C:2")):
        inbox.record(job(number, thread, body={"text": secret}))
    for taken in inbox.take(5):
        passed_on = {"text": secret, "from_thread": taken.thread}
        follower = job(7, f"handover:{taken.id}", id=f"handover:{taken.id}", kind="handover", needs="", body=passed_on)
        inbox.finish(taken, "200.1", f"answer-{taken.thread}", answered, [follower])
    inbox.record(job(3, body={"text": secret}))
    in_work = next(one for one in inbox.take(5) if one.kind == "message")
    inbox.keep_plan(in_work, answered)
    assert store.forget(conversation_of("T:C:1"))
    assert not store.forget(conversation_of("T:C:1"))
    with store.engine.read() as connection:
        rows = connection.execute(select(jobs)).all()
        joined = connection.execute(select(threads.c.id)).scalars().all()
    assert {row.id for row in rows if secret in str(row)} == {"message:T:C:2:2", "handover:message:T:C:2:2"}
    assert "U1" not in str([row for row in rows if "T:C:1" in row.id])
    assert joined == ["T:C:2"]
    assert inbox.begin_post(in_work) == "lost"
    assert inbox.record(job(3)) == "known"
    assert inbox.kept_of("answer-T:C:1") is None
    assert inbox.last_kept_in("T:C:2") == answered


def test_replies_are_kept_no_longer_than_conversations(tmp_path: Path) -> None:
    """Where conversations are kept for less than a day, so is what Slack's clicks need."""
    store = Store(f"sqlite:///{tmp_path / 'x.sqlite3'}", retention_days=1e-9)
    inbox = Inbox(store, "a")
    inbox.record(job(1))
    (taken,) = inbox.take(1)
    inbox.finish(taken, "200.1", "a1", {"question": "何日？"})
    inbox.expire()
    assert inbox.kept_of("a1") is None
    store.close()


async def test_an_event_that_cannot_be_kept_is_not_acknowledged(
    slack: SlackServer, sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a store Slack is told to deliver again, and the question is answered once it can be kept."""
    from assistant.errors import StoreUnavailable

    record = Inbox.record

    def refuse(self: Inbox, job: Job) -> str:
        raise StoreUnavailable("the store can't be used")

    monkeypatch.setattr(Inbox, "record", refuse)
    asked = slack.workspace.mention("C1", "U1", REPLIES["en"][0])
    assert (await sender.event(asked)).status_code == 503
    monkeypatch.setattr(Inbox, "record", record)
    assert (await sender.event(asked, retry=1)).status_code == 200
    await replies(slack, "C1", 1)


async def test_a_restart_takes_up_what_is_unfinished(
    slack: SlackServer, fake: FakeAssistant, store: Store, tmp_path: Path
) -> None:
    """What was acknowledged by a process that is gone is answered by the next one as it starts."""
    from assistant.surfaces.slack.messages import Origin, read_message
    from assistant.surfaces.web import create_app
    from tests.slack_apps import slack_settings

    asked = slack.workspace.mention("C1", "U1", REPLIES["ja"][0])
    kept = read_message(asked, Origin(team="T0001", bot="UBOT"))
    assert kept is not None
    assert Inbox(store, "gone").record(kept) == "new"
    app = create_app(fake, slack_settings(slack.url), store)
    async with app.router.lifespan_context(app):
        await replies(slack, "C1", 1)
