"""How drafts ended: sent as written, sent with changes, rejected, or still open; how much of the sent ones was changed.

In: the store's drafts. Out: counts, by day and language. Never: reads a letter, or counts one twice.

A draft counts on the day it was begun (UTC), so that it stays where it is however it ends. It has the channel of the
conversation it was written from; one for a pasted message has none, and counts only where no channel is asked for.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import exists, func, select, true

from assistant.engine import Engine
from assistant.insight import Selection, whole
from assistant.store import DAY_S
from assistant.tables import answers, drafts

ENDINGS = ("unedited", "edited", "rejected", "open")
SENT = ("unedited", "edited")
Counted = tuple[Any, ...]  # day since 1970, language, ending, share changed in percent, how many


@dataclass(frozen=True, slots=True)
class Changed:
    """How much of the letters that were sent was changed: edit distance by the longer text, 0..1, in steps of .01.

    Args:
        quarter, half, three_quarters: the quartiles (Hyndman and Fan's type 7): a quarter of the letters was changed by
            `quarter` at most, and so on.
    """

    quarter: float
    half: float
    three_quarters: float


@dataclass(frozen=True, slots=True)
class DraftTally:
    """How drafts ended.

    Args:
        endings: how many, of each of ENDINGS.
        changed: None where none was sent.
    """

    written: int
    endings: Mapping[str, int]
    changed: Changed | None


@dataclass(frozen=True, slots=True)
class DraftOverview:
    """The same counts as a whole, by day (each of the selection, oldest first) and by the letters' language."""

    total: DraftTally
    days: tuple[tuple[int, DraftTally], ...]
    languages: tuple[tuple[str, DraftTally], ...]


class Endings:
    """Reads one store; blocking, and raises StoreUnavailable."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def overview(self, selection: Selection) -> DraftOverview:
        """All counts of a selection, by one query."""
        kept = drafts.c
        day = whole(self._engine, kept.created / DAY_S).label("day")
        percent = whole(self._engine, kept.share * 100 + 0.5).label("percent")
        asked = exists().where(
            answers.c.conversation_id == kept.conversation_id, answers.c.channel == selection.channel
        )
        query = select(day, kept.language, kept.outcome, percent, func.count()).where(
            kept.created >= selection.since,
            kept.created < selection.until,
            kept.language == selection.language if selection.language else true(),
            asked if selection.channel else true(),
        )
        with self._engine.read() as connection:
            found = connection.execute(query.group_by(day, kept.language, kept.outcome, percent))
            rows = [(row[0], row[1], row[2] or "open", row[3], row[4]) for row in found]
        days, languages, nothing = _by(rows, 0), _by(rows, 1), _tally(())
        return DraftOverview(
            _tally(rows),
            tuple((number, days.get(number, nothing)) for number in range(selection.first, selection.last + 1)),
            tuple(sorted(languages.items(), key=lambda pair: (-pair[1].written, pair[0]))),
        )

    def languages(self) -> tuple[str, ...]:
        """Those that drafts are written in at all."""
        with self._engine.read() as connection:
            return tuple(sorted(connection.execute(select(drafts.c.language).distinct()).scalars()))


def _by(rows: Iterable[Counted], place: int) -> dict[Any, DraftTally]:
    groups: dict[Any, list[Counted]] = defaultdict(list)
    for row in rows:
        groups[row[place]].append(row)
    return {name: _tally(own) for name, own in groups.items()}


def _tally(rows: Iterable[Counted]) -> DraftTally:
    ended, percents = Counter[str](), Counter[int]()
    for *_, ending, percent, number in rows:
        ended[ending] += number
        if ending in SENT:
            percents[percent] += number
    return DraftTally(ended.total(), {name: ended[name] for name in ENDINGS}, _changed(sorted(percents.elements())))


def _changed(percents: list[int]) -> Changed | None:
    if not percents:
        return None
    values = percents if len(percents) > 1 else percents * 2
    return Changed(*(round(value / 100, 4) for value in statistics.quantiles(values, n=4, method="inclusive")))
