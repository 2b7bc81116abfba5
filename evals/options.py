"""The command line of `python -m evals`.

In: words. Out: checked options; `command` names what to run. Never: runs anything.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from assistant.adapter import FILE as ADAPTER
from evals.peers import PEERS
from evals.tickets import SETS

SLICE = 0.2  # of each language's cases: what CI asks


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m evals", description="Measure the answers over the cases.")
    top.set_defaults(command="cases")
    _cases(top)
    commands = top.add_subparsers(title="commands")
    _calibrate(commands.add_parser("calibrate", help="learn assistant/calibration.json from the tuning cases"))
    _train(commands.add_parser("train", help="learn assistant/adapter.npz from the sites (ten to fifteen minutes)"))
    _retrieval(commands.add_parser("retrieval", help="measure retrieval and abstention on a public set"))
    _language(commands.add_parser("language", help="measure how often the language of short texts is told"))
    _public(commands.add_parser("public", help="measure every row of the table over a folder of public sets"))
    _planted(commands.add_parser("planted", help="measure what of a lying chat model gets past the judge"))
    _appended(commands.add_parser("appended", help="measure whether what is added to a supported sentence is marked"))
    gaps = commands.add_parser("gaps", help="measure how a simulated month's unanswered questions are gathered")
    gaps.add_argument("--json", action="store_true", help="machine-readable output")
    gaps.set_defaults(command="gaps")
    _parity(commands.add_parser("parity", help="measure what is found of articles that drifted apart on purpose"))
    _tickets(commands.add_parser("tickets", help="measure how well the questions of customers' tickets are found"))
    speed = commands.add_parser("bench", help="measure the speed against the tutorial stack")
    speed.add_argument("--json", action="store_true", help="machine-readable output")
    speed.set_defaults(command="bench")
    return top


def _cases(top: argparse.ArgumentParser) -> None:
    top.add_argument("--set", nargs="+", default=["heldout"], metavar="NAME", help="which cases (default: heldout)")
    top.add_argument("--language", nargs="+", default=[], metavar="CODE", help="cases in these languages only")
    top.add_argument(
        "--slice", nargs="?", type=_share, const=SLICE, default=1.0, metavar="SHARE",
        help=f"only this share of each language's cases, the same each time, and no matrix (without a value: {SLICE})",
    )  # fmt: skip
    top.add_argument(
        "--articles", nargs="+", default=[], type=Path, metavar="PATH", help="these articles instead of the corpus"
    )
    top.add_argument("--home", type=Path, help="keep the index in this folder (default: a temporary one)")
    top.add_argument("--accept", action="store_true", help="write the measures to evals/baseline.json")
    top.add_argument("--check", action="store_true", help="only check the case files")
    top.add_argument(
        "--judge", default="", metavar="PROVIDER:MODEL", help="let a LangChain chat model judge replies too"
    )
    top.add_argument("--judge-url", default="", metavar="URL", help="where that model is served")
    top.add_argument("--judge-cases", type=int, default=50, metavar="N", help="how many replies (default: %(default)s)")


def _calibrate(learning: argparse.ArgumentParser) -> None:
    learning.add_argument(
        "--articles", nargs="+", default=[], type=Path, metavar="PATH",
        help="learn from the same articles in this form too",
    )  # fmt: skip
    learning.add_argument("--public", type=Path, metavar="FOLDER", help="learn from the public sets in this folder too")
    learning.add_argument(
        "--output", type=Path, help="write here (default: assistant/calibration.json, or the home for another model)"
    )
    learning.set_defaults(command="calibrate")


def _train(training: argparse.ArgumentParser) -> None:
    training.add_argument("--output", type=Path, default=ADAPTER, help="write here instead")
    training.set_defaults(command="train")


def _retrieval(sets: argparse.ArgumentParser) -> None:
    sets.add_argument("--bank", type=Path, required=True, metavar="FILE", help="what is indexed: *.bank.jsonl")
    sets.add_argument("--queries", type=Path, required=True, metavar="FILE", help="what is asked: *.queries.jsonl")
    sets.add_argument("--bank-language", nargs="+", default=[], metavar="CODE", help="index rows in these only")
    sets.add_argument("--query-language", nargs="+", default=[], metavar="CODE", help="ask questions in these only")
    sets.add_argument("--domain", default="", help="rows and questions of this domain only")
    sets.add_argument("--answers-only", action="store_true", help="index the answers without the bank's questions")
    sets.add_argument("--without-holdout", action="store_true", help="leave out the rows marked `holdout`")
    sets.add_argument(
        "--history", choices=("used", "joined", "ignored"), default="used",
        help="earlier messages: given to the product, put before the question, or left out (default: %(default)s)",
    )  # fmt: skip
    _peers(sets)
    sets.set_defaults(command="retrieval")


def _peers(sets: argparse.ArgumentParser) -> None:
    sets.add_argument(
        "--peer", action="append", choices=sorted(PEERS), default=[], help="measure this in the same run too"
    )
    sets.add_argument("--rebuild", action="store_true", help="embed everything again")
    sets.add_argument("--json", action="store_true", help="machine-readable output")


def _language(texts: argparse.ArgumentParser) -> None:
    texts.add_argument("--file", type=Path, required=True, help='JSON Lines of {"lang", "text"}')
    texts.add_argument("--language", nargs="+", default=[], metavar="CODE", help="texts in these languages only")
    texts.add_argument("--json", action="store_true", help="machine-readable output")
    texts.set_defaults(command="language")


def _public(table: argparse.ArgumentParser) -> None:
    table.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="where the public sets are")
    table.add_argument("--row", nargs="+", default=[], metavar="WORD", help="only rows with one of these in their name")
    _peers(table)
    table.set_defaults(command="public")


def _planted(lying: argparse.ArgumentParser) -> None:
    lying.add_argument("--set", choices=("tuning", "heldout"), default="heldout", help="default: %(default)s")
    lying.add_argument("--language", nargs="+", default=[], metavar="CODE", help="sentences in these languages only")
    lying.set_defaults(command="planted")


def _parity(drifting: argparse.ArgumentParser) -> None:
    drifting.add_argument("--set", nargs="+", choices=("tuning", "held"), default=[], help="default: both")
    drifting.add_argument("--seeds", type=int, default=3, metavar="N", help="drawn so many times (default: 3)")
    drifting.add_argument("--json", action="store_true", help="machine-readable output")
    drifting.set_defaults(command="parity")


def _appended(adding: argparse.ArgumentParser) -> None:
    adding.add_argument("--set", nargs="+", choices=("tuning", "heldout"), default=[], help="default: both")
    adding.add_argument("--language", nargs="+", default=[], metavar="CODE", help="these languages only")
    adding.set_defaults(command="appended")


def _tickets(reading: argparse.ArgumentParser) -> None:
    reading.add_argument("--set", nargs="+", choices=SETS, default=[], help="default: all")
    reading.add_argument("--questions", action="store_true", help="only find the questions: needs no model")
    reading.add_argument("--json", action="store_true", help="machine-readable output")
    reading.set_defaults(command="tickets")


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no share between 0 and 1")
    return value
