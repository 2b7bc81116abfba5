"""Every row of the table the project is held to, measured in one go over a folder of public sets.

In: the folder. Out: rows of measured, published and wanted values, as JSON or a table. Never: tunes anything, or counts
a set that is absent as anything but absent.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from assistant.bootstrap import Parts
from assistant.errors import InputError
from assistant.settings import Settings
from evals.public_sets import Selection, languages_of, measure_languages, measure_retrieval

MAIN = ("en", "es", "ja", "zh-Hans")
NINE = ("zh-Hans", "zh-Hant", "ja", "es", "en", "ko", "fr", "de", "pt")
LANGUAGE_ROW = "language of short texts: nine main languages, under 10 characters"


@dataclass(frozen=True, slots=True)
class Part:
    """One run: a bank and its questions by name, which part of them, and the measures that count."""

    bank: str
    queries: str
    chosen: Selection
    measures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: its runs; their values stand alone or as one `mean`. `naive` and `prototype` were measured
    before this project's first line; `reach` is what it is to reach, one value a column."""

    name: str
    parts: tuple[Part, ...]
    naive: str
    prototype: str
    reach: tuple[float, ...]
    mean: bool = False


def _faq(bank: str, asked: str, answers_only: bool = False) -> Part:
    chosen = Selection(languages_of([bank]), languages_of([asked]), answers_only=answers_only)
    return Part("faq_parallel", "faq_parallel", chosen, ("hit@1",))


def _xquadr(asked: str, *banks: str) -> Part:
    return Part("xquadr", "xquadr", Selection(banks, (asked,)), ("hit@1",))


ROWS = (
    Row("FAQ question → answer text only, hit@1, mean of en es ja zh",
        tuple(_faq(code, code, True) for code in MAIN), ".29", ".62", (0.75,), mean=True),
    Row("question in es ja zh → English FAQ bank, hit@1, mean",
        tuple(_faq("en", code) for code in MAIN[1:]), ".07", ".94", (0.97,), mean=True),
    Row("xquadr zh → bank of all languages, hit@1", (_xquadr("zh-Hans"),), ".12", ".99", (0.99,)),
    Row("xquadr es → en, zh → en, hit@1", (_xquadr("es", "en"), _xquadr("zh-Hans", "en")),
        ".29 .03", ".84 .62, late .93 .83", (0.94, 0.86)),
    Row("deepset_covid de, en, MRR",
        tuple(Part("deepset_covid", "deepset_covid", Selection((code,), (code,)), ("mrr",)) for code in ("de", "en")),
        ".18 .70", ".45 .80", (0.50, 0.83)),
    Row("hint3, mean of both bots, hit@1, abstention AUROC",
        tuple(Part("hint3_en", "hint3_en", Selection(domain=shop), ("hit@1", "auroc"))
              for shop in ("curekart", "sofmattress")), ".63 .84", ".70 .84", (0.77, 0.88), mean=True),
    Row("clinc150, abstention AUROC", (Part("clinc150_en", "clinc150_en", Selection(), ("auroc",)),),
        ".94", ".95", (0.96,)),
    Row("faq_abstain, AUROC, mean of en es ja zh",
        tuple(Part("faq_parallel", "faq_abstain", Selection((code,), (code,), without_holdout=True), ("auroc",))
              for code in MAIN), ".58", ".75", (0.80,), mean=True),
    Row("nomiracl zh ja es en, balanced accuracy as decided",
        tuple(Part(f"nomiracl_{code}", f"nomiracl_{code}", Selection(), ("balanced_accuracy",))
              for code in ("zh", "ja", "es", "en")), "-", "-", (0.72,) * 4),
    Row("nomiracl zh ja es en, balanced accuracy at the best threshold",
        tuple(Part(f"nomiracl_{code}", f"nomiracl_{code}", Selection(), ("best_balanced_accuracy",))
              for code in ("zh", "ja", "es", "en")), "-", ".65 .67 .76 .68", (0.72,) * 4),
    Row("dstc11 with history, hit@10", (Part("dstc11_faq", "dstc11_faq", Selection(), ("hit@10",)),),
        ".41", ".46", (0.60,)),
)  # fmt: skip


