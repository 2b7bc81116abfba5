"""A stand-in for the embedding model: fast, deterministic, and honest about words: texts that share them are near."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from assistant.lexical import tokenise
from assistant.models import Embedding, unit_rows


class WordEmbedder:
    """Each token gets a pseudo-random direction; a text is their mean. It records what it was asked to embed."""

    def __init__(self, name: str = "words", dimensions: int = 64) -> None:
        self.name, self.dimensions = name, dimensions
        self.queries: list[str] = []
        self.passages: list[str] = []

    def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        self.queries.extend(texts)
        return [self._embed(text) for text in texts]

    def embed_passages(self, texts: Sequence[str]) -> list[Embedding]:
        self.passages.extend(texts)
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> Embedding:
        pieces = tokenise(text) or ["∅"]
        tokens = unit_rows(np.stack([_direction(piece, self.dimensions) for piece in pieces]))
        return Embedding(unit_rows(tokens.mean(axis=0)), tokens, np.ones(len(pieces), np.float32), tuple(pieces))


@cache
def _direction(piece: str, dimensions: int) -> NDArray[np.float32]:
    seed = int.from_bytes(blake2b(piece.encode(), digest_size=8).digest())
    return np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
