"""The store: what is remembered, by whom it is seen, how it goes; over SQLite and over a real PostgreSQL."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from assistant import engine, store
from assistant.cabinet import Cabinet
from assistant.engine import MEMORY, Engine
from assistant.errors import InputError, StoreUnavailable
from assistant.letter import Ask, Letter, Part
from assistant.records import Answer, Trace, Turn
from assistant.store import Store
from tests.fakes import REPLIES, answer

CHECKOUT = Path(__file__).parents[1]
LANGUAGES = ["zh-Hans", "ja", "es", "en"]
OTHER_PROCESS = """
import sys
from assistant.records import Answer
from assistant.store import Store
store = Store(sys.argv[1])
said = [turn.text for turn in store.history("c1")]
store.remember(sys.argv[2], Answer("other", "c1", "answered", "ja", "はい。", 1.0))
store.close()
print(*said, sep="\\n")
"""


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'new' / 'conversations.sqlite3'}"
    return str(request.getfixturevalue("postgres"))


@pytest.fixture
def open_store(url: str) -> Iterator[Callable[..., Store]]:
    """Opens the database, as often as wanted."""
    opened: list[Store] = []

    def start(**options: float) -> Store:
        opened.append(Store(url, **options))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def reply(number: int, language: str = "en", conversation: str = "c1", **changes: object) -> Answer:
    return answer(language, id=f"a{number}", conversation_id=conversation, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_conversation_is_remembered(open_store: Callable[..., Store], language: str) -> None:
    """Messages and replies come back in order with their outcomes, in another store on the same database too."""
    first = open_store()
    question = REPLIES[language][0]
    first.remember(question, reply(1, language))
    first.remember("b", reply(2, language, outcome="clarify", text="?", suggestions=("甲", "乙")))
    first.remember("c", reply(3, language, conversation="c2"))
    assert first.flush()
    for one in (first, open_store()):
        assert one.history("c1") == (
            Turn("user", question), Turn("assistant", reply(1, language).text, "answered"),
            Turn("user", "b"), Turn("assistant", "?", "clarify", ("甲", "乙")),
        )  # fmt: skip


def test_only_the_last_turns_come_back(open_store: Callable[..., Store]) -> None:
    """History is bounded, however long a conversation grows."""
    one = open_store()
    for number in range(20):
        one.remember(str(number), reply(number))
    spoken = [turn.text for turn in one.history("c1") if turn.role == "user"]
    assert spoken == [str(number) for number in range(20)][-store.EXCHANGES :]


def test_history_knows_what_is_not_yet_written(
    open_store: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message that comes before the last reply is written finds that reply in the history."""
    one = open_store()
    may_write = threading.Event()
    save = one._save
    monkeypatch.setattr(one, "_save", lambda batch: (may_write.wait(10), save(batch)))
    started = time.perf_counter()
    one.remember("¿y luego?", reply(1))
    assert time.perf_counter() - started < 0.05
    assert [turn.text for turn in one.history("c1")] == ["¿y luego?", reply(1).text]
    assert one.records() == []
    may_write.set()
    assert one.flush()
    assert len(one.records()) == 1


def test_records_say_what_was_found_and_why(open_store: Callable[..., Store]) -> None:
    """A record holds question, searches, passages found and cited, signals and feedback."""
    one = open_store()
    trace = Trace("question", ("返金には何日かかりますか？",), (("ja/refunds#time.1", 0.75),), {"lexical": 0.5})
    one.remember("何日？", replace(reply(1, "ja"), trace=trace))
    one.add_feedback("a1", "client", "down", "違います")
    (found,) = one.records(conversation_id="c1")
    assert (found.question, found.searched, found.found) == ("何日？", trace.searched, trace.found)
    assert found.cited == ("ja/refunds#time.1", "ja/refunds#time.2")
    assert (found.signals, found.feedback, found.outcome) == ({"lexical": 0.5}, (("down", "違います"),), "answered")
    assert one.records(since=time.time() + 60) == []


