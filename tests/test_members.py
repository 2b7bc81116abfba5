"""Members, sessions, attempts and the audit log: what is kept, what is refused, what ends when."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy import insert, update

from assistant.attempts import MANY, MOST_OF_CLIENT, WINDOW_S, Attempts
from assistant.audit import DAY_S, Audit
from assistant.engine import Engine
from assistant.errors import AccessRefused, InputError, LockedOut, StoreUnavailable
from assistant.members import Member, Members
from assistant.sessions import Sessions, request_token
from assistant.tables import attempts, audit, metadata

NAMES = {"zh": "李小明", "ja": "佐藤花子", "es": "José Núñez", "en": "Ann Lee", "ar": "ليلى"}
IDLE_S, LONGEST_S = 600.0, 3600.0


class Clock:
    """Seconds that pass when told."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    is_file = request.param == "sqlite"
    engine = Engine(f"sqlite:///{tmp_path / 'store'}" if is_file else str(request.getfixturevalue("postgres")))
    with engine.write() as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())
    yield engine
    engine.close()


@pytest.fixture
def members(engine: Engine, clock: Clock) -> Members:
    return Members(engine, clock)


@pytest.fixture
def tries(engine: Engine, clock: Clock) -> Attempts:
    return Attempts(engine, clock)


@pytest.fixture
def sessions(engine: Engine, clock: Clock) -> Sessions:
    return Sessions(engine, IDLE_S, LONGEST_S, clock)


def everything(engine: Engine) -> str:
    """All that the database holds, as text."""
    with engine.read() as connection:
        return "\n".join(
            str(tuple(row)) for table in metadata.sorted_tables for row in connection.execute(sqlalchemy.select(table))
        )


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_token_finds_its_member(members: Members, tries: Attempts, name: str) -> None:
    """Whoever is invited signs in with the token alone, whatever script the name is written in."""
    member = tries.try_token(members.invite(f"  {name} ", "editor"), "a")
    assert (member.name, member.role) == (name, "editor")


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_no_secret_is_kept(engine: Engine, members: Members, tries: Attempts, sessions: Sessions, name: str) -> None:
    """Neither a token nor a session's secret stands in the database, nor the token that pages send."""
    token = members.invite(name, "agent")
    secret = sessions.begin(tries.try_token(token, "a"))
    kept = everything(engine)
    assert name in kept
    assert not any(one in kept for one in (token, token.removeprefix("staff_"), secret, request_token(secret)))


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_name_is_given_once(members: Members, name: str) -> None:
    """A name of somebody who has access is refused in one sentence; after revoking it gets a new token."""
    first = members.invite(name, "agent")
    with pytest.raises(InputError, match=name):
        members.invite(name, "editor")
    members.revoke(name)
    assert members.invite(name, "editor") != first
    assert [(row.name, row.role, row.way, row.revoked) for row in members.everybody()] == [
        (name, "editor", "token", None)
    ]


@pytest.mark.parametrize(
    "name", ["", "   ", "a\u202eb", "a\x00b", "é" * 129], ids=["none", "blank", "turned", "nul", "long"]
)
def test_what_is_no_name_is_refused(members: Members, name: str) -> None:
    """A name must be visible and short."""
    with pytest.raises(InputError, match="a name has"):
        members.invite(name, "agent")


def test_the_first_token_comes_once(members: Members, tries: Attempts) -> None:
    """The first start gives a token of an editor, no later one does, not even after it was revoked."""
    token = members.invite_first()
    assert token
    assert tries.try_token(token, "a").role == "editor"
    assert members.invite_first() is None
    members.revoke("first")
    assert members.invite_first() is None


def test_revoking_ends_token_and_sessions(members: Members, tries: Attempts, sessions: Sessions) -> None:
    """Who is revoked is out at once: with the token, and in every browser."""
    token = members.invite("Ann", "editor")
    secret = sessions.begin(tries.try_token(token, "a"))
    members.revoke("Ann")
    assert sessions.member(secret) is None
    with pytest.raises(AccessRefused):
        tries.try_token(token, "a")
    with pytest.raises(InputError, match="assistant staff list"):
        members.revoke("Ann")


