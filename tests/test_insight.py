"""Insight: what is counted, by what, and that it is the same over SQLite and PostgreSQL."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assistant.endings import Changed, Endings
from assistant.gaps import GapReader
from assistant.insight import Insight, Selection, quantile, shared
from assistant.records import Outcome, Trace
from assistant.store import DAY_S, STEPS_MS, Channel, Store, step_of
from tests.fakes import answer
from tests.staff import keep_draft

TODAY = int(time.time() // DAY_S)
WEEK = Selection(TODAY - 6, TODAY)
LANGUAGES = ["zh-Hans", "ja", "es", "en"]


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each kind."""
    address = f"sqlite:///{tmp_path / 'x.sqlite3'}"
    if request.param == "postgres":
        address = str(request.getfixturevalue("postgres"))
    opened = Store(address)
    yield opened
    opened.close()


def tell(store: Store, number: int, language: str, outcome: Outcome, channel: Channel, took_ms: float) -> None:
    """Keeps one answer; an answered one cites two passages of one section."""
    said = answer(
        language, outcome, "" if outcome == "answered" else "…", id=f"a{number}", conversation_id=f"c{number}"
    )
    said = replace(said, timings_ms={"total": took_ms}, trace=Trace("question", ("q",)))
    store.remember("q", said, channel)


def test_everything_is_counted(store: Store) -> None:
    """Outcomes and times are counted as a whole, by day, language and channel; sections by what they got."""
    for number, language in enumerate(LANGUAGES):
        tell(store, number, language, "answered", "widget", 10)
        tell(store, number + 10, language, "abstained", "slack", 1000)
    store.remember("谢谢", replace(answer("zh-Hans", "social", "…", id="s"), trace=Trace("thanks")), "widget")
    store.flush()
    store.add_feedback("a1", "someone", "down")
    store.add_feedback("a2", "someone", "up")
    insight = Insight(store.engine)
    found = insight.overview(WEEK)
    assert (found.total.asked, dict(found.total.outcomes)) == (8, {"answered": 4, "abstained": 4})
    assert found.total.share("answered") == 0.5
    assert [day for day, _ in found.days] == list(range(TODAY - 6, TODAY + 1))
    assert [tally.asked for _, tally in found.days] == [0, 0, 0, 0, 0, 0, 8]
    assert {name: tally.asked for name, tally in found.languages} == dict.fromkeys(LANGUAGES, 2)
    slow = dict(found.channels)["slack"]
    assert 700 <= slow.p50_ms <= 1500
    assert 7 <= dict(found.channels)["widget"].p95_ms <= 15
    (section,) = insight.sections(WEEK)
    assert (section.section, section.cited, section.up, section.down) == ("refunds#time", 4, 1, 1)
    assert insight.last_cited().keys() == {"refunds#time"}
    assert insight.choices() == (tuple(sorted(LANGUAGES)), ("slack", "widget"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_counts_are_filtered(store: Store, language: str) -> None:
    """A language, a channel and a time narrow every count."""
    tell(store, 1, language, "answered", "widget", 10)
    tell(store, 2, "ar", "answered", "slack", 10)
    store.flush()
    insight = Insight(store.engine)
    for selection, asked in (
        (replace(WEEK, language=language), 1),
        (replace(WEEK, channel="slack"), 1),
        (replace(WEEK, language=language, channel="slack"), 0),
        (Selection(TODAY - 9, TODAY - 1), 0),
    ):
        assert insight.overview(selection).total.asked == asked
        assert sum(one.cited for one in insight.sections(selection)) == asked
        assert GapReader(store.engine).gaps(selection).shown == ()


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_quantiles_are_near_the_truth(share: float) -> None:
    """A latency read from the steps lies within an eighth of the true one."""
    times = np.random.default_rng(1).lognormal(4, 1, 20_000)
    read = quantile(Counter(step_of(one) for one in times), share)
    assert read == pytest.approx(np.quantile(times, share), rel=0.125)


@pytest.mark.parametrize(("took", "step"), [(0, 0), (0.5, 1), (1, 2), (1.5, 3), (10**9, len(STEPS_MS) + 1)])
def test_steps_hold_every_latency(took: float, step: int) -> None:
    """Unknown, tiny and huge latencies have a step of their own."""
    assert step_of(took) == step
    assert quantile({step: 3}, 0.5) <= STEPS_MS[-1]


@pytest.mark.parametrize(
    ("section", "name"),
    [("ja/refunds#time", "refunds#time"), ("zh-Hans/a/b#一", "b#一"), ("refunds#time", "refunds#time")],
)
def test_translations_share_a_section(section: str, name: str) -> None:
    """A section's name leaves out the folder, which tells the language."""
    assert shared(section) == name


def test_endings_of_drafts_are_counted(store: Store) -> None:
    """How drafts ended, and the quartiles of what was changed in those sent, as a whole, by language and by the day
    they were begun; a rejected draft's changes do not count."""
    for changed, language in zip((0, 1, 2, 7), LANGUAGES, strict=True):
        keep_draft(store, language, "edited" if changed else "unedited", changed)
    keep_draft(store, "ja", "rejected", 9, days_ago=2)
    keep_draft(store, "es", days_ago=2)
    keep_draft(store, "en", "edited", 9, days_ago=7)
    found = Endings(store.engine).overview(WEEK)
    assert found.total.written == 6
    assert found.total.endings == {"unedited": 1, "edited": 3, "rejected": 1, "open": 1}
    assert found.total.changed == Changed(0.075, 0.15, 0.325)
    assert [day for day, _ in found.days] == list(range(TODAY - 6, TODAY + 1))
    assert [tally.written for _, tally in found.days] == [0, 0, 0, 0, 2, 0, 4]
    assert found.days[4][1].changed is None
    assert {name: tally.written for name, tally in found.languages} == {"ja": 2, "es": 2, "en": 1, "zh-Hans": 1}
    assert dict(found.languages)["en"].changed == Changed(0.7, 0.7, 0.7)
    assert Endings(store.engine).languages() == tuple(sorted(LANGUAGES))


@pytest.mark.parametrize("language", LANGUAGES)
def test_endings_of_drafts_are_filtered(store: Store, language: str) -> None:
    """A language, a time, and the channel of the conversation narrow the drafts; a pasted message has no channel, and a
    forgotten conversation's drafts are counted no more."""
    tell(store, 1, language, "handover", "slack", 10)
    tell(store, 2, "ar", "handover", "slack", 10)
    store.flush()
    keep_draft(store, language, "unedited", conversation="c1")
    keep_draft(store, "ar", "unedited", conversation="c2")
    keep_draft(store, language)
    endings = Endings(store.engine)

    def written(**changes: object) -> int:
        return endings.overview(replace(WEEK, **changes)).total.written  # type: ignore[arg-type]  # fields of a Selection

    assert written() == 3
    assert written(language=language) == 2
    assert written(channel="slack") == 2
    assert written(language=language, channel="slack") == 1
    assert written(channel="widget") == 0
    assert written(last=TODAY - 1) == 0
    store.forget("c1")
    assert written(language=language) == 1
