"""Learns calibration.json from the tuning cases: weights of the scores, confidence, thresholds.

In: the tuning cases over the corpus, and over extracted articles where given. Out: the file, with its provenance.
Never: looks at the held-out cases.

Fusion weights maximise the likelihood of the right family under a softmax over candidates (listwise ranking). The
confidence is a logistic regression on the signals; its thresholds are set on out-of-fold probabilities.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from assistant.calibration import FILE, Calibration, Fusion
from assistant.records import Question
from assistant.retrieve import Family, Retriever
from evals.cases import Case, read_facts
from evals.judge import stands_in

Matrix = NDArray[np.float64]
FEATURES = ("body", "lexical", "topic")
RIDGE = 3e-3
LOST = 0.04  # share of answerable tuning questions that may fall below `answered`
ABSTAIN = 0.25  # share of unanswerable tuning questions that stay above `related`


@dataclass(frozen=True, slots=True)
class Example:
    """A question's candidates [k, 3], which of them are right [k], and whether it can be answered."""

    case: Case
    features: Matrix
    right: NDArray[np.bool_]


def examples(retriever: Retriever, cases: Sequence[Case]) -> list[Example]:
    """The candidates of every case."""
    facts = read_facts()
    snapshot = retriever.index.snapshot()
    found = []
    for case in cases:
        families = retriever.candidates(Question(case.text, case.language)).families
        right = [
            any(
                stands_in(facts[fact], snapshot.rows[position].passage)
                for fact in case.facts
                for position in snapshot.families[family.name]
            )
            for family in families
        ]
        found.append(Example(case, _features(families), np.array(right, bool)))
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
    signals: Sequence[dict[str, float]], answerable: Sequence[bool], groups: Sequence[str]
) -> tuple[dict[str, float], Matrix]:
    """Logistic weights on the raw signals, and out-of-fold probabilities [n]; a group is never in two folds."""
    names = list(signals[0])
    table = np.array([[row[name] for name in names] for row in signals])
    mean, scale = table.mean(axis=0), table.std(axis=0) + 1e-9
    model = LogisticRegression(C=1.0, max_iter=2000)
    scaled = (table - mean) / scale
    held = cross_val_predict(model, scaled, answerable, cv=GroupKFold(10), groups=groups, method="predict_proba")[:, 1]
    model.fit(scaled, answerable)
    weights = model.coef_[0] / scale
    bias = float(model.intercept_[0] - weights @ mean)
    learned = {"bias": round(bias, 4)} | {name: round(float(w), 4) for name, w in zip(names, weights, strict=True)}
    return learned, held


def learn(retrievers: Sequence[Retriever], cases: Sequence[Case], file: Path = FILE) -> Calibration:
    """Learns from the cases through each retriever (one an index) and writes the file."""
    current = retrievers[0].calibration
    rows = [example for retriever in retrievers for example in examples(retriever, cases)]
    fusion = Fusion(**learn_fusion(rows), foreign=current.fusion.foreign)
    draft = current.model_copy(update={"fusion": fusion})
    signals: list[dict[str, float]] = []
    for retriever in retrievers:
        tuned = Retriever(retriever.index, retriever.embedder, retriever.topics, draft, retriever.wordings)
        for case in cases:
            signals.append(tuned.candidates(Question(case.text, case.language)).signals)
    answerable = [bool(case.facts) for case in cases] * len(retrievers)
    confidence, held = learn_confidence(signals, answerable, [case.id for case in cases] * len(retrievers))
    truth = np.array(answerable)
    answered = round(float(np.quantile(held[truth], LOST)), 3)
    related = round(min(answered, float(np.quantile(held[~truth], 1 - ABSTAIN))), 3)
    learned = Calibration(
        provenance=(
            f"python -m evals calibrate, {datetime.now(UTC):%Y-%m-%d}: {len(cases)} tuning cases over "
            f"{len(retrievers)} indexes, model {retrievers[0].embedder.name}; out of fold {np.mean(held[truth] >= answered):.3f} "
            f"of the answerable are answered, {np.mean(held[~truth] < answered):.3f} of the others are not"
        ),
        fusion=fusion,
        confidence=confidence,
        answered=answered,
        related=related,
        close=current.close,
    )
    file.write_text(json.dumps(learned.model_dump(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return learned
