"""Files that somebody names -> what they hold: regular files of a bounded size, read whole or line by line; YAML.

In: a path and the most that is read; a YAML text. Out: bytes, text, an open file; plain values. Never: waits for a pipe
or a device, reads more than it was told to, or builds what a few lines of YAML could multiply into.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

import yaml

from assistant.errors import SourceError
from assistant.spelling import LINE_END, unify_lines

# Not to wait: a pipe without a writer is opened at once, and refused.
FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
KINDS = (
    (stat.S_ISDIR, "is a folder"),
    (stat.S_ISFIFO, "is a pipe"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)
MEGABYTE = 1_000_000
NESTING = 20  # of YAML: what people write by hand has four levels
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's is ten times as fast


class RepeatedName(yaml.MarkedYAMLError):
    """A name that stands twice in one YAML mapping, of which only the last would count."""


def open_file(path: Path) -> BinaryIO:
    """A regular file, open for reading.

    Raises:
        SourceError: it is no file, or can't be read.
    """
    try:
        _check_kind(path, path.stat().st_mode)  # before it is opened, which some devices take for an order
        opened = os.fdopen(os.open(path, FLAGS), "rb")
        try:
            _check_kind(path, os.fstat(opened.fileno()).st_mode)  # it may have been exchanged meanwhile
        except BaseException:
            opened.close()
            raise
    except OSError as error:
        raise _unreadable(path, error) from None
    return opened


def read_bytes(path: Path, limit: int) -> bytes:
    """The content of a regular file.

    Args:
        limit: bytes; what is larger is not read.

    Raises:
        SourceError: it is no file, too large, or can't be read.
    """
    with open_file(path) as opened:
        try:
            size = os.fstat(opened.fileno()).st_size
            data = b"" if size > limit else opened.read(limit + 1) or b""
        except OSError as error:
            raise _unreadable(path, error) from None
    size = max(size, len(data))  # a file may grow, or not know its size
    if size > limit:
        shown = f"{size / MEGABYTE:.1f} MB, more than the {limit / MEGABYTE:g} MB allowed"
        raise SourceError(path, f"is {shown}; split it, if it is the right file")
    return data


def read_text(path: Path, limit: int) -> str:
    """The content of a regular file in UTF-8, with or without a mark in front; every line end is a line feed.

    Raises:
        SourceError: as `read_bytes`, or it is not UTF-8; names the line.
    """
    return unify_lines(decode_text(read_bytes(path, limit), path))


def decode_text(data: bytes, path: Path) -> str:
    """The text of a file in UTF-8, with or without a mark in front.

    Raises:
        SourceError: it is not UTF-8; names the line.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError(path, "is UTF-16; save it as UTF-8")
    if b"\x00" in data:
        raise SourceError(path, "holds binary data; only text in UTF-8 can be read")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before, byte = error.object[: error.start], error.object[error.start]
        line = len(LINE_END.findall(before.decode("utf-8"))) + 1
        raise SourceError(path, f"is not UTF-8 (byte 0x{byte:02x}); save it as UTF-8", line) from None


def parse_yaml(text: str | bytes) -> object:
    """What a YAML text holds.

    Raises:
        YAMLError: it is malformed, nested deeper than anything people write, names something twice, or repeats parts
            by alias, from which a few lines can make gigabytes.
    """
    depth = 0
    try:
        for event in yaml.parse(text, LOADER):
            mark: Any = event.start_mark  # libyaml's marks are of a class of their own
            if isinstance(event, yaml.AliasEvent):
                problem = "holds an alias (*name); write out what it stands for"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > NESTING:
                problem = f"is nested deeper than {NESTING} levels"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
        return _build(text)
    except (ValueError, OverflowError, RecursionError) as error:  # an impossible date, a number of ten thousand digits
        raise yaml.YAMLError(f"holds a value that can't be read ({' '.join(str(error).split())[:100]})") from None


def _build(text: str | bytes) -> object:
    loader = LOADER(text)
    try:
        tree = loader.get_single_node()
        if tree is None:
            return None
        _check_names(tree)
        return loader.construct_document(tree)
    finally:
        loader.dispose()


def _check_names(node: yaml.Node) -> None:
    """That no mapping of the tree holds a name twice."""
    seen: set[tuple[str, str]] = set()
    for one in node.value if isinstance(node, yaml.CollectionNode) else ():
        name, value = one if isinstance(node, yaml.MappingNode) else (None, one)
        if isinstance(name, yaml.ScalarNode):
            if (name.tag, name.value) in seen:
                problem = f"`{name.value[:60]}` is there twice; keep one"
                raise RepeatedName(problem=problem, problem_mark=name.start_mark)
            seen.add((name.tag, name.value))
        _check_names(value)


def _check_kind(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((name for is_one, name in KINDS if is_one(mode)), "is something else")
        raise SourceError(path, f"{kind}; name a file")


def _unreadable(path: Path, error: OSError) -> SourceError:
    return SourceError(path, f"can't be read ({error.strerror or error}); check the path and its permissions")
