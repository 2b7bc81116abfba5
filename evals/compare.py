"""What got worse since an earlier run, beyond noise.

In: two reports over the same kind of cases. Out: one sentence for each regression. Never: compares different cases:
only those that both runs asked count.

The same cases are asked both times, so each check is tested on pairs: of the cases that changed, those that got worse
against those that got better, by McNemar's exact test, one-sided (McNemar 1947; a binomial test with p = ½). Chance in
many tests is held at 5 % by Holm's method (1979), once over all cases together and once over languages and kinds. A
guarantee (an exact quote, a figure with a source) has no noise: one new lapse is a regression.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import binomtest

from evals.measures import CHECKS, GUARANTEES

LEVEL = 0.05
Report = Mapping[str, Any]
MARKS = {True: "1", False: "0", None: "-"}


@dataclass(frozen=True, slots=True)
class Change:
    """How one check changed over one group of cases: `worse` were right and are no longer, `better` the other way."""

    group: str
    check: str
    worse: int
    better: int
    cases: int

    @property
    def chance(self) -> float:
        """The probability of a drop as large as this one if nothing had changed for the worse."""
        changed = self.worse + self.better
        return float(binomtest(self.worse, changed, 0.5, alternative="greater").pvalue) if changed else 1.0


def regressions(now: Report, before: Report) -> list[str]:
    """One sentence for each check that got worse beyond noise.

    A report's `cases` holds, by id, `language`, `kind` and `checks`: one mark a check in the order of CHECKS.
    """
    shared = [name for name in now["cases"] if name in before["cases"]]
    groups: dict[str, list[str]] = {}
    for name in shared:
        case = now["cases"][name]
        for group in (case["language"], case["kind"]):
            groups.setdefault(group, []).append(name)
    found = []
    overall = [_change("all", check, shared, now, before) for check in CHECKS if check not in GUARANTEES]
    parts = [
        _change(group, check, names, now, before)
        for group, names in groups.items()
        for check in CHECKS
        if check not in GUARANTEES
    ]
    for change in (*beyond_chance(overall), *beyond_chance(parts)):
        found.append(
            f"{change.group}: {change.check} got worse in {change.worse} of {change.cases} cases and better in "
            f"{change.better} (p = {change.chance:.4f})"
        )
    for check in GUARANTEES:
        lapses = [name for name in shared if _mark(now, name, check) == "0" != _mark(before, name, check)]
        if lapses:
            found.append(f"all: {check} no longer holds in {', '.join(lapses[:5])}")
    return found


def beyond_chance(changes: Sequence[Change], level: float = LEVEL) -> list[Change]:
    """The changes that Holm's method keeps: the k-th smallest chance, counted from 0, is held against level/(n - k)."""
    kept = []
    for rank, change in enumerate(sorted(changes, key=lambda one: one.chance)):
        if change.chance > level / (len(changes) - rank):
            break
        kept.append(change)
    return kept


def marks(values: Sequence[bool | None]) -> str:
    """The outcome of each check as one character."""
    return "".join(MARKS[value] for value in values)


def _change(group: str, check: str, names: Sequence[str], now: Report, before: Report) -> Change:
    pairs = [(_mark(before, name, check), _mark(now, name, check)) for name in names]
    return Change(group, check, pairs.count(("1", "0")), pairs.count(("0", "1")), len(pairs))


def _mark(report: Report, name: str, check: str) -> str:
    return str(report["cases"][name]["checks"])[list(CHECKS).index(check)]