@pytest.mark.parametrize(
    ("message", "secret"),
    [
        ("我的邮箱是 li.wei@example.cn", "li.wei@"),
        ("電話は０９０−１２３４−５６７８です".replace("−", "-"), "１２３４"),
        ("mi tarjeta es 4111 1111 1111 1111", "1111"),
        ("my key is sk-abcdef0123456789abcdef", "abcdef0123"),
    ],
    ids=["zh", "ja", "es", "en"],
)
def test_nothing_private_is_kept(open_store: Callable[..., Store], message: str, secret: str) -> None:
    """What a visitor wrote is masked in the question, the search, the reply that repeats it, and the comment."""
    one = open_store()
    one.remember(message, reply(1, text=f"“{message}”", trace=Trace("question", (message,))))
    one.add_feedback("a1", "c", "up", message)
    assert secret not in str(one.records())
    with one.engine.read() as connection:
        for table in ("answers", "feedback", "conversations"):
            assert secret not in str(connection.execute(text(f"SELECT * FROM {table}")).all())


def test_feedback_counts_once_a_client(open_store: Callable[..., Store]) -> None:
    """The same client's last opinion of an answer counts; other clients' stand beside it; unknown answers take none."""
    one = open_store()
    one.remember("q", reply(1))
    for client, value in (("x", "up"), ("x", "up"), ("y", "up"), ("x", "down")):
        assert one.add_feedback("a1", client, value) == "c1"  # type: ignore[arg-type]
    assert sorted(one.records()[0].feedback) == [("down", ""), ("up", "")]
    assert one.add_feedback("nowhere", "x", "up") is None


def test_forgetting_deletes_all_of_it(open_store: Callable[..., Store]) -> None:
    """A forgotten conversation leaves no row in any table; others stay."""
    one = open_store()
    one.remember("q", reply(1))
    one.add_feedback("a1", "x", "up", "good")
    one.remember("q", reply(2, conversation="c2"))
    assert one.forget("c1")
    assert not one.forget("c1")
    assert one.history("c1") == ()
    assert [record.answer_id for record in one.records()] == ["a2"]
    with one.engine.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM feedback")).scalar() == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_forgetting_deletes_drafts(open_store: Callable[..., Store], language: str) -> None:
    """With a conversation go the drafts written from it, every version and the entries proposed from them; a draft of
    another conversation, or of a pasted message, stays."""
    one, question = open_store(), REPLIES[language][0]
    for number in (1, 2):
        one.remember(question, reply(number, language, conversation=f"c{number}"))
    assert one.flush()
    cabinet = Cabinet(one)
    part = Part("q1", "answer", 1, "…", "…")
    letter = Letter(question, language, "formal", (Ask(1, question, 0, len(question), "answered", 0.9, ()),), (part,))
    for conversation in ("c1", "c2", ""):
        kept = cabinet.add(letter, "Ana", "es", conversation)
        cabinet.save(kept.slip.id, 1, letter.with_texts({"q1": question}), "Ana", "sent", "edited")
        cabinet.propose(kept.slip.id, language, question, "…", "Ana")
    assert one.forget("c1")
    assert [slip.conversation_id for slip in cabinet.slips()] == ["", "c2"]
    assert len(cabinet.proposals()) == 2
    with one.engine.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM draft_versions")).scalar() == 4
        assert connection.execute(text("SELECT count(*) FROM proposals")).scalar() == 2


def test_conversations_expire(open_store: Callable[..., Store], monkeypatch: pytest.MonkeyPatch) -> None:
    """After the set number of days a conversation is no history any more, and is deleted."""
    one = open_store(retention_days=2)
    one.remember("old", reply(1))
    assert one.flush()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3 * 86_400)
    assert one.history("c1") == ()
    one.remember("new", reply(2, conversation="c2"))
    assert one.flush()
    assert one.expire() == 1
    assert [record.answer_id for record in one.records()] == ["a2"]


