"""Measures of ranked answers, by language: the established implementations, with intervals where sets are small.

In: Ranked questions and the ids that are indexed. Out: plain values. Never: ranks or decides.

Ranking: ir-measures (MacAvaney et al. 2022) over pytrec_eval: hit@k is Success@k, MRR is RR, nDCG@10 and recall@10 are
graded where grades are given. Abstention: AUROC of the confidence against "can be answered" (scikit-learn); balanced
accuracy is the mean of the shares of answerable questions answered and of others not. Risk at a coverage c is the share
of wrong answers among the surest c of all questions (El-Yaniv and Wiener 2010), `aurc` its mean over coverages.
Intervals are 95 %: Wilson's for hit@1, a percentile bootstrap for the AUROC.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
from ir_measures import RR, R, Success, nDCG
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score, roc_curve

from evals.retrieval import Ranked

RANKING = {"hit@1": Success @ 1, "hit@10": Success @ 10, "mrr": RR, "ndcg@10": nDCG @ 10, "recall@10": R @ 10}
RATIOS = (*RANKING, "auroc", "best_balanced_accuracy")
COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
RESAMPLES, SEED = 500, 0
Measures = dict[str, Any]


def measure(found: Sequence[Ranked], indexed: Collection[str]) -> dict[str, Measures]:
    """Measures of each language of questions, "all" questions together, and the "mean" of the languages.

    Answerable questions none of whose relevant rows are indexed are left out and counted as `skipped`.
    """
    known = set(indexed)
    languages = sorted({one.row.lang for one in found})
    by_language = {
        code: _measure([one for one in found if code in (one.row.lang, "all")], known) for code in [*languages, "all"]
    }
    names = [*RANKING, "auroc", "balanced_accuracy", "best_balanced_accuracy", "aurc"]
    parts = {name: [by_language[code][name] for code in languages] for name in names}
    means = {name: _rounded(np.mean(values)) for name, values in parts.items() if values and None not in values}
    return by_language | {"mean": means}


def compare(ours: Mapping[str, Measures], theirs: Mapping[str, Measures]) -> dict[str, Measures]:
    """Ours divided by theirs, by language, where both are measured and theirs is not 0."""
    return {
        code: {
            name: _rounded(ours[code][name] / row[name])
            for name in RATIOS
            if ours[code].get(name) is not None and row.get(name)
        }
        for code, row in theirs.items()
    }


def _measure(found: Sequence[Ranked], known: set[str]) -> Measures:
    relevant = {
        one.row.qid: {name: grade for name, grade in one.row.relevant.items() if grade > 0 and name in known}
        for one in found
    }
    missing = {one.row.qid for one in found if _is_missing(one, relevant)}
    usable = [one for one in found if one.row.qid not in missing]
    ranked = [one for one in usable if relevant[one.row.qid]]
    measures: Measures = {"questions": len(found), "skipped": len(missing), "ranked": len(ranked)}
    measures |= _ranking(ranked, relevant)
    measures |= _abstention(usable)
    return measures | _risks(usable, relevant)


def _is_missing(one: Ranked, relevant: Mapping[str, Mapping[str, int]]) -> bool:
    return one.row.answerable and one.row.relevant_known and not relevant[one.row.qid]


def _ranking(ranked: Sequence[Ranked], relevant: Mapping[str, Mapping[str, int]]) -> Measures:
    if not ranked:
        return dict.fromkeys([*RANKING, "hit@1_interval"], None)
    truth = {one.row.qid: dict(relevant[one.row.qid]) for one in ranked}
    run = {one.row.qid: {name: -float(place) for place, name in enumerate(one.ids)} for one in ranked}
    values = ir_measures.calc_aggregate(list(RANKING.values()), truth, run)
    # A question for which nothing was found is missing from the run and counts as 0 all the same.
    shares = {name: _rounded(values[of]) for name, of in RANKING.items()}
    hits = sum(bool(one.ids) and one.ids[0] in truth[one.row.qid] for one in ranked)
    interval = binomtest(hits, len(ranked)).proportion_ci(method="wilson")
    return shares | {"hit@1_interval": [_rounded(interval.low), _rounded(interval.high)]}


def _abstention(usable: Sequence[Ranked]) -> Measures:
    truth = np.array([one.row.answerable for one in usable], bool)
    surety = np.array([one.confidence for one in usable])
    names = ("auroc", "auroc_interval", "balanced_accuracy", "best_balanced_accuracy", "answered", "refused")
    if truth.all() or not truth.any():
        return dict.fromkeys(names, None)
    false, true, _ = roc_curve(truth, surety)
    measures: Measures = {
        "auroc": _rounded(roc_auc_score(truth, surety)),
        "auroc_interval": _bootstrap(truth, surety),
        "best_balanced_accuracy": _rounded(np.max(true + 1 - false) / 2),
    }
    if any(one.outcome is None for one in usable):
        return dict.fromkeys(names, None) | measures
    claims = np.array([one.outcome == "answered" for one in usable])
    answered, refused = float(claims[truth].mean()), float(1 - claims[~truth].mean())
    return measures | {
        "answered": _rounded(answered),
        "refused": _rounded(refused),
        "balanced_accuracy": _rounded((answered + refused) / 2),
    }


def _bootstrap(truth: NDArray[np.bool_], surety: NDArray[np.float64]) -> list[float]:
    chance = np.random.default_rng(SEED)
    values = []
    for _ in range(RESAMPLES):
        drawn = chance.integers(0, len(truth), len(truth))
        if 0 < truth[drawn].sum() < len(drawn):
            values.append(roc_auc_score(truth[drawn], surety[drawn]))
    return [_rounded(value) for value in np.quantile(values, [0.025, 0.975])]


def _risks(usable: Sequence[Ranked], relevant: Mapping[str, Mapping[str, int]]) -> Measures:
    """Where the relevant rows are not known, an answer counts as wrong only if the question has none."""
    if not usable:
        return {"risk_at_coverage": {}, "aurc": None}
    ordered = sorted(usable, key=lambda one: -one.confidence)
    wrong = np.array([not _is_right(one, relevant[one.row.qid]) for one in ordered], float)
    risks = np.cumsum(wrong) / np.arange(1, len(wrong) + 1)
    points = {f"{share:.1f}": _rounded(risks[max(0, round(share * len(wrong)) - 1)]) for share in COVERAGES}
    return {"risk_at_coverage": points, "aurc": _rounded(risks.mean())}


def _is_right(one: Ranked, relevant: Mapping[str, int]) -> bool:
    if not one.row.answerable:
        return False
    return not one.row.relevant_known or bool(one.ids and one.ids[0] in relevant)


def _rounded(value: Any) -> float:
    return round(float(value), 4)
