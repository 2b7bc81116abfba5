"""Files -> articles: reads what the user names, checks every file, and stops at the first that can't be used.

In: paths of files or folders. Out: Articles, complete and checked. Never: writes anything, or returns some of the files
when one of them is broken.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from assistant.errors import InputError, SourceError
from assistant.files import MEGABYTE, read_text
from assistant.language import Detector, normalise_code
from assistant.parse_extracted import parse_extracted
from assistant.parse_markdown import parse_markdown
from assistant.records import Article
from assistant.spelling import drop_direction_controls

MARKDOWN = (".md", ".markdown")
SUFFIXES = (*MARKDOWN, ".txt")
FILES_LIMIT = 100_000
DETECTED_CHARACTERS = 2000


def find_files(paths: Iterable[Path]) -> list[Path]:
    """The article files named or below the named folders, absolute, sorted, each once.

    Raises:
        InputError: a path does not exist, is of another kind or no UTF-8, or a folder holds no article.
    """
    found: dict[Path, Path] = {}  # real file -> the name it was found by
    for path in paths:
        check_name(path)
        if path.is_dir():
            inside = [file for file in sorted(path.rglob("*")) if is_article(file, path)]
            if not inside:
                raise InputError(f"{path}: no article here; articles end in {', '.join(SUFFIXES)}")
            for file in sorted(inside, key=Path.is_symlink):
                check_name(file)
                found.setdefault(file.resolve(), absolute(file))
        elif not path.exists():
            raise InputError(f"{path}: no such file or folder")
        elif not path.is_file() or path.suffix.lower() not in SUFFIXES:
            raise SourceError(path, f"is no article file; articles end in {', '.join(SUFFIXES)}")
        else:
            found.setdefault(path.resolve(), absolute(path))
    if len(found) > FILES_LIMIT:
        raise InputError(f"{len(found)} files are more than the {FILES_LIMIT} that one index takes")
    return list(found.values())


def check_name(path: Path) -> None:
    """That the names of a path can be shown and kept.

    Raises:
        InputError: one is not UTF-8; shows it escaped.
    """
    for part in path.parts:
        try:
            part.encode()
        except UnicodeEncodeError:
            shown, name = (os.fsencode(text).decode("utf-8", "backslashreplace") for text in (str(path), part))
            raise InputError(f"{shown}: the name `{name}` is not UTF-8; rename it") from None


def absolute(path: Path) -> Path:
    """The path from the root, links kept: a link that is removed is a file that is gone, whatever it led to."""
    return Path(os.path.abspath(path))


def is_article(file: Path, folder: Path) -> bool:
    """Whether a file found in a folder is read as an article: not hidden, no README, of a known kind."""
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return file.suffix.lower() in SUFFIXES and not hidden and file.is_file() and file.name.lower() != "readme.md"


def read_article(path: Path, detector: Detector, language: str = "", limit_mb: int = 10) -> Article:
    """One article.

    Args:
        language: overrides what the file says or shows.

    Raises:
        SourceError: the file can't be read or is malformed; the message names it and, where there is one, the line.
    """
    check_name(path)
    source = read_text(path, limit_mb * MEGABYTE)
    if not source.strip():
        raise SourceError(path, "is empty")
    source = drop_direction_controls(source)
    title, url, declared = "", "", ""
    if path.suffix.lower() in MARKDOWN:
        head, entries = parse_markdown(source, path)
        title, url, declared = head.title, str(head.url or ""), head.language
    else:
        title, entries = parse_extracted(source, path)
    chosen = language or declared or detector.detect(source[:DETECTED_CHARACTERS]).language
    return Article(
        key=f"{path.parent.name}/{path.stem}",
        path=str(path),
        digest=hashlib.sha256((source + chosen).encode()).hexdigest(),
        language=normalise_code(chosen),
        title=title,
        source=source,
        entries=entries,
        url=url,
    )
