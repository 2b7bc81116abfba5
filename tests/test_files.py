"""Files that people name: only regular ones of a bounded size are read, without waiting; YAML can't multiply."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from assistant.allowances import read_allowances
from assistant.errors import InputError, SourceError
from assistant.files import open_file, parse_yaml, read_bytes, read_text
from assistant.ingest import read_article
from assistant.spelling import drop_controls, unify_lines
from assistant.surfaces.batch import open_rows
from assistant.wording import Wordings
from evals.sets import read_bank, read_queries, read_texts
from tests.articles import LANGUAGES, detector

TEXTS = {"zh-Hans": "退款说明", "ja": "返金について", "es": "¿Cuánto tarda?", "en": "Refunds"}
ENDS = {
    "CR": "\r", "CRLF": "\r\n", "vertical tab": "\v", "form feed": "\f", "NEL": "\x85",
    "line separator": "\u2028", "paragraph separator": "\u2029", "record separator": "\x1e",
}  # fmt: skip
BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
MERGED = "a: &a {x: 1}\nb: &b {<<: [*a, *a]}\nc: {<<: [*b, *b]}\n"


def batch(path: Path) -> None:
    with open_rows(str(path)):
        pass


# Everything that reads a file somebody names.
READERS: dict[str, Callable[[Path], object]] = {
    "open": open_file,
    "bytes": lambda path: read_bytes(path, 100),
    "text": lambda path: read_text(path, 100),
    "batch": batch,
    "allow": read_allowances,
    "article": lambda path: read_article(path, detector(), limit_mb=1),
    "bank": read_bank,
    "queries": read_queries,
    "texts": read_texts,
}


def make_folder(path: Path) -> Path:
    path.mkdir()
    return path


def make_link(path: Path) -> Path:
    path.symlink_to("/dev/zero")
    return path


def make_pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def make_socket(path: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path.relative_to(Path.cwd()) if len(str(path)) > 100 else path))
    return path


KINDS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "folder": (make_folder, "is a folder"),
    "pipe": (make_pipe, "is a pipe"),
    "socket": (make_socket, "is a socket"),
    "endless device": (lambda path: Path("/dev/zero"), "is a device"),
    "link to a device": (make_link, "is a device"),
    "nothing": (lambda path: path, "can't be read (No such file or directory)"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", KINDS)
def test_only_regular_files_are_read(
    tmp_path_factory: pytest.TempPathFactory, kind: str, reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is no regular file is refused at once by every reader: named, in one line that says what it is."""
    folder = tmp_path_factory.mktemp("x")
    monkeypatch.chdir(folder)
    make, words = KINDS[kind]
    path = make(folder / "x.md")
    started = time.monotonic()
    with pytest.raises(InputError) as caught:
        READERS[reader](path)
    assert time.monotonic() - started < 5
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("reader", [name for name in READERS if name not in ("open", "batch")])
def test_what_is_too_large_is_not_read(tmp_path: Path, reader: str) -> None:
    """A file above its limit, here of a terabyte of holes, is refused by its size."""
    path = tmp_path / "x.md"
    with path.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(SourceError, match=r"1000000\.0 MB, more than the"):
        READERS[reader](path)


def test_a_file_that_grows_is_not_read_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that holds more than its size says, as those of the kernel do, is read to the limit only."""
    path = tmp_path / "x"
    path.write_bytes(b"x" * 1000)
    monkeypatch.setattr(os, "fstat", lambda number: os.stat_result((0o100644, 0, 0, 1, 0, 0, 0, 0, 0, 0)))
    with pytest.raises(SourceError, match=r"more than the 0\.0001 MB"):
        read_bytes(path, 100)


def test_a_file_exchanged_for_a_pipe_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was a file when it was looked at, and is a pipe when it is opened, is refused, not waited for."""
    path = make_pipe(tmp_path / "x")
    file = tmp_path / "y"
    file.write_bytes(b"")
    seen = file.stat()
    monkeypatch.setattr(Path, "stat", lambda self, **_: seen)
    with pytest.raises(SourceError, match="is a pipe"):
        open_file(path)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_every_line_end_is_one(tmp_path: Path, language: str, end: str) -> None:
    """Whatever ends a line, the text read has a line feed there: no words are joined, no line is lost."""
    path, text = tmp_path / "x", TEXTS[language]
    path.write_text(text + end + text, encoding="utf-8", newline="")
    assert read_text(path, 1000) == unify_lines(text + end + text) == drop_controls(text + end + text)
    assert read_text(path, 1000) == f"{text}\n{text}"


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_bytes_that_are_no_text_are_named_by_line(tmp_path: Path, end: str) -> None:
    """A byte that is no UTF-8 is named with its line, whatever ends the lines before it, mark in front or not."""
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbf" + f"é{end}é{end}".encode() + b"ab\xff")
    with pytest.raises(SourceError, match=r":3: is not UTF-8 \(byte 0xff\)") as caught:
        read_text(path, 1000)
    assert caught.value.line == 3


