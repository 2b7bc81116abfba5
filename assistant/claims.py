"""Judges a rephrased sentence by the passage it cites, before it leaves: does the passage say this?

In: a sentence in the asker's language, a passage with its translations. Out: "" or the reason why it must not be said.
Never: trusts the model that wrote it, or compares words with one exact wording: that is `verify`'s work on extracts.

Figures, names, small words and meaning are each compared. Meaning is compared token by token, by late interaction (see
`retrieve`) with vectors of the same embedding model, relative to their language's mean. What a passage's translations
say counts too, save for what is denied and in which order. The thresholds were set on the tuning half of evals/planted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import regex
from numpy.typing import NDArray

from assistant.index import Index, Snapshot
from assistant.language import Detector
from assistant.models import Embedder
from assistant.readings import Reading, read
from assistant.records import Passage
from assistant.senses import AXES, read_senses

STRICT = ("only", "all", "always", "must", "sure", "free", "at_least", "at_most", "right", "wrong")
KEPT = 512  # passages whose readings are remembered
BROKEN = regex.compile(r"[\p{Cc}\p{Cs}\p{Co}\p{Cn}\uFFFD]")
LETTERS = regex.compile(r"\p{L}")
Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A passage, read in the language it is shown in, and its translations, each read in its own."""

    passage: Passage
    own: Reading
    others: tuple[Reading, ...]

    @property
    def all(self) -> tuple[Reading, ...]:
        """Every reading, the passage's own first."""
        return (self.own, *self.others)


@dataclass(frozen=True, slots=True)
class Support:
    """How well a claim's words are found in its evidence."""

    mean: float
    least: float
    order: float


class Judge:
    """Judges sentences; safe to share, remembers passages."""

    def __init__(self, index: Index, embedder: Embedder, detector: Detector) -> None:
        self.index, self.embedder, self.detector = index, embedder, detector
        self._evidence: OrderedDict[tuple[str, str, str], Evidence | None] = OrderedDict()

    def evidence(self, passage: Passage) -> Evidence | None:
        """The passage and its translations, read; None where its language's small words are not known."""
        snapshot = self.index.snapshot()
        key = (snapshot.generation, passage.id, passage.text)
        if key not in self._evidence:
            self._evidence[key] = self._read_evidence(passage, snapshot)
            while len(self._evidence) > KEPT:
                self._evidence.popitem(last=False)
        return self._evidence[key]

    def _read_evidence(self, passage: Passage, snapshot: Snapshot) -> Evidence | None:
        family = [snapshot.rows[place].passage for place in snapshot.families.get(passage.family, ())]
        siblings = [passage, *(other for other in family if other.id != passage.id)]
        readings = [self._read(_stated(one), one.language, snapshot) for one in siblings]
        if readings[0] is None:
            return None
        return Evidence(passage, readings[0], tuple(found for found in readings[1:] if found is not None))

    def _read(self, text: str, code: str, snapshot: Snapshot) -> Reading | None:
        language = read_senses(code)
        if language is None:
            return None
        mean = snapshot.means.get(code)
        if mean is None:
            mean = np.mean(list(snapshot.means.values()), axis=0)
        return read(text, language, code, self.embedder.embed_passages([text])[0], mean, snapshot.names)

    def objection(self, text: str, passage: Passage, language: str) -> str:
        """Why `text`, said in `language` with the passage as its source, is not supported; "" when it is."""
        evidence = self.evidence(passage)
        snapshot = self.index.snapshot()
        claim = self._read(text, language, snapshot)
        if evidence is None or claim is None:
            return "its language can't be judged"
        if BROKEN.search(text) or not LETTERS.search(text):
            return "it holds broken characters, or no words"
        detected = self.detector.detect(text, [language], snapshot.names).language
        if detected != language and {detected, language} != {"zh-Hans", "zh-Hant"}:
            return f"it is not in the asker's language ({detected} instead of {language})"
        for check in (_figures, _names, _senses, _sides, _denials, _meaning):
            if reason := check(claim, evidence):
                return reason
        return ""


def _stated(passage: Passage) -> str:
    """What a passage states: its text, and a heading that asks nothing."""
    heading = "" if passage.kind in ("faq", "row") or passage.heading.endswith(("?", "？", "؟")) else passage.heading
    return f"{heading}\n{passage.shown}" if heading else passage.shown


