"""Questions without a good answer, of all channels and languages, gathered into topics in the background.

In: the store's answers and feedback. Out: the table `gap_questions`: each such question with its vector and topic.
Never: embeds a question twice, more than BATCH at once, or anything while a page is being opened.

What counts: a question that was not answered (`abstained`, `related`, `handover`), be it one of several in a message
whose others were, or one whose answer somebody called bad. What a conversation repeats in the same words counts once.
A topic keeps its id while most of its questions stay together. All goes with the conversation it came from.
"""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from sqlalchemy import Text, and_, cast, delete, exists, func, or_, select, tuple_

from assistant.clusters import (
    FORMAT,
    MOST,
    Array,
    cluster,
    damping,
    join,
    middles,
    plain,
    polite_clauses,
    question_vector,
    without,
)
from assistant.engine import Engine
from assistant.models import Embedder, unit_rows
from assistant.tables import answers, feedback, gap_questions
from assistant.topics import Topics

UNANSWERED = ("abstained", "related", "handover")
WINDOW = 20_000  # the newest such questions are looked at
BATCH = 200  # texts embedded at a time: a few seconds of one core
SAVED = 500  # rows a transaction, so that no reply waits long to be recorded
MOVED = 0.02  # a smaller change of closeness is not worth writing
Key = tuple[str, str]  # language and text
RATED_DOWN = exists().where(feedback.c.answer_id == answers.c.id, feedback.c.value == "down")
IS_PARTLY = cast(answers.c.unanswered, Text) != "[]"
IS_GAP = and_(answers.c.intent == "question", or_(answers.c.outcome.in_(UNANSWERED), IS_PARTLY, RATED_DOWN))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the window; `text` is what is embedded, `topic` and the rest what is kept of it already.

    Args:
        part: which of its message's unanswered questions, from 0.
    """

    answer_id: str
    part: int
    at: float
    language: str
    channel: str
    is_rated: bool
    text: str
    kept: str
    topic: str
    closeness: float

    @property
    def key(self) -> Key:
        """What is embedded once."""
        return self.language, self.text

    @property
    def words(self) -> int:
        """What `words_of` says of it."""
        return words_of(self.language, self.text)


class Gatherer:
    """Brings `gap_questions` up to date; blocking.

    Args:
        embedder, topics: those of retrieval.
    """

    def __init__(self, engine: Engine, embedder: Embedder, topics: Topics) -> None:
        self._engine, self._embedder, self._topics = engine, embedder, topics
        self._damped = damping(topics)
        self._model = f"{embedder.name[:200]} {topics.identity} {FORMAT}"
        self._vectors: dict[Key, Array] = {}
        self._seen: tuple[object, ...] = ()

    def update(self) -> bool:
        """Gathers what is new; whether there is more to embed.

        Raises:
            StoreUnavailable: the store can't be read or written.
            InputError: scikit-learn is not installed.
        """
        seen = self._stamp()
        if seen == self._seen:
            return False
        asked = self._read()
        missing = list(dict.fromkeys(one.key for one in asked if one.key not in self._vectors))
        for (language, text), embedding in zip(
            missing[:BATCH], self._embedder.embed_queries([text for _, text in missing[:BATCH]]), strict=True
        ):
            self._vectors[language, text] = question_vector(embedding, self._topics, language, self._damped)
        self._save(group([one for one in asked if one.key in self._vectors], self._vectors))
        wanted = {one.key for one in asked}
        self._vectors = {key: vector for key, vector in self._vectors.items() if key in wanted}
        has_more = len(missing) > BATCH
        self._seen = () if has_more else seen
        return has_more

    def _stamp(self) -> tuple[object, ...]:
        """Changes when there is something to do."""
        with self._engine.read() as connection:
            asked = connection.execute(select(func.count(), func.max(answers.c.at)).select_from(answers)).one()
            rated = connection.execute(select(func.count(), func.max(feedback.c.at)).select_from(feedback)).one()
        return (*asked, *rated)

    def _read(self) -> list[Asked]:
        """The window, the newest first; vectors that are kept and fit are taken over."""
        columns = (answers.c.id, answers.c.conversation_id, answers.c.at, answers.c.language, answers.c.channel)
        said = (answers.c.outcome, answers.c.question, answers.c.searched, answers.c.unanswered)
        query = select(*columns, *said).where(IS_GAP).order_by(answers.c.at.desc(), answers.c.id).limit(WINDOW)
        with self._engine.read() as connection:
            rows = connection.execute(query).all()
            since = rows[-1].at if rows else 0.0
            kept = connection.execute(
                select(gap_questions).where(gap_questions.c.model == self._model, gap_questions.c.at >= since)
            ).all()
        known = {(row.answer_id, row.part): row for row in kept}
        parts = [(row, part, text) for row in rows for part, text in enumerate(_texts(row))]
        polite = polite_clauses(text for *_, text in parts)
        first: dict[tuple[str, int], Asked] = {}  # what a conversation repeats counts as it came first
        for row, part, text in parts:
            own, before = without(text, polite), known.get((row.id, part))
            one = Asked(
                row.id, part, row.at, row.language, row.channel, row.outcome not in UNANSWERED and not row.unanswered,
                own, *((before.text, before.topic, before.closeness) if before else ("", "", 0.0)),
            )  # fmt: skip
            if before and before.text == own and one.key not in self._vectors:
                self._vectors[one.key] = np.frombuffer(before.vector, np.float16).astype(np.float32)
            first.pop((row.conversation_id, one.words), None)
            first[row.conversation_id, one.words] = one
        self._remove(set(known) - {(one.answer_id, one.part) for one in first.values()})
        return sorted(first.values(), key=lambda one: -one.at)

    def _remove(self, gone: set[tuple[str, int]]) -> None:
        """Rows of the window that count no more."""
        names, place = sorted(gone), tuple_(gap_questions.c.answer_id, gap_questions.c.part)
        for start in range(0, len(names), SAVED):
            with self._engine.write() as connection:
                connection.execute(delete(gap_questions).where(place.in_(names[start : start + SAVED])))

    def _save(self, grouped: Sequence[tuple[Asked, str, float]]) -> None:
        """Writes what has changed, and removes what is no gap any more."""
        changed = [
            {
                "answer_id": one.answer_id, "part": one.part, "at": one.at, "language": one.language,
                "channel": one.channel, "is_rated": one.is_rated, "model": self._model, "text": one.text,
                "words": one.words, "topic": topic, "closeness": closeness,
                "vector": self._vectors[one.key].astype(np.float16).tobytes(),
            }
            for one, topic, closeness in grouped
            if one.text != one.kept or one.topic != topic or abs(one.closeness - closeness) >= MOVED
        ]  # fmt: skip
        for start in range(0, len(changed), SAVED):
            insert = self._engine.insert(gap_questions)
            news = {column.name: insert.excluded[column.name] for column in gap_questions.c if not column.primary_key}
            with self._engine.write() as connection:
                here = select(answers.c.id).where(
                    answers.c.id.in_([row["answer_id"] for row in changed[start : start + SAVED]])
                )
                present = set(connection.execute(here).scalars())  # some may have been forgotten meanwhile
                rows = [row for row in changed[start : start + SAVED] if row["answer_id"] in present]
                if rows:
                    insert = insert.on_conflict_do_update(index_elements=["answer_id", "part"], set_=news)
                    connection.execute(insert, rows)
        with self._engine.write() as connection:
            still = exists().where(answers.c.id == gap_questions.c.answer_id, IS_GAP)
            connection.execute(delete(gap_questions).where(gap_questions.c.is_rated, ~still))


def words_of(language: str, text: str) -> int:
    """A number that is the same for the same words in one language, whatever their punctuation."""
    digest = sha256(f"{language}\n{plain(text) or text}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _texts(row: Any) -> list[str]:
    """What is gathered of an answer's message: each of several questions that got no answer, else all it asked."""
    return [text for text, _ in row.unanswered] or [" ".join(row.searched) or row.question]


