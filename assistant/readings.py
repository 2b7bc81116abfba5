"""A text read closely: its tokens, what it denies, restricts, bounds and compares, its figures and names.

In: a text with its language and embedding. Out: a Reading. Never: compares two texts; `claims` does.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import regex
from numpy.typing import NDArray

from assistant.figures import Figure, find_figures, named_currencies
from assistant.language import ADDRESS, LATIN_RUN, script_of, split_sentences
from assistant.models import Embedding
from assistant.numerals import as_digits, implied_values
from assistant.senses import Language, Mention, as_pattern, find_mentions, fold
from assistant.spelling import fold_accents, fold_han

CLAUSE_END = regex.compile(r"[,;:.!?…()\[\]{}«»“”\"،؛؟۔。।！？；：，、（）「」『』—–](?!\d)|\n")
COMMON = 5.0  # minus the log-probability of a token that says little (an article, a particle)
LISTED = 6  # tokens: a shorter part between commas is a member of a list
REACH = 14  # tokens that a denial reaches at most
NUMBER_AND_UNIT = regex.compile(r"(\p{Nd}[\p{Nd}.,]*)[\s\p{Pd}]{0,2}$")
Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Denial:
    """The tokens that a denial reaches, the nearest first; `wide` where it denies a verb with all of its clause."""

    tokens: tuple[int, ...]
    wide: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One text.

    Args:
        tokens: vectors relative to their language's mean, unit rows, [n, d].
        pieces: the tokens folded to letters; weights: how much each says, [n].
        spans: where each stands in the folded text.
        sentence: number of each token's sentence, [n]; sentence_starts: where each begins in the folded text.
        mentions: terms by name.
        figures, implied: written or spelled; said by words such as `twice`.
        measures: (value, unit of time) pairs; currencies: named, with or without a figure.
        names: folded words that keep their form in every language; words: the same as they are written.
        clauses: tokens between marks that part more than a list.
        small: tokens of terms in the language's file.
    """

    language: str
    folded: str
    tokens: Array
    pieces: tuple[str, ...]
    weights: Array
    spans: tuple[tuple[int, int], ...]
    sentence: NDArray[np.int64]
    sentence_starts: tuple[int, ...]
    denials: tuple[Denial, ...]
    mentions: dict[str, tuple[int, ...]]
    figures: frozenset[Figure]
    implied: frozenset[Decimal]
    measures: frozenset[tuple[Decimal, str]]
    currencies: frozenset[str]
    names: frozenset[str]
    words: frozenset[str]
    clauses: tuple[tuple[int, ...], ...]
    small: frozenset[int]

    @property
    def denied(self) -> frozenset[int]:
        """Tokens in the reach of a denial; two of them are one in many languages ("no tiene ninguna")."""
        return frozenset(token for denial in self.denials for token in denial.tokens)

    @property
    def denying(self) -> frozenset[int]:
        """Tokens of sentences that deny something."""
        sentences = {self.sentence[token] for token in self.denied}
        return frozenset(np.flatnonzero(np.isin(self.sentence, list(sentences))).tolist())

    def sentence_text(self, sentence: int) -> str:
        """The folded text of a sentence, by its number."""
        ends = (*self.sentence_starts[1:], len(self.folded))
        return self.folded[self.sentence_starts[sentence] : ends[sentence]]

    def in_sentences(self, name: str, sentences: Collection[int]) -> bool:
        """Whether a term of that name stands in one of these sentences."""
        places = np.searchsorted(self.sentence_starts, self.mentions.get(name, ()), side="right") - 1
        return bool(set(places.tolist()) & set(sentences))


def read(
    text: str, language: Language, code: str, embedding: Embedding, mean: Array, names: Collection[str] = ()
) -> Reading:
    """The reading of a text; `mean` is the language's mean token vector, `names` known ones in lower case."""
    folded = fold(text)
    rows = embedding.tokens if embedding.tokens is not None else embedding.vector[None]
    centred = rows - mean
    tokens = centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9)
    pieces = tuple(fold(piece.replace("▁", "")) for piece in embedding.pieces) or ("",) * len(rows)
    spans = _spans(folded, pieces)
    found = list(find_mentions(folded, language))
    digits = as_digits(text, code)
    mentions: dict[str, list[int]] = {}
    for mention in found:
        for name in mention.names:
            mentions.setdefault(name, []).append(mention.start)
    rarity = np.maximum(embedding.rarity - COMMON, 0.0)
    weights = np.where([any(c.isalpha() for c in piece) for piece in pieces], rarity, 0.0)
    starts = np.cumsum([0, *(len(sentence) for sentence in split_sentences(unicodedata.normalize("NFKC", text)))])[:-1]
    sentence = np.searchsorted(starts, [start for start, _ in spans], side="right") - 1
    return Reading(
        language=code,
        folded=folded,
        tokens=np.asarray(tokens, np.float32),
        pieces=tuple(fold_han(fold_accents(piece)) for piece in pieces),
        weights=np.asarray(weights, np.float32),
        spans=spans,
        sentence=sentence,
        sentence_starts=tuple(starts.tolist()),
        denials=tuple(_denials(folded, found, spans, sentence)),
        mentions={name: tuple(places) for name, places in mentions.items()},
        figures=find_figures(digits),
        implied=frozenset(map(Decimal, implied_values(text, language))),
        measures=measures(digits, language),
        currencies=named_currencies(text),
        names=frozenset(map(stem, words := _names(text, language, code, names))) | _foreign_names(folded, language),
        words=frozenset(word.lower() for word in words),
        clauses=tuple(_clauses(folded, found, spans, sentence)),
        small=frozenset(
            n for n, (start, end) in enumerate(spans) if any(one.start < end and start < one.end for one in found)
        ),
    )


