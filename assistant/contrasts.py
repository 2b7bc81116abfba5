"""Two readings compared: how near their words are, what they share, what one denies, ranks or names otherwise.

In: Readings. Out: cosines, shares and token numbers. Never: decides; `claims` does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
import regex
from numpy.typing import NDArray

from assistant.language import LATIN_RUN
from assistant.readings import Reading

COMPARED = ("amount", "price", "quality", "speed")
NEAR = 40  # characters between a word that compares and its mark
# All set on the tuning sentences of evals/planted: a share of a claim's weight that makes it about a sentence; a cosine
# from which on two tokens are the same thing; how fast a denial fades, token by token; cosines that are as good as the
# best; the share of what a denial reaches that must be found in the other text.
TOUCHED, SURE, FADING, CLOSE, KNOWN = 0.25, 0.7, 0.75, 0.1, 0.4
SAME = 0.75  # what a word is worth at least that stands in both, whatever surrounds it
# Weight of a word that must be found, and the mean cosine from which on its pieces are; by how much a token is decided.
STRANGE_WEIGHT, STRANGE_NEAR, DECIDED = 11.0, 0.5, 0.1
WORD = regex.compile(r"(?:(?![\p{Han}\p{Kana}\p{Hira}])[\p{L}\p{M}]){4,}|\p{Kana}[\p{Kana}ー]{2,}|\p{Han}{2,}")
CONTINUOUS, HAN = regex.compile(r"[\p{Han}\p{Kana}]"), regex.compile(r"\p{Han}")
Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Support:
    """How well a claim's words are found in its evidence."""

    mean: float
    least: float
    order: float


def ranking(reading: Reading, sentences: Sequence[int]) -> tuple[list[int], list[int]]:
    """Tokens of what is ahead and of what is behind, where the sentences compare; else nothing."""
    places = [n for n in range(len(reading.spans)) if reading.sentence[n] in sentences]
    marks = sorted((at, name) for name in ("leads", "trails") for at in reading.mentions.get(name, ()))
    marks = [(at, name) for at, name in marks if places and _is_within(reading, at, places)]
    paired = len({name for _, name in marks}) > 1  # 「AよりBのほうが」
    if not marks or (
        not paired and not any(reading.in_sentences(f"{axis} {side}", sentences) for axis in COMPARED for side in "+-")
    ):
        return [], []
    sides = [at for axis in COMPARED for side in "+-" for at in reading.mentions.get(f"{axis} {side}", ())]
    marks = [mark for mark in marks if any(0 <= mark[0] - at <= NEAR for at in sides)] or marks
    before = [n for n in places if reading.spans[n][1] <= marks[0][0]]
    after = [n for n in places if reading.spans[n][0] > marks[0][0]]
    if len(marks) > 1 and marks[0][1] != marks[1][1]:
        after = [n for n in after if reading.spans[n][1] <= marks[1][0]]
    pair = (before, after) if marks[0][1] == "leads" else (after, before)
    less = reading.in_sentences("amount -", sentences) and not reading.in_sentences("amount +", sentences)
    return (pair[1], pair[0]) if less else pair


def contrast(reading: Reading, sentences: Sequence[int]) -> tuple[list[int], list[int]]:
    """Tokens of what the sentences say and of what they deny, where they do both."""
    places = [n for n in range(len(reading.spans)) if reading.sentence[n] in sentences and reading.weights[n] > 0]
    denied = [n for n in places if n in reading.denied]
    return ([n for n in places if n not in reading.denied], denied) if denied else ([], [])


def effective_sides(reading: Reading, axis: str, sentences: Collection[int]) -> frozenset[str]:
    """The sides of an axis that the sentences take, a denied one being its opposite: "not easy" is "hard"."""
    taken = set()
    for side, other in (("+", "-"), ("-", "+")):
        for at in reading.mentions.get(f"{axis} {side}", ()):
            tokens = [n for n, (start, end) in enumerate(reading.spans) if start <= at < end]
            if tokens and reading.sentence[tokens[0]] in sentences:
                taken.add(other if tokens[0] in reading.denied else side)
    return frozenset(taken)


