"""Judges a rephrased sentence by the passage it cites, before it leaves: does the passage say this?

In: a sentence in the asker's language, a passage with its translations. Out: "" or the reason why it must not be said.
Never: trusts the model that wrote it, or compares words with one exact wording: that is `verify`'s work on extracts.

Figures, names, small words and meaning are each compared. Meaning is compared token by token, by late interaction (see
`retrieve`) with vectors of the same embedding model, relative to their language's mean. What a passage's translations
say counts too, save for what is denied and in which order. The thresholds were set on the tuning half of evals/planted.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, product
from typing import Any

import numpy as np
import regex

from assistant.contrasts import (
    COMPARED,
    contrast,
    denied_elsewhere,
    effective_sides,
    kept_order,
    named_clauses,
    nearness,
    ranking,
    similarities,
    support,
    touched_sentences,
)
from assistant.index import Index, Snapshot
from assistant.language import LATIN_RUN, Detector
from assistant.lexical import words_of
from assistant.models import Embedder
from assistant.readings import Reading, read
from assistant.records import Passage
from assistant.senses import AXES, read_senses

STRICT = ("only", "all", "always", "must", "sure", "free", "at_least", "at_most", "right", "wrong")
DENIABLE = ("ease", "consent", "speed", "price", "quality")  # axes of which "not the one" says "the other"
KEPT = 512  # passages whose readings are remembered
BROKEN = regex.compile(r"[\p{Cc}\p{Cs}\p{Co}\p{Cn}\uFFFD]")
LETTERS = regex.compile(r"\p{L}")
# Set on the tuning half of evals/planted: least mean cosine of a supported claim; shares of a denial that must be found
# to count, in the claim and of all it says; by how much a crossed comparison must be nearer; support from which on a
# claim asserts what the passage calls wrong; a clause's least tokens; how much nearer with two names exchanged, and how
# near at least.
SUPPORTED, DENIED, DROPPED, CROSSED, ASSERTED = 0.6, 0.5, 0.2, 0.02, 0.82
LEAST_CLAUSE, EXCHANGED, ALIKE = 3, 0.05, 0.8


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


class Judge:
    """Judges sentences; safe to share, remembers passages."""

    def __init__(self, index: Index, embedder: Embedder, detector: Detector) -> None:
        self.index, self.embedder, self.detector = index, embedder, detector
        self._evidence: OrderedDict[tuple[str, str, str], Evidence | None] = OrderedDict()
        self._verdicts: OrderedDict[tuple[str, ...], str] = OrderedDict()
        self._lock = threading.Lock()

    def evidence(self, passage: Passage) -> Evidence | None:
        """The passage and its translations, read; None where its language's small words are not known."""
        snapshot = self.index.snapshot()
        key = (snapshot.generation, passage.id, passage.text)
        with self._lock:
            if key in self._evidence:
                return self._evidence[key]
        found = self._read_evidence(passage, snapshot)
        with self._lock:
            _keep(self._evidence, key, found)
        return found

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
        key = (self.index.snapshot().generation, passage.id, passage.text, language, text)
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._objection(text, passage, language)
            with self._lock:
                _keep(self._verdicts, key, verdict)
        return verdict

    def _objection(self, text: str, passage: Passage, language: str) -> str:
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
        for check in (_figures, _names, _senses, _sides, _ranks, _roles, _exchanged, _denials, _meaning):
            if reason := check(claim, evidence):
                return reason
        return ""


def _keep(kept: OrderedDict[Any, Any], key: tuple[str, ...], value: object) -> None:
    kept[key] = value
    while len(kept) > KEPT:
        kept.popitem(last=False)


def _stated(passage: Passage) -> str:
    """What a passage states: its text, and a heading that asks nothing."""
    return passage.shown


def _figures(claim: Reading, evidence: Evidence) -> str:
    held = {figure for reading in evidence.all for figure in reading.figures}
    values = {figure.value for figure in held} | {value for reading in evidence.all for value in reading.implied}
    for figure in claim.figures:
        if figure in held or (not figure.unit and (figure.value in values or figure.value == 1)):
            continue
        return "a figure that the passage does not hold"
    if claim.currencies - {unit for reading in evidence.all for unit in reading.currencies} - {f.unit for f in held}:
        return "a currency that the passage does not name"
    measures = {measure for reading in evidence.all for measure in reading.measures}
    ones = {unit for reading in evidence.all for unit in reading.mentions}
    for value, unit in claim.measures:
        if (value, unit) not in measures and not (value == Decimal(1) and unit in ones):
            return "a span of time that the passage does not hold"
    return ""


def _names(claim: Reading, evidence: Evidence) -> str:
    held = {name for reading in evidence.all for name in reading.names}
    told = " ".join(reading.folded for reading in evidence.all) + f" {evidence.passage.context.casefold()}"
    missing = [name for name in claim.names if name not in held and name not in told]
    return "a name that the passage does not hold" if missing else ""


def _senses(claim: Reading, evidence: Evidence) -> str:
    held = {name for reading in evidence.all for name in reading.mentions}
    touched = touched_sentences(claim, evidence.own)
    plain = not any(evidence.own.in_sentences(name, touched) for name in ("partly", "depends"))
    if plain and not any(evidence.own.sentence[n] in touched for n in evidence.own.denied):
        held.add("must")  # "you bring the code" obliges, too
    for name in (*STRICT, *(one for one in claim.mentions if one.startswith("unit "))):
        if name in claim.mentions and name not in held:
            return f"it says '{name}', the passage does not"
    return ""


