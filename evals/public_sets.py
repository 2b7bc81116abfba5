"""One public set measured: files and filters -> measures of the product and of peers, as JSON or tables.

In: a bank and its questions, or short texts. Out: plain values, and tables of them. Never: writes files of its own
beside the embeddings kept under the home.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from assistant.bootstrap import Parts
from assistant.errors import InputError
from assistant.hearing import Hearing
from assistant.language import Detector, normalise_code
from assistant.settings import Settings
from assistant.surfaces.progress import Progress
from assistant.understand import understand
from assistant.wording import Wordings
from evals.bank import documents_of, open_bank
from evals.peers import PEERS
from evals.ranking import compare, measure
from evals.retrieval import History, ask_all
from evals.sets import BankRow, QueryRow, TextRow, read_bank, read_queries, read_texts

COLUMNS = ("hit@1", "hit@10", "mrr", "ndcg@10", "recall@10", "auroc", "balanced_accuracy", "best_balanced_accuracy")
SHORT = 10  # characters: below, nobody else gets the language right
Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of a set: languages (empty: all), one domain ("": all), questions dropped, held-out rows dropped."""

    bank_languages: tuple[str, ...] = ()
    query_languages: tuple[str, ...] = ()
    domain: str = ""
    answers_only: bool = False
    without_holdout: bool = False
    history: History = "used"

    def of_bank(self, row: BankRow) -> bool:
        """Whether the row is indexed."""
        language = not self.bank_languages or row.lang in self.bank_languages
        return language and self.domain in ("", row.domain) and not (self.without_holdout and row.holdout)

    def of_queries(self, row: QueryRow) -> bool:
        """Whether the question is asked."""
        return (not self.query_languages or row.lang in self.query_languages) and self.domain in ("", row.domain)


def languages_of(codes: Sequence[str]) -> tuple[str, ...]:
    """The codes in this project's spelling: `zh` is `zh-Hans`."""
    return tuple(normalise_code(code) for code in codes)


def measure_retrieval(
    bank: Path,
    queries: Path,
    chosen: Selection,
    settings: Settings,
    stack: ExitStack,
    peers: Sequence[str] = (),
    other: Parts | None = None,
    rebuild: bool = False,
) -> tuple[Result, Parts]:
    """Measures by language of the product, and of peers on the same documents; the parts, to use their model again.

    Raises:
        InputError: a file can't be used, or the filters leave nothing.
    """
    rows = [row for row in read_bank(bank) if chosen.of_bank(row)]
    asked = [row for row in read_queries(queries) if chosen.of_queries(row)]
    if not asked:
        raise InputError(f"{queries}: no question is left; loosen --query-language or --domain")
    documents = documents_of(rows, chosen.answers_only)
    started = time.perf_counter()
    opened = open_bank(settings, documents, bank.name.split(".")[0], stack, other, rebuild)
    indexed = time.perf_counter() - started
    with Progress() as report:
        found = ask_all(opened, asked, chosen.history, lambda done: report("asking", done / len(asked)))
    ids = {row.id for row in rows}
    result: Result = {
        "bank": bank.name,
        "queries": queries.name,
        "model": opened.parts.embedder.name,
        "rows": len(rows),
        "documents": len(documents),
        "index_s": round(indexed, 2),
        "question_ms": round((time.perf_counter() - started - indexed) * 1000 / len(asked), 2),
        "languages": measure(found, ids),
        "peers": {},
        "ratios": {},
    }
    for name in peers:
        theirs = measure(PEERS[name](documents, asked), ids)
        result["peers"][name] = theirs
        result["ratios"][name] = compare(result["languages"], theirs)
    return result, opened.parts


def retrieval_tables(result: Result) -> list[Table]:
    """The measures by language of the product and each peer, and how many times a peer's the product's are."""
    title = f"{result['queries']} → {result['bank']} ({result['rows']} rows), {result['model']}"
    tables = [_drawn(title, result["languages"])]
    for name, theirs in result["peers"].items():
        tables += [_drawn(f"peer {name}", theirs), _drawn(f"the product ÷ {name}", result["ratios"][name])]
    return tables


def _drawn(title: str, languages: Mapping[str, Mapping[str, Any]]) -> Table:
    table = Table(title=title)
    table.add_column("language")
    for name in ("questions", *COLUMNS):
        table.add_column(name.replace("_", " "), justify="right")
    for code, row in languages.items():
        shares = [_cell(row, name) for name in COLUMNS]
        table.add_row(code, str(row.get("questions", "")), *shares, style="bold" if code in ("all", "mean") else "")
    return table


def _cell(row: Mapping[str, Any], name: str) -> str:
    value, interval = row.get(name), row.get(f"{name}_interval")
    if value is None:
        return "-"
    return f"{value:.3f}" + (f" [{interval[0]:.2f} {interval[1]:.2f}]" if interval else "")


def measure_languages(file: Path, only: Sequence[str] = ()) -> Result:
    """How often the language of a short text is told, by language and for texts under SHORT characters.

    Texts are understood as first messages without a page language. Languages the product has no words in can't be
    told; they are counted apart.

    Args:
        only: texts in these languages alone; empty for all.

    Raises:
        InputError: the file can't be used, or holds no text in these languages.
    """
    wordings = Wordings()
    detector, hearing = Detector(wordings.languages, wordings.evidence), Hearing(wordings)
    rows = [row for row in read_texts(file) if not only or row.lang in only]
    if not rows:
        raise InputError(f"{file}: no text is in {', '.join(only)}; loosen --language")
    told: dict[str, list[tuple[TextRow, str]]] = defaultdict(list)
    with Progress() as report:
        for number, row in enumerate(rows, 1):
            told[row.lang].append((row, understand(row.text, detector, hearing).language))
            report("asking", number / len(rows))
    spoken = [code for code in sorted(told) if code in wordings.languages]
    measures = {code: _told(told[code]) for code in sorted(told)}
    measures["spoken"] = _told([pair for code in spoken for pair in told[code]])
    measures["all"] = _told([pair for pairs in told.values() for pair in pairs])
    return {"file": file.name, "spoken": spoken, "languages": measures}


def _told(pairs: Sequence[tuple[TextRow, str]]) -> dict[str, Any]:
    short = [found == row.lang for row, found in pairs if len(row.text) < SHORT]
    wrong = Counter(found for row, found in pairs if found != row.lang)
    right = [found == row.lang for row, found in pairs]
    return {
        "texts": len(right),
        "accuracy": round(sum(right) / len(right), 4) if right else None,
        "short_texts": len(short),
        "short_accuracy": round(sum(short) / len(short), 4) if short else None,
        "taken_for": dict(wrong.most_common(3)),
    }


def language_table(result: Result) -> Table:
    """Accuracy by language."""
    table = Table(title=f"{result['file']}: language of short texts")
    for name in ("language", "texts", "accuracy", f"under {SHORT} characters", "accuracy of these", "taken for"):
        table.add_column(name, justify="left" if name in ("language", "taken for") else "right")
    for code, row in result["languages"].items():
        shares = ["-" if row[name] is None else f"{row[name]:.3f}" for name in ("accuracy", "short_accuracy")]
        others = ", ".join(f"{other} {count}" for other, count in row["taken_for"].items())
        style = "bold" if code in ("all", "spoken") else "" if code in result["spoken"] else "dim"
        table.add_row(code, str(row["texts"]), shares[0], str(row["short_texts"]), shares[1], others, style=style)
    return table
