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
import sqlite3
import threading
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assistant.errors import IndexUnavailable
from assistant.language import LATIN_WORD, script_of
from assistant.lexical import LexicalIndex
from assistant.models import unit_rows
from assistant.records import Passage
from assistant.vectors import VectorStore

FORMAT = "1"
CACHE_BYTES = 128_000_000
SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS articles (path TEXT PRIMARY KEY, key TEXT UNIQUE, digest TEXT, language TEXT);
CREATE TABLE IF NOT EXISTS passages (
    position INTEGER PRIMARY KEY, id TEXT UNIQUE, path TEXT, anchored INTEGER, question TEXT, context TEXT, record TEXT);
CREATE TABLE IF NOT EXISTS views (hash TEXT PRIMARY KEY, vector BLOB, tokens BLOB, scales BLOB);
"""


@dataclass(frozen=True, slots=True, eq=False)
class FamilyTokens:
    """Token vectors of a family's passages, relative to their language's mean and of unit length.

    Args:
        tokens: [m, d], passage after passage.
        starts: where each passage's tokens begin, [k].
        languages: of the passages, [k].
    """

    tokens: NDArray[np.float32]
    starts: NDArray[np.int64]
    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A passage with where it came from and the hashes of its two views (as a query, as a passage)."""

    passage: Passage
    path: str
    anchored: bool
    question: str
    context: str


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One consistent state of the index; vectors stay on disk.

    Args:
        families: family id -> positions of its passages; family_of: number of each passage's family, [n].
        by_hash: view hash -> positions of the passages that share it.
        directions: unit direction of the sum of each passage's centred token vectors, [n, d].
        means: language -> mean token vector of its passages, [d].
        names: lower-case Latin words that stand in texts of other scripts: product names, which tell no language.
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
    names: frozenset[str]

    @property
    def languages(self) -> list[str]:
        """The corpus's languages, the one with most passages first."""
        counts: dict[str, int] = {}
        for row in self.rows:
            counts[row.passage.language] = counts.get(row.passage.language, 0) + 1
        return sorted(counts, key=lambda code: (-counts[code], code))


def view_hash(model: str, prompt: str, text: str) -> str:
    """The identity of an embedded text."""
    return sha256(f"{model}\0{prompt}\0{text}".encode()).hexdigest()[:32]


class Database:
    """The SQLite file beside the vector store; safe to share between threads and, for reading, processes."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.RLock()
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False, timeout=30, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.executescript(SCHEMA)
        except sqlite3.Error as error:
            raise IndexUnavailable(f"the index {path} can't be opened: {error}; delete it and ingest again") from None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def query(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """All rows of a SELECT or PRAGMA."""
        with self._lock:
            return self._connection.execute(sql, parameters).fetchall()

    def meta(self, name: str) -> str:
        """A named text, or ""."""
        rows = self.query("SELECT value FROM meta WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else ""

    def close(self) -> None:
        """Lets go of the file."""
        with self._lock:
            self._connection.close()


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
                self._cache.clear()
                self._cached = 0
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
        return VectorStore(self.home / "chroma", collection, self._url, self._token)

    def family_tokens(self, names: Iterable[str]) -> dict[str, FamilyTokens]:
        """Token vectors of families by name; unknown ones are left out. Recently used ones come from memory."""
        with self._lock:
            snapshot = self.snapshot()
            wanted = [name for name in dict.fromkeys(names) if name in snapshot.families]
            missing = [name for name in wanted if name not in self._cache]
            self._fetch(snapshot, missing)
            found = {name: self._cache[name] for name in wanted if name in self._cache}
            for name in found:
                self._cache.move_to_end(name)
            while self._cached > CACHE_BYTES and self._cache:
                self._cached -= self._cache.popitem(last=False)[1].tokens.nbytes
            return found

    def _fetch(self, snapshot: Snapshot, names: Sequence[str]) -> None:
        """Reads families from the database into the cache."""
        rows = {name: [snapshot.rows[position] for position in snapshot.families[name]] for name in names}
        hashes = list(dict.fromkeys(row.context for family in rows.values() for row in family))
        stored: dict[object, tuple[object, object]] = {}
        for start in range(0, len(hashes), 500):
            part = hashes[start : start + 500]
            marks = ",".join("?" * len(part))
            sql = f"SELECT hash, tokens, scales FROM views WHERE hash IN ({marks})"  # noqa: S608 - only marks vary
            stored |= {name: (tokens, scales) for name, tokens, scales in self.database.query(sql, part)}
        for name, family in rows.items():
            present = [row for row in family if row.context in stored]
            if present:
                parts = [
                    unit_rows(unpack_tokens(*stored[row.context]) - snapshot.means[row.passage.language])
                    for row in present
                ]
                starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
                languages = tuple(row.passage.language for row in present)
                self._cache[name] = FamilyTokens(np.concatenate(parts), starts, languages)
                self._cached += self._cache[name].tokens.nbytes

    def _load(self) -> Snapshot:
        database = self.database
        if database.meta("format") != FORMAT:
            raise IndexUnavailable("the index has another format; run `assistant ingest --rebuild`")
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
            lexical=LexicalIndex.from_bytes(blobs["lexical"]),  # type: ignore[arg-type]  # SQLite gives bytes
            directions=np.load(io.BytesIO(blobs["directions"]), allow_pickle=False),  # type: ignore[arg-type]
            names=_names(rows),
            means={code: np.array(mean, np.float32) for code, mean in json.loads(database.meta("means")).items()},
        )


def load_rows(database: Database) -> tuple[Row, ...]:
    """All passages of the current state, in order."""
    stored = database.query("SELECT record, path, anchored, question, context FROM passages ORDER BY position")
    return tuple(
        Row(_passage(str(record)), str(path), bool(anchored), str(question), str(context))
        for record, path, anchored, question, context in stored
    )


def _passage(record: str) -> Passage:
    fields = json.loads(record)
    return Passage(**{**fields, "members": tuple(fields["members"])})


def _names(rows: Sequence[Row]) -> frozenset[str]:
    others = (row.passage.context for row in rows if script_of(row.passage.language) != "Latn")
    return frozenset(word.lower() for text in others for word in LATIN_WORD.findall(text))


def save_rows(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Replaces all passages, inside the caller's transaction."""
    connection.execute("DELETE FROM passages")
    connection.executemany(
        "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (position, row.passage.id, row.path, row.anchored, row.question, row.context,
             json.dumps(asdict(row.passage), ensure_ascii=False))
            for position, row in enumerate(rows)
        ],
    )  # fmt: skip


def pack_view(vector: NDArray[np.float32], tokens: NDArray[np.float32]) -> tuple[bytes, bytes, bytes]:
    """A view as blobs: the vector in float32; tokens in 8 bits with one scale a token (largest value = 127)."""
    scales = np.maximum(np.abs(tokens).max(axis=1), 1e-6) / 127
    whole = np.round(tokens / scales[:, None]).astype(np.int8)
    return vector.astype(np.float32).tobytes(), whole.tobytes(), scales.astype(np.float32).tobytes()


def unpack_tokens(tokens: object, scales: object) -> NDArray[np.float32]:
    """The token vectors [n, d] that `pack_view` wrote."""
    factors = np.frombuffer(scales, dtype=np.float32)  # type: ignore[call-overload]  # SQLite gives bytes
    whole = np.frombuffer(tokens, dtype=np.int8).reshape(len(factors), -1)  # type: ignore[call-overload]
    return np.asarray(whole * factors[:, None], dtype=np.float32)


def new_id() -> str:
    """A short random identity."""
    return uuid.uuid4().hex[:12]
