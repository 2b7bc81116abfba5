"""Reading files: what is usable is read in every encoding quirk, what is not is refused by name and line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import InputError, SourceError
from assistant.ingest import find_files, read_article
from assistant.records import Article
from tests.articles import CORPUS, LANGUAGES, corpus_files, detector, flatten, read

MARKDOWN = "---\ntitle: {title}\nlanguage: {language}\n---\n## {title}\n\n{text}\n"
TEXTS = {
    "zh-Hans": ("退款说明", "退款将在14天内到账。"),
    "ja": ("返金について", "返金は14日以内に行われます。"),
    "es": ("Devoluciones", "La devolución llega en 14 días."),
    "en": ("Refunds", "Refunds arrive within 14 days."),
}


def article(tmp_path: Path, data: bytes, name: str = "a.md") -> Article:
    """The article that a file with these bytes holds."""
    path = tmp_path / name
    path.write_bytes(data)
    return read_article(path, detector())


def source(language: str) -> str:
    """A small Markdown article."""
    title, text = TEXTS[language]
    return MARKDOWN.format(title=title, language=language, text=text)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "BOM"])
@pytest.mark.parametrize(
    "ending",
    ["\n", "\r\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029"],
    ids=["LF", "CRLF", "CR", "VT", "FF", "NEL", "LS", "PS"],
)
def test_editors_habits_are_accepted(tmp_path: Path, language: str, bom: bytes, ending: str) -> None:
    """A byte order mark and any line ending read like the plain file, with the same lines."""
    found = article(tmp_path, bom + source(language).replace("\n", ending).encode())
    plain = article(tmp_path, source(language).encode())
    assert (found.title, found.language, found.entries) == (plain.title, plain.language, plain.entries)
    assert found.entries[0].blocks[0].line == 7


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"", "is empty"),
        (b" \n\t\r\n", "is empty"),
        ("\u3000\n".encode(), "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "binary"),
        (source("zh-Hans").encode("utf-16"), "UTF-16"),
        (source("en").encode("utf-16-be"), "binary"),
        (source("es").encode("latin-1"), ":7: is not UTF-8"),
        (source("ja").encode("shift-jis"), ":2: is not UTF-8"),
        (source("zh-Hans").encode("gbk"), ":2: is not UTF-8"),
        (source("zh-Hans").encode("big5", "ignore"), ":2: is not UTF-8"),
        (source("en").encode() + "é".encode()[:1], "is not UTF-8"),
    ],
    ids=[
        "empty",
        "whitespace",
        "wide space",
        "BOM only",
        "image",
        "UTF-16",
        "UTF-16 without BOM",
        "Latin-1",
        "Shift-JIS",
        "GBK",
        "Big5",
        "cut off",
    ],
)
def test_other_bytes_are_refused(tmp_path: Path, data: bytes, named: str) -> None:
    """What is not UTF-8 text is refused with the file's name, and the line where there is one."""
    with pytest.raises(SourceError) as caught:
        article(tmp_path, data)
    assert str(caught.value).startswith(str(tmp_path / "a.md"))
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


def test_large_files_are_refused_unread(tmp_path: Path) -> None:
    """A file above the limit is refused by its size, before it is read."""
    path = tmp_path / "a.md"
    with path.open("wb") as file:
        file.truncate(10**12)  # of holes: more than there is memory
    with pytest.raises(SourceError, match="more than the 1 MB"):
        read_article(path, detector(), limit_mb=1)


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_one_line_of_nine_megabytes_is_answered(tmp_path: Path, name: str) -> None:
    """A file within the limit that is one line is refused in words."""
    with pytest.raises(SourceError, match=name):
        article(tmp_path, "长".encode() * 3_000_000, name)