def test_revoking_wins_over_signing_in(members: Members, tries: Attempts, sessions: Sessions) -> None:
    """A session that begins while its member is being revoked opens nothing."""
    member = tries.try_token(members.invite("Ann", "editor"), "a")
    members.revoke("Ann")
    assert sessions.member(sessions.begin(member)) is None


def test_a_session_ends_when_it_is_idle(members: Members, sessions: Sessions, clock: Clock) -> None:
    """Used again and again a session lives, and it ends as soon as it was not used for the idle time."""
    secret = sessions.begin(members.recognise("s", "Ann", "agent"))
    for _ in range(4):
        clock.now += IDLE_S * 0.9
        assert sessions.member(secret)
    clock.now += IDLE_S + 1
    assert sessions.member(secret) is None


def test_a_session_ends_however_it_is_used(members: Members, sessions: Sessions, clock: Clock) -> None:
    """A session ends so long after it began even when it is always used."""
    secret = sessions.begin(members.recognise("s", "Ann", "agent"))
    alive = 0.0
    while sessions.member(secret):
        alive += IDLE_S / 4
        clock.now += IDLE_S / 4
        assert alive <= LONGEST_S
    assert alive == LONGEST_S


def test_ended_sessions_are_deleted(engine: Engine, members: Members, sessions: Sessions, clock: Clock) -> None:
    """What has ended leaves the database, what has not stays."""
    old = sessions.begin(members.recognise("s", "Ann", "agent"))
    clock.now += IDLE_S / 2
    young = sessions.begin(members.recognise("s", "Ann", "agent"))
    clock.now += IDLE_S * 0.75
    sessions.expire()
    with engine.read() as connection:
        assert connection.execute(sqlalchemy.text("SELECT count(*) FROM sessions")).scalar() == 1
    assert sessions.member(young)
    assert not sessions.member(old)


def test_a_new_session_replaces_the_old(members: Members, sessions: Sessions) -> None:
    """Signing in anew gives a new secret, and the one that the browser had is worth nothing."""
    member = members.recognise("s", "Ann", "agent")
    old = sessions.begin(member)
    new = sessions.begin(member, replaced=old)
    assert old != new
    assert sessions.member(old) is None
    assert sessions.member(new) == member


def test_request_tokens_differ_by_session() -> None:
    """Every session's pages send another token."""
    assert len({request_token(secret) for secret in ("a", "b", "")}) == 3


def test_guessing_locks_a_client_out(engine: Engine, members: Members, tries: Attempts, clock: Clock) -> None:
    """After five wrong tokens even the right one is not looked at, from there alone, until the window has passed."""
    token = members.invite("Ann", "agent")
    for _ in range(MOST_OF_CLIENT):
        with pytest.raises(AccessRefused, match="opens nothing"):
            tries.try_token("staff_wrong", "here")
        clock.now += 1
    again = Attempts(engine, clock)  # as after a restart
    for attempt in (again.try_token, again.try_again):
        with pytest.raises(LockedOut) as caught:
            attempt(token, "here")
        assert caught.value.seconds == WINDOW_S - MOST_OF_CLIENT
    assert tries.try_token(token, "elsewhere").name == "Ann"
    clock.now += caught.value.seconds + 1
    assert tries.try_token(token, "here").name == "Ann"


def test_refused_attempts_do_not_prolong_a_lock(tries: Attempts, members: Members, clock: Clock) -> None:
    """What is tried while locked out is not counted, so that a forgotten program does not lock its network for ever."""
    token = members.invite("Ann", "agent")
    for _ in range(50):
        with pytest.raises(AccessRefused):
            tries.try_again("staff_wrong", "here")
        clock.now += 1
    clock.now += WINDOW_S - 40
    assert tries.try_token(token, "here").name == "Ann"