NASTY = {
    "deep brackets": "[" * 3000,
    "deep braces": "{a: " * 400 + "}" * 400,
    "deep dashes": "- " * 900 + "x",
    "deep indents": "".join(" " * depth + "a:\n" for depth in range(400)),
    "bomb": BOMB,
    "merged bomb": MERGED,
    "itself": "&a [*a]",
    "impossible date": "a: 2026-13-45",
    "impossible zone": "a: 2001-01-01 00:00:00 +99:99",
    "endless number": "a: " + "9" * 10_000,
    "list as a name": "? [a, [b]]\n: c",
    "object": "!!python/object/apply:os.system [ls]",
}


@pytest.mark.parametrize("name", NASTY)
def test_yaml_can_t_multiply_or_break(name: str) -> None:
    """YAML that is nested without end, repeats itself by alias or holds impossible values raises YAML's own error."""
    started = time.monotonic()
    with pytest.raises(yaml.YAMLError):
        parse_yaml(NASTY[name])
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NASTY)
def test_nasty_yaml_is_one_sentence_everywhere(tmp_path: Path, name: str, language: str) -> None:
    """In front matter, in a list of allowances and in phrases such YAML is named with its file, in one line."""
    article = tmp_path / "x.md"
    article.write_text(f"---\ntitle: {TEXTS[language]}\n{NASTY[name]}\n---\n## a\n\nb\n", encoding="utf-8")
    allowed = tmp_path / "parity.yaml"
    allowed.write_text(f"- {{kind: figures, path: a.md, reason: none}}\n- {NASTY[name]}", encoding="utf-8")
    (tmp_path / "phrases").mkdir()
    phrases = tmp_path / "phrases" / "en.yaml"
    phrases.write_text(f"person: {TEXTS[language]}\n{NASTY[name]}\n", encoding="utf-8")
    for read, file in (
        (lambda: read_article(article, detector()), article),
        (lambda: read_allowances(allowed), allowed),
        (lambda: Wordings(phrases.parent), phrases),
    ):
        with pytest.raises(InputError) as caught:
            read()
        assert str(caught.value).startswith(str(file))
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 700


def test_what_people_write_is_read() -> None:
    """Lists, texts, numbers and dates of ordinary YAML are read as they are."""
    assert parse_yaml("a: [1, {b: x}]\nc: 2026-11-30\n") is not None
    assert parse_yaml("- {kind: figures, path: ja/a.md}\n") == [{"kind": "figures", "path": "ja/a.md"}]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_given_twice_is_refused_by_line(tmp_path: Path, language: str) -> None:
    """Front matter, phrases and allow lists that name something twice, quoted or not, are refused by file and line."""
    text = TEXTS[language]
    article, allowed, phrases = tmp_path / "x.md", tmp_path / "parity.yaml", tmp_path / "phrases" / "en.yaml"
    article.write_text(f"---\ntitle: {text}\n'title': b\n---\n## a\n\nb\n", encoding="utf-8")
    allowed.write_text(f"- kind: figures\n  path: a.md\n  kind: names\n  reason: {text}\n", encoding="utf-8")
    phrases.parent.mkdir()
    phrases.write_text(f"person: {text}\n\nperson: b\n", encoding="utf-8")
    for read, file in (
        (lambda: read_article(article, detector()), article),
        (lambda: read_allowances(allowed), allowed),
        (lambda: Wordings(phrases.parent), phrases),
    ):
        with pytest.raises(InputError, match=r"is there twice") as caught:
            read()
        assert str(caught.value).startswith(str(file))
        assert ":3:" in str(caught.value) or "line 3" in str(caught.value)