def test_an_event_is_claimed_once(open_store: Callable[..., Store]) -> None:
    """Of many who claim an event at once one gets it; finished, nobody ever does; unfinished, its lease runs out."""
    stores = [open_store() for _ in range(3)]
    won: list[bool] = []
    threads = [threading.Thread(target=lambda one=one: won.append(one.claim("slack", "Ev1"))) for one in stores * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(won) == 1
    assert stores[0].claim("other", "Ev1")
    assert stores[0].claim("slack", "Ev2", lease_s=0.05)
    time.sleep(0.1)
    assert stores[1].claim("slack", "Ev2")
    stores[1].finish("slack", "Ev2")
    time.sleep(0.1)
    assert not stores[2].claim("slack", "Ev2", lease_s=0.05)


def test_two_processes_serve_one_conversation(open_store: Callable[..., Store], url: str) -> None:
    """What one process remembered the other finds at once, and the other way round."""
    one = open_store()
    one.remember("¿cuánto?", reply(1, text="300 dólares."))
    assert one.flush()
    done = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, url, "这个呢？"],
        capture_output=True, text=True, timeout=60, check=False, cwd=CHECKOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["¿cuánto?", "300 dólares."]
    assert [turn.text for turn in one.history("c1")] == ["¿cuánto?", "300 dólares.", "这个呢？", "はい。"]


