"""Translations compared sentence by sentence by their small words: one denies, the others do not; one says before, the
others after; one says only, the others do not.

In: a text in several languages. Out: Findings at the language that stands alone against all others.
Never: judges a language without a file of senses, or takes one language's word against a single other one's where a
denial may hide in another word: there both must be plain.

Sentences are aligned by their lengths (Gale & Church 1993), so that a denial is looked for where it belongs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log

import regex

from assistant.language import display_width, language_name, split_sentences
from assistant.ledger import Finding, Place
from assistant.senses import AXES, as_pattern, find_mentions, fold, read_senses

DENIALS = {"next", "last", "sentence", "clause"}
# Senses that translations of the clean corpus share so often that one alone is worth a look.
SHARED = ("only",)
UNSURE = ("amount",)  # an axis whose words say too many things
MERGED = 0.5  # cost of joining two sentences, in logarithms of length
SHOWN = {
    "at_most": "a highest amount", "at_least": "a lowest amount", "answer": "yes or no", "amount": "more or less",
    "price": "dear or cheap", "quality": "better or worse", "speed": "fast or slow", "order": "before or after",
    "time": "early or late", "likeness": "alike or different", "edge": "begin or end", "ease": "easy or hard",
    "consent": "allowed or forbidden", "inside": "included or excluded", "only": "only",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """What the small words of a sentence say.

    Args:
        denies: by a plain denial; leans: by a word that may stand for one, too.
        names: senses and sides of axes.
    """

    place: Place
    text: str
    denies: bool
    leans: bool
    names: frozenset[str]


def compare_polarity(unit: Sequence[Place]) -> Iterator[Finding]:
    """Sentences whose denial, side or restriction stands alone."""
    known = [place for place in unit if read_senses(place.language)]
    if len(known) < 2:
        return
    for row in _aligned(known):
        said = [_said(place, text) for place, text in zip(known, row, strict=True)]
        if all(one.text for one in said):
            denied = list(_denials(said))
            yield from denied
            yield from () if denied else _sides(said)


def _said(place: Place, text: str) -> Said:
    language = read_senses(place.language)
    if language is None:
        return Said(place, "", False, False, frozenset())
    folded = fold(text)
    mentions = list(find_mentions(folded, language))
    names = {name for mention in mentions for name in mention.names}
    leans = bool(names & DENIALS) or bool(names & {"wrong", "never"})
    leans = leans or any(regex.search(as_pattern(fold(term)), folded) for term in language.denies_weakly)
    strong = [mention for mention in mentions if DENIALS & set(mention.names)]
    if any(regex.search(as_pattern(fold(term)), folded) for term in language.restricts_weakly):
        names.add("only (weakly)")
    weak = {fold(term).strip("*") for term in language.denies_weakly}
    denies = any(folded[mention.start : mention.end] not in weak for mention in strong)
    return Said(place, text.strip(), denies, leans, frozenset(names))


def _denials(said: Sequence[Said]) -> Iterator[Finding]:
    for one in said:
        others = [other for other in said if other is not one]
        if one.denies and not any(other.leans for other in others):
            yield _finding(one, others[0], "denies something that its translations do not deny")
        elif not one.leans and all(other.leans for other in others) and sum(o.denies for o in others) >= _most(others):
            yield _finding(one, others[0], "does not deny what its translations deny")


def _sides(said: Sequence[Said]) -> Iterator[Finding]:
    pairs = [(axis, f"{axis} +", f"{axis} -") for axis in AXES if axis not in UNSURE]
    for axis, first, second in [*pairs, ("at_most", "at_most", "at_least"), ("at_least", "at_least", "at_most")]:
        for one in said:
            others = [other for other in said if other is not one]
            if any(
                own in one.names and other not in one.names and _all_say(others, other, own)
                for own, other in ((first, second), (second, first))
            ):
                yield _finding(one, others[0], f"says the opposite of its translations ({SHOWN[axis]})")
                return
    for name in SHARED:
        for one in said:
            others = [other for other in said if other is not one]
            lean = [other for other in others if other.names & {name, f"{name} (weakly)"}]
            plain = sum(name in other.names for other in others)
            if len(lean) == len(others) > 1 and plain >= _most(others) and not one.names & {name, f"{name} (weakly)"}:
                yield _finding(one, others[0], f"lacks a restriction that its translations have ({SHOWN[name]})")


def _all_say(others: Sequence[Said], name: str, opposite: str) -> bool:
    """Whether most of the others say it, and none the opposite."""
    return sum(name in one.names for one in others) >= _most(others) and not any(opposite in o.names for o in others)


def _most(others: Sequence[Said]) -> int:
    return max(1, (len(others) + 2) // 2) if len(others) > 1 else 1


def _finding(one: Said, other: Said, what: str) -> Finding:
    line = one.place.line
    place = Place(one.place.article, one.place.anchor, line, one.text)
    sibling = Place(other.place.article, other.place.anchor, other.place.line, other.text)
    reason = f"{language_name(one.place.language, 'en')} {what}; compare the two and correct one"
    return Finding("polarity", place, one.text[:40], reason, sibling)


def _aligned(unit: Sequence[Place]) -> Iterator[tuple[str, ...]]:
    """Sentences that belong together, one tuple a group, in the order of the places."""
    parts = [[part for part in split_sentences(place.text) if part.strip()] for place in unit]
    counts = [len(part) for part in parts]
    model = counts.index(max(set(counts), key=counts.count))
    cuts = [_cuts(parts[model], own) for own in parts]
    shared = sorted(set.intersection(*(set(cut) for cut in cuts)))
    start = 0
    for end in shared:
        yield tuple("".join(own[cut[start] if start else 0 : cut[end]]) for own, cut in zip(parts, cuts, strict=True))
        start = end


def _cuts(model: Sequence[str], own: Sequence[str]) -> dict[int, int]:
    """Numbers of the model's sentences after which both texts can be cut, with the own ones read until there."""
    if len(model) == len(own):
        return {number: number for number in range(1, len(model) + 1)}
    there, here = ([0, *accumulate(map(display_width, texts))] for texts in (model, own))
    scale = there[-1] / max(here[-1], 1)
    best: dict[tuple[int, int], tuple[float, tuple[int, int] | None]] = {(0, 0): (0.0, None)}
    for i in range(len(model) + 1):
        for j in range(len(own) + 1):
            for a, b in ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1)):
                if (i - a, j - b) in best:
                    width = max(scale * (here[j] - here[j - b]), 1)
                    cost = abs(log(max(there[i] - there[i - a], 1) / width)) + MERGED * (a + b - 2)
                    total = best[i - a, j - b][0] + cost
                    if (i, j) not in best or total < best[i, j][0]:
                        best[i, j] = (total, (i - a, j - b))
    end: tuple[int, int] | None = (len(model), len(own))
    if end not in best:
        return {len(model): len(own)}
    cuts = {}
    while end and end != (0, 0):
        cuts[end[0]] = end[1]
        end = best[end][1]
    return cuts