def is_stated(reading: Reading, name: str) -> bool:
    """Whether a term of that name stands somewhere outside the reach of a denial."""
    ends = [end for _, end in reading.spans]
    return any(int(np.searchsorted(ends, at, "right")) not in reading.denied for at in reading.mentions.get(name, ()))


def _is_within(reading: Reading, at: int, places: Sequence[int]) -> bool:
    return reading.spans[places[0]][0] <= at < reading.spans[places[-1]][1]


def nearness(claim: Reading, cosines: Array, tokens: Sequence[int], others: Sequence[int]) -> float:
    """Mean cosine of some of the claim's tokens with the nearest of some of the evidence's."""
    weights = claim.weights[list(tokens)]
    best = cosines[np.ix_(list(tokens), list(others))].max(axis=1)
    return float((weights * best).sum() / max(float(weights.sum()), 1e-6))


def votes(
    claim: Reading, cosines: Array, tokens: Sequence[int], one: Sequence[int], other: Sequence[int]
) -> tuple[float, float]:
    """The weight of the claim's tokens that are decidedly nearer to one part of the evidence, and to the other."""
    rows = cosines[list(tokens)]
    lead = rows[:, list(one)].max(axis=1) - rows[:, list(other)].max(axis=1)
    weights = claim.weights[list(tokens)]
    return float(weights[lead > DECIDED].sum()), float(weights[lead < -DECIDED].sum())


