"""The index: what is current, and everything needed to score it.

In: Articles with an Embedder. Out: a Snapshot of passages, families and postings; views' vectors by their hash.
Never: shows a half-finished ingest: one SQLite transaction switches from the old state to the new one.

Vectors are kept by the hash of what was embedded, so an unchanged text is never embedded twice and an interrupted
ingest resumes. New vectors go into Chroma before the switch and old ones leave it after, so that a crash at any point
leaves one state whole: ids that the current state does not know are ignored, and removed by the next ingest.
"""

from __future__ import annotations

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
class View:
    """What was embedded of a passage: unit vector [d], and unit token vectors [n, d] relative to the language's mean, and
    the direction of their sum [d]."""

    vector: NDArray[np.float32]
    centred: NDArray[np.float32]
    direction: NDArray[np.float32]


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
        families: family id -> positions of its passages.
        by_hash: view hash -> positions of the passages that share it.
        means: (language, `question` or `context`) -> mean token vector of the passages' views, [d].
        names: lower-case Latin words that stand in texts of other scripts: product names, which tell no language.
    """

    generation: str
    rows: tuple[Row, ...]
    positions: dict[str, int]
    families: dict[str, list[int]]
    by_hash: dict[str, list[int]]
    lexical: LexicalIndex
    means: dict[tuple[str, str], NDArray[np.float32]]
    names: frozenset[str]

    def mean_of(self, name: str) -> NDArray[np.float32]:
        """The mean token vector of the kind of view that a hash stands for."""
        row = self.rows[self.by_hash[name][0]]
        return self.means[row.passage.language, "context" if name == row.context else "question"]

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
        self._version: object = None
        self._snapshot: Snapshot | None = None
        self._store: VectorStore | None = None
        self._cache: OrderedDict[str, View] = OrderedDict()
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
            version = self.database.query("PRAGMA data_version")[0][0]
            if self._snapshot is None or version != self._version:
                generation = self.database.meta("generation")
                if not generation:
                    raise IndexUnavailable("there is no index yet; run `assistant ingest corpus`")
                if self._snapshot is None or generation != self._snapshot.generation:
                    self._snapshot, self._store = self._load(), None
                    self._cache.clear()
                    self._cached = 0
                self._version = version
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

    def views(self, hashes: Iterable[str]) -> dict[str, View]:
        """The stored views of these hashes; unknown ones are left out. Recently used ones come from memory."""
        wanted = dict.fromkeys(hashes)
        with self._lock:
            snapshot = self.snapshot()
            found = {name: self._cache[name] for name in wanted if name in self._cache}
            for name in found:
                self._cache.move_to_end(name)
            missing = [name for name in wanted if name not in found and name in snapshot.by_hash]
            for start in range(0, len(missing), 500):
                part = missing[start : start + 500]
                marks = ",".join("?" * len(part))
                rows = self.database.query(f"SELECT hash, vector, tokens, scales FROM views WHERE hash IN ({marks})", part)
                for name, *blobs in rows:
                    found[str(name)] = self._remember(str(name), _unpack(*blobs, snapshot.mean_of(str(name))))
            return found

    def _remember(self, name: str, view: View) -> View:
        self._cache[name] = view
        self._cached += view.centred.nbytes
        while self._cached > CACHE_BYTES:
            _, dropped = self._cache.popitem(last=False)
            self._cached -= dropped.centred.nbytes
        return view

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
        blob = database.query("SELECT value FROM meta WHERE name = 'lexical'")[0][0]
        means = json.loads(database.meta("means"))
        return Snapshot(
            generation=database.meta("generation"),
            rows=rows,
            positions={row.passage.id: position for position, row in enumerate(rows)},
            families=families,
            by_hash=by_hash,
            lexical=LexicalIndex.from_bytes(bytes(blob)),  # type: ignore[arg-type]
            names=_names(rows),
            means={(code, view): np.array(mean, dtype=np.float32) for code, view, mean in means},
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


def _unpack(vector: object, tokens: object, scales: object, mean: NDArray[np.float32]) -> View:
    rows = _unit(unpack_tokens(tokens, scales) - mean)
    return View(np.frombuffer(vector, dtype=np.float32), rows, _unit(rows.sum(axis=0)))  # type: ignore[call-overload]


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-6), dtype=np.float32)


def new_id() -> str:
    """A short random identity."""
    return uuid.uuid4().hex[:12]
