"""Where letters are kept: versions, who changed what, what is refused and what goes; over SQLite and PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assistant import cabinet
from assistant.cabinet import Cabinet
from assistant.errors import InputError, Outdated
from assistant.letter import Ask, Letter, Part
from assistant.store import Store
from tests.fakes import answer

DAY_S = 86_400.0
NOW = 1_796_083_200.0
# Language -> a message, the answer that is proposed, what the agent makes of it.
SAID = {
    "zh-Hans": ("额度多少？", "最高30万美元。", "最高可达30万美元。"),
    "ja": ("いくらですか？", "最大30万ドルです。", "最大で30万ドルとなります。"),
    "es": ("¿Cuánto es?", "Hasta 300.000 dólares.", "Como máximo, 300.000 dólares."),
    "en": ("How much is it?", "Up to $300,000.", "It is up to $300,000."),
}
LANGUAGES = list(SAID)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each kind that keeps conversations for a day."""
    address = f"sqlite:///{tmp_path / 'conversations.sqlite3'}"
    if request.param == "postgres":
        address = str(request.getfixturevalue("postgres"))
    one = Store(address, retention_days=1)
    yield one
    one.close()


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kept_in(store: Store, clock: Clock) -> Callable[[], Cabinet]:
    """Opens another cabinet on the same database."""
    return lambda: Cabinet(store, clock)


