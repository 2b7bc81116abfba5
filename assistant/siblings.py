"""Which passages are translations of each other.

In: passages of all articles and their passage vectors. Out: for each passage the id of its family.
Never: joins two passages of one language.

Articles that follow the corpus layout (same file name, given anchors) are matched by anchor and order. The others are
compared in the embedding space: two articles of different languages are translations when at least half of the shorter
one's passages, and a third of the longer one's, have a mutual nearest neighbour in the other, and these pairs are as
close as translations are; their passages are then aligned in order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from assistant.records import Passage

Vectors = NDArray[np.float32]
TRANSLATION_SHARE = 0.5
TRANSLATION_SHARE_OF_LONGER = 1 / 3
# Mean cosine of the pairs, relative to their languages' means. Measured with the bundled model on articles of six FAQ
# entries in nine languages, other articles being absent: 252 of 252 translations lie above it (the least at .39), all
# of 1493 pairs on unrelated subjects below (the most at .30). Without it, two small articles would be each other's
# nearest for want of others.
TRANSLATION_COSINE = 0.34
GAP = 0.15  # centred cosine below which leaving both out is better than pairing them
KIND_PENALTY = 0.2


def find_families(passages: Sequence[Passage], vectors: Vectors, anchored: Sequence[bool]) -> list[str]:
    """The family of each passage.

    Args:
        passages: in reading order within each article.
        vectors: their unit vectors, [n, d].
        anchored: whether the passage's section has an anchor given by its author.
    """
    groups = _Groups(passages)
    centred = _centre(passages, vectors)
    for rows_a, rows_b in _same_anchor(passages, anchored):
        groups.join(_align(passages, centred, rows_a, rows_b))
    loose = [row for row, given in enumerate(anchored) if not given]
    for rows_a, rows_b in _translations(passages, centred, loose):
        groups.join(_align(passages, centred, rows_a, rows_b))
    return groups.families()


class _Groups:
    """Disjoint sets of passages, each with at most one passage a language."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        self.members = {row: [row] for row in range(len(passages))}

    def join(self, pairs: Iterable[tuple[int, int]]) -> None:
        for first, second in pairs:
            left, right = self.members[first], self.members[second]
            languages = Counter(self.passages[row].language for row in [*left, *right])
            if left is not right and max(languages.values()) == 1:
                left.extend(right)
                for row in right:
                    self.members[row] = left

    def families(self) -> list[str]:
        return [min(self.passages[other].id for other in self.members[row]) for row in range(len(self.passages))]


def _centre(passages: Sequence[Passage], vectors: Vectors) -> Vectors:
    """Vectors less their language's mean: what is left compares across languages (raw e5 cosines all lie near .85)."""
    centred = vectors.copy()
    for language in {passage.language for passage in passages}:
        rows = [row for row, passage in enumerate(passages) if passage.language == language]
        centred[rows] -= centred[rows].mean(axis=0)
    norms = np.linalg.norm(centred, axis=1, keepdims=True)
    return np.asarray(centred / np.maximum(norms, 1e-6), dtype=np.float32)


def _same_anchor(passages: Sequence[Passage], anchored: Sequence[bool]) -> Iterator[tuple[list[int], list[int]]]:
    sections: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row, passage in enumerate(passages):
        if anchored[row]:
            sections[passage.article.split("/")[-1], passage.anchor][passage.article].append(row)
    for articles in sections.values():
        for first, second in combinations(sorted(articles), 2):
            rows_a, rows_b = articles[first], articles[second]
            if passages[rows_a[0]].language != passages[rows_b[0]].language:
                yield rows_a, rows_b


def _translations(
    passages: Sequence[Passage], centred: Vectors, loose: Sequence[int]
) -> Iterator[tuple[list[int], list[int]]]:
    by_language: dict[str, list[int]] = defaultdict(list)
    by_article: dict[str, list[int]] = defaultdict(list)
    for row in loose:
        by_language[passages[row].language].append(row)
        by_article[passages[row].article].append(row)
    for first, second in combinations(sorted(by_language), 2):
        mutual: dict[tuple[str, str], list[float]] = defaultdict(list)
        for row_a, row_b in _mutual_neighbours(centred, by_language[first], by_language[second]):
            cosine = float(centred[row_a] @ centred[row_b])
            mutual[passages[row_a].article, passages[row_b].article].append(cosine)
        for (article_a, article_b), cosines in sorted(mutual.items(), key=lambda item: -len(item[1])):
            rows_a, rows_b = by_article[article_a], by_article[article_b]
            shorter, longer = sorted((len(rows_a), len(rows_b)))
            enough = max(TRANSLATION_SHARE * shorter, TRANSLATION_SHARE_OF_LONGER * longer)
            if len(cosines) >= enough and float(np.mean(cosines)) >= TRANSLATION_COSINE:
                yield rows_a, rows_b


def _mutual_neighbours(vectors: Vectors, rows_a: list[int], rows_b: list[int]) -> Iterator[tuple[int, int]]:
    """Pairs that are each other's nearest, computed in strips so that memory stays bounded."""
    best_a = np.zeros(len(rows_a), np.int64)
    best_b, score_b = np.zeros(len(rows_b), np.int64), np.full(len(rows_b), -2.0, np.float32)
    right = vectors[rows_b].T
    for start in range(0, len(rows_a), 1024):
        scores = vectors[rows_a[start : start + 1024]] @ right
        best_a[start : start + 1024] = scores.argmax(axis=1)
        top, where = scores.max(axis=0), scores.argmax(axis=0) + start
        better = top > score_b
        best_b[better], score_b[better] = where[better], top[better]
    for index, row in enumerate(rows_a):
        if best_b[best_a[index]] == index:
            yield row, rows_b[int(best_a[index])]


def _align(
    passages: Sequence[Passage], centred: Vectors, rows_a: list[int], rows_b: list[int]
) -> Iterator[tuple[int, int]]:
    """Pairs in order: by kind and number where both sides have the same shape, else by the best monotone alignment
    (Needleman & Wunsch 1970, with similarity less GAP as the gain of a pair)."""
    kinds_a, kinds_b = ([passages[row].kind for row in rows] for rows in (rows_a, rows_b))
    if kinds_a == kinds_b:
        yield from zip(rows_a, rows_b, strict=True)
        return
    gains = centred[rows_a] @ centred[rows_b].T - GAP
    gains -= KIND_PENALTY * (np.array(kinds_a)[:, None] != np.array(kinds_b)[None, :])
    total = np.zeros((len(rows_a) + 1, len(rows_b) + 1), np.float32)
    for i, gain in enumerate(gains):
        best = np.maximum(total[i, :-1] + gain, total[i, 1:])
        total[i + 1, 1:] = np.maximum.accumulate(best)  # the best so far may also end further left
    i, j = len(rows_a), len(rows_b)
    while i and j:
        if total[i, j] == total[i - 1, j]:
            i -= 1
        elif total[i, j] == total[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            yield rows_a[i], rows_b[j]
