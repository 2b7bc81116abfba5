"""Lexical matching in every script: tokens of a text, and an inverted index that scores all passages at once.

In: texts. Out: tokens; scores in 0..1, where 1 is a passage that holds every token of the question densely.
Never: assumes spaces between words, ASCII, or a language: scripts written without spaces give characters and bigrams,
the others words and character 4-grams (measured best of five tokenisations for zh, ja, es, de and en).
"""

from __future__ import annotations

import io
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import regex
from numpy.typing import NDArray

from assistant.spelling import fold_han

# Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): the usual k1 and b, with
# Lucene's always positive idf.
K1, B = 1.2, 0.75
GRAM = 4
UNSPACED = (
    r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー"
    r"\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]"
)
DIGIT = regex.compile(r"[^\P{Nd}0-9]")  # `٣` and `३` are 3
PIECE = regex.compile(rf"(?P<unspaced>{UNSPACED}+)|\p{{N}}+|(?P<word>[[\p{{L}}\p{{M}}]--{UNSPACED}]+)", regex.V1)


def tokenise(text: str) -> list[str]:
    """Tokens of a text: case, width, digits, accents and Han variants folded: `cuánto` is `cuanto`, `價` is `价`."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = "".join(c for c in unicodedata.normalize("NFD", folded) if not "\u0300" <= c <= "\u036f")
    folded = DIGIT.sub(lambda digit: str(unicodedata.decimal(digit.group(), digit.group())), folded)
    folded = fold_han(unicodedata.normalize("NFC", folded))
    tokens: list[str] = []
    for piece in PIECE.finditer(folded):
        run = piece.group()
        if piece.lastgroup == "unspaced":
            tokens.extend(run)
            tokens.extend(first + second for first, second in pairwise(run))
            continue
        tokens.append(run)
        if piece.lastgroup == "word" and len(run) >= GRAM:
            edged = f"^{run}$"
            tokens.extend(edged[at : at + GRAM] for at in range(len(edged) - GRAM + 1))
    return tokens


def words_of(text: str) -> list[str]:
    """The words of a text in order, width and case folded and nothing else; each unspaced character is a word.

    Punctuation and layout are gone, so two texts say the same in the same order when their words are the same.
    """
    words: list[str] = []
    for piece in PIECE.finditer(unicodedata.normalize("NFKC", text).casefold()):
        run = piece.group()
        words.extend(run if piece.lastgroup == "unspaced" else [run])
    return words


def _keys(tokens: Iterable[str]) -> NDArray[np.uint64]:
    digests = [blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest() for token in tokens]
    return np.frombuffer(b"".join(digests), dtype=np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class LexicalIndex:
    """Postings in compressed rows: token key -> passages and their BM25 weights.

    Args:
        keys: sorted 64-bit hashes of the tokens, [t].
        starts: [t + 1] bounds of each token's postings.
        passages, weights: [postings].
        idf: [t].
        size: number of passages.
    """

    keys: NDArray[np.uint64]
    starts: NDArray[np.int64]
    passages: NDArray[np.int32]
    weights: NDArray[np.float32]
    idf: NDArray[np.float32]
    size: int

    @classmethod
    def build(cls, texts: Sequence[str]) -> LexicalIndex:
        """Index `texts`; the position of a text is its passage's number."""
        counts = [Counter(tokenise(text)) for text in texts]
        lengths = np.array([count.total() for count in counts] or [1], dtype=np.float32)
        norms = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
        if not any(counts):
            nothing = np.zeros(0, np.float32)
            starts = np.zeros(1, np.int64)
            return cls(np.zeros(0, np.uint64), starts, np.zeros(0, np.int32), nothing, nothing, len(texts))
        key = np.concatenate([_keys(count) for count in counts])
        passage = np.repeat(np.arange(len(counts), dtype=np.int32), [len(count) for count in counts])
        frequency = np.concatenate([np.fromiter(count.values(), np.float32, len(count)) for count in counts])
        order = np.argsort(key, kind="stable")
        keys, starts = np.unique(key[order], return_index=True)
        bounds = np.append(starts, len(order)).astype(np.int64)
        document_frequency = np.diff(bounds)
        idf = _idf(document_frequency, len(texts))
        passage, frequency = passage[order], frequency[order]
        weights = np.repeat(idf, document_frequency) * frequency / (frequency + norms[passage])
        return cls(keys, bounds, passage, weights.astype(np.float32), idf, len(texts))

    def score(self, text: str) -> NDArray[np.float32]:
        """BM25 of every passage for the question `text`, divided by the score of a perfect match: [size] in 0..1."""
        scores = np.zeros(self.size, np.float32)
        keys = np.unique(_keys(tokenise(text)))
        if not len(keys) or not len(self.keys):
            return scores
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = self.keys[places] == keys
        for place in places[known]:
            rows = slice(self.starts[place], self.starts[place + 1])
            scores[self.passages[rows]] += self.weights[rows]
        unknown = float(_idf(np.zeros(1), self.size)[0]) * int((~known).sum())
        return scores / max(float(self.idf[places[known]].sum()) + unknown, 1e-6)

    def to_bytes(self) -> bytes:
        """The index as one blob."""
        buffer = io.BytesIO()
        arrays = {name: getattr(self, name) for name in ("keys", "starts", "passages", "weights", "idf")}
        np.savez(buffer, size=np.array(self.size), **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, blob: bytes) -> LexicalIndex:
        """The index that `to_bytes` wrote."""
        with np.load(io.BytesIO(blob), allow_pickle=False) as stored:
            return cls(
                stored["keys"], stored["starts"], stored["passages"], stored["weights"], stored["idf"],
                int(stored["size"]),
            )  # fmt: skip


def _idf(document_frequency: NDArray[np.integer] | NDArray[np.floating], size: int) -> NDArray[np.float32]:
    odds = (size - document_frequency + 0.5) / (document_frequency + 0.5)
    return np.asarray(np.log1p(odds), dtype=np.float32)
