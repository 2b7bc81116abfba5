"""A question that may lean on history -> what is found for it.

In: a Question with what was said before, where it leans on that. Out: Found, as for any question.
Never: lets history decide alone where the question's own words say something, or touches a question without context.

Scores of the plain question and of the question with its context are added, the latter with less weight. On the public
follow-up sets this beats both the plain message and adding history to the text, which drowns what is asked.
"""

from __future__ import annotations

import math
from dataclasses import replace

from assistant.records import Question
from assistant.retrieve import Candidates, Found, Retriever

# Of the asker's own earlier questions, and of what another said last: best on the tuning half of three public sets.
OWN_WEIGHT, OTHER_WEIGHT = 0.6, 1.5
CONFIDENCE_WEIGHT = 0.5  # of the question with its context; the plain question's evidence has the rest
PASSAGES = 3  # at most so many are shown in a reply
DEEPEST = 9  # what is found further down has little to do with the question
EDGE = 1e-6


def search(question: Question, retriever: Retriever) -> Found:
    """The hits for a question; where it leans on context, by its own words and by both."""
    candidates, confidence = gather(question, retriever)
    found = retriever.rank(candidates, question.language, confidence)
    if not question.rounds or retriever.judge(found) != "answered":
        return found
    return _further(question, candidates, found, retriever)


def _further(question: Question, candidates: Candidates, found: Found, retriever: Retriever) -> Found:
    """What earlier replies did not show: the points of an outline in full, then what was found further down."""
    shown = [hit.passage for hit in found.hits[:PASSAGES]]
    points = [point for passage in shown for point in retriever.passages(passage.members) if point not in shown]
    below = retriever.rank(
        replace(candidates, families=candidates.families[len(shown) : DEEPEST]),
        question.language,
        found.hits[0].confidence,
    )
    hits = {point.id: replace(found.hits[0], passage=point) for point in points}
    hits |= {hit.passage.id: hit for hit in below.hits if hit.passage.id not in hits}
    start = PASSAGES * (question.rounds - 1)
    return Found(tuple(hits.values())[start : start + PASSAGES], found.signals)


def gather(question: Question, retriever: Retriever) -> tuple[Candidates, float]:
    """All candidates for a question, best first, and the confidence that the best answers."""
    if not question.context:
        candidates = retriever.candidates(question)
        return candidates, retriever.confidence(candidates)
    if question.is_bare:
        before = [retriever.candidates(replace(question, text=context)) for context in question.context]
        return fuse(before[0], before[1:]), max(retriever.confidence(candidates) for candidates in before)
    plain = retriever.candidates(question)
    alone = retriever.confidence(plain)
    if question.may_stand and alone >= retriever.calibration.answered:
        return plain, alone
    beside = [
        retriever.candidates(replace(question, text=f"{context}\n{question.text}")) for context in question.context
    ]
    with_context = max(retriever.confidence(candidates) for candidates in beside)
    return fuse(plain, beside), _confidence(alone, with_context)


def fuse(plain: Candidates, beside: list[Candidates]) -> Candidates:
    """The families of all, scored by the weighted mean of their scores; one that is missing has the lowest.

    Args:
        beside: with the asker's earlier questions, then perhaps with what another said last.
    """
    weights = [1.0, OWN_WEIGHT, OTHER_WEIGHT][: 1 + len(beside)]
    families = {family.name: family for candidates in (*beside, plain) for family in candidates.families}
    totals = dict.fromkeys(families, 0.0)
    for candidates, weight in zip((plain, *beside), weights, strict=True):
        scores = {family.name: family.score for family in candidates.families}
        lowest = min(scores.values(), default=0.0)
        for name in totals:
            totals[name] += weight * scores.get(name, lowest) / sum(weights)
    ranked = sorted(totals, key=lambda name: -totals[name])
    return replace(plain, families=tuple(replace(families[name], score=totals[name]) for name in ranked))


def _confidence(plain: float, both: float) -> float:
    """The mean of both in log-odds."""
    odds = [math.log(max(EDGE, p) / max(EDGE, 1 - p)) for p in (plain, both)]
    return 1 / (1 + math.exp(-((1 - CONFIDENCE_WEIGHT) * odds[0] + CONFIDENCE_WEIGHT * odds[1])))
