"""Public question sets (see their own README for format and licences) as articles and questions.

In: `<name>.bank.jsonl` and `<name>.queries.jsonl`. Out: article files of an FAQ, and questions with a truth.
Never: copies any of it into the project.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import regex

ARTICLES = ("en", "zh-Hans", "ja", "es")
ASKING = ("de", "fr", "ko", "pt", "ru", "it", "zh-Hant")
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
    """The rows of a JSON Lines file."""
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


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


def training_questions(public: Path, folder: Path) -> Iterator[tuple[str, list[Path], tuple[Asked, ...]]]:
    """Name, article files (written below `folder`) and questions of the sets that confidence is learned from.

    Two software FAQs asked in other languages and with entries left out, and a paraphrased FAQ: what is asked there is
    often among the generic topics, so the learner sees topics that the articles do cover.
    """
    chance = random.Random(0)  # noqa: S311 - a sample, not a secret
    bank = public / "faq_parallel.bank.jsonl"
    left_out = {row["fid"] for row in read_rows(bank) if row.get("holdout")}
    foreign = [
        Asked(row["qid"], row["query"], row["lang"], answerable=True)
        for row in read_rows(public / "faq_parallel.queries.jsonl")
        if row["lang"] in ASKING and row["fid"] not in left_out
    ]
    absent = read_questions(public / "faq_abstain.queries.jsonl", {*ARTICLES, *ASKING})
    sample = (*chance.sample(foreign, min(150, len(foreign))), *absent)
    yield "faq_parallel", write_articles(bank, folder, ARTICLES), sample
    bank = public / "deepset_covid.bank.jsonl"
    paraphrased = read_questions(public / "deepset_covid.queries.jsonl", {"de", "en"})
    sample = tuple(chance.sample(paraphrased, min(200, len(paraphrased))))
    yield "deepset_covid", write_articles(bank, folder, {"de", "en"}), sample
