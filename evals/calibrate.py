"""Learns calibration.json from the tuning cases: weights of the scores, confidence, thresholds.

In: the tuning cases over the corpus, and over other article files and public sets where given. Out: the file, with its
provenance.
Never: looks at the held-out cases.

Fusion weights maximise the likelihood of the right family under a softmax over candidates (listwise ranking). The
confidence is a logistic regression on the signals, each with the direction it may have; its thresholds are set on
out-of-fold probabilities.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from assistant.calibration import FILE, SHORT, Calibration, Fusion
from assistant.records import Passage, Question
from assistant.retrieve import Family, Retriever
from evals.cases import Case
from evals.public import Asked

Matrix = NDArray[np.float64]
FEATURES = ("body", "lexical", "topic")
RIDGE = 3e-3
FOLDS = 10
SOCIAL = frozenset({"greeting", "thanks", "person"})
STRENGTH = 0.3  # of the likelihood against the penalty on the confidence's weights
Bounds = tuple[float | None, float | None]
UP, DOWN, EITHER = (0.0, None), (None, 0.0), (None, None)
# What a signal may mean: resembling a topic that articles leave out never makes an answer likelier. Without bounds the
# weights of signals that go together cancel out on the corpus, and fail at the first organisation that differs.
DIRECTIONS: dict[str, Bounds] = {
    "elsewhere": DOWN, "elsewhere_both": DOWN, "balance": DOWN, "balance_both": DOWN,
    "usual_both": UP, "body": UP, "lead_five": UP, "low": UP, "back": UP,
}  # fmt: skip
SCALE = 500.0  # a set of weight 1 counts as this many questions, whatever its size
LOST = 0.05  # share of answerable tuning questions that may fall below `answered`
ABSTAIN = 0.4  # share of unanswerable tuning questions that stay above `related`


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """Questions with their truth over one index.

    Args:
        states: whether a passage states a fact that a question names.
        weight: of the whole set in the confidence.
        decides: whether the thresholds are set on it.
        ranks: whether the weights of the scores are learned from it too.
    """

    name: str
    retriever: Retriever
    questions: tuple[Asked, ...]
    states: Callable[[str, Passage], bool]
    weight: float = 1.0
    decides: bool = False
    ranks: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A question's candidates [k, 3], and which of them are right [k]."""

    features: Matrix
    right: NDArray[np.bool_]
    is_short: bool


def case_questions(cases: Sequence[Case]) -> tuple[Asked, ...]:
    """The eval cases that are questions of their own: without history, and not about the assistant itself."""
    return tuple(
        Asked(case.id, case.text, case.language, bool(case.facts), tuple(case.facts))
        for case in cases
        if not case.history and case.kind not in SOCIAL
    )


def examples(chosen: TrainingSet) -> list[Example]:
    """The candidates of every question whose right passages are known."""
    snapshot = chosen.retriever.index.snapshot()
    found = []
    for asked in chosen.questions:
        if not asked.facts:
            continue
        candidates = chosen.retriever.candidates(Question(asked.text, asked.language))
        families = candidates.families
        right = [
            any(
                chosen.states(fact, snapshot.rows[position].passage)
                for fact in asked.facts
                for position in snapshot.families[family.name]
            )
            for family in families
        ]
        is_short = math.exp(candidates.signals["length"]) <= SHORT + 0.5
        found.append(Example(_features(families), np.array(right, bool), is_short))
    return found


def _features(families: Sequence[Family]) -> Matrix:
    return np.array([[getattr(family, name) for name in FEATURES] for family in families])


def learn_fusion(rows: Sequence[Example]) -> dict[str, float]:
    """Non-negative weights by listwise likelihood with a small ridge on the scaled weights."""
    usable = [row for row in rows if row.right.any()]
    scale = np.std(np.concatenate([row.features - row.features.mean(axis=0) for row in usable]), axis=0)

    def loss(weights: Matrix) -> float:
        total = 0.0
        for row in usable:
            scores = (row.features / scale) @ weights
            scores -= scores.max()
            total -= np.log(np.exp(scores[row.right]).sum() / np.exp(scores).sum() + 1e-12)
        return total / len(usable) + RIDGE * float(weights @ weights)

    best = minimize(loss, np.ones(len(FEATURES)), bounds=[(0, None)] * len(FEATURES), method="L-BFGS-B")
    return dict(zip(FEATURES, (round(float(weight), 2) for weight in best.x / scale), strict=True))