def _hedges(claim: Reading, evidence: Evidence) -> str:
    own = evidence.own
    touched = touched_sentences(claim, own)
    for name in ("partly", "at_most", "at_least"):
        if name not in claim.mentions and touched and all(own.in_sentences(name, [one]) for one in touched):
            return f"it leaves out '{name}'"
    return ""


def _sides(claim: Reading, evidence: Evidence) -> str:
    own = evidence.own
    touched = touched_sentences(claim, own)
    everywhere = {name for reading in evidence.all for name in reading.mentions}
    for side, other in (("+", "-"), ("-", "+")):
        if f"answer {side}" in claim.mentions and f"answer {other}" in own.mentions:
            return "it says yes or no where the passage says the other"
    ranked = all(
        any(ranking(one, which)) for one, which in ((claim, range(len(claim.sentence_starts))), (own, touched))
    )
    everywhere_said = range(len(claim.sentence_starts))
    for axis in DENIABLE:
        said, held = effective_sides(claim, axis, everywhere_said), effective_sides(own, axis, touched)
        if said and held and not said & held:
            return f"it turns '{axis}' round"
    for axis in AXES:
        if axis in COMPARED and ranked:
            continue  # `_ranks` compares them
        for side, other in (("+", "-"), ("-", "+")):
            if f"{axis} {side}" not in claim.mentions or own.in_sentences(f"{axis} {side}", touched):
                continue
            if own.in_sentences(f"{axis} {other}", touched) and f"{axis} {other}" not in claim.mentions:
                return f"it turns '{axis}' round"
            if {"depends"} <= set(claim.mentions) & set(own.mentions):
                continue  # "whether it is cheaper depends …" claims neither
            if axis in (*COMPARED, "ease") and f"{axis} {side}" not in everywhere:
                return f"it compares '{axis}', the passage does not"
            if axis in COMPARED and own.in_sentences("likeness +", touched) and "likeness +" not in claim.mentions:
                return "it says different, the passage says the same"
    return ""


def _ranks(claim: Reading, evidence: Evidence) -> str:
    """Turned round: what is ahead in the claim is what is behind in the passage."""
    own = evidence.own
    cosines = similarities(claim, own)
    for order, sentence in product((ranking, contrast), touched_sentences(claim, own)):
        ahead, behind = order(claim, range(len(claim.sentence_starts)))
        first, second = order(own, [sentence])
        both = {claim.pieces[n] for n in ahead} & {claim.pieces[n] for n in behind}
        ahead, behind = ([n for n in side if claim.pieces[n] not in both] for side in (ahead, behind))
        if ahead and behind and first and second:
            straight = nearness(claim, cosines, ahead, first) + nearness(claim, cosines, behind, second)
            crossed = nearness(claim, cosines, ahead, second) + nearness(claim, cosines, behind, first)
            if crossed > straight + CROSSED:
                return "it turns a comparison round"
    return ""


def _roles(claim: Reading, evidence: Evidence) -> str:
    """Two names with each other's deeds: each clause is found best where the passage names the other."""
    own = evidence.own
    cosines = similarities(claim, own)
    parts = named_clauses(own)
    found = []
    for tokens, names in named_clauses(claim):
        weighty = [n for n in tokens if claim.weights[n] > 0]
        if names and parts and len(weighty) >= LEAST_CLAUSE:
            best = max(parts, key=lambda part: nearness(claim, cosines, weighty, part[0]))
            found.append((names, best[1]))
    for (first, first_held), (second, second_held) in combinations(found, 2):
        straight = len(first & first_held) + len(second & second_held)
        crossed = len(first & second_held) + len(second & first_held)
        if first_held != second_held and crossed > max(straight, 1):
            return "it says of one name what the passage says of another"
    return ""


def _exchanged(claim: Reading, evidence: Evidence) -> str:
    """Two names exchanged: with them the other way round, the claim is nearer to the passage's wording."""
    names = sorted(claim.names)
    words = words_of(claim.folded)
    for sentence in touched_sentences(claim, evidence.own):
        said = words_of(evidence.own.sentence_text(sentence))
        plain = kept_order(words, said)
        for first, second in combinations([name for name in names if name in words and name in said], 2):
            other = {first: second, second: first}
            swapped = [other.get(word, word) for word in words]
            if kept_order(swapped, said) > max(plain + EXCHANGED, ALIKE):
                return "it exchanges two names"
    return ""


def _denials(claim: Reading, evidence: Evidence) -> str:
    own = evidence.own
    cosines = similarities(claim, own)
    topic = {word.casefold() for word in LATIN_RUN.findall(evidence.passage.title)}
    touched = touched_sentences(claim, own)
    if denied_elsewhere(claim, own, cosines, topic) > DENIED:
        return "it denies what the passage does not"
    least = DROPPED * float(claim.weights.sum())
    if denied_elsewhere(own, claim, cosines.T, topic, touched, least) > DENIED:
        return "it does not deny what the passage does"
    asserted = support(claim, evidence.all).mean >= ASSERTED
    if (
        asserted
        and own.in_sentences("wrong", touched)
        and not claim.denials
        and not {"wrong", "trails", "leads"} & set(claim.mentions)
    ):
        return "it does not call wrong what the passage does"
    return ""


def _meaning(claim: Reading, evidence: Evidence) -> str:
    found = support(claim, evidence.all)
    if found.mean < SUPPORTED:
        return "the passage does not say this"
    return ""