def test_unreadable_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without permission, or gone since it was listed, is named with the reason."""
    path = tmp_path / "a.md"
    with pytest.raises(SourceError, match=r"a\.md: can't be read"):
        read_article(path, detector())

    def deny(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    path.write_text(source("en"), "utf-8")
    monkeypatch.setattr(os, "open", deny)
    with pytest.raises(SourceError, match="Permission denied"):
        read_article(path, detector())


def test_paths_that_are_no_articles_are_refused(tmp_path: Path) -> None:
    """Missing paths, other file types, folders without articles and loops of links are named."""
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "image.png").write_bytes(b"x")
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    os.mkfifo(tmp_path / "pipe.md")
    for name, reason in (
        ("missing.md", "no such file"),
        ("folder.md", "no article here"),
        ("image.png", "no article file"),
        ("loop.md", "no such file"),
        ("pipe.md", "no article file"),
    ):
        with pytest.raises(InputError, match=reason) as caught:
            find_files([tmp_path / name])
        assert name in str(caught.value)
    with pytest.raises(SourceError, match="is a folder"):
        read_article(tmp_path / "folder.md", detector())


def test_folders_give_their_articles_once(tmp_path: Path) -> None:
    """Articles below a folder are found sorted and once, hidden files, links in circles and README left out."""
    for name in ("b/x.md", "a/y.TXT", "a/README.md", ".git/z.md", "a/.hidden.md", "a/notes.rst"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x", "utf-8")
    (tmp_path / "a" / "again.md").symlink_to(tmp_path / "b" / "x.md")
    (tmp_path / "a" / "loop.md").symlink_to(tmp_path / "a" / "loop.md")
    (tmp_path / "a" / "circle").symlink_to(tmp_path)
    found = find_files([tmp_path, tmp_path / "b" / "x.md"])
    assert sorted(path.relative_to(tmp_path).as_posix() for path in found) == ["a/y.TXT", "b/x.md"]


def test_the_language_is_told_declared_or_detected(tmp_path: Path) -> None:
    """The caller's language wins over the front matter's, and that over what the text shows."""
    path = tmp_path / "a.md"
    path.write_text(source("ja").replace("language: ja\n", ""), "utf-8")
    assert read_article(path, detector()).language == "ja"
    path.write_text(source("ja").replace("language: ja", "language: zh-TW"), "utf-8")
    assert read_article(path, detector()).language == "zh-Hant"
    assert read_article(path, detector(), "es-MX").language == "es"


@pytest.mark.parametrize("language", LANGUAGES)
def test_extracted_files_tell_their_language(tmp_path: Path, language: str) -> None:
    """A plain text file needs no front matter: its language is detected and its title is the first line."""
    for path in corpus_files(language):
        found = article(tmp_path, flatten(path).encode(), "a.txt")
        assert (found.language, found.title) == (language, read(path).title)
        assert found.key == f"{tmp_path.name}/a"


def test_a_digest_tells_any_change(tmp_path: Path) -> None:
    """Another byte or another language is another digest; the same file is the same."""
    first = article(tmp_path, source("en").encode())
    assert article(tmp_path, source("en").encode()) == first
    assert article(tmp_path, source("en").encode() + b"\n").digest != first.digest
    assert read_article(tmp_path / "a.md", detector(), "es").digest != first.digest


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """A file whose name can't be written down is refused with a name that can."""
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md"))
    with pytest.raises(InputError, match="not UTF-8") as caught:
        read_article(path, detector())
    assert str(caught.value).encode()


@given(st.binary(max_size=200), st.sampled_from(["a.md", "a.txt"]))
def test_any_bytes_read_or_are_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str) -> None:
    """No file raises anything but SourceError."""
    folder = tmp_path_factory.getbasetemp()
    try:
        entries = article(folder, data, name).entries
    except SourceError as error:
        entries = ()
        named = str(error)
    else:
        named = name
    assert name in named
    assert all(entry.anchor for entry in entries)


def test_the_corpus_is_complete() -> None:
    """Every article of the corpus exists in every language and says so itself."""
    names = {language: [path.name for path in corpus_files(language)] for language in LANGUAGES}
    assert len({tuple(files) for files in names.values()}) == 1
    assert {path.parent.name for path in find_files([CORPUS])} == set(LANGUAGES)
    assert all(read(path).language == path.parent.name for path in corpus_files())


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_direction_controls_stay_out(tmp_path: Path, name: str) -> None:
    """Characters that turn the direction of what follows are in no title, heading or text of an article."""
    head = (
        "---\ntitle: Ti\u202etle\nlanguage: en\n---\n## He\u2067ading\n"
        if name == "a.md"
        else "Ti\u202etle\nHe\u2067ading\n"
    )
    read = article(tmp_path, f"{head}Some te\u202axt with an end.\n".encode(), name)
    assert read.title == "Title"
    assert [entry.heading for entry in read.entries] == ["Heading"]
    assert "Some text with an end." in read.source
