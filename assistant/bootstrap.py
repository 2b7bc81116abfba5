"""Builds the real parts from the settings: the only place that does.

In: Settings, and parts to use instead of the real ones. Out: an Assistant, or the pieces an ingest needs.
Never: is imported by a stage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.calibration import find_calibration
from assistant.errors import InputError
from assistant.ingest import absolute, find_files, is_article, read_article
from assistant.language import Detector, normalise_code
from assistant.models import Embedder, load_embedder
from assistant.settings import Settings
from assistant.topics import Topics, load_topics
from assistant.wording import Wordings

if TYPE_CHECKING:  # these import Chroma and LangChain, which take as long as the model: see build_parts
    from assistant.build_index import Summary
    from assistant.drafts import Drafter
    from assistant.handover import Courier
    from assistant.index import Index
    from assistant.phrase import Phraser
    from assistant.pipeline import Assistant
    from assistant.store import Store

Report = Callable[[str, float], None]


def silent(stage: str, share: float) -> None:
    """A Report that tells nobody."""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Everything that is built once a process."""

    settings: Settings
    index: Index
    embedder: Embedder
    topics: Topics
    wordings: Wordings
    detector: Detector


def build_parts(
    settings: Settings, report: Report = silent, embedder: Embedder | None = None, expected: str = ""
) -> Parts:
    """Loads the models and opens the index, side by side.

    Args:
        expected: a text like those to come, such as the one question of this process: the language models that it
            needs load meanwhile, too.

    Raises:
        ModelError, IndexUnavailable, InputError: a part can't be had.
    """
    wordings = Wordings()
    if normalise_code(settings.default_language) not in wordings.languages:
        known = ", ".join(wordings.languages)
        raise InputError(f"ASSISTANT_DEFAULT_LANGUAGE={settings.default_language} can't be used; phrases/ has {known}")
    detector = Detector(wordings.languages, wordings.evidence)

    def load_models() -> tuple[Embedder, Topics]:
        loaded = embedder or load_embedder(settings.embedding_model, settings.home, report)
        return loaded, load_topics(loaded, settings.home / "models", report=report)

    pool = ThreadPoolExecutor(2)
    try:
        models = pool.submit(load_models)
        warming = pool.submit(detector.detect, expected)
        index = _open_index(settings)
        warming.result()
        loaded, topics = models.result()
    finally:
        pool.shutdown(wait=False)  # Ctrl-C need not wait for a model that is being built
    return Parts(settings, index, loaded, topics, wordings, detector)


def _open_index(settings: Settings) -> Index:
    from assistant.index import Index

    token = settings.chroma_token.get_secret_value() if settings.chroma_token else ""
    return Index(settings.home, str(settings.chroma_url or ""), token)


def open_store(settings: Settings) -> Store:
    """The store of conversations, its schema brought up to date.

    Raises:
        StoreUnavailable, InputError: it can't be opened.
    """
    from assistant.store import Store

    given = settings.store_url.get_secret_value() if settings.store_url else ""
    return Store(given or f"sqlite:///{settings.home / 'conversations.sqlite3'}", settings.retention_days)


def first_token(store: Store) -> str | None:
    """The token of the staff desk's first editor, where nobody was ever invited to it."""
    from assistant.members import Members

    return Members(store.engine).invite_first()


def open_courier(settings: Settings, store: Store) -> Courier | None:
    """What tells the handover's webhook, if there is one.

    Raises:
        InputError: the webhook has no secret.
    """
    if settings.handover_webhook is None:
        return None
    if settings.handover_secret is None:
        raise InputError("ASSISTANT_HANDOVER_WEBHOOK can't be used without ASSISTANT_HANDOVER_SECRET; set one")
    from assistant.handover import Courier

    return Courier(store, str(settings.handover_webhook), settings.handover_secret.get_secret_value())


def build(settings: Settings, report: Report = silent, parts: Parts | None = None, expected: str = "") -> Assistant:
    """The assistant; where nothing was ever ingested, the corpus is ingested first. `expected`: see `build_parts`.

    Raises:
        IndexUnavailable: the index belongs to another model.
    """
    from assistant.desk import Desk
    from assistant.hearing import Hearing
    from assistant.pipeline import Assistant
    from assistant.retrieve import Retriever
    from assistant.suggest import Suggestions

    parts = parts or build_parts(settings, report, expected=expected)
    if not parts.index.is_ready:
        ingest(parts, [settings.corpus], report)
    parts.index.check_model(parts.embedder.name)
    if parts.index.asks_store:
        parts.index.store()
    calibration = find_calibration(settings.home, parts.embedder.name)
    retriever = Retriever(parts.index, parts.embedder, parts.topics, calibration, parts.wordings)
    return Assistant(
        retriever,
        parts.detector,
        Hearing(parts.wordings),
        Suggestions(retriever),
        Desk(settings),
        settings.message_limit,
        normalise_code(settings.default_language),
        _phraser(settings, parts),
    )


def build_drafter(assistant: Assistant) -> Drafter:
    """What writes replies for staff, over the assistant's own index and models."""
    from assistant.claims import Judge
    from assistant.drafts import Drafter
    from assistant.recheck import Checker

    retriever = assistant.retriever
    judge = Judge(retriever.index, retriever.embedder, assistant.detector)
    checker = Checker(judge, assistant.wordings)
    return Drafter(retriever, assistant.detector, assistant.hearing, checker, assistant.default_language)


def _phraser(settings: Settings, parts: Parts) -> Phraser | None:
    """What phrases answers, if the settings name a chat model."""
    from assistant.chat_model import load_chat_model
    from assistant.claims import Judge
    from assistant.phrase import MARGIN_S, Phraser

    model = load_chat_model(settings)
    if model is None:
        return None
    timeout = min(settings.chat_timeout_s, max(settings.request_timeout_s - MARGIN_S, 0.1))
    return Phraser(model, Judge(parts.index, parts.embedder, parts.detector), timeout)


def ingest(
    parts: Parts,
    paths: Sequence[Path],
    report: Report = silent,
    language: str = "",
    prune: bool = False,
    rebuild: bool = False,
) -> Summary:
    """Reads and checks all files, then brings the index up to date.

    Files that are gone from a folder named in `paths` leave the index; with `prune`, so does every file not named.

    Raises:
        InputError: a file can't be used; the index is untouched.
    """
    from assistant.build_index import update_index

    report("read", 0.0)
    if language and normalise_code(language) not in parts.wordings.languages:
        known = ", ".join(parts.wordings.languages)
        raise InputError(f"--language {language}: unknown; phrases/ has {known}")
    indexed = [Path(str(path)) for (path,) in parts.index.database.query("SELECT path FROM articles")]
    gone = [path for path in paths if _is_empty(path) and any(_is_below(file, path) for file in indexed)]
    files = find_files([path for path in paths if path not in gone])
    articles = []
    for number, file in enumerate(files, 1):
        articles.append(read_article(file, parts.detector, language, parts.settings.file_limit_mb))
        report("read", number / len(files))
    folders = [path for path in paths if path in gone or path.is_dir()]

    def keep(path: Path) -> bool:
        return not prune and not any(_is_below(path, folder) for folder in folders)

    return update_index(parts.index, articles, parts.embedder, parts.topics, report, keep, rebuild)


def _is_empty(path: Path) -> bool:
    """Whether a path no longer exists, or is a folder without anything in it that could be an article."""
    return not path.exists() or (path.is_dir() and not any(is_article(file, path) for file in path.rglob("*")))


def _is_below(path: Path, folder: Path) -> bool:
    return path.is_relative_to(absolute(folder)) or path.is_relative_to(folder.resolve())