def test_guessing_at_once_wins_nothing(tries: Attempts) -> None:
    """Forty guesses side by side are no more than five looked at."""

    def guess(number: int) -> type[AccessRefused]:
        with pytest.raises(AccessRefused) as caught:
            tries.try_token(f"staff_{number}", "here")
        return caught.type

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(guess, range(40)))
    assert results.count(LockedOut) == 40 - MOST_OF_CLIENT


def test_success_forgives(tries: Attempts, members: Members) -> None:
    """A few wrong tokens before the right one are forgotten."""
    token = members.invite("Ann", "agent")
    for _ in range(4):
        for _ in range(MOST_OF_CLIENT - 1):
            with pytest.raises(AccessRefused):
                tries.try_token("staff_wrong", "here")
        assert tries.try_token(token, "here").name == "Ann"


def test_guessing_from_everywhere_slows_all(engine: Engine, tries: Attempts, clock: Clock) -> None:
    """Many failures from many networks make each attempt wait, within limits, and only as long as they are recent."""
    waits = []
    for number in range(6 * MANY):
        if number % MANY == 0:
            waits.append(tries.wait_s())
        with engine.write() as connection:
            connection.execute(insert(attempts).values(client=f"c{number}", at=clock()))
    assert waits == sorted(waits)
    assert waits[:2] == [0.0, 0.0]
    assert tries.wait_s() == 4.0
    clock.now += WINDOW_S + 1
    assert tries.wait_s() == 0.0
    tries.expire()
    assert "c1" not in everything(engine)


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_the_provider_decides_name_and_role(members: Members, name: str) -> None:
    """Somebody known from a provider stays one member, with today's role; another of the same name is told apart."""
    first = members.recognise("issuer#1", name, "agent")
    again = members.recognise("issuer#1", name, "editor")
    other = members.recognise("issuer#2", name, "agent")
    assert (first.id, again.role) == (again.id, "editor")
    assert other.id != first.id
    assert other.name == f"{name} (2)"
    members.revoke(name)
    with pytest.raises(AccessRefused, match="no longer"):
        members.recognise("issuer#1", name, "agent")


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_the_log_says_who_did_what(engine: Engine, clock: Clock, name: str) -> None:
    """The newest entries come first, page by page; text can't slip in as the name of a thing."""
    log = Audit(engine, 30, clock)
    for number in range(3):
        log.add(Member("m", name, "editor"), "draft.sent", f"d{number}")
    log.add(Member("m", name, "editor"), "draft.sent", "Dear Ann, your card 4111")
    found = log.deeds(limit=2)
    assert [(deed.name, deed.role, deed.action, deed.target) for deed in found] == [
        (name, "editor", "draft.sent", "?"),
        (name, "editor", "draft.sent", "d2"),
    ]
    assert [deed.target for deed in log.deeds(before=found[-1].id)] == ["d1", "d0"]
    assert "4111" not in everything(engine)


def test_the_log_expires(engine: Engine, clock: Clock) -> None:
    """Entries older than the setting are neither shown nor kept."""
    log = Audit(engine, 30, clock)
    log.add(Member("m", "Ann", "editor"), "signed_in")
    clock.now += 30 * DAY_S + 1
    log.add(Member("m", "Ben", "editor"), "signed_in")
    assert [deed.name for deed in log.deeds()] == ["Ben"]
    log.expire()
    assert "Ann" not in everything(engine)


def test_the_log_is_not_changed(engine: Engine, clock: Clock) -> None:
    """The database itself refuses to change an entry."""
    Audit(engine, 30, clock).add(Member("m", "Ann", "editor"), "signed_in")
    with pytest.raises(StoreUnavailable, match="the audit log is not changed"), engine.write() as connection:
        connection.execute(update(audit).values(name="Ben"))