def _spans(folded: str, pieces: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    spans, at = [], 0
    for piece in pieces:
        start = folded.find(piece, at, at + len(piece) + 12) if piece else at
        start = at if start < 0 else start
        at = start + len(piece)
        spans.append((start, at))
    return tuple(spans)


def _denials(
    folded: str, found: list[Mention], spans: tuple[tuple[int, int], ...], sentence: NDArray[np.int64]
) -> Iterator[Denial]:
    """The tokens that each denial reaches: to the next mark or turn, or all of its sentence."""
    ends = [match.start() for match in CLAUSE_END.finditer(folded)]
    ends += [mention.start for mention in found if "turn" in mention.names]
    for mention in found:
        if "next" in mention.names:
            stop = min((end for end in ends if end >= mention.end), default=len(folded))
            reached = [n for n, (start, end) in enumerate(spans) if start >= mention.end and end <= stop]
            yield Denial(tuple(reached[:REACH]))
        elif "last" in mention.names:
            begin = max((end for end in ends if end < mention.start), default=0)
            before = [n for n, (start, end) in enumerate(spans) if start >= begin and end <= mention.start]
            yield Denial(tuple(reversed(before))[:REACH])
        elif "clause" in mention.names:
            begin = max((end for end in ends if end < mention.start), default=0)
            stop = min((end for end in ends if end >= mention.end), default=len(folded))
            inside = [n for n, (start, end) in enumerate(spans) if start >= begin and end <= stop]
            around = [n for n in inside if spans[n][1] <= mention.start or spans[n][0] >= mention.end]
            yield Denial(tuple(around), True)
        elif "sentence" in mention.names:
            own = [sentence[n] for n, (_, end) in enumerate(spans) if end > mention.start][:1] or sentence[-1:]
            outside = [n for n, (start, end) in enumerate(spans) if end <= mention.start or start >= mention.end]
            part = np.searchsorted(sorted(ends), [start for start, _ in spans], side="right")
            for one in dict.fromkeys(part[n] for n in outside if sentence[n] == own[0]):  # each member of a list alone
                yield Denial(tuple(n for n in outside if sentence[n] == own[0] and part[n] == one))


def _clauses(
    folded: str, found: list[Mention], spans: tuple[tuple[int, int], ...], sentence: NDArray[np.int64]
) -> Iterator[tuple[int, ...]]:
    """Tokens from mark to mark or turn; a part of a few tokens belongs to the one behind it, as in a list."""
    ends = [match.start() for match in CLAUSE_END.finditer(folded)]
    ends += [mention.start for mention in found if "turn" in mention.names]
    part = np.searchsorted(sorted(ends), [start for start, _ in spans], side="right")
    held: list[int] = []
    for n in range(len(spans)):
        if held and part[n] != part[held[-1]] and (len(held) >= LISTED or sentence[n] != sentence[held[-1]]):
            yield tuple(held)
            held = []
        held.append(n)
    if held:
        yield tuple(held)


def measures(digits: str, language: Language) -> frozenset[tuple[Decimal, str]]:
    """Figures with the unit of time right behind them: (90, day)."""
    pairs = set()
    folded = fold(digits)
    for mention in find_mentions(folded, language):
        for name in mention.names:
            before = NUMBER_AND_UNIT.search(folded[: mention.start])
            inside = regex.match(r"\p{Nd}+", folded[mention.start : mention.end])
            written = inside.group() if inside else before.group(1) if before else ""
            if name.startswith("unit ") and written:
                pairs |= {(figure.value, name) for figure in find_figures(written)}
    return frozenset(pairs)


def _names(text: str, language: Language, code: str, known: Collection[str]) -> frozenset[str]:
    """Names and addresses: in Latin script by their capitals, in other scripts every Latin word."""
    names = {address.lower().rstrip(".,;") for address in ADDRESS.findall(text)}
    foreign = script_of(code) != "Latn"
    begins = True
    for found in LATIN_RUN.finditer(text):
        word = found.group().rstrip("._-/")
        begins = begins or bool(regex.search(r"[.!?:]\s*[\"«“(]*$", text[: found.start()]))
        capital = word[:1].isupper() and not begins and not language.capitalises_nouns
        special = any(letter.isupper() for letter in word[1:]) or "." in word
        is_name = foreign or capital or special or word.lower() in known
        if is_name and any(letter.isalpha() for letter in word) and not regex.fullmatch(r"[\d.,]+[kKMB]?", word):
            names.add(word)
        begins = False
    return frozenset(names)


def _foreign_names(folded: str, language: Language) -> frozenset[str]:
    """Names in another script, in Latin letters as other languages keep them."""
    terms = ((as_pattern(fold(term)), name) for term, name in language.names.items())
    return frozenset(stem(name) for pattern, name in terms if regex.search(pattern, folded))


def stem(word: str) -> str:
    """A name without its plural or genitive ending: GPUs, Amazon's."""
    folded = fold_accents(word)
    return folded.removesuffix("'s").removesuffix("s") if len(folded) > 3 else folded
