"""What speaks against a sentence, read closely, beside the reading of the passage it cites.

In: a claim's Reading and the Evidence. Out: "" or the reason why the passage does not support the claim.
Never: embeds, reads files, or asks who wrote the sentence.

Figures, names, small words and meaning are each compared. Meaning is compared token by token, by late interaction (see
`retrieve`) with vectors of the same embedding model, relative to their language's mean. What a passage's translations
say counts too, save for what is denied and in which order. Where it is in doubt it objects: an extract takes the
sentence's place. The thresholds were set on evals/planted/*/tuning.yaml.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, product

from assistant.contrasts import (
    COMPARED,
    Array,
    contrast,
    denied_elsewhere,
    effective_sides,
    is_stated,
    kept_order,
    named_clauses,
    nearness,
    ranking,
    similarities,
    strange_words,
    support,
    touched_sentences,
    votes,
)
from assistant.language import LATIN_RUN
from assistant.lexical import words_of
from assistant.readings import Reading
from assistant.records import Passage
from assistant.senses import AXES

STRICT = ("only", "all", "always", "never", "must", "sure", "free", "at_least", "at_most", "right", "wrong")
# Axes of which "not the one" says "the other"; amounts and quality have degrees: "not more" is no "less".
DENIABLE = tuple(axis for axis in AXES if axis not in ("answer", "amount", "quality"))
DECISIVE = 4.0  # weight of the tokens that must speak for two sides exchanged
Sides = tuple[Sequence[int], Sequence[int]]
# Set on the tuning sentences: least mean cosine of a supported claim; shares of a denial that must be found
# to count, in the claim and of all it says; by how much a crossed comparison must be nearer; support from which on a
# claim asserts what the passage calls wrong; a clause's least tokens; how much nearer with two names exchanged, and how
# near at least.
SUPPORTED, DENIED, DROPPED, CROSSED, ASSERTED = 0.68, 0.5, 0.1, 0.02, 0.81
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


def first_objection(claim: Reading, evidence: Evidence) -> str:
    """The first reason why the evidence does not support the claim; "" where there is none."""
    for check in (_figures, _names, _senses, _sides, _opposites, _ranks, _roles, _exchanged, _denials, _meaning):
        if reason := check(claim, evidence):
            return reason
    return ""


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
    plainly = {name for reading in evidence.all for name in reading.mentions if is_stated(reading, name)}
    touched = touched_sentences(claim, evidence.own)
    plain = not any(evidence.own.in_sentences(name, touched) for name in ("partly", "depends"))
    if plain and not any(evidence.own.sentence[n] in touched for n in evidence.own.denied):
        held.add("must")  # "you bring the code" obliges, too
        plainly.add("must")
    for name in (*STRICT, *(one for one in claim.mentions if one.startswith("unit "))):
        if name in claim.mentions and name not in (plainly if is_stated(claim, name) else held):
            return f"it says '{name}', the passage does not"
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


def _opposites(claim: Reading, evidence: Evidence) -> str:
    """The opposite of what the passage says, by a word or by a denial: "easy" where it says "not easy"."""
    touched = touched_sentences(claim, evidence.own)
    for axis in DENIABLE:
        said = effective_sides(claim, axis, range(len(claim.sentence_starts)))
        held = effective_sides(evidence.own, axis, touched)
        if said and held and not said & held:
            return f"it turns '{axis}' round"
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
            if crossed > straight + CROSSED or _is_crossed(claim, cosines, (ahead, behind), (first, second)):
                return "it turns a comparison round"
    return ""


def _is_crossed(claim: Reading, cosines: Array, said: Sides, held: Sides) -> bool:
    """Whether what the claim puts behind is, where it differs, what the passage puts ahead, and not the reverse."""
    kept, turned = votes(claim, cosines, said[1], held[1], held[0])
    _, turned_ahead = votes(claim, cosines, said[0], held[0], held[1])
    return turned >= DECISIVE and turned > 2 * kept and turned_ahead >= DECISIVE / 2


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
    not_yet = "order +" in claim.mentions and not own.in_sentences(
        "order +", touched
    )  # "before there is" for "no … yet"
    if not not_yet and denied_elsewhere(own, claim, cosines.T, topic, touched, least) > DENIED:
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
    if support(claim, evidence.all).mean < SUPPORTED:
        return "the passage does not say this"
    return "a word that the passage comes nowhere near" if _strange(claim, evidence) else ""


def _strange(claim: Reading, evidence: Evidence) -> list[str]:
    return strange_words(claim, evidence.all, evidence.passage.context.casefold())
