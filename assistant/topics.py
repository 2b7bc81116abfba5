"""What people usually ask anywhere: generic topics that compete with the articles for a question.

In: topics.yaml, an Embedder. Out: for a question, how much it resembles each topic, and a vector that stands for them.
Never: answers from a topic, or names an organisation's own subject.

Similarity alone can't tell that a refund question is not answered by an article about the same product: on near-domain
questions the best passage's score had an AUROC of .5, the best topic's score alone .86, both kinds of topics .94.
The topics' phrasings also expand a question: a one-word "cap?" is near "maximum amount", which is near the passage.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np
import yaml
from numpy.typing import NDArray

from assistant.errors import InputError, ModelError
from assistant.files import parse_yaml
from assistant.models import Embedder, Embedding, unit_rows
from assistant.records import Intent

FILE = Path(__file__).parent / "topics.yaml"
KINDS = ("elsewhere", "everyday", "usual")
TOKENS = ".tokens.npy"  # beside the other arrays, so that it can be mapped into memory
COARSE = 32  # topics of each kind compared token by token, by their centroids; the others can't win
SHARPNESS = 40.0  # of the softmax over topics: the expansion is the best topic, or a blend where several are close
EXAMPLES = 2  # of each of them and each language, by sentence vector
FAR = -1.0
# Topics that ask nothing of the articles.
INTENTS: dict[str, Intent] = {
    "intent_greeting": "greeting",
    "intent_small_talk": "greeting",
    "intent_thanks": "thanks",
    "intent_person": "person",
}
BATCH = 256
FORMAT = 4  # of the kept arrays
Array = NDArray[np.float32]
Report = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Resemblance:
    """A question beside the topics: for each, the mean over languages of the best example's late interaction, [t],
    one way (question tokens found in the example) and both ways; FAR for topics that were not compared."""

    one_way: Array
    both_ways: Array
    expansion: Array


@dataclass(frozen=True, eq=False)
class Topics:
    """Topics with the token vectors of their example questions, relative to their language's mean.

    Args:
        identity: changes with the examples and with the model.
        names: [t].
        elsewhere: whether help articles often leave the topic out, [t].
        everyday: whether it is, of these, the whole subject of some other organisation, [t].
        owner: topic of each example, [n]; group: (topic, language) of each example, numbered, [n].
        vectors: unit direction of the sum of each example's token vectors, [n, d].
        centroids: mean of a topic's vectors, [t, d].
        tokens: centred token vectors, [m, d], read from disk as they are needed.
        starts: [n + 1] bounds of each example's tokens.
        means: language -> mean of question token vectors, [d].
    """

    identity: str
    names: tuple[str, ...]
    elsewhere: NDArray[np.bool_]
    everyday: NDArray[np.bool_]
    owner: NDArray[np.int32]
    group: NDArray[np.int32]
    vectors: Array
    centroids: Array
    tokens: Array
    starts: NDArray[np.int64]
    means: dict[str, Array]

    def centre(self, tokens: Array, language: str) -> Array:
        """Question token vectors less their language's mean, of unit length; unknown languages use the mean of all."""
        return unit_rows(tokens - self.question_mean(language))

    def intent(self, compared: Resemblance) -> tuple[Intent, float]:
        """What a message wants: `question`, unless it resembles a topic that asks nothing more than any other; and by
        how much more."""
        order = np.argsort(-compared.both_ways)
        intent = INTENTS.get(self.names[order[0]], "question")
        other = next((number for number in order if self.names[number] not in INTENTS), order[0])
        return intent, float(compared.both_ways[order[0]] - compared.both_ways[other])

    @property
    def dimensions(self) -> int:
        """d, the length of a vector."""
        return int(self.centroids.shape[1])

    def question_mean(self, language: str) -> Array:
        """Mean token vector of the examples in a language, or over all where it has none."""
        return self.means.get(language, self.means[""])

    def compare(self, tokens: Array) -> Resemblance:
        """How much a question, centred token vectors [n, d], resembles each topic."""
        vector = unit_rows(tokens.sum(axis=0))
        coarse = self.centroids @ vector
        chosen = np.concatenate([_best(coarse, self.elsewhere), _best(coarse, ~self.elsewhere)])
        examples = self._nearest_examples(vector, chosen)
        lengths = self.starts[examples + 1] - self.starts[examples]
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        picked = np.repeat(self.starts[examples] - starts, lengths) + np.arange(int(lengths.sum()))
        cosines = tokens @ self.tokens[picked].T
        forth = np.maximum.reduceat(cosines, starts, axis=1).mean(axis=0)
        back = np.add.reduceat(cosines.max(axis=0), starts) / lengths
        one_way, both_ways = np.full((2, len(self.names)), FAR, np.float32)
        one_way[chosen] = self._best_of(forth, examples)[chosen]
        both_ways[chosen] = self._best_of((forth + back) / 2, examples)[chosen]
        usual = np.where(self.elsewhere, FAR, one_way)
        weights = np.exp(SHARPNESS * (usual - usual.max()))
        return Resemblance(one_way, both_ways, np.asarray(weights @ self.centroids / weights.sum(), np.float32))

    @cached_property
    def _group_starts(self) -> NDArray[np.integer]:
        """Where each (topic, language)'s examples begin: they are neighbours, in the order of their numbers."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))

    @cached_property
    def _topic_of(self) -> NDArray[np.integer]:
        """The topic of each (topic, language)."""
        return np.asarray(self.owner[self._group_starts])

    def _nearest_examples(self, vector: Array, topics: NDArray[np.integer]) -> NDArray[np.integer]:
        """Of these topics, the EXAMPLES nearest in each language, in order."""
        wanted = np.zeros(len(self.names), bool)
        wanted[topics] = True
        own = np.flatnonzero(wanted[self.owner])
        ordered = own[np.lexsort((-(self.vectors[own] @ vector), self.group[own]))]
        groups = self.group[ordered]
        rank = np.arange(len(groups)) - np.searchsorted(groups, groups)
        return np.sort(ordered[rank < EXAMPLES])

    def _best_of(self, scores: Array, examples: NDArray[np.integer]) -> Array:
        """Best example of each language, then the mean over languages, [t]; topics without examples give FAR."""
        groups = self.group[examples]
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        best = np.full(len(self._topic_of), np.nan, np.float32)
        best[groups[starts]] = np.maximum.reduceat(scores, starts)
        return self._mean_over_languages(best)

    def _mean_over_languages(self, best: Array) -> Array:
        seen = ~np.isnan(best)
        total = np.bincount(self._topic_of[seen], best[seen], len(self.names))
        count = np.bincount(self._topic_of[seen], minlength=len(self.names))
        return np.where(count > 0, total / np.maximum(count, 1), FAR).astype(np.float32)


def _best(scores: Array, among: NDArray[np.bool_]) -> NDArray[np.integer]:
    """The COARSE best positions of those that are among."""
    positions = np.flatnonzero(among)
    return positions[np.argsort(-scores[positions])[:COARSE]]


def load_topics(
    embedder: Embedder, folder: Path, file: Path = FILE, report: Report = lambda stage, share: None
) -> Topics:
    """The topics in the space of `embedder`; embedded at the first need and kept in `folder`."""
    text = file.read_bytes()
    name = sha256(f"{FORMAT} {embedder.name}".encode() + text).hexdigest()[:16]
    path = folder / f"topics-{name}.npz"
    kept = _load(path, name)
    if kept is None:
        arrays = _embed(read_topics(text, file), embedder, report)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _save(path.with_suffix(TOKENS), lambda kept: np.save(kept, arrays.pop("tokens")))
            _save(path, lambda kept: np.savez(kept, **arrays))
        except OSError as error:
            advice = "see that ASSISTANT_HOME may be written and has room"
            raise ModelError(f"{path}: can't be written ({error.strerror or error}); {advice}") from None
        kept = _load(path, name)
    if kept is None:
        raise ModelError(f"{path}: can't be read back; see that the disk has room")
    return kept


def read_topics(text: bytes, file: Path) -> list[tuple[str, str, str, str]]:
    """(kind, topic, language, question) rows of the file, in order; kind is one of KINDS.

    Raises:
        InputError: it is not kind -> topic -> language -> list of questions.
    """
    try:
        tree: Any = parse_yaml(text)
        return [
            (kind, str(topic), str(language), str(question))
            for kind in KINDS
            for topic, languages in tree[kind].items()
            for language, questions in languages.items()
            for question in questions
        ]
    except (yaml.YAMLError, AttributeError, TypeError, KeyError):
        raise InputError(f"{file}: must hold {', '.join(KINDS)}, each topic: language: [questions]") from None


def _embed(rows: Sequence[tuple[str, str, str, str]], embedder: Embedder, report: Report) -> dict[str, Any]:
    embeddings: list[Embedding] = []
    while len(embeddings) < len(rows):
        report("topics", len(embeddings) / len(rows))
        part = rows[len(embeddings) : len(embeddings) + BATCH]
        embeddings += embedder.embed_queries([row[3] for row in part])
    report("topics", 1.0)
    languages = [row[2] for row in rows]
    means = {}
    for code in dict.fromkeys(languages):
        own = [embedding for embedding, language in zip(embeddings, languages, strict=True) if language == code]
        means[code] = np.concatenate([embedding.said() for embedding in own]).mean(axis=0)
    means[""] = np.mean(list(means.values()), axis=0)
    centred = [unit_rows(one.said() - means[code]) for one, code in zip(embeddings, languages, strict=True)]
    vectors = unit_rows(np.stack([one.sum(axis=0) for one in centred]))
    topics = {topic: number for number, topic in enumerate(dict.fromkeys(row[1] for row in rows))}
    groups = {key: number for number, key in enumerate(dict.fromkeys(row[1:3] for row in rows))}
    kinds = {row[1]: row[0] for row in rows}
    owner = np.array([topics[row[1]] for row in rows], np.int32)
    return {
        "names": np.array(list(topics)),
        "elsewhere": np.array([kinds[topic] != "usual" for topic in topics]),
        "everyday": np.array([kinds[topic] == "everyday" for topic in topics]),
        "owner": owner,
        "group": np.array([groups[row[1:3]] for row in rows], np.int32),
        "vectors": vectors,
        "centroids": np.stack([vectors[owner == number].mean(axis=0) for number in range(len(topics))]),
        "tokens": np.concatenate(centred),
        "starts": np.concatenate([[0], np.cumsum([len(one) for one in centred])]),
        "languages": np.array(list(means)),
        "means": np.stack(list(means.values())),
    }


def _save(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.partial")
    try:
        with partial.open("wb") as kept:
            write(kept)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)  # a disk that is full has no room for half a file either
        raise


def _load(path: Path, identity: str) -> Topics | None:
    """The kept topics; None where there are none or the file is damaged."""
    try:
        with path.open("rb") as kept, np.load(kept, allow_pickle=False) as stored:
            arrays: dict[str, Any] = {name: stored[name] for name in stored.files}
        arrays["tokens"] = np.load(path.with_suffix(TOKENS), mmap_mode="r", allow_pickle=False)
        languages = [str(code) for code in arrays.pop("languages")]
        names = tuple(map(str, arrays.pop("names")))
        means = dict(zip(languages, arrays.pop("means"), strict=True))
    except (OSError, ValueError, EOFError, BadZipFile, KeyError):
        return None
    return Topics(identity=identity, names=names, **arrays, means=means)
