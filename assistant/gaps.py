"""The gathered topics without a good answer, ready to be looked at: size, trend, examples, languages, nearest section.

In: the table `gap_questions` that `gather` keeps. Out: Gaps, the largest first. Never: embeds or clusters anything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, func, select, true

from assistant.engine import Engine
from assistant.insight import Selection, shared, whole
from assistant.store import section_of
from assistant.tables import answers, gap_questions

CENTRAL = 24  # different questions nearest a topic's middle, from which title, examples and section are taken
EXAMPLES = 6
BARS = 12  # of a topic's trend
LEAST_FOR_TREND = 4  # questions: fewer show nothing


@dataclass(frozen=True, slots=True)
class Example:
    """One question as it was asked (masked), of several in a message its own words; in `count` conversations."""

    text: str
    language: str
    answer_id: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Gap:
    """One topic.

    Args:
        title: its most central question, in the wanted language where it was asked in it.
        size: questions of the selection; rated: of them, those answered but called bad.
        trend: questions in each of BARS equal parts of the selection's time, the oldest first.
        growth: by how much the later half exceeds the earlier, -1..1; 0 where there are too few to say.
        section: `name#anchor` that its questions came nearest to, or "".
        examples: the most central questions, of as many languages as there are.
    """

    topic: str
    title: Example
    size: int
    rated: int
    trend: tuple[int, ...]
    growth: float
    languages: tuple[tuple[str, int], ...]
    channels: tuple[tuple[str, int], ...]
    section: str
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Gaps:
    """The topics shown, how many there are, and how many questions have a topic."""

    shown: tuple[Gap, ...]
    topics: int
    questions: int


class GapReader:
    """Reads one store; blocking, and raises StoreUnavailable."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def gaps(self, selection: Selection, language: str = "", limit: int = 50, topic: str = "") -> Gaps:
        """The largest topics of a selection.

        Args:
            language: that titles are wanted in.
            topic: only this one.
        """
        rows = self._counts(selection, topic)
        sizes: Counter[str] = Counter()
        for row in rows:
            sizes[row.topic] += row.number
        largest = [name for name, _ in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))[:limit]]
        counts, central = defaultdict(list), defaultdict(list)
        for row in rows:
            counts[row.topic].append(row)
        for row in self._central(selection, largest):
            central[row.topic].append(row)
        shown = [_gap(counts[name], central[name], language) for name in largest if central[name]]
        return Gaps(tuple(shown), len(sizes), sum(sizes.values()))

    def _counts(self, selection: Selection, topic: str) -> Sequence[Any]:
        kept = gap_questions.c
        length = (selection.until - selection.since) / BARS
        bar = whole(self._engine, (kept.at - selection.since) / length).label("bar")
        names = (kept.topic, kept.language, kept.channel, kept.is_rated, bar)
        wanted = kept.topic == topic if topic else kept.topic != ""
        query = select(*names, func.count().label("number")).where(wanted, _within(selection)).group_by(*names)
        with self._engine.read() as connection:
            return connection.execute(query).all()

    def _central(self, selection: Selection, topics: Sequence[str]) -> Sequence[Any]:
        """The CENTRAL different questions nearest each topic's middle, the nearest first."""
        kept = gap_questions.c
        nearest = func.max(kept.closeness).label("nearest")
        said = (
            select(kept.topic, kept.words, func.count().label("number"), func.max(kept.answer_id).label("one"), nearest)
            .where(kept.topic.in_(topics), _within(selection))
            .group_by(kept.topic, kept.words)
            .subquery()
        )
        place = func.row_number().over(partition_by=said.c.topic, order_by=(said.c.nearest.desc(), said.c.words))
        ranked = select(said, place.label("place")).subquery()
        columns = (answers.c.id, answers.c.question, answers.c.language, answers.c.found, answers.c.unanswered)
        query = (
            select(ranked.c.topic, ranked.c.number, kept.part, *columns)
            .join(gap_questions, and_(kept.answer_id == ranked.c.one, kept.words == ranked.c.words))
            .join(answers, answers.c.id == ranked.c.one)
            .where(ranked.c.place <= CENTRAL)
            .order_by(ranked.c.topic, ranked.c.place)
        )
        with self._engine.read() as connection:
            return connection.execute(query).all()


def _within(selection: Selection) -> ColumnElement[bool]:
    kept = gap_questions.c
    return and_(
        kept.at >= selection.since,
        kept.at < selection.until,
        kept.language == selection.language if selection.language else true(),
        kept.channel == selection.channel if selection.channel else true(),
    )


def _gap(counts: Sequence[Any], central: Sequence[Any], language: str) -> Gap:
    trend, languages, channels = [0] * BARS, Counter[str](), Counter[str]()
    for row in counts:
        trend[min(max(row.bar, 0), BARS - 1)] += row.number
        languages[row.language] += row.number
        channels[row.channel] += row.number
    examples, sections = [], Counter[str]()
    for row in central:
        whole = (row.question, row.found[0][0] if row.found else "")
        text, near = row.unanswered[row.part] if row.unanswered else whole
        examples.append(Example(text, row.language, row.id, row.number))
        if near:
            sections[shared(section_of(near))] += row.number
    return Gap(
        topic=central[0].topic,
        title=next((one for one in examples if one.language == language), examples[0]),
        size=sum(trend),
        rated=sum(row.number for row in counts if row.is_rated),
        trend=tuple(trend),
        growth=_growth(trend),
        languages=tuple(languages.most_common()),
        channels=tuple(channels.most_common()),
        section=sections.most_common(1)[0][0] if sections else "",
        examples=tuple(_mixed(examples)[:EXAMPLES]),
    )


def _growth(trend: Sequence[int]) -> float:
    earlier, later = sum(trend[: BARS // 2]), sum(trend[BARS // 2 :])
    total = earlier + later
    return (later - earlier) / total if total >= LEAST_FOR_TREND else 0.0


def _mixed(examples: Sequence[Example]) -> list[Example]:
    """The languages in turn, each language's most central first."""
    turns: Counter[str] = Counter()
    ranked = []
    for place, one in enumerate(examples):
        ranked.append((turns[one.language], place, one))
        turns[one.language] += 1
    return [one for _, _, one in sorted(ranked, key=lambda item: item[:2])]
