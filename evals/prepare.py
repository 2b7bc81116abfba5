"""An index for measuring, apart from the one that serves.

In: settings, article files. Out: Parts over these articles alone. Never: touches the index in the settings' home; only
the built models there are shared.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from assistant.bootstrap import Parts, build_parts, ingest
from assistant.models import load_embedder
from assistant.settings import Settings
from assistant.surfaces.progress import Progress


def prepare(
    settings: Settings, articles: Sequence[Path], stack: ExitStack, home: Path | None, other: Parts | None = None
) -> Parts:
    """An index of these articles alone, in a home of its own that shares the built models.

    Args:
        stack: removes a temporary home when it closes.
        home: kept; without one a temporary folder is used.
        other: parts whose model is used again.
    """
    own = home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evals-")))
    own.mkdir(parents=True, exist_ok=True)
    shared = (settings.home / "models").resolve()
    shared.mkdir(parents=True, exist_ok=True)
    if not (own / "models").exists():
        (own / "models").symlink_to(shared)
    with Progress() as report:
        embedder = other.embedder if other else load_embedder(settings.embedding_model, settings.home, report)
        parts = build_parts(settings.model_copy(update={"home": own, "chroma_url": None}), report, embedder)
        if articles:
            ingest(parts, articles, report, prune=True)
    return parts
