"""Articles -> the index: cuts, embeds what is new, and switches to the new state in one transaction.

In: checked Articles, an Embedder, the Index. Out: a Summary of what changed.
Never: touches the old state before everything new is stored; runs twice at once on one index.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from assistant.database import FORMAT, Row, load_rows, new_id, pack_view, save_rows, view_hash
from assistant.errors import IndexUnavailable, InputError
from assistant.index import Index
from assistant.lexical import LexicalIndex
from assistant.models import Embedder, Embedding
from assistant.passages import cut_passages
from assistant.records import Article
from assistant.siblings import find_families
from assistant.summarise import summarise
from assistant.topics import Topics

Report = Callable[[str, float], None]
Vector = NDArray[np.float32]
LOCK_SECONDS = 600
EMBED_BATCH = 64


@dataclass(frozen=True, slots=True)
class Summary:
    """What an ingest did: numbers of articles by fate, and of passages now in the index."""

    added: int
    changed: int
    unchanged: int
    removed: int
    passages: int
    embedded: int


def update_index(
    index: Index,
    articles: Sequence[Article],
    embedder: Embedder,
    topics: Topics,
    report: Report = lambda stage, share: None,
    keep: Callable[[Path], bool] = lambda path: True,
    rebuild: bool = False,
) -> Summary:
    """Adds or replaces `articles`; indexed files for which `keep` is false go.

    Args:
        report: called with a stage's name and the share of it that is done, 0..1.
        rebuild: embed everything again, with another model if need be.

    Raises:
        IndexUnavailable: another ingest does not finish, or the index was built with another model.
        InputError: two different files claim one place in the index.
    """
    with _only_one(index):
        if not rebuild:
            index.check_model(embedder.name)
        stored = {str(path): str(digest) for path, digest in index.database.query("SELECT path, digest FROM articles")}
        fresh = {article.path: article for article in articles}
        removed = [path for path in stored if path not in fresh and not keep(Path(path))]
        changed = [article for article in articles if stored.get(article.path) != article.digest]
        removed += _moved_away(index, changed, {*removed, *fresh})
        kept_paths = set(stored) - set(removed) - {article.path for article in changed}
        _check_keys(index, kept_paths, changed)
        old = [row for row in load_rows(index.database) if row.path in kept_paths]
        rows = [*old, *_rows(changed)]
        summary = Summary(
            added=sum(article.path not in stored for article in changed),
            changed=sum(article.path in stored for article in changed),
            unchanged=len(fresh) - len(changed),
            removed=len(removed),
            passages=len(rows),
            embedded=0,
        )
        is_current = _is_current(index, rows, topics)
        if is_current and not rebuild and not changed and not removed:
            return summary
        embedded = _switch(index, rows, changed, kept_paths, embedder, topics, report)
        return replace(summary, embedded=embedded)


@contextmanager
def _only_one(index: Index) -> Iterator[None]:
    try:
        with FileLock(index.home / "ingest.lock", timeout=LOCK_SECONDS):
            yield
    except Timeout:
        raise IndexUnavailable(f"another ingest has been at work on {index.home} for {LOCK_SECONDS} s") from None
    except OSError as error:
        advice = "see that ASSISTANT_HOME may be written and has room"
        raise IndexUnavailable(f"the index in {index.home} can't be written ({error.strerror}); {advice}") from None


def _moved_away(index: Index, changed: Sequence[Article], known: set[str]) -> list[str]:
    """Indexed files that no longer exist and whose place another file takes: the folder was moved."""
    keys = {article.key for article in changed}
    stored = index.database.query("SELECT key, path FROM articles")
    return [path for key, path in stored if key in keys and path not in known and not Path(path).exists()]


def _is_current(index: Index, rows: Sequence[Row], topics: Topics) -> bool:
    """Whether the index has today's format and topics, and every view is stored, here and in the vector store."""
    meta = index.database.meta
    if not index.is_ready or meta("format") != FORMAT or meta("topics") != topics.identity:
        return False
    needed = {view for row in rows for view in row.views}
    stored = {name for (name,) in index.database.query("SELECT hash FROM views")}
    return needed <= stored and needed <= index.store().ids()


def _check_keys(index: Index, kept_paths: set[str], changed: Sequence[Article]) -> None:
    stored = index.database.query("SELECT key, path FROM articles")
    owners = {str(key): str(path) for key, path in stored if str(path) in kept_paths}
    for article in changed:
        owner = owners.setdefault(article.key, article.path)
        if owner != article.path:
            raise InputError(
                f"{article.path}: {owner} has the same folder and file name, {article.key}; rename one of them"
            )


def _rows(articles: Sequence[Article]) -> list[Row]:
    rows = []
    for article in articles:
        given = {entry.anchor for entry in article.entries if entry.given}
        for passage in cut_passages(article):
            rows.append(Row(passage, article.path, passage.anchor in given, "", ""))
    return rows


