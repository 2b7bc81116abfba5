"""Article files -> what is wrong with them, all of it in one go.

In: files and folders. Out: a Report. Never: opens the index or loads the embedding model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.errors import SourceError
from assistant.ingest import find_files, read_article
from assistant.language import Detector
from assistant.wording import Wordings


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file can't be used; `line` is 1-based, or None where the whole file is meant."""

    path: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line or 1}: {self.reason}"

    def as_json(self) -> dict[str, object]:
        """The same as JSON values."""
        return {"path": self.path, "line": self.line, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Report:
    """How many files were looked at, and what is wrong with them."""

    files: int
    problems: tuple[Problem, ...]


def check_files(paths: Sequence[Path], limit_mb: int) -> Report:
    """Reads every article as an ingest would, and notes two files that would claim one place in the index.

    Raises:
        InputError: a path itself is no article file and no folder of them.
    """
    files = find_files(paths)
    wordings = Wordings()
    detector = Detector(wordings.languages, wordings.evidence)
    problems: list[Problem] = []
    owners: dict[str, Path] = {}
    for file in files:
        try:
            article = read_article(file, detector, limit_mb=limit_mb)
        except SourceError as error:
            problems.append(Problem(_shown(error.path), error.line, error.reason))
            continue
        owner = owners.setdefault(article.key, file)
        if owner != file:
            reason = f"{_shown(owner)} has the same folder and file name, {article.key}; rename one of them"
            problems.append(Problem(_shown(file), None, reason))
    return Report(len(files), tuple(problems))


def _shown(path: Path) -> str:
    """The path as short as it can be named from here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