def strange_words(claim: Reading, evidence: Sequence[Reading], context: str) -> list[str]:
    """The claim's weighty words that the evidence neither holds, in any form, nor comes near to.

    A word is a Latin, Cyrillic … word, a run of katakana, or neighbouring Han pieces; small words of the language's
    file are none.

    Args:
        context: more that belongs to the evidence, case-folded.
    """
    told = "\n".join([context, *(reading.folded for reading in evidence)])
    best = similarities(claim, evidence[0]).max(axis=1)
    for other in evidence[1:]:
        best = np.maximum(best, (claim.tokens @ other.tokens.T).max(axis=1))
    found = []
    for run in WORD.finditer(claim.folded):
        word = run.group()
        if (word if CONTINUOUS.match(word) else word[: max(4, len(word) * 7 // 10)]) in told:
            continue
        inside = [n for n, (start, end) in enumerate(claim.spans) if run.start() < end and start < run.end() > start]
        for group in _unheld(claim, inside, told) if HAN.match(word) else [inside]:
            weight = float(claim.weights[group].sum()) if group else 0.0
            if weight >= STRANGE_WEIGHT and float(best[group].mean()) < STRANGE_NEAR:
                found.append(word)
    return found


def _unheld(claim: Reading, tokens: Sequence[int], told: str) -> list[list[int]]:
    """Neighbouring pieces of a Han run that the evidence does not hold."""
    groups: list[list[int]] = [[]]
    for n in tokens:
        start, end = claim.spans[n]
        if end - start < 2 or claim.folded[start:end] in told or n in claim.small:
            groups.append([])
        else:
            groups[-1].append(n)
    return [group for group in groups if group]


def named_clauses(reading: Reading) -> list[tuple[list[int], frozenset[str]]]:
    """The clauses' tokens without names, and whom each is about; one without a name is about the last before it."""
    found: list[tuple[list[int], frozenset[str]]] = []
    named = tokens_in(reading, reading.words)
    for clause in reading.clauses:
        names = frozenset(name for name in reading.names if tokens_in(reading, {name, f"{name}s"}) & set(clause))
        if not names and found and reading.sentence[clause[0]] == reading.sentence[found[-1][0][-1]]:
            names = found[-1][1]
        tokens = [n for n in clause if n not in named]
        if tokens:
            found.append((tokens, names))
    return found


def kept_order(words: Sequence[str], said: Sequence[str]) -> float:
    """The share of the words that stand in the other text in the same order."""
    blocks = SequenceMatcher(None, words, said, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / max(len(words), 1)


def touched_sentences(claim: Reading, evidence: Reading) -> list[int]:
    """The evidence's sentences that hold a quarter or more of what the claim says."""
    cosines = similarities(claim, evidence)
    shares = np.bincount(evidence.sentence[cosines.argmax(axis=1)], claim.weights, len(evidence.sentence_starts))
    return [int(n) for n in np.flatnonzero(shares >= TOUCHED * max(float(claim.weights.sum()), 1e-6))]


def similarities(claim: Reading, evidence: Reading) -> Array:
    """Cosine of each token of the claim with each of the evidence, more where they are the same word, [n, m]."""
    same = np.array([[one == other for other in evidence.pieces] for one in claim.pieces], bool)
    cosines = claim.tokens @ evidence.tokens.T
    return np.asarray(np.where(same, 0.5 + cosines / 2, cosines), np.float32)


def denied_elsewhere(
    text: Reading,
    other: Reading,
    cosines: Array,
    topic: Collection[str],
    sentences: Collection[int] | None = None,
    least: float = 4.0,
) -> float:
    """The most that one of a text's denials reaches of what the other text says and nowhere denies, in 0..1.

    Args:
        topic: words that tell nothing here, being what the whole passage is about.
        sentences: those of the text whose denials count; None is all.
        least: weight of the tokens found in the other text from which on a denial counts.
    """
    worst = 0.0
    every = np.arange(len(other.spans))
    excuses = other.denied | doubted_tokens(other) | (frozenset() if sentences is None else trailing_tokens(other))
    doubted = np.isin(every, list(excuses))
    doubted_widely = doubted | np.isin(every, list(other.denying))
    about = tokens_in(text, topic)
    for denial in text.denials:
        places = [place for place in denial.tokens if text.weights[place] > 0 and place not in about]
        if sentences is not None:
            places = [place for place in places if text.sentence[place] in sentences]
        if not places:
            continue
        weights = text.weights[places] * FADING ** np.arange(len(places))
        same = np.array([[text.pieces[n] == piece for piece in other.pieces] for n in places], bool)
        near = np.where(same & (weights[:, None] > 0), np.maximum(cosines[places], SAME), cosines[places])
        sure = near.max(axis=1)
        excused = doubted_widely if denial.wide else doubted
        free = ~((near >= np.maximum(SURE, sure - CLOSE)[:, None]) & excused).any(axis=1)
        known = weights * (sure > SURE)
        if known.sum() >= KNOWN * weights.sum() and text.weights[places][sure > SURE].sum() >= least:
            worst = max(worst, float((known * free).sum() / known.sum()))
    return worst


def tokens_in(reading: Reading, words: Collection[str]) -> frozenset[int]:
    """The tokens that these folded Latin words are made of."""
    found = [match.span() for match in LATIN_RUN.finditer(reading.folded) if match.group() in words]
    return frozenset(
        n for n, (start, end) in enumerate(reading.spans) if any(low <= start and end <= high for low, high in found)
    )


def doubted_tokens(reading: Reading) -> frozenset[int]:
    """Tokens of sentences that call something wrong: near enough to a denial that one may stand for the other."""
    wrong = np.searchsorted(reading.sentence_starts, reading.mentions.get("wrong", ()), side="right") - 1
    return frozenset(np.flatnonzero(np.isin(reading.sentence, wrong)).tolist())


def trailing_tokens(reading: Reading) -> frozenset[int]:
    """Tokens of what a comparison puts behind, in its mark's clause: "rather A than B" may stand for "not B"."""
    behind: list[int] = []
    for one in range(len(reading.sentence_starts)):
        last = ranking(reading, [one])[1]
        behind += [n for clause in reading.clauses if last and last[-1] in clause for n in clause if n in last]
    return frozenset(behind)


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
