"""What a sentence says beside what passages say: a condition, an exception, a promise that somebody has appended.

In: a claim's Reading and the Evidence of the passages. Out: whether it adds something. Never: needs to know how a
language joins clauses: no mark or conjunction is looked for.

A sentence in other words is a little off everywhere. One that was added to is nearly the passage's own, save for a run
of neighbouring tokens that no passage comes near to: the run with the largest sum of weight times distance (Kadane's).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assistant.contrasts import Array, similarities
from assistant.objections import Evidence
from assistant.readings import Reading

# Set on the tuning half of evals/planted/*/appended.yaml and on the true sentences of evals/planted/*/tuning.yaml: the
# cosine below which a token counts as added, the sum from which on a run does, and the least mean cosine of the rest.
NEAR, LEAST, REST = 0.75, 3.2, 0.82


def adds(claim: Reading, evidence: Sequence[Evidence]) -> bool:
    """Whether a claim that is otherwise close to the passages holds a run that none of them says."""
    best = np.max([_nearest(claim, one) for one in evidence], axis=0)
    start, end, total = _worst_run(claim.weights * (NEAR - best))
    rest = np.r_[0:start, end : len(best)]
    weights = claim.weights[rest]
    return total > LEAST and float((weights * best[rest]).sum()) >= REST * float(weights.sum())


def _nearest(claim: Reading, evidence: Evidence) -> Array:
    """The cosine of each token with the nearest of the passage and its translations."""
    best = similarities(claim, evidence.own).max(axis=1)
    for other in evidence.others:
        best = np.maximum(best, (claim.tokens @ other.tokens.T).max(axis=1))
    return np.asarray(best, np.float32)


def _worst_run(values: Array) -> tuple[int, int, float]:
    """The neighbours with the largest sum: where they begin, where they end, and the sum."""
    worst, best, start, total = (0, 0), 0.0, 0, 0.0
    for place, value in enumerate(values.tolist()):
        if total <= 0:
            start, total = place, 0.0
        total += value
        if total > best:
            worst, best = (start, place + 1), total
    return (*worst, best)
