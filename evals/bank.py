"""A bank of a public set as an index: its rows become articles, and the articles passages, as an ingest makes them.

In: BankRows. Out: Articles with the row behind each section, and an Assistant over them alone.
Never: touches the index that serves; embeds again what a former run over the same bank embedded.

A question with an answer becomes an FAQ entry, a text a paragraph, each example question of an intent an FAQ entry of
its own. Rows of one language and one entity (or domain) stand in one article, titled by it. No anchors are given, so
translations in one bank are found as those of extracted articles are: by meaning and order, never by the rows' ids.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from assistant.bootstrap import Parts, build
from assistant.build_index import update_index
from assistant.errors import InputError
from assistant.pipeline import Assistant
from assistant.records import Article, Block, Entry
from assistant.settings import Settings
from assistant.surfaces.progress import Progress
from evals.prepare import prepare
from evals.sets import BankRow

FOLDER = "evals"  # under ASSISTANT_HOME
KEPT, KEPT_S = 40, 86_400  # indexes of that many banks stay, and all that were used within a day


@dataclass(frozen=True, slots=True)
class Document:
    """One entry of the index-to-be: the row it stands for, its question ("" without one), its text."""

    row: BankRow
    question: str
    text: str

    @property
    def whole(self) -> str:
        """Question and text, as a plain search engine would be given them."""
        return f"{self.question}\n{self.text}" if self.question else self.text


@dataclass(frozen=True, slots=True, eq=False)
class Bank:
    """An Assistant over a bank's rows; `sections` gives the row id of each (article, anchor)."""

    assistant: Assistant
    parts: Parts
    sections: dict[tuple[str, str], str]


def documents_of(rows: Sequence[BankRow], answers_only: bool = False) -> list[Document]:
    """What is indexed of each row; with `answers_only` without the bank's questions, where there is an answer."""
    return [document for row in rows for document in _documents_of(row, answers_only)]


def _documents_of(row: BankRow, answers_only: bool) -> Iterator[Document]:
    question, body = _clean(row.question), _clean(row.answer) or _clean(row.text)
    if body and answers_only:
        yield Document(row, "", body)
        return
    if question or not row.variants:
        yield Document(row, question if body else "", body or question)
    for variant in filter(None, map(_clean, row.variants)):
        yield Document(row, variant, body or question or variant)


def _clean(text: str | None) -> str:
    return (text or "").strip()


def as_articles(documents: Sequence[Document], name: str) -> tuple[list[Article], dict[tuple[str, str], str]]:
    """The articles, one a language and entity, and the row id behind each (article key, anchor).

    Args:
        name: the title where a row names neither entity nor domain.
    """
    groups: dict[tuple[str, str], list[Document]] = {}
    for document in documents:
        title = document.row.entity or document.row.domain or name
        groups.setdefault((document.row.lang, title), []).append(document)
    articles: list[Article] = []
    sections: dict[tuple[str, str], str] = {}
    for (language, title), own in groups.items():
        article = _article(f"{language}/{_digest(title)[:12]}", language, title, own)
        articles.append(article)
        sections |= {
            (article.key, entry.anchor): document.row.id for entry, document in zip(article.entries, own, strict=True)
        }
    return articles, sections


def _article(key: str, language: str, title: str, documents: Sequence[Document]) -> Article:
    """One article of the texts, two line ends apart; its digest is new each time, so that it is always cut anew."""
    entries = []
    start, line = 0, 1
    for number, document in enumerate(documents):
        block = Block("paragraph", document.text, document.text, start, line)
        entries.append(Entry(f"row-{number}", document.question, (block,), line, question=document.question))
        start += len(document.text) + 2
        line += document.text.count("\n") + 2
    source = "\n\n".join(document.text for document in documents)
    return Article(key, key, _digest(f"{key}{time.time_ns()}"), language, title, source, tuple(entries))


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def open_bank(
    settings: Settings,
    documents: Sequence[Document],
    name: str,
    stack: ExitStack,
    other: Parts | None = None,
    rebuild: bool = False,
) -> Bank:
    """An index of these documents in a folder of its own under the home; what it embedded before is used again.

    Args:
        name: of the set.
        other: parts whose model is used again.
        rebuild: embed everything anew, as after a change of how texts are embedded.

    Raises:
        InputError: there is nothing to index.
    """
    if not documents:
        raise InputError(f"{name}: no row of the bank is left; loosen --bank-language, --domain or --without-holdout")
    articles, sections = as_articles(documents, name)
    content = "\0".join(f"{document.row.id}\1{document.row.lang}\1{document.whole}" for document in documents)
    folder = settings.home / FOLDER / f"{name[:40]}-{_digest(content)[:16]}"
    _make_room(settings.home / FOLDER, folder)
    parts = prepare(settings, [], stack, folder, other)
    stack.callback(parts.index.database.close)
    rebuild = rebuild or parts.index.database.meta("model") not in ("", parts.embedder.name)
    with Progress() as report:
        update_index(parts.index, articles, parts.embedder, parts.topics, report, _none, rebuild)
    return Bank(build(parts.settings, parts=parts), parts, sections)


def _none(path: Path) -> bool:
    return False


def _make_room(folder: Path, used: Path) -> None:
    """Marks one index as used and removes those that were not for longest."""
    used.mkdir(parents=True, exist_ok=True)
    (used / "used").touch()
    times = {one: (one / "used").stat().st_mtime for one in folder.iterdir() if (one / "used").exists()}
    for old in sorted(times, key=lambda one: -times[one])[KEPT:]:
        if time.time() - times[old] > KEPT_S:
            shutil.rmtree(old, ignore_errors=True)
