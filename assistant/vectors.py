"""The vector store: Chroma, embedded in a folder or as a server, through langchain-chroma.

In: vectors with ids. Out: ids near a vector. Never: decides what is current: the index does; ids it does not know are
ignored, which is what makes an interrupted ingest harmless.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
from chromadb.config import Settings as ChromaSettings
from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from assistant.errors import IndexUnavailable

Vector = NDArray[np.float32]
BATCH = 1000


class _Ready(Embeddings):
    """LangChain asks its embedding function for the vectors of texts; ours are computed before: texts are the keys."""

    def __init__(self) -> None:
        self.vectors: Mapping[str, Vector] = {}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.vectors[text].tolist() for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class VectorStore:
    """One Chroma collection of unit vectors under cosine distance.

    Args:
        folder: where an embedded Chroma keeps its files; unused with a server.
        name: the collection, 3..63 letters, digits and `-`.
        url: a Chroma server instead.
        token: sent to the server as a bearer token.

    Raises:
        IndexUnavailable: the server can't be reached or the folder can't be opened.
    """

    def __init__(self, folder: Path, name: str, url: str = "", token: str = "") -> None:
        self._where = url or str(folder)
        self._ready = _Ready()
        try:
            client = _client(folder, url, token)
            self._chroma = Chroma(
                client=client,
                collection_name=name,
                embedding_function=self._ready,
                collection_metadata={"hnsw:space": "cosine"},
            )
        except Exception as error:  # Chroma raises many kinds, some of them from its transport
            raise self._unavailable(error) from None

    def add(self, vectors: Mapping[str, Vector]) -> None:
        """Adds or replaces vectors [d] by id."""
        ids = list(vectors)
        self._ready.vectors = vectors
        for start in range(0, len(ids), BATCH):
            part = ids[start : start + BATCH]
            self._call(self._chroma.add_texts, part, ids=part)
        self._ready.vectors = {}

    def delete(self, ids: Sequence[str]) -> None:
        """Forgets ids; unknown ones are no error."""
        for start in range(0, len(ids), BATCH):
            self._call(self._chroma.delete, list(ids[start : start + BATCH]))

    def ids(self) -> set[str]:
        """All ids in the collection."""
        return set(self._call(self._chroma.get, include=[])["ids"])

    def near(self, vector: Vector, count: int) -> list[str]:
        """At most `count` ids, the nearest first."""
        found = self._call(self._chroma.similarity_search_by_vector_with_relevance_scores, vector.tolist(), k=count)
        return [document.id for document, _ in found]

    def drop(self) -> None:
        """Deletes the collection."""
        self._call(self._chroma.delete_collection)

    def _call(self, method: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return method(*arguments, **named)
        except Exception as error:  # as above
            raise self._unavailable(error) from None

    def _unavailable(self, error: Exception) -> IndexUnavailable:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        return IndexUnavailable(f"the vector store at {self._where} can't be used: {reason}")


def _client(folder: Path, url: str, token: str) -> Any:
    settings = ChromaSettings(anonymized_telemetry=False)
    if not url:
        folder.mkdir(parents=True, exist_ok=True)
        return chromadb.PersistentClient(str(folder), settings=settings)
    scheme, _, rest = url.partition("://")
    host, _, port = rest.rstrip("/").partition(":")
    headers = {"Authorization": f"Bearer {token}"} if token else None
    return chromadb.HttpClient(
        host=host,
        port=int(port or (443 if scheme == "https" else 8000)),
        ssl=scheme == "https",
        headers=headers,
        settings=settings,
    )
