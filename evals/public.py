"""Public question sets (see their own README for format and licences) as articles and questions.

In: `<name>.bank.jsonl` and `<name>.queries.jsonl`. Out: article files of an FAQ, and questions with a truth.
Never: copies any of it into the project.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import regex

from assistant.errors import SourceError
from assistant.files import open_file

HEADING_SIGNS = regex.compile(r"^[#>|\s-]+|\s+")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question whose truth is known; `facts` names what a right answer states, where that is known."""

    id: str
    text: str
    language: str
    answerable: bool
    facts: tuple[str, ...] = ()


def read_rows(file: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSON Lines file.

    Raises:
        InputError: it can't be read, or a line is no JSON; names it.
    """
    with open_file(file) as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                raise SourceError(file, "is no JSON", number) from None
            yield row


def write_articles(bank: Path, folder: Path, languages: Collection[str]) -> list[Path]:
    """One FAQ article a language from a bank's question–answer rows, left-out rows excepted; the paths."""
    name = bank.name.split(".")[0]
    entries: dict[str, list[str]] = {}
    for row in read_rows(bank):
        answer = row.get("answer") or row.get("text")
        if row["lang"] in languages and row.get("question") and answer and not row.get("holdout"):
            question = HEADING_SIGNS.sub(" ", row["question"]).strip()
            anchor = regex.sub(r"[^\p{L}\p{N}]+", "-", row["id"].split("@")[0]).strip("-")
            body = "\n".join(line.lstrip("#>-| \t") for line in answer.splitlines())
            entries.setdefault(row["lang"], []).append(f"### {question} {{#{anchor}}}\n\n{body}\n")
    paths = []
    for language, texts in entries.items():
        path = folder / language / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f"---\ntitle: {name}\nlanguage: {language}\n---\n\n## FAQ {{#faq}}\n\n"
        path.write_text(head + "\n".join(texts), encoding="utf-8")
        paths.append(path)
    return paths


def read_questions(file: Path, languages: Collection[str], answerable: bool | None = None) -> list[Asked]:
    """The questions of a set in these languages, all or only those that can or can't be answered."""
    return [
        Asked(row["qid"], row["query"], row["lang"], answerable=bool(row["answerable"]))
        for row in read_rows(file)
        if row["lang"] in languages and answerable in {None, bool(row["answerable"])}
    ]
