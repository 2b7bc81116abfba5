"""Verdicts -> measures, by language and by kind of message.

In: Verdicts. Out: plain values: shares in 0..1 with the numbers behind them, times in milliseconds. Never: judges.

Expected calibration error: the mean over ten equally wide bins of the confidence of the distance between the bin's mean
confidence and its share of questions that the articles answer, weighted by size (Naeini et al. 2015). The confidence is
the probability that they do; messages that are no questions have none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from evals.judge import Verdict

BINS = 10
NO_QUESTION = ("greeting", "thanks", "person")  # kinds that are not for the articles to answer
Outcome = bool | None
# What is true or false of one reply; None where it can't be asked. A regression is tested on these.
CHECKS: dict[str, tuple[str, Callable[[Verdict], Outcome]]] = {
    "right": (
        "right outcome; an answer states all it should; no phrase or figure is missing or out of place",
        lambda one: one.is_right,
    ),
    "outcome": ("the kind of reply is right", lambda one: one.fits),
    "states": (
        "answerable: the reply states all it should, whatever it claims",
        lambda one: one.holds if one.case.is_answerable else None,
    ),
    "answered": (
        "answerable: the reply claims to answer",
        lambda one: one.claims if one.case.is_answerable else None,
    ),
    "refused": (
        "not answerable: the reply claims nothing",
        lambda one: None if one.case.is_answerable or one.case.kind in NO_QUESTION else not one.claims,
    ),
    "figures": ("every figure stands in a quote, and the ones that must or must not be there", lambda one: one.figures),
    "language": ("the reply speaks the right language", lambda one: one.answer.language == one.case.language),
    "exact": ("every quote is an exact part of its passage", lambda one: one.exact),
    "faithful": ("every figure stands in a quote", lambda one: one.faithful),
}
GUARANTEES = ("exact", "faithful")  # one lapse is one too many: no allowance for noise
# Ratios of counts over many replies: no test is made of them, the checks above hold their parts.
RATIOS = {
    "citation_precision": "of the citations in answers, those that name a place of what was asked",
    "citation_recall": "of the things asked that the articles answer, those of which an answer or near miss cites one",
    "abstention_precision": "of the questions not answered, those that have no answer",
    "abstention_recall": "of the questions without an answer, those not answered",
    "calibration_error": "expected calibration error: how far the confidence is from the share that has an answer",
}
TIMES = {
    "first_ms": "median time to the first sentence",
    "total_ms": "median time to the whole reply",
    "total_p95_ms": "95 % of the replies are whole within",
}
Measures = dict[str, Any]


def summarise(verdicts: Sequence[Verdict], of: Callable[[Verdict], str]) -> dict[str, Measures]:
    """Measures of each group that `of` names, by its name in order, and of "all"."""
    groups: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        groups[of(verdict)].append(verdict)
    return {name: measure(groups[name]) for name in sorted(groups)} | {"all": measure(verdicts)}


def measure(group: Sequence[Verdict]) -> Measures:
    """All measures of some verdicts; None where nothing can be measured. `sizes` holds how many each share is of."""
    shares, sizes = {}, {}
    for name, (_, check) in CHECKS.items():
        values = [value for value in map(check, group) if value is not None]
        shares[name], sizes[name] = _share(sum(values), len(values)), len(values)
    questions = [one for one in group if one.case.kind not in NO_QUESTION]
    silent = [one for one in questions if not one.claims]
    claims = [one for one in group if one.claims]
    ratios = {
        "citation_precision": _share(
            sum(one.right_citations for one in claims), sum(len(one.answer.citations) for one in claims)
        ),
        "citation_recall": _share(sum(one.cited for one in group), sum(one.needed for one in group)),
        "abstention_precision": _share(sum(not one.case.is_answerable for one in silent), len(silent)),
        "abstention_recall": shares["refused"],
        "calibration_error": calibration_error(bins(group)),
    }
    return {"cases": len(group), **shares, **ratios, **_times(group), "sizes": sizes}


def bins(group: Iterable[Verdict]) -> list[dict[str, float]]:
    """The questions by confidence, in equally wide bins: mean confidence, share that has an answer, number."""
    held: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for one in group:
        if one.case.kind not in NO_QUESTION and one.answer.outcome in ("answered", "related", "abstained"):
            place = min(BINS - 1, int(one.answer.confidence * BINS))
            held[place].append((one.answer.confidence, one.case.is_answerable))
    return [
        {
            "confidence": round(sum(confidence for confidence, _ in pairs) / len(pairs), 4),
            "answerable": round(sum(truth for _, truth in pairs) / len(pairs), 4),
            "questions": len(pairs),
        }
        for pairs in held
        if pairs
    ]


def calibration_error(of_bins: Sequence[dict[str, float]]) -> float | None:
    """See the module's text; None without questions."""
    total = sum(one["questions"] for one in of_bins)
    if not total:
        return None
    return round(sum(one["questions"] * abs(one["confidence"] - one["answerable"]) for one in of_bins) / total, 4)


def _times(group: Sequence[Verdict]) -> Measures:
    totals = [one.answer.timings_ms.get("total", 0.0) for one in group]
    return {
        "first_ms": round(float(np.median([one.first_ms for one in group])), 2),
        "total_ms": round(float(np.median(totals)), 2),
        "total_p95_ms": round(float(np.quantile(totals, 0.95)), 2),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