def test_stores_opened_at_once_agree(url: str) -> None:
    """Several openings of an empty database at the same time make one schema, and none fails."""
    opened: list[Store] = []
    threads = [threading.Thread(target=lambda: opened.append(Store(url))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(opened) == 4
    for number, one in enumerate(opened):
        one.remember("q", reply(number))
        one.close()
    last = Store(url)
    assert len(last.records()) == 4
    last.close()


def test_what_could_not_be_written_is_tried_again(
    open_store: Callable[..., Store], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A store that fails for a while loses nothing, and the log says so without a word of the message."""
    one = open_store()
    monkeypatch.setattr(store, "FIRST_DELAY_S", 0.05)
    save, failures = one._save, [StoreUnavailable("the disk is full")] * 2

    def fail(batch: object) -> None:
        if failures:
            raise failures.pop()
        save(batch)  # type: ignore[arg-type]

    monkeypatch.setattr(one, "_save", fail)
    with caplog.at_level(logging.ERROR):
        one.remember("secret-words", reply(1))
        assert one.flush()
    assert len(one.records()) == 1
    assert "the disk is full" in caplog.text
    assert "secret-words" not in caplog.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_channel_latency_and_sections_are_kept(open_store: Callable[..., Store], language: str) -> None:
    """An answer keeps where it was asked, how long it took, and once each section it cites, until it is forgotten."""
    one = open_store()
    one.remember("q", reply(1, language), "slack")
    one.remember("q", replace(reply(2, "en", outcome="abstained", text="?"), timings_ms={}))
    one.flush()
    with one.engine.read() as connection:
        kept = connection.execute(text("SELECT channel, took_ms FROM answers ORDER BY id")).all()
        sections = connection.execute(text("SELECT answer_id, section FROM citings")).all()
    assert [tuple(row) for row in kept] == [("slack", 1.5), ("api", 0.0)]
    assert [tuple(row) for row in sections] == [("a1", f"{language}/refunds#time")]
    one.forget("c1")
    with one.engine.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM citings")).scalar() == 0


def test_an_older_store_is_brought_up_to_date(url: str) -> None:
    """Answers of the first version stay, with channel and latency unknown and the sections that they cited counted."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(CHECKOUT / "assistant" / "migrations"))
    with closing(Engine(url)) as opened, opened.write() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0001")
        connection.execute(text("INSERT INTO conversations VALUES ('c1', 1, 1)"))
        cited = '["ja/refunds#time.1", "ja/refunds#time.2", "ja/refunds#cost.1"]'
        connection.execute(
            text(
                "INSERT INTO answers VALUES ('a1', 'c1', 1, '返金は？', 'はい', 'ja', 'question', 'answered', 1,"
                f" '[]', '[]', '{cited}', '[]', '{{}}')"
            )
        )
    with closing(Engine(url)) as opened, opened.read() as connection:
        assert connection.execute(text("SELECT question, channel, took_ms FROM answers")).one() == ("返金は？", "", 0)
        sections = connection.execute(text("SELECT section FROM citings ORDER BY section")).scalars().all()
    assert sections == ["ja/refunds#cost", "ja/refunds#time"]


def test_schema_is_that_of_the_tables(url: str) -> None:
    """The migrations make exactly the tables that the code, and Slack's library for its installations, describe."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from slack_sdk.oauth.installation_store.sqlalchemy import SQLAlchemyInstallationStore
    from slack_sdk.oauth.state_store.sqlalchemy import SQLAlchemyOAuthStateStore

    from assistant.tables import metadata

    with closing(Engine(url)) as opened, opened.read() as connection:
        slack = SQLAlchemyInstallationStore("", opened.sqlalchemy), SQLAlchemyOAuthStateStore(1, opened.sqlalchemy)
        described = [metadata, *(store.metadata for store in slack)]
        assert compare_metadata(MigrationContext.configure(connection), described) == []  # type: ignore[arg-type]  # may be several


def test_a_newer_store_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that a newer version wrote is left alone, and the error says what to do."""
    with closing(Engine(url)) as opened, opened.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreUnavailable, match="newer version"):
        Engine(url)


@pytest.mark.parametrize(
    ("address", "kind", "said"),
    [
        ("mysql://host/x", InputError, "postgresql://"),
        ("nonsense", InputError, "postgresql://"),
        ("postgresql://someone:secret@127.0.0.1:1/x", StoreUnavailable, "can't be used"),
        ("sqlite:////proc/nowhere/x.sqlite3", StoreUnavailable, "can't be used"),
    ],
    ids=["another database", "no address", "nobody listens", "no folder"],
)
def test_unusable_stores_are_told(address: str, kind: type[Exception], said: str) -> None:
    """An address that can't be used gives one sentence, without the password."""
    with pytest.raises(kind) as caught:
        Store(address)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    """A file that is no database gives one sentence that names it."""
    (tmp_path / "x.sqlite3").write_bytes(b"no database" * 100)
    with pytest.raises(StoreUnavailable, match=r"x\.sqlite3"):
        Store(f"sqlite:///{tmp_path / 'x.sqlite3'}")


def test_memory_serves_many_threads() -> None:
    """Without an address the store lives in memory and stands use from several threads."""
    one = Store(MEMORY)

    def use(number: int) -> None:
        one.remember("q", reply(number))
        one.history("c1")
        one.claim("s", str(number))

    threads = [threading.Thread(target=use, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert one.flush()
    assert len(one.records()) == 8
    one.close()


def test_values_are_plain_json(open_store: Callable[..., Store]) -> None:
    """What is kept of found passages and signals is readable by anything that reads JSON."""
    one = open_store()
    one.remember("q", reply(1, trace=Trace("question", ("q",), (("x", 1.5),), {"lead": 2.0})))
    one.flush()
    with one.engine.read() as connection:
        found, signals = connection.execute(text("SELECT found, signals FROM answers")).one()
    assert (json.loads(found) if isinstance(found, str) else found) == [["x", 1.5]]
    assert (json.loads(signals) if isinstance(signals, str) else signals) == {"lead": 2.0}


def test_the_revision_is_the_newest() -> None:
    """The revision that spares a start the migrations is that of the newest migration."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(CHECKOUT / "assistant" / "migrations"))
    assert ScriptDirectory.from_config(config).get_current_head() == engine.REVISION
