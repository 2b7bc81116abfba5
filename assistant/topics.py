"""What people usually ask anywhere: generic topics that compete with the articles for a question.

In: topics.yaml, an Embedder. Out: for a question, how much it resembles each topic.
Never: answers from a topic, or names an organisation's own subject.

Similarity alone can't tell that a refund question is not answered by an article that speaks of the same product: on
near-domain questions the best passage's score had an AUROC of .5, the best topic's score .85. A topic that the articles
do cover (a heading or FAQ question of theirs resembles it) stops competing.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from assistant.errors import InputError
from assistant.models import Embedder, Embedding

FILE = Path(__file__).parent / "topics.yaml"
COARSE = 24  # topics compared token by token; the others can't win
Array = NDArray[np.float32]


def unit(rows: Array) -> Array:
    """Rows scaled to length one."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-6), dtype=np.float32)


def tokens_of(embedding: Embedding) -> Array:
    """Token vectors [n, d]; a model that gives none has its one sentence vector stand for them."""
    has_tokens = embedding.tokens is not None and len(embedding.tokens)
    return embedding.tokens if has_tokens else embedding.vector[None]  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class Topics:
    """Topics with the token vectors of their example questions, relative to their language's mean.

    Args:
        names: [t].
        owner: topic of each example, [n]; examples of a topic are neighbours.
        group: (topic, language) of each example, numbered, [n].
        vectors: centred sentence vectors, [n, d].
        tokens: centred token vectors in 8 bits, [m, d]; starts: [n + 1] bounds of each example's tokens.
        means, vector_means: language -> mean of question token vectors and of sentence vectors, [d].
    """

    names: tuple[str, ...]
    owner: NDArray[np.int32]
    group: NDArray[np.int32]
    vectors: Array
    tokens: NDArray[np.int8]
    scales: Array
    starts: NDArray[np.int64]
    means: dict[str, Array]
    vector_means: dict[str, Array]

    def centre(self, tokens: Array, language: str) -> Array:
        """Question token vectors less their language's mean, of unit length; unknown languages use the mean of all."""
        mean = self.means.get(language)
        return unit(tokens - (np.mean(list(self.means.values()), axis=0) if mean is None else mean))

    def centre_vector(self, vector: Array, language: str) -> Array:
        """The same for a sentence vector."""
        mean = self.vector_means.get(language)
        return unit(vector - (np.mean(list(self.vector_means.values()), axis=0) if mean is None else mean))

    def resemblance(self, tokens: Array, vector: Array) -> Array:
        """How much a centred question resembles each topic: mean over languages of the best example, [t].

        Topics outside the COARSE nearest by sentence vector get -1.
        """
        coarse = self._by_topic(self.vectors @ vector, np.arange(len(self.owner)))
        chosen = np.argsort(-coarse)[:COARSE]
        examples = np.flatnonzero(np.isin(self.owner, chosen))
        spans = [slice(self.starts[example], self.starts[example + 1]) for example in examples]
        rows = np.concatenate([self.tokens[span] for span in spans]).astype(np.float32)
        rows *= np.concatenate([self.scales[span] for span in spans])[:, None]
        lengths = np.array([span.stop - span.start for span in spans])
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        best = np.maximum.reduceat(tokens @ rows.T, starts, axis=1).mean(axis=0)
        fine = self._by_topic(best, examples)
        result = np.full(len(self.names), -1.0, np.float32)
        result[chosen] = fine[chosen]
        return result

    def _by_topic(self, scores: Array, examples: NDArray[np.integer]) -> Array:
        """Best example of each language, then the mean over languages, [t]; topics without examples give -1."""
        groups = self.group[examples]
        best = np.full(int(self.group.max()) + 1, -np.inf, np.float32)
        np.maximum.at(best, groups, scores)
        topic_of = np.zeros(len(best), np.int64)
        topic_of[self.group] = self.owner
        seen = np.isfinite(best)
        total = np.bincount(topic_of[seen], best[seen], len(self.names))
        count = np.bincount(topic_of[seen], minlength=len(self.names))
        return np.where(count > 0, total / np.maximum(count, 1), -1.0).astype(np.float32)


def load_topics(embedder: Embedder, folder: Path, file: Path = FILE) -> Topics:
    """The topics in the space of `embedder`; embedded at the first need and kept in `folder`."""
    text = file.read_bytes()
    name = sha256(embedder.name.encode() + text).hexdigest()[:16]
    path = folder / f"topics-{name}.npz"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        blob = _embed(read_topics(text, file), embedder)
        partial = path.with_suffix(f".{name}.partial")
        partial.write_bytes(blob)
        partial.replace(path)
    return _load(path)


def read_topics(text: bytes, file: Path) -> list[tuple[str, str, str]]:
    """(topic, language, question) rows of the file, in order.

    Raises:
        InputError: it is not topic -> language -> list of questions.
    """
    try:
        tree = yaml.safe_load(text)
        return [
            (str(topic), str(language), str(question))
            for topic, languages in tree.items()
            for language, questions in languages.items()
            for question in questions
        ]
    except (yaml.YAMLError, AttributeError, TypeError):
        raise InputError(f"{file}: must hold topic: language: [questions]") from None


def _embed(rows: Sequence[tuple[str, str, str]], embedder: Embedder) -> bytes:
    embeddings = embedder.embed_queries([question for _, _, question in rows])
    languages = [language for _, language, _ in rows]
    means, vector_means = {}, {}
    for code in dict.fromkeys(languages):
        own = [embedding for embedding, language in zip(embeddings, languages, strict=True) if language == code]
        means[code] = np.concatenate([tokens_of(embedding) for embedding in own]).mean(axis=0)
        vector_means[code] = np.stack([embedding.vector for embedding in own]).mean(axis=0)
    centred = [unit(tokens_of(one) - means[code]) for one, code in zip(embeddings, languages, strict=True)]
    vectors = [unit(one.vector - vector_means[code]) for one, code in zip(embeddings, languages, strict=True)]
    tokens = np.concatenate(centred)
    scales = np.abs(tokens).max(axis=1) / 127
    topics = {topic: number for number, topic in enumerate(dict.fromkeys(topic for topic, _, _ in rows))}
    groups = {key: number for number, key in enumerate(dict.fromkeys(row[:2] for row in rows))}
    buffer = io.BytesIO()
    np.savez(
        buffer,
        names=np.array(list(topics)),
        owner=np.array([topics[row[0]] for row in rows], np.int32),
        group=np.array([groups[row[:2]] for row in rows], np.int32),
        vectors=np.stack(vectors),
        tokens=np.round(tokens / scales[:, None]).astype(np.int8),
        scales=scales.astype(np.float32),
        starts=np.concatenate([[0], np.cumsum([len(one) for one in centred])]),
        languages=np.array(list(means)),
        means=np.stack(list(means.values())),
        vector_means=np.stack(list(vector_means.values())),
    )
    return buffer.getvalue()


def _load(path: Path) -> Topics:
    with np.load(path, allow_pickle=False) as stored:
        languages = [str(code) for code in stored["languages"]]
        return Topics(
            names=tuple(map(str, stored["names"])),
            owner=stored["owner"],
            group=stored["group"],
            vectors=stored["vectors"],
            tokens=stored["tokens"],
            scales=stored["scales"],
            starts=stored["starts"],
            means=dict(zip(languages, stored["means"], strict=True)),
            vector_means=dict(zip(languages, stored["vector_means"], strict=True)),
        )