def _figures(claim: Reading, evidence: Evidence) -> str:
    held = {figure for reading in evidence.all for figure in reading.figures}
    values = {figure.value for figure in held} | {value for reading in evidence.all for value in reading.implied}
    for figure in claim.figures:
        if figure in held or (not figure.unit and (figure.value in values or figure.value == 1)):
            continue
        return "a figure that the passage does not hold"
    measures = {measure for reading in evidence.all for measure in reading.measures}
    ones = {unit for reading in evidence.all for unit in reading.mentions}
    for value, unit in claim.measures:
        if (value, unit) not in measures and not (value == Decimal(1) and unit in ones):
            return "a span of time that the passage does not hold"
    return ""


def _names(claim: Reading, evidence: Evidence) -> str:
    held = {name for reading in evidence.all for name in reading.names}
    told = " ".join(reading.folded for reading in evidence.all) + f" {evidence.passage.title.casefold()}"
    missing = [name for name in claim.names if name not in held and name not in told]
    return "a name that the passage does not hold" if missing else ""


def _senses(claim: Reading, evidence: Evidence) -> str:
    held = {name for reading in evidence.all for name in reading.mentions}
    for name in (*STRICT, *(one for one in claim.mentions if one.startswith("unit "))):
        if name in claim.mentions and name not in held:
            return f"it says '{name}', the passage does not"
    return ""


def _sides(claim: Reading, evidence: Evidence) -> str:
    held = {name for reading in evidence.all for name in reading.mentions}
    for axis in AXES:
        for side, other in (("+", "-"), ("-", "+")):
            said = f"{axis} {side}" in claim.mentions
            if said and f"{axis} {side}" not in held and f"{axis} {other}" in held:
                return f"it turns '{axis}' round"
    return ""


def _denials(claim: Reading, evidence: Evidence) -> str:
    cosines = similarities(claim, evidence.own)
    if denied_elsewhere(claim, evidence.own, cosines) > 0.6:
        return "it denies what the passage does not"
    if denied_elsewhere(evidence.own, claim, cosines.T) > 0.6:
        return "it does not deny what the passage does"
    return ""


def similarities(claim: Reading, evidence: Reading) -> Array:
    """Cosine of each token of the claim with each of the evidence, a little more where they are the same word, [n, m]."""
    same = np.array([[one == other for other in evidence.pieces] for one in claim.pieces], bool)
    cosines = claim.tokens @ evidence.tokens.T
    return np.asarray(np.where(same, 0.5 + cosines / 2, cosines), np.float32)


def denied_elsewhere(text: Reading, other: Reading, cosines: Array) -> float:
    """The most that one of a text's denials reaches of what the other text says without denying it, in 0..1."""
    worst = 0.0
    for denial in text.denials:
        places = [place for place in denial if text.weights[place] > 0]
        if not places:
            continue
        weights = text.weights[places]
        best = cosines[places].argmax(axis=1)
        sure = cosines[places].max(axis=1)
        free = np.array([place not in other.denied for place in best])
        worst = max(worst, float((weights * sure * free).sum() / weights.sum()))
    return worst


def support(claim: Reading, evidence: Sequence[Reading]) -> Support:
    """How well the claim's tokens are found: mean and least over words, and how far their order is kept."""
    own = similarities(claim, evidence[0])
    best = own.max(axis=1)
    for other in evidence[1:]:
        best = np.maximum(best, (claim.tokens @ other.tokens.T).max(axis=1))
    weights = claim.weights
    mean = float((best * weights).sum() / max(float(weights.sum()), 1e-6))
    heavy = best[weights > 6] if (weights > 6).any() else best
    least = float(np.sort(heavy)[:2].mean())
    places = own.argmax(axis=1)[best > 0.75]
    order = float((np.diff(places) >= 0).mean()) if len(places) > 1 else 1.0
    return Support(mean, least, order)


def _meaning(claim: Reading, evidence: Evidence) -> str:
    found = support(claim, evidence.all)
    if found.mean < 0.6:
        return "the passage does not say this"
    return ""
