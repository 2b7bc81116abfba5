"""What an index knows of its articles as a whole, computed at each ingest.

In: the passages' rows, the stored views, the topics. Out: named values for the index's meta table.
Never: embeds a text or touches the current state.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assistant.database import Database, Row, unpack_tokens
from assistant.models import unit_rows
from assistant.topics import Topics

PRIOR_TOKENS = 200  # a small corpus's mean leans on the generic questions' mean by this many tokens
# Both-ways resemblance from which a heading or FAQ question is taken to treat a topic: the nearest topics that the
# first corpus does not treat reach .63; short headings and questions on returns, shipping, payment or opening hours in
# shops .64 to .79. "How long a refund takes" (.63) is missed.
COVERED = 0.64
# Everyday subjects are wide, so that the cosine with their middle counts: headings of a bank, an airline or a
# clinic have .53 to .79 with their own, those of the first corpus at most .46 with any.
COVERED_EVERYDAY = 0.48
Vector = NDArray[np.float32]


def summarise(database: Database, rows: Sequence[Row], topics: Topics) -> dict[str, object]:
    """Named values for the meta table.

    `means`, `question_means`: language -> mean token vector. `directions`, [n, d] as a NumPy file: each passage's
    centred token vectors summed and scaled to length one, those of an FAQ pair's question added. `covered`: topics the
    articles treat.
    """
    languages = dict.fromkeys(row.passage.language for row in rows)
    questions = {row.question: row.passage.language for row in rows}
    sums: dict[str, Vector] = {}
    counts: dict[str, int] = {}
    covered: set[str] = set()
    for name, tokens, scales in database.query("SELECT hash, tokens, scales FROM views"):
        vectors = unpack_tokens(tokens, scales)
        sums[name], counts[name] = vectors.sum(axis=0), len(vectors)
        if name in questions:
            covered |= _treated(topics, vectors, questions[name])
    means = {code: _mean(code, rows, sums, counts, topics) for code in languages}
    directions = [unit_rows(sums[row.context] - counts[row.context] * means[row.passage.language]) for row in rows]
    for number, row in enumerate(rows):
        if row.passage.kind == "faq":
            mean = topics.question_mean(row.passage.language)
            directions[number] = directions[number] + unit_rows(sums[row.question] - counts[row.question] * mean)
    return {
        "means": json.dumps({code: mean.tolist() for code, mean in means.items()}),
        "question_means": json.dumps({code: topics.question_mean(code).tolist() for code in languages}),
        "directions": _as_file(unit_rows(np.stack(directions)) if directions else np.zeros((0, topics.dimensions))),
        "covered": json.dumps(sorted(covered)),
    }


def _treated(topics: Topics, tokens: Vector, language: str) -> set[str]:
    centred = topics.centre(tokens, language)
    is_near = topics.compare(centred).both_ways >= COVERED
    is_near |= topics.everyday & (unit_rows(topics.centroids) @ unit_rows(centred.sum(axis=0)) >= COVERED_EVERYDAY)
    return {topics.names[number] for number in np.flatnonzero(is_near)}


def _mean(code: str, rows: Sequence[Row], sums: dict[str, Vector], counts: dict[str, int], topics: Topics) -> Vector:
    own = {row.context for row in rows if row.passage.language == code}
    total = topics.question_mean(code) * PRIOR_TOKENS + np.sum([sums[name] for name in own], axis=0)
    return np.asarray(np.round(total / (PRIOR_TOKENS + sum(counts[name] for name in own)), 5), np.float32)


def _as_file(array: NDArray[np.floating]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array, np.float32))
    return buffer.getvalue()
