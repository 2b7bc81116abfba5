"""Questions that ask the same thing in any words and languages: vectors in, a label each out.

In: texts, embeddings. Out: texts without what people only say to be polite, vectors, labels. Never: reads or keeps
anything, knows a word of any language, or embeds.

A question's vector is the mean of its token vectors, each relative to its language's mean (as in retrieval) and
weighted by the token's rarity; directions in which phrasings of one generic topic differ are then damped (within-class
covariance normalisation, Hatch et al. 2006). On the tuning half of `python -m evals gaps` the model's own sentence
vector, centred or not, left twice as many questions outside their topic's row at the same purity; comparing token by
token was no better, and without the damping 5 points of a hundred fewer came together at the same purity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

import numpy as np
import regex
from numpy.typing import NDArray

from assistant.errors import InputError
from assistant.lexical import tokenise
from assistant.models import Embedding, unit_rows
from assistant.topics import Topics

Array = NDArray[np.float32]
Labels = NDArray[np.int64]
POWER = 3  # of the cosine: the nearest pairs of two groups then weigh most; 1, 2, 4 and 5 brought fewer together
APART = 0.965  # mean distance from which two groups are two topics: in three months of the tuning half the rows' purity
# was .96, .92 and .96; at .97 .95, .92 and .94
SHRINKAGE = 3.0  # of the damping, in mean variances: 1 and .3 brought fewer questions together
JOINS = 0.45  # cosine to a topic's middle above which one more question belongs to it
FORMAT = 2  # of the vectors: changes when they do
MOST = 4000  # different questions clustered at once: 64 MB of distances
BESIDES = 10  # different things that a polite clause stands beside, at least
SAMPLE = 20  # of them are compared
ALIKE = 0.15  # mean overlap of their words up to which they are about different things
# What stands inside words ("it's", "e-mail", "v1.2") parts no clauses, and what opens one belongs to it.
OPENING = r"\p{Ps}\p{Pi}¿¡"
MARK = rf"[\p{{P}}\n--['’\p{{Pd}}@&/_·.{OPENING}]]"
CLAUSE = regex.compile(rf"(?:(?<={MARK})|(?<=\.)(?=\s))(?=[^\p{{P}}]|[{OPENING}])", regex.V1)
LONGEST = 12  # words of a polite clause that is found where no mark parts it from the question
SEPARATORS = regex.compile(r"[\p{P}\s]+")


def polite_clauses(texts: Iterable[str]) -> frozenset[str]:
    """Clauses that stand beside many different questions and so tell none of them apart ("sorry to bother you")."""
    beside: dict[str, set[str]] = defaultdict(set)
    for text in set(texts):
        said = [name for name in map(plain, _clauses(text)) if name]
        for place, name in enumerate(said if len(said) > 1 else ()):
            beside[name].add(" ".join(said[:place] + said[place + 1 :]))
    return frozenset(name for name, others in beside.items() if len(others) >= BESIDES and _differ(others))


def without(text: str, polite: Collection[str]) -> str:
    """The text less its polite clauses; whole where nothing would be left."""
    kept = "".join(clause for clause in _clauses(text) if plain(clause) not in polite)
    while len(shorter := _trimmed(kept, polite)) < len(kept):
        kept = shorter
    return " ".join(kept.split()) if plain(kept) else text


def damping(topics: Topics) -> Array:
    """What damps the directions in which phrasings and languages of one generic topic differ, [d, d]."""
    sums = np.zeros_like(topics.centroids)
    np.add.at(sums, topics.owner, topics.vectors)
    means = sums / np.maximum(np.bincount(topics.owner, minlength=len(sums)), 1)[:, None]
    apart = topics.vectors - means[topics.owner]
    variances, directions = np.linalg.eigh(apart.T @ apart / len(apart))
    scales = (variances + SHRINKAGE * variances.mean()) ** -0.5
    return np.asarray((directions * scales) @ directions.T, np.float32)


def question_vector(embedding: Embedding, topics: Topics, language: str, damped: Array) -> Array:
    """The vector to cluster by, [d], of unit length; `damped` is what `damping` gives."""
    tokens = topics.centre(embedding.said(), language)
    weights = np.maximum(embedding.rarity_said(), np.float32(0.1))
    return unit_rows(np.asarray(unit_rows(weights @ tokens) @ damped, np.float32))


def cluster(vectors: Array) -> Labels:
    """A label for each unit vector, [n]: average linkage (Sokal & Michener 1958) of one less the cosine's power.

    Raises:
        InputError: scikit-learn is not installed.
    """
    if len(vectors) < 2:
        return np.zeros(len(vectors), np.int64)
    try:
        from sklearn.cluster import AgglomerativeClustering  # a second to import, and the server need not wait for it
    except ImportError:
        raise InputError("gaps can't be gathered without scikit-learn; install the extra `staff`") from None
    distances = np.clip(vectors @ vectors.T, 0, 1)
    np.subtract(1, np.power(distances, POWER, out=distances), out=distances)
    linkage = AgglomerativeClustering(
        n_clusters=None, distance_threshold=APART, metric="precomputed", linkage="average"
    )
    return np.asarray(linkage.fit_predict(distances), np.int64)


def middles(vectors: Array, labels: Labels, counts: Sequence[int]) -> Array:
    """Unit middle of each label's vectors, [k, d], each vector counted so many times."""
    found = np.zeros((int(labels.max()) + 1, vectors.shape[1]), np.float32)
    np.add.at(found, labels, vectors * np.asarray(counts, np.float32)[:, None])
    return unit_rows(found)


def join(vectors: Array, centres: Array) -> Labels:
    """The label of the nearest centre for each vector, [n]; -1 where none is near enough."""
    if not len(vectors) or not len(centres):
        return np.full(len(vectors), -1, np.int64)
    cosines = vectors @ centres.T
    return np.where(cosines.max(axis=1) >= JOINS, cosines.argmax(axis=1), -1)


def _trimmed(text: str, polite: Collection[str]) -> str:
    """The text less a polite clause that begins or ends it with no mark between ("cancel order please help")."""
    words = plain(text).split()
    for count in range(min(len(words) - 1, LONGEST), 0, -1):
        if " ".join(words[-count:]) in polite:
            return regex.sub(rf"(?:[^\p{{P}}\s]+[\p{{P}}\s]*){{{count}}}$", "", text)
        if " ".join(words[:count]) in polite:
            last = rf"[^\p{{P}}\s]+[\p{{P}}\s--[{OPENING}]]*"  # what opens the question stays
            return regex.sub(rf"(?V1)^[\p{{P}}\s]*(?:[^\p{{P}}\s]+[\p{{P}}\s]*){{{count - 1}}}{last}", "", text)
    return text


def _clauses(text: str) -> list[str]:
    return CLAUSE.split(text)


def plain(text: str) -> str:
    """The words alone: no capitals, no punctuation."""
    return SEPARATORS.sub(" ", text.casefold()).strip()


def _differ(texts: Collection[str]) -> bool:
    ordered = sorted(texts)
    sample = [set(tokenise(text)) for text in ordered[:: max(1, len(ordered) // SAMPLE)][:SAMPLE]]
    overlaps = [len(one & other) / max(1, len(one | other)) for one, other in combinations(sample, 2)]
    return sum(overlaps) / len(overlaps) <= ALIKE
