"""Builds the real parts from the settings: the only place that does.

In: Settings, and parts to use instead of the real ones. Out: an Assistant, or the pieces an ingest needs.
Never: is imported by a stage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from assistant.build_index import Summary, update_index
from assistant.calibration import read_calibration
from assistant.errors import InputError
from assistant.index import Index
from assistant.ingest import find_files, read_article
from assistant.language import Detector, normalise_code
from assistant.models import Embedder, load_embedder
from assistant.pipeline import Assistant
from assistant.retrieve import Retriever
from assistant.settings import Settings
from assistant.topics import Topics, load_topics
from assistant.wording import Wordings

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


def build_parts(settings: Settings, report: Report = silent, embedder: Embedder | None = None) -> Parts:
    """Opens the index and loads the models; the model loads while the index opens.

    Raises:
        ModelError, IndexUnavailable, InputError: a part can't be had.
    """
    with ThreadPoolExecutor(1) as pool:
        loading = pool.submit(lambda: embedder or load_embedder(settings.embedding_model, settings.home, report))
        token = settings.chroma_token.get_secret_value() if settings.chroma_token else ""
        index = Index(settings.home, str(settings.chroma_url or ""), token)
        wordings = Wordings()
        loaded = loading.result()
    topics = load_topics(loaded, settings.home / "models")
    return Parts(settings, index, loaded, topics, wordings, Detector(wordings.languages))


def build(settings: Settings, report: Report = silent, parts: Parts | None = None) -> Assistant:
    """The assistant; where nothing was ever ingested, the corpus is ingested first.

    Raises:
        IndexUnavailable: the index belongs to another model.
    """
    parts = parts or build_parts(settings, report)
    if not parts.index.is_ready:
        ingest(parts, [settings.corpus], report)
    parts.index.check_model(parts.embedder.name)
    parts.index.store()
    retriever = Retriever(parts.index, parts.embedder, parts.topics, read_calibration(), parts.wordings)
    return Assistant(
        retriever, parts.detector, parts.wordings, settings.message_limit, normalise_code(settings.default_language)
    )


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
    report("read", 0.0)
    if language and normalise_code(language) not in parts.wordings.languages:
        known = ", ".join(parts.wordings.languages)
        raise InputError(f"--language {language}: unknown; phrases/ has {known}")
    files = find_files(paths) if paths else []
    articles = []
    for number, file in enumerate(files, 1):
        articles.append(read_article(file, parts.detector, language, parts.settings.file_limit_mb))
        report("read", number / len(files))
    folders = [path.resolve() for path in paths if path.is_dir()]

    def keep(path: Path) -> bool:
        return not prune and not any(path.is_relative_to(folder) for folder in folders)

    return update_index(parts.index, articles, parts.embedder, parts.topics, report, keep, rebuild)
