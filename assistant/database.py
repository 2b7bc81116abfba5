"""The SQLite file of an index: passages, where they came from, and their views by hash.

In: rows and packed vectors. Out: the same. Never: knows Chroma, scores anything, or leaves a transaction half done.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assistant.errors import IndexUnavailable
from assistant.records import Passage

FORMAT = "4"
SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS articles (path TEXT PRIMARY KEY, key TEXT UNIQUE, digest TEXT, language TEXT);
CREATE TABLE IF NOT EXISTS passages (
    position INTEGER PRIMARY KEY, id TEXT UNIQUE, path TEXT, anchored INTEGER, question TEXT, context TEXT,
    record TEXT);
CREATE TABLE IF NOT EXISTS views (hash TEXT PRIMARY KEY, vector BLOB, tokens BLOB, scales BLOB);
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A passage with where it came from and the hashes of its two views (as a query, as a passage)."""

    passage: Passage
    path: str
    anchored: bool
    question: str
    context: str

    @property
    def views(self) -> tuple[str, str]:
        """Both hashes."""
        return self.question, self.context


def view_hash(model: str, prompt: str, text: str) -> str:
    """The identity of an embedded text."""
    return sha256(f"{model}\0{prompt}\0{text}".encode()).hexdigest()[:32]


class Database:
    """The SQLite file beside the vector store; safe to share between threads and, for reading, processes."""

    def __init__(self, path: Path) -> None:
        self._lock, self._path = threading.RLock(), path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise IndexUnavailable(
                f"{path.parent}: can't be used as ASSISTANT_HOME ({error.strerror}); name a folder"
            ) from None
        with self._translated():
            self._connection = sqlite3.connect(path, check_same_thread=False, timeout=30, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.executescript(SCHEMA)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """SQLite's errors in one sentence: a damaged file is to be replaced, the others are the disk's or rights."""
        try:
            yield
        except sqlite3.OperationalError as error:
            advice = "see that the disk has room and that the folder may be written"
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                advice = "another program holds it; try again when that has ended"
            raise IndexUnavailable(f"the index {self._path} can't be used: {error}; {advice}") from None
        except sqlite3.Error as error:
            advice = "delete it and ingest again"
            raise IndexUnavailable(f"the index {self._path} can't be used: {error}; {advice}") from None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing."""
        with self._lock, self._translated():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite itself has ended it where the disk is full
                    self._connection.execute("ROLLBACK")
                raise

    def query(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a SELECT or PRAGMA."""
        with self._lock, self._translated():
            return self._connection.execute(sql, parameters).fetchall()

    def meta(self, name: str) -> str:
        """A named text, or ""."""
        rows = self.query("SELECT value FROM meta WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else ""

    def close(self) -> None:
        """Lets go of the file."""
        with self._lock:
            self._connection.close()


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


def unpack_tokens(tokens: bytes, scales: bytes) -> NDArray[np.float32]:
    """The token vectors [n, d] that `pack_view` wrote."""
    factors = np.frombuffer(scales, dtype=np.float32)
    whole = np.frombuffer(tokens, dtype=np.int8).reshape(len(factors), -1)
    return np.asarray(whole * factors[:, None], dtype=np.float32)


def new_id() -> str:
    """A short random identity."""
    return uuid.uuid4().hex[:12]
