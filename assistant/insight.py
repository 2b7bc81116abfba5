"""What the records say as a whole: how questions end and how long replies take, by day, language and channel; which
sections are cited, liked, or never needed.

In: the store's answers, citings and feedback. Out: counts. Never: reads a question, or more rows than it has groups.

The database counts over indexes that hold all that is counted: no table is read, and nothing has to be rolled up, or
kept in step when a conversation is forgotten. Days are UTC's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Integer, and_, cast, func, select, true

from assistant.engine import Engine
from assistant.store import DAY_S, STEPS_MS
from assistant.tables import answers, citings, feedback

COUNTED = ("question", "person")  # intents; greetings and thanks ask nothing
OUTCOMES = ("answered", "related", "clarify", "abstained", "handover")
Counted = tuple[Any, ...]  # day since 1970, language, channel, outcome, step of the latency, how many


@dataclass(frozen=True, slots=True)
class Selection:
    """Which answers: given from the first day to the last (since 1970, UTC), in a language, on a channel."""

    first: int
    last: int
    language: str = ""
    channel: str = ""

    @property
    def since(self) -> float:
        """When it begins, in seconds since 1970."""
        return float(self.first * DAY_S)

    @property
    def until(self) -> float:
        """When it has ended."""
        return float((self.last + 1) * DAY_S)


@dataclass(frozen=True, slots=True)
class Tally:
    """How questions ended, and how long replies took.

    Args:
        p50_ms, p95_ms: interpolated between the steps of the counting; 0 where no time is known.
    """

    asked: int
    outcomes: Mapping[str, int]
    p50_ms: float
    p95_ms: float

    def share(self, outcome: str) -> float:
        """0..1 of the questions; 0 of none."""
        return self.outcomes.get(outcome, 0) / self.asked if self.asked else 0.0


@dataclass(frozen=True, slots=True)
class Overview:
    """The same counts as a whole, by day (each of the selection, oldest first), by language and by channel."""

    total: Tally
    days: tuple[tuple[int, Tally], ...]
    languages: tuple[tuple[str, Tally], ...]
    channels: tuple[tuple[str, Tally], ...]


@dataclass(frozen=True, slots=True)
class SectionUse:
    """How often answers cited a section (`name#anchor`, all languages together), and what was thought of them."""

    section: str
    cited: int
    up: int
    down: int
    last: float


class Insight:
    """Reads one store; blocking, and raises StoreUnavailable."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def overview(self, selection: Selection) -> Overview:
        """All counts of a selection, by one query in an index's order."""
        kept = answers.c
        names = (kept.day, kept.language, kept.channel, kept.outcome, kept.step)
        query = select(*names, func.count()).where(
            kept.day >= selection.first,
            kept.day <= selection.last,
            kept.intent.in_(COUNTED),
            kept.language == selection.language if selection.language else true(),
            kept.channel == selection.channel if selection.channel else true(),
        )
        with self._engine.read() as connection:
            rows = [tuple(row) for row in connection.execute(query.group_by(*names))]
        days = _by(rows, 0)
        nothing = _tally(())
        return Overview(
            _tally(rows),
            tuple((number, days.get(number, nothing)) for number in range(selection.first, selection.last + 1)),
            _ranked(_by(rows, 1)),
            _ranked(_by(rows, 2)),
        )

    def choices(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Languages and channels that occur at all, to choose from."""
        with self._engine.read() as connection:
            found = [
                tuple(sorted(name for name in connection.execute(select(column).distinct()).scalars() if name))
                for column in (answers.c.language, answers.c.channel)
            ]
        return found[0], found[1]

    def sections(self, selection: Selection) -> list[SectionUse]:
        """Sections cited in a selection, those cited most first."""
        within = and_(
            citings.c.at >= selection.since,
            citings.c.at < selection.until,
            citings.c.language == selection.language if selection.language else true(),
            citings.c.channel == selection.channel if selection.channel else true(),
        )
        cited = select(citings.c.section, func.count(), func.max(citings.c.at)).group_by(citings.c.section)
        names = (citings.c.section, feedback.c.value)
        rated = select(*names, func.count()).join(feedback, feedback.c.answer_id == citings.c.answer_id)
        counts: Counter[str] = Counter()
        last: dict[str, float] = {}
        opinions: Counter[tuple[str, str]] = Counter()
        with self._engine.read() as connection:
            for section, number, at in connection.execute(cited.where(within)):
                counts[shared(section)] += number
                last[shared(section)] = max(at, last.get(shared(section), 0.0))
            for section, value, number in connection.execute(rated.where(within).group_by(*names)):
                opinions[shared(section), value] += number
        return [
            SectionUse(name, number, opinions[name, "up"], opinions[name, "down"], last[name])
            for name, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        ]

    def last_cited(self) -> dict[str, float]:
        """When each section was cited last, as far as the records go back."""
        query = select(citings.c.section, func.max(citings.c.at)).group_by(citings.c.section)
        found: dict[str, float] = {}
        with self._engine.read() as connection:
            for section, at in connection.execute(query):
                found[shared(section)] = max(at, found.get(shared(section), 0.0))
        return found


def whole(engine: Engine, value: ColumnElement[Any]) -> ColumnElement[int]:
    """A number that is not negative, cut to a whole one: SQLite's CAST cuts, PostgreSQL's rounds."""
    return cast(value if engine.is_sqlite else func.floor(value), Integer)


def shared(section: str) -> str:
    """`name#anchor` of `folder/name#anchor`: the same for all translations."""
    article, mark, anchor = section.partition("#")
    return article.rpartition("/")[2] + mark + anchor


def _by(rows: Iterable[Counted], place: int) -> dict[Any, Tally]:
    """The counts of each day, language or channel, by its place in the rows."""
    groups: dict[Any, list[Counted]] = defaultdict(list)
    for row in rows:
        groups[row[place]].append(row)
    return {name: _tally(own) for name, own in groups.items()}


def _ranked(tallies: Mapping[str, Tally]) -> tuple[tuple[str, Tally], ...]:
    return tuple(sorted(tallies.items(), key=lambda pair: (-pair[1].asked, pair[0])))


def _tally(rows: Iterable[Counted]) -> Tally:
    ended, took = Counter[str](), Counter[int]()
    for *_, outcome, step, number in rows:
        ended[outcome] += number
        if step:
            took[step] += number
    return Tally(sum(ended.values()), dict(ended), quantile(took, 0.5), quantile(took, 0.95))


def quantile(steps: Mapping[int, int], share: float) -> float:
    """Milliseconds within which this share of the replies came, interpolated in the step where that is; 0 of none."""
    wanted, seen = share * sum(steps.values()), 0
    for step, number in sorted(steps.items()):
        if seen + number >= wanted:
            low = STEPS_MS[step - 2] if step > 1 else 0.0
            high = STEPS_MS[min(step, len(STEPS_MS)) - 1]
            return float(low + (high - low) * (wanted - seen) / number)
        seen += number
    return 0.0