def _switch(
    index: Index,
    rows: Sequence[Row],
    changed: Sequence[Article],
    kept_paths: set[str],
    embedder: Embedder,
    topics: Topics,
    report: Report,
) -> int:
    """Stores what is new, switches, then drops what is old; returns the number of texts embedded."""
    database = index.database
    rows = [
        replace(
            row,
            question=view_hash(embedder.name, "query", row.passage.question),
            context=view_hash(embedder.name, "passage", row.passage.context),
        )
        for row in rows
    ]
    embedded = _embed_missing(index, rows, embedder, report)
    report("index", 0.0)
    needed = list(dict.fromkeys(name for row in rows for name in (row.context, row.question)))
    views = _vectors(index, needed)
    collection = database.meta("collection")
    if not collection or database.meta("model") != embedder.name:
        collection = f"assistant-{new_id()}"
    store = index.open_store(collection)
    present = store.ids()
    store.add({name: views[name] for name in needed if name not in present})
    contexts = (
        np.stack([views[row.context] for row in rows]) if rows else np.zeros((0, embedder.dimensions), np.float32)
    )
    families = find_families([row.passage for row in rows], contexts, [row.anchored for row in rows])
    rows = [
        replace(row, passage=replace(row.passage, family=family)) for row, family in zip(rows, families, strict=True)
    ]
    former = database.meta("collection")
    meta = summarise(database, rows, topics) | {
        "format": FORMAT,
        "topics": topics.identity,
        "model": embedder.name,
        "collection": collection,
        "generation": new_id(),
        "lexical": LexicalIndex.build([row.passage.context for row in rows]).to_bytes(),
    }
    _commit(index, rows, changed, kept_paths, meta)
    store.delete(sorted(present - set(needed)))
    if former and former != collection:
        index.open_store(former).drop()
    _drop_views(index, needed)
    report("index", 1.0)
    return embedded


def _embed_missing(index: Index, rows: Sequence[Row], embedder: Embedder, report: Report) -> int:
    """Embeds views that are not stored; each batch is committed, so that an interrupted run resumes."""
    stored = {str(name) for (name,) in index.database.query("SELECT hash FROM views")}
    queries = {row.question: row.passage.question for row in rows if row.question not in stored}
    contexts = {row.context: row.passage.context for row in rows if row.context not in stored}
    total, done = len(queries) + len(contexts), 0
    for texts, embed in ((queries, embedder.embed_queries), (contexts, embedder.embed_passages)):
        names = sorted(texts, key=lambda name: len(texts[name]))
        for start in range(0, len(names), EMBED_BATCH):
            part = names[start : start + EMBED_BATCH]
            packed = [
                pack_view(embedding.vector, _own_tokens(embedding, texts[name]))
                for name, embedding in zip(part, embed([texts[name] for name in part]), strict=True)
            ]
            with index.database.transaction() as connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO views VALUES (?, ?, ?, ?)",
                    [(name, *blobs) for name, blobs in zip(part, packed, strict=True)],
                )
            done += len(part)
            report("embed", done / total)
    return total


def _own_tokens(embedding: Embedding, text: str) -> NDArray[np.float32]:
    """Token vectors of a text, or of what follows its first line where it has several: the heading path is there to
    colour the others, it is not matched itself (measured: .54 against .50 hit@1 with the text alone)."""
    heading, _, body = text.partition("\n")
    if not body:
        return embedding.said()
    seen, width = 0, len("".join(unicodedata.normalize("NFKC", heading).split()))
    for number, piece in enumerate(embedding.pieces):
        if seen >= width:
            return embedding.said(number)
        seen += len(piece.replace("▁", ""))
    return embedding.said()


def _vectors(index: Index, names: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    stored = dict(index.database.query("SELECT hash, vector FROM views"))
    return {name: np.frombuffer(stored[name], dtype=np.float32) for name in names}


def _commit(
    index: Index, rows: Sequence[Row], changed: Sequence[Article], kept_paths: set[str], meta: dict[str, object]
) -> None:
    with index.database.transaction() as connection:
        gone = [str(path) for (path,) in connection.execute("SELECT path FROM articles") if path not in kept_paths]
        connection.executemany("DELETE FROM articles WHERE path = ?", [(path,) for path in gone])
        connection.executemany(
            "INSERT INTO articles VALUES (?, ?, ?, ?)",
            [(article.path, article.key, article.digest, article.language) for article in changed],
        )
        save_rows(connection, rows)
        connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(meta.items()))


def _drop_views(index: Index, needed: Sequence[str]) -> None:
    keep = set(needed)
    stale = [(name,) for (name,) in index.database.query("SELECT hash FROM views") if name not in keep]
    if stale:
        with index.database.transaction() as connection:
            connection.executemany("DELETE FROM views WHERE hash = ?", stale)