def group(asked: Sequence[Asked], vectors: Mapping[Key, Array]) -> list[tuple[Asked, str, float]]:
    """Each question with its topic's id ("" beyond what is clustered, unless a topic is near) and its closeness to it.

    Args:
        asked: the newest first.
    """
    if not asked:
        return []
    counts = Counter(one.key for one in asked)
    keys = list(counts)
    rows = np.stack([vectors[key] for key in keys])
    labels = cluster(rows[:MOST])
    centres = middles(rows[:MOST], labels, [counts[key] for key in keys[:MOST]])
    labels = np.concatenate([labels, join(rows[MOST:], centres)])
    centre_of = dict(zip(keys, labels.tolist(), strict=True))
    names = _names(asked, centre_of)
    closeness = np.einsum("nd,nd->n", rows, unit_rows(centres)[labels])
    near = dict(zip(keys, closeness.tolist(), strict=True))
    return [
        (one, names.get(centre_of[one.key], ""), round(near[one.key] if centre_of[one.key] >= 0 else 0.0, 4))
        for one in asked
    ]


def _names(asked: Sequence[Asked], label_of: Mapping[Key, int]) -> dict[int, str]:
    """An id for each label: that of the topic most of its questions had, where no other label has more of them."""
    votes: dict[tuple[int, str], int] = defaultdict(int)
    for one in asked:
        if one.topic and label_of[one.key] >= 0:
            votes[label_of[one.key], one.topic] += 1
    names: dict[int, str] = {}
    for (label, topic), _ in sorted(votes.items(), key=lambda item: (-item[1], item[0])):
        if label not in names and topic not in names.values():
            names[label] = topic
    for label in set(label_of.values()) - {-1}:
        names.setdefault(label, uuid.uuid4().hex[:12])
    return names