def learn_confidence(
    signals: Sequence[dict[str, float]],
    answerable: Sequence[bool],
    groups: Sequence[str],
    weights: Sequence[float],
) -> tuple[dict[str, float], Matrix]:
    """Logistic weights on the raw signals, and out-of-fold probabilities [n]; a group is never in two folds."""
    names = list(signals[0])
    table = np.array([[row[name] for name in names] for row in signals])
    mean, scale = table.mean(axis=0), table.std(axis=0) + 1e-9
    scaled = np.column_stack([(table - mean) / scale, np.ones(len(table))])
    truth, shares = np.array(answerable), np.array(weights)
    bounds = [DIRECTIONS.get(name, EITHER) for name in names] + [EITHER]
    held = np.zeros(len(truth))
    for train, test in GroupKFold(FOLDS).split(scaled, truth, groups):
        held[test] = expit(scaled[test] @ _logistic(scaled[train], truth[train], shares[train], bounds))
    fitted = _logistic(scaled, truth, shares, bounds)
    raw = fitted[:-1] / scale
    bias = float(fitted[-1] - raw @ mean)
    learned = {"bias": round(bias, 4)} | {name: round(float(w), 4) for name, w in zip(names, raw, strict=True)}
    return learned, held


def _logistic(rows: Matrix, truth: Matrix, shares: Matrix, bounds: Sequence[Bounds]) -> Matrix:
    """Weights within bounds that maximise the weighted likelihood with an L2 penalty on all but the last, [m]."""
    signs = np.where(truth, 1.0, -1.0)

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        margins = signs * (rows @ weights)
        kept = np.append(weights[:-1], 0.0)
        slope = STRENGTH * (rows.T @ (-signs * shares * expit(-margins))) + kept
        return STRENGTH * float(shares @ np.logaddexp(0, -margins)) + 0.5 * float(kept @ kept), slope

    start = np.zeros(rows.shape[1])
    return np.asarray(minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 2000}).x)


def learn(sets: Sequence[TrainingSet], file: Path = FILE) -> Calibration:
    """Learns from all sets and writes the file."""
    current = sets[0].retriever.calibration
    rows = [example for chosen in sets if chosen.ranks for example in examples(chosen)]
    fusion, short_fusion = (
        Fusion(**learn_fusion([row for row in rows if row.is_short is is_short])) for is_short in (False, True)
    )
    draft = current.model_copy(update={"fusion": fusion, "short_fusion": short_fusion})
    signals: list[dict[str, float]] = []
    for chosen in sets:
        tuned = replace_calibration(chosen.retriever, draft)
        signals += [tuned.candidates(Question(asked.text, asked.language)).signals for asked in chosen.questions]
    asked = [(chosen, question) for chosen in sets for question in chosen.questions]
    confidence, held = learn_confidence(
        signals,
        [question.answerable for _, question in asked],
        [question.id for _, question in asked],
        [chosen.weight * SCALE / len(chosen.questions) for chosen, _ in asked],
    )
    truth = np.array([question.answerable for _, question in asked])
    main = np.array([chosen.decides for chosen, _ in asked])
    answered = round(float(np.quantile(held[truth & main], LOST)), 3)
    related = round(min(answered, float(np.quantile(held[~truth & main], 1 - ABSTAIN))), 3)
    measured = [_measured(chosen, held[[owner is chosen for owner, _ in asked]], answered) for chosen in sets]
    learned = Calibration(
        provenance=(
            f"python -m evals calibrate, {datetime.now(UTC):%Y-%m-%d}, model {sets[0].retriever.embedder.name}; "
            f"out of fold: {'; '.join(measured)}"
        ),
        fusion=fusion,
        short_fusion=short_fusion,
        confidence=confidence,
        answered=answered,
        related=related,
        close=current.close,
    )
    file.write_text(json.dumps(learned.model_dump(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return learned


def replace_calibration(retriever: Retriever, calibration: Calibration) -> Retriever:
    """The same retriever with other numbers."""
    return Retriever(retriever.index, retriever.embedder, retriever.topics, calibration, retriever.wordings)


def _measured(chosen: TrainingSet, held: Matrix, answered: float) -> str:
    """What the out-of-fold probabilities say about one set."""
    truth = np.array([question.answerable for question in chosen.questions])
    kept = f"{chosen.name} ({len(truth)} questions) {np.mean(held[truth] >= answered):.3f} of the answerable answered"
    if truth.all():
        return kept
    refused = np.mean(held[~truth] < answered)
    if not truth.any():
        return f"{chosen.name} ({len(truth)} questions) {refused:.3f} not answered"
    return f"{kept}, {refused:.3f} of the others not, AUROC {roc_auc_score(truth, held):.3f}"