def letter_in(language: str, text: str = "") -> Letter:
    """A letter of one answer, as proposed or edited."""
    message, proposed, _ = SAID[language]
    ask = Ask(1, message, 0, len(message), "answered", 0.9, (f"{language}/a#intro.1",))
    return Letter(message, language, "formal", (ask,), (Part("q1", "answer", 1, text or proposed, proposed),))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_version_is_kept(kept_in: Callable[[], Cabinet], clock: Clock, language: str) -> None:
    """A draft comes back as it stands and as it stood, with who changed it and how far from what was proposed."""
    one, edited = kept_in(), letter_in(language, SAID[language][2])
    first = one.add(letter_in(language), "Ana", "es")
    clock.now += 60
    one.save(first.slip.id, 1, edited, "Bo", "edited")
    again = kept_in().get(first.slip.id)
    assert again is not None
    assert (again.version, again.what, again.by, again.at, again.letter) == (2, "edited", "Bo", NOW + 60, edited)
    assert again.slip.distance > 0
    earlier = kept_in().get(first.slip.id, 1)
    assert earlier is not None
    assert (earlier.version, earlier.by, earlier.letter) == (1, "Ana", letter_in(language))
    assert [kept.version for kept in one.history(first.slip.id)] == [2, 1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_stale_version_is_refused(kept_in: Callable[[], Cabinet], clock: Clock, language: str) -> None:
    """Who saves over what somebody else has saved since is told who that was and when, and nothing is lost."""
    ana, bo = kept_in(), kept_in()
    name = ana.add(letter_in(language), "Ana", "es").slip.id
    clock.now += 5
    ana.save(name, 1, letter_in(language, "A"), "Ana", "edited")
    with pytest.raises(Outdated, match="Ana has saved another version") as refused:
        bo.save(name, 1, letter_in(language, "B"), "Bo", "edited")
    assert (refused.value.changed_by, refused.value.changed_at) == ("Ana", NOW + 5)
    kept = bo.get(name)
    assert kept is not None
    assert (kept.version, kept.letter.text) == (2, "A")


def test_saving_while_one_types_is_one_version(kept_in: Callable[[], Cabinet], clock: Clock) -> None:
    """What one agent saves again shortly after replaces that version; another's, or a later one, does not."""
    one = kept_in()
    name = one.add(letter_in("ja"), "Ana", "es").slip.id
    for number, (by, later) in enumerate([("Ana", 1), ("Ana", 2), ("Bo", 3), ("Bo", cabinet.SAME_S + 10)], 1):
        clock.now = NOW + later
        one.save(name, number, letter_in("ja", str(number)), by, "edited")
    assert [(kept.version, kept.by, kept.letter.text) for kept in one.history(name)] == [
        (5, "Bo", "4"), (4, "Bo", "3"), (3, "Ana", "2"), (1, "Ana", SAID["ja"][1]),
    ]  # fmt: skip


def test_versions_are_bounded(kept_in: Callable[[], Cabinet], clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a draft with very many versions the first and the last stay."""
    monkeypatch.setattr(cabinet, "MOST_VERSIONS", 3)
    one = kept_in()
    name = one.add(letter_in("en"), "Ana", "es").slip.id
    for number in range(1, 6):
        clock.now += cabinet.SAME_S + 1
        one.save(name, number, letter_in("en", str(number)), "Ana", "edited")
    assert [kept.version for kept in one.history(name)] == [6, 5, 1]


@pytest.mark.parametrize("ending", ["sent", "rejected"])
def test_what_has_ended_can_not_be_changed(kept_in: Callable[[], Cabinet], ending: cabinet.State) -> None:
    """A letter that was sent or rejected keeps its last version and how it ended."""
    one = kept_in()
    name = one.add(letter_in("es"), "Ana", "ja").slip.id
    assert ending != "open"
    outcome: cabinet.Ended = "unedited" if ending == "sent" else "rejected"
    one.save(name, 1, letter_in("es"), "Ana", ending, outcome)
    with pytest.raises(InputError, match=f"the draft is {ending}"):
        one.save(name, 2, letter_in("es", "x"), "Bo", "edited")
    kept = one.get(name)
    assert kept is not None
    assert (kept.slip.state, kept.slip.outcome, kept.version) == (ending, outcome, 2)
    assert [slip.id for slip in one.slips(ending)] == [name]
    assert one.slips("open") == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_drafts_expire(kept_in: Callable[[], Cabinet], clock: Clock, language: str) -> None:
    """A draft untouched for as long as conversations are kept is not shown, listed or changed any more."""
    one = kept_in()
    name = one.add(letter_in(language), "Ana", "es").slip.id
    one.propose(name, language, *SAID[language][:2], "Ana")
    clock.now += DAY_S - 1
    assert one.get(name) is not None
    clock.now += 2
    assert one.get(name) is None
    assert (one.slips(), one.history(name), one.proposals()) == ([], [], [])
    with pytest.raises(InputError, match="expired"):
        one.save(name, 1, letter_in(language, "x"), "Ana", "edited")


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("zh-Hans", "我的邮箱wang@example.com能收到吗？"),
        ("ja", "電話は090-1234-5678ですか？"),
        ("es", "¿Escriben a josé@correo.example.es?"),
        ("en", "Will you call +1 415 555 2671?"),
    ],
)
def test_a_proposed_entry_is_masked(kept_in: Callable[[], Cabinet], language: str, question: str) -> None:
    """What would be published holds no private detail of the customer who asked, in question or answer."""
    one = kept_in()
    name = one.add(letter_in(language), "Ana", "es").slip.id
    proposed = one.propose(name, language, question, f"{SAID[language][1]} {question}", "Ana")
    assert one.proposals() == [proposed]
    for text in (proposed.question, proposed.answer):
        assert "[email]" in text or "[phone]" in text
        assert not any(part in text for part in ("wang", "1234", "josé", "2671"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_conversation_that_waits_is_listed(
    kept_in: Callable[[], Cabinet], store: Store, clock: Clock, language: str
) -> None:
    """A conversation in which a person was asked for stands in the list once, masked, with the draft begun for it."""
    message = f"{SAID[language][0]} a@example.com"
    store.remember(message, answer(language, id="a1", conversation_id="c1", outcome="handover"))
    assert store.flush()
    clock.now = time.time()
    one = kept_in()
    [told] = one.handed_over()
    assert (told.conversation_id, told.language, told.draft_id) == ("c1", language, "")
    assert "a@example.com" not in told.message
    assert one.asked_in("c1") == f"{SAID[language][0]} [email]"
    name = one.add(letter_in(language), "Ana", "es", "c1").slip.id
    assert [told.draft_id for told in one.handed_over()] == [name]


def test_an_unknown_draft_is_none(kept_in: Callable[[], Cabinet]) -> None:
    """What is not there is None to look at and one clear sentence to change."""
    one = kept_in()
    assert one.get("nothing") is None
    assert one.asked_in("nothing") == ""
    with pytest.raises(InputError, match="no such draft"):
        one.save("nothing", 1, letter_in("en"), "Ana", "edited")
