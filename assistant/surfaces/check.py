"""Article files -> what is wrong with them, all of it in one go.

In: files and folders, and what is allowed to differ. Out: a Report: files that can't be used, and what the parity
ledger finds in the others. Never: opens the index or loads the embedding model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.allowances import NAME, Allowance, Sifted, read_allowances, sift
from assistant.errors import SourceError
from assistant.ingest import find_files, read_article
from assistant.language import Detector
from assistant.ledger import Finding, Place
from assistant.parity import check_parity
from assistant.records import Article
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
    """How many files were looked at, what is wrong with them, and where those that can be used differ.

    Args:
        findings: that nobody allowed; allowed: the others, with the entry that allows them.
    """

    files: int
    problems: tuple[Problem, ...]
    findings: tuple[Finding, ...] = ()
    allowed: tuple[tuple[Finding, Allowance], ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems and not self.findings

    def as_json(self) -> dict[str, object]:
        """The same as JSON values."""
        return {
            "files": self.files,
            "problems": [problem.as_json() for problem in self.problems],
            "findings": [finding_json(finding) for finding in self.findings],
            "allowed": [finding_json(finding) | {"because": entry.reason} for finding, entry in self.allowed],
        }


def check_files(paths: Sequence[Path], limit_mb: int, allow: Path | None = None) -> Report:
    """Reads every article as an ingest would, notes two files that would claim one place in the index, and compares.

    Args:
        allow: the list of what may differ; without one, `parity.yaml` in the folders named.

    Raises:
        InputError: a path itself is no article file and no folder of them, or the list can't be used.
    """
    files = find_files(paths)
    lists = [allow] if allow else [path / NAME for path in paths if (path / NAME).is_file()]
    allowances = [(file, read_allowances(file)) for file in lists]
    wordings = Wordings()
    detector = Detector(wordings.languages, wordings.evidence)
    problems: list[Problem] = []
    owners: dict[str, Path] = {}
    articles: list[Article] = []
    for file in files:
        try:
            article = read_article(file, detector, limit_mb=limit_mb)
        except SourceError as error:
            problems.append(Problem(shown_path(error.path), error.line, error.reason))
            continue
        owner = owners.setdefault(article.key, file)
        if owner != file:
            reason = f"{shown_path(owner)} has the same folder and file name, {article.key}; rename one of them"
            problems.append(Problem(shown_path(file), None, reason))
        else:
            articles.append(article)
    sifted = Sifted(tuple(check_parity(articles, detector)), ())
    for source, entries in allowances:
        more = sift(sifted.left, entries, source)
        sifted = Sifted(more.left, (*sifted.allowed, *more.allowed))
    return Report(len(files), tuple(problems), sifted.left, sifted.allowed)


def finding_line(finding: Finding) -> str:
    """A finding for people: where, what, and what stands there and in the translation."""
    lines = [f"{shown_path(Path(finding.place.article.path))}:{finding.place.line}: {finding.kind}: {finding.reason}"]
    lines.append(f"    here: {_quoted(finding.place, finding.what)}")
    if finding.sibling:
        other = finding.sibling
        lines.append(f"    {shown_path(Path(other.article.path))}:{other.line}: {_quoted(other, finding.what)}")
    return "\n".join(lines)


def finding_json(finding: Finding) -> dict[str, object]:
    """A finding as JSON values."""
    sibling = _place_json(finding.sibling, finding.what) if finding.sibling else None
    named = {"kind": finding.kind, "what": finding.what, "reason": finding.reason}
    return _place_json(finding.place, finding.what) | named | {"sibling": sibling}


def _place_json(place: Place, what: str) -> dict[str, object]:
    path, excerpt = shown_path(Path(place.article.path)), place.excerpt(what)
    return {
        "path": path, "line": place.line, "language": place.language, "anchor": place.anchor, "excerpt": excerpt,
    }  # fmt: skip


def _quoted(place: Place, what: str) -> str:
    return " ".join(place.excerpt(what).split())


def shown_path(path: Path) -> str:
    """The path as short as it can be named from here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
