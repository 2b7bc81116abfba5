"""The index: what is current, and everything needed to score it.

In: Articles with an Embedder. Out: a Snapshot of passages, families and postings; views' vectors by their hash.
Never: shows a half-finished ingest: one SQLite transaction switches from the old state to the new one.

Vectors are kept by the hash of what was embedded, so an unchanged text is never embedded twice and an interrupted
ingest resumes. New vectors go into Chroma before the switch and old ones leave it after, so that a crash at any point
leaves one state whole: ids that the current state does not know are ignored, and removed by the next ingest.
"""

from __future__ import annotations

import io
import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assistant.database import FORMAT, Database, Row, load_rows, unpack_tokens
from assistant.errors import IndexUnavailable
from assistant.language import LATIN_WORD, script_of
from assistant.lexical import LexicalIndex
from assistant.models import unit_rows
from assistant.spelling import fold_accents

if TYPE_CHECKING:  # importing Chroma takes a second, which an index that is scored whole need not wait for
    from assistant.vectors import VectorStore

CACHE_BYTES = 128_000_000
SCORED_WHOLE = 4000  # passages up to which the first stage, which sees every passage, does without Chroma's views


@dataclass(frozen=True, slots=True, eq=False)
class FamilyTokens:
    """Token vectors of a family's passages, relative to their language's mean and of unit length.

    Args:
        tokens: of the passages' own texts, [m, d], passage after passage; starts: where each begins, [k].
        asked, asked_starts: the same of what the passages answer (question, lead or heading).
        is_faq: whether that is the question of an FAQ pair.
    """

    tokens: NDArray[np.float32]
    starts: NDArray[np.int64]
    asked: NDArray[np.float32]
    asked_starts: NDArray[np.int64]
    is_faq: bool

    @property
    def size(self) -> int:
        """Bytes held."""
        return self.tokens.nbytes + self.asked.nbytes


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One consistent state of the index; vectors stay on disk.

    Args:
        families: family id -> positions of its passages; family_of: number of each passage's family, [n].
        by_hash: view hash -> positions of the passages that share it.
        directions: unit direction of the sum of each passage's centred token vectors, [n, d].
        means, question_means: language -> mean token vector of its passages, and of questions, [d].
        covered: generic topics that the articles' own headings and questions treat.
        names: lower-case Latin words that stand in texts of other scripts: product names, which tell no language.
        words: language -> the folded Latin words of its articles; every language has a key.
    """

    generation: str
    rows: tuple[Row, ...]
    positions: dict[str, int]
    families: dict[str, list[int]]
    family_of: NDArray[np.int64]
    by_hash: dict[str, list[int]]
    lexical: LexicalIndex
    directions: NDArray[np.float32]
    means: dict[str, NDArray[np.float32]]
    question_means: dict[str, NDArray[np.float32]]
    covered: frozenset[str]
    names: frozenset[str]
    words: dict[str, frozenset[str]]


class Index:
    """Reading side: the current snapshot, refreshed when another process has finished an ingest.

    Args:
        home: folder of the state; created when missing.
        chroma_url, chroma_token: a Chroma server instead of the folder in the home.
    """

    def __init__(self, home: Path, chroma_url: str = "", chroma_token: str = "") -> None:
        self.home, self._url, self._token = home, chroma_url, chroma_token
        self.database = Database(home / "index.sqlite3")
        self._lock = threading.RLock()
        self._snapshot: Snapshot | None = None
        self._store: VectorStore | None = None
        self._cache: OrderedDict[str, FamilyTokens] = OrderedDict()
        self._cached = 0
        self._cached_of: Snapshot | None = None

    @property
    def is_ready(self) -> bool:
        """Whether an ingest has ever finished."""
        return bool(self.database.meta("generation"))

    def snapshot(self) -> Snapshot:
        """The current state.

        Raises:
            IndexUnavailable: nothing was ingested yet, or another format did it.
        """
        with self._lock:
            generation = self.database.meta("generation")
            if not generation:
                raise IndexUnavailable("there is no index yet; run `assistant ingest corpus`")
            if self._snapshot is None or generation != self._snapshot.generation:
                self._snapshot, self._store = self._load(), None
            return self._snapshot

    def check_model(self, model: str) -> None:
        """Refuses an index whose vectors come from another model.

        Raises:
            IndexUnavailable: naming both and the command that fixes it.
        """
        built = self.database.meta("model")
        if built and built != model:
            raise IndexUnavailable(
                f"the index was built with {built}, but ASSISTANT_EMBEDDING_MODEL gives {model}; "
                "run `assistant ingest --rebuild` or set the variable back"
            )

    @property
    def asks_store(self) -> bool:
        """Whether the vector store takes part in a search: a server always does, the folder where passages are many."""
        return bool(self._url) or len(self.snapshot().rows) > SCORED_WHOLE

    def near(self, vector: NDArray[np.float32], count: int) -> list[str]:
        """Hashes of the views nearest to a vector; some may be unknown to the snapshot."""
        return self.store().near(vector, count)

    def store(self) -> VectorStore:
        """The current vector collection."""
        with self._lock:
            if self._store is None:
                self._store = self.open_store(self.database.meta("collection"))
            return self._store

    def open_store(self, collection: str) -> VectorStore:
        """A collection by name, in the folder or on the server."""
        from assistant.vectors import VectorStore

        return VectorStore(self.home / "chroma", collection, self._url, self._token)

    def family_tokens(self, snapshot: Snapshot, names: Iterable[str]) -> dict[str, FamilyTokens]:
        """Token vectors of families of one snapshot; those whose vectors are gone since are left out. Recently used
        ones come from memory."""
        with self._lock:
            if snapshot is not self._cached_of:
                self._cache.clear()
                self._cached, self._cached_of = 0, snapshot
            wanted = [name for name in dict.fromkeys(names) if name in snapshot.families]
            missing = [name for name in wanted if name not in self._cache]
            self._fetch(snapshot, missing)
            found = {name: self._cache[name] for name in wanted if name in self._cache}
            for name in found:
                self._cache.move_to_end(name)
            while self._cached > CACHE_BYTES and self._cache:
                self._cached -= self._cache.popitem(last=False)[1].size
            return found

    def _fetch(self, snapshot: Snapshot, names: Sequence[str]) -> None:
        """Reads families from the database into the cache."""
        rows = {name: [snapshot.rows[position] for position in snapshot.families[name]] for name in names}
        hashes = list(dict.fromkeys(view for family in rows.values() for row in family for view in row.views))
        stored: dict[object, NDArray[np.float32]] = {}
        for start in range(0, len(hashes), 500):
            part = hashes[start : start + 500]
            marks = ",".join("?" * len(part))
            sql = f"SELECT hash, tokens, scales FROM views WHERE hash IN ({marks})"  # noqa: S608 - only marks vary
            stored |= {name: unpack_tokens(tokens, scales) for name, tokens, scales in self.database.query(sql, part)}
        for name, family in rows.items():
            present = [row for row in family if all(view in stored for view in row.views)]
            if present:
                means = [(row, row.passage.language) for row in present]
                tokens = [unit_rows(stored[row.context] - snapshot.means[code]) for row, code in means]
                asked = [unit_rows(stored[row.question] - snapshot.question_means[code]) for row, code in means]
                is_faq = present[0].passage.kind == "faq"
                self._cache[name] = FamilyTokens(
                    np.concatenate(tokens), _starts(tokens), np.concatenate(asked), _starts(asked), is_faq
                )
                self._cached += self._cache[name].size

    def _load(self) -> Snapshot:
        database = self.database
        if database.meta("format") != FORMAT:
            raise IndexUnavailable("the index has a former format; run `assistant ingest corpus`")
        rows = load_rows(database)
        families: dict[str, list[int]] = {}
        by_hash: dict[str, list[int]] = {}
        for position, row in enumerate(rows):
            families.setdefault(row.passage.family, []).append(position)
            for name in {row.question, row.context}:
                by_hash.setdefault(name, []).append(position)
        numbers = {family: number for number, family in enumerate(families)}
        blobs = dict(database.query("SELECT name, value FROM meta WHERE name IN ('lexical', 'directions')"))
        return Snapshot(
            generation=database.meta("generation"),
            rows=rows,
            positions={row.passage.id: position for position, row in enumerate(rows)},
            families=families,
            family_of=np.array([numbers[row.passage.family] for row in rows], np.int64),
            by_hash=by_hash,
            lexical=LexicalIndex.from_bytes(blobs["lexical"]),
            directions=np.load(io.BytesIO(blobs["directions"]), allow_pickle=False),
            covered=frozenset(json.loads(database.meta("covered"))),
            names=_names(rows),
            words=_words(rows),
            means=_means(database, "means"),
            question_means=_means(database, "question_means"),
        )


def _means(database: Database, name: str) -> dict[str, NDArray[np.float32]]:
    return {code: np.array(mean, np.float32) for code, mean in json.loads(database.meta(name)).items()}


def _starts(parts: Sequence[NDArray[np.float32]]) -> NDArray[np.int64]:
    return np.cumsum([0, *(len(part) for part in parts[:-1])])


def _names(rows: Sequence[Row]) -> frozenset[str]:
    others = (row.passage.context for row in rows if script_of(row.passage.language) != "Latn")
    return frozenset(word.lower() for text in others for word in LATIN_WORD.findall(text))


def _words(rows: Sequence[Row]) -> dict[str, frozenset[str]]:
    words: dict[str, set[str]] = {}
    for row in rows:
        words.setdefault(row.passage.language, set()).update(LATIN_WORD.findall(fold_accents(row.passage.context)))
    return {language: frozenset(found) for language, found in words.items()}
