"""A store full of invented records, for measuring and trying the desk's pages.

In: a store, a number. Out: answers of a month with their citings, opinions and gathered gaps. Never: goes through the
assistant, or is meant for a store that serves.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sqlalchemy import Table

from assistant.gather import words_of
from assistant.store import DAY_S, Store, step_of
from assistant.tables import answers, citings, conversations, feedback, gap_questions
from evals.gaps import simulate

OUTCOMES = {"answered": 62, "related": 14, "clarify": 4, "abstained": 20}  # per cent
CHANNELS = {"widget": 70, "slack": 20, "staff": 4, "api": 6}
RATED, LIKED = 0.1, 0.7
DAYS, BATCH, DIMENSIONS = 30, 5000, 192
SECTIONS = 60


def fill(store: Store, count: int, seed: int = 1) -> None:
    """Adds so many records; topics are the simulated subjects themselves."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    asked = simulate("all")
    now = time.time()
    rows: dict[Table, list[dict[str, Any]]] = {
        table: [] for table in (conversations, answers, citings, feedback, gap_questions)
    }
    for number in range(count):
        for table, row in _record(number, asked[number % len(asked)], now, chance):
            rows[table].append(row)
    for table, found in rows.items():
        for start in range(0, len(found), BATCH):
            with store.engine.write() as connection:
                connection.execute(table.insert(), found[start : start + BATCH])


def _record(number: int, asked: Any, now: float, chance: random.Random) -> Iterator[tuple[Table, dict[str, Any]]]:
    name, at = f"r{number}", now - DAYS * DAY_S * chance.random()
    outcome = _draw(OUTCOMES, chance)
    channel = _draw(CHANNELS, chance)
    sections = [f"{asked.language}/help#s{int(chance.paretovariate(0.8)) % SECTIONS}"] if outcome == "answered" else []
    near = f"{asked.language}/help#s{len(asked.topic) % SECTIONS}.1"
    opinion = chance.random()
    took_ms = chance.lognormvariate(3.2, 0.6)
    is_bad = opinion < RATED * (1 - LIKED)
    yield conversations, {"id": name, "begun": at, "touched": at}
    yield answers, {
        "id": name, "conversation_id": name, "at": at, "question": asked.text, "said": "…", "language": asked.language,
        "intent": "question", "outcome": outcome, "confidence": 0.5, "searched": [asked.text], "found": [[near, 1.0]],
        "cited": [f"{section}.1" for section in sections], "offered": [], "signals": {}, "channel": channel,
        "took_ms": took_ms, "day": int(at // DAY_S), "step": step_of(took_ms),
    }  # fmt: skip
    for section in sections:
        yield citings, {
            "answer_id": name, "section": section, "at": at, "language": asked.language, "channel": channel,
        }  # fmt: skip
    if opinion < RATED:
        yield feedback, {"answer_id": name, "client": "", "value": "down" if is_bad else "up", "comment": "", "at": at}
    if outcome in ("related", "abstained") or is_bad:
        yield gap_questions, {
            "answer_id": name, "at": at, "language": asked.language, "channel": channel,
            "is_rated": outcome == "answered", "model": "invented", "text": asked.text, "topic": asked.topic,
            "part": 0, "words": words_of(asked.language, asked.text),
            "vector": np.zeros(DIMENSIONS, np.float16).tobytes(), "closeness": round(chance.random(), 3),
        }  # fmt: skip


def _draw(weights: dict[str, int], chance: random.Random) -> str:
    return chance.choices(list(weights), list(weights.values()))[0]