def measure_published(
    folder: Path,
    settings: Settings,
    stack: ExitStack,
    only: Sequence[str] = (),
    peers: Sequence[str] = (),
    rebuild: bool = False,
) -> list[dict[str, Any]]:
    """The rows, each with its values, whether they reach, and every run's whole result.

    Args:
        only: rows whose name holds one of these words; empty for all.

    Raises:
        InputError: the folder is missing, or a file in it is malformed.
    """
    if not folder.is_dir():
        raise InputError(f"--data {folder}: is no folder; name the one that holds the *.bank.jsonl files")
    wanted = [row for row in ROWS if not only or any(word in row.name for word in only)]
    done: dict[Part, dict[str, Any]] = {}
    rows: list[dict[str, Any]] = []
    parts: Parts | None = None
    for row in wanted:
        missing = [file.name for part in row.parts for file in _files(folder, part) if not file.exists()]
        if missing:
            rows.append(_as_row(row, [], [], f"{missing[0]} is absent"))
            continue
        results = []
        for part in row.parts:
            same = next((known for known in done if _asks_alike(known, part)), None)
            if same is None:
                print(f"{row.name}: {', '.join(part.chosen.query_languages) or part.queries} …", file=sys.stderr)
                found, parts = measure_retrieval(
                    *_files(folder, part), part.chosen, settings, stack, peers, parts, rebuild
                )
                done[part], same = found, part
            results.append(done[same])
        rows.append(_as_row(row, _values(row, results), results))
        print(f"{row.name}: {_joined(rows[-1]['values'])}", file=sys.stderr)
    if not only or any(word in LANGUAGE_ROW for word in only):
        rows.append(_language_row(folder))
    return rows


def _files(folder: Path, part: Part) -> tuple[Path, Path]:
    return folder / f"{part.bank}.bank.jsonl", folder / f"{part.queries}.queries.jsonl"


def _asks_alike(one: Part, other: Part) -> bool:
    """Whether two runs differ at most in the measures that count."""
    return (one.bank, one.queries, one.chosen) == (other.bank, other.queries, other.chosen)


def _values(row: Row, results: Sequence[dict[str, Any]], peer: str = "") -> list[float]:
    """The row's values: of each run, or the mean over runs of each measure; `peer` for a peer's instead."""
    tables = [result["peers"][peer] if peer else result["languages"] for result in results]
    columns = [
        [table["all"][name] or 0.0 for name in part.measures] for part, table in zip(row.parts, tables, strict=True)
    ]
    if row.mean:
        return [round(sum(values) / len(values), 4) for values in zip(*columns, strict=True)]
    return [value for values in columns for value in values]


def _as_row(row: Row, values: list[float], results: Sequence[dict[str, Any]], note: str = "") -> dict[str, Any]:
    peers = sorted({name for result in results for name in result["peers"]})
    return {
        "row": row.name,
        "values": values,
        "reach": list(row.reach),
        "reached": bool(values) and all(value >= wanted for value, wanted in zip(values, row.reach, strict=True)),
        "naive": row.naive,
        "prototype": row.prototype,
        "note": note,
        "peers": {name: _values(row, results, name) for name in peers},
        "runs": list(results),
    }


def _language_row(folder: Path) -> dict[str, Any]:
    row = Row(LANGUAGE_ROW, (), "-", ".94 .97", (0.97, 0.98))
    file = folder / "lid_short.jsonl"
    if not file.exists():
        return _as_row(row, [], [], f"{file.name} is absent")
    measures = measure_languages(file, NINE)["languages"]["all"]
    return _as_row(row, [measures["accuracy"] or 0.0, measures["short_accuracy"] or 0.0], [])


def published_table(rows: Sequence[dict[str, Any]]) -> Table:
    """The rows for a terminal."""
    peers = sorted({name for row in rows for name in row["peers"]})
    table = Table(title="public sets")
    for name in ("row", "measured", "to reach", "", "naive, before", "prototype", *(f"peer {name}" for name in peers)):
        table.add_column(name, justify="left" if name == "row" else "right", no_wrap=name != "row")
    for row in rows:
        mark = "[green]yes[/green]" if row["reached"] else "[red]no[/red]" if row["values"] else row["note"]
        shown = [_joined(row["peers"].get(name, ())) for name in peers]
        wanted = " ".join(f"{value:.2f}" for value in row["reach"])
        table.add_row(row["row"], _joined(row["values"]) or "-", wanted, mark, row["naive"], row["prototype"], *shown)
    return table


def _joined(values: Sequence[float]) -> str:
    return " ".join(f"{value:.3f}" for value in values)
