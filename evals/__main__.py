"""`python -m evals`: how good the answers are, learned how to be confident, how fast.

In: options, the cases, article files. Out: tables on stdout, progress on stderr, files under evals/report/; exit code 1
on a regression. Never: touches the index that serves: a run builds its own.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from assistant.bootstrap import build
from assistant.calibration import FILE
from assistant.errors import AssistantError, InputError
from assistant.settings import read_settings
from assistant.surfaces.progress import Progress
from evals.cases import FOLDER, SETS, read_cases
from evals.prepare import prepare

REPORT, BASELINE = FOLDER / "report", FOLDER / "baseline.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Returns:
        0 when all is well, 1 on a regression or a failure, 2 on misuse.
    """
    options = parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except AssistantError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
    except KeyboardInterrupt:
        return 130


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m evals", description="Measure the answers over the cases.")
    top.set_defaults(run=measure)
    top.add_argument("--set", choices=SETS, default="heldout", help="which cases (default: %(default)s)")
    top.add_argument("--language", nargs="+", default=[], metavar="CODE", help="cases in these languages only")
    top.add_argument(
        "--articles", nargs="+", default=[], type=Path, metavar="PATH", help="these articles instead of the corpus"
    )
    top.add_argument("--home", type=Path, help="keep the index in this folder (default: a temporary one)")
    top.add_argument("--accept", action="store_true", help="write the measures to evals/baseline.json")
    commands = top.add_subparsers(title="commands")
    learning = commands.add_parser("calibrate", help="learn assistant/calibration.json from the tuning cases")
    learning.add_argument(
        "--articles",
        nargs="+",
        default=[],
        type=Path,
        metavar="PATH",
        help="learn from the same articles in this form too",
    )
    learning.add_argument("--public", type=Path, metavar="FOLDER", help="learn from the public sets in this folder too")
    learning.add_argument("--output", type=Path, default=FILE, help="write here instead")
    learning.set_defaults(run=calibrate)
    lying = commands.add_parser("planted", help="measure what of a lying chat model gets past the judge")
    lying.add_argument("--set", choices=SETS, default="heldout", help="tuning, or heldout (the default)")
    lying.add_argument("--language", action="append", default=[], help="only this language; may be repeated")
    lying.set_defaults(run=_planted)
    speed = commands.add_parser("bench", help="measure the speed against the tutorial stack")
    speed.add_argument("--json", action="store_true", help="machine-readable output")
    speed.set_defaults(run=_bench)
    return top


def measure(options: argparse.Namespace) -> int:
    """Cases -> table, JSON, HTML; compared with the baseline where that was measured over the same."""
    from evals.report import as_html, make_report, regressions, table
    from evals.run import run_cases

    cases = read_cases(options.set, options.language)
    settings = read_settings()
    articles = options.articles or [settings.corpus]
    with ExitStack() as stack:
        parts = prepare(settings, articles, stack, options.home)
        assistant = build(parts.settings, parts=parts)
        report = stack.enter_context(Progress())
        verdicts = run_cases(assistant, cases, lambda done: report("asking", done / len(cases)))
    what = {
        "set": options.set,
        "articles": "the corpus" if not options.articles else f"{len(articles)} other files or folders",
        "model": parts.embedder.name,
        "made": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    }
    result = make_report(verdicts, what)
    before = json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.exists() else None
    same = before is not None and all(before[key] == what[key] for key in ("set", "articles"))
    comparable = same and not options.language
    worse = regressions(result, before) if before is not None and comparable else []
    REPORT.mkdir(exist_ok=True)
    _write(REPORT / "report.json", result)
    (REPORT / "report.html").write_text(as_html(result, worse), encoding="utf-8")
    console = Console(highlight=False)
    console.width = max(console.width, 120)
    console.print(table(result))
    console.print(f"{len(result['failed'])} of {len(cases)} cases went wrong: {_shown(REPORT / 'report.html')}")
    if options.accept:
        _write(BASELINE, {key: value for key, value in result.items() if key != "failed"})
    elif not comparable:
        console.print("not compared: the baseline is missing, or was measured over other cases or articles")
    for line in worse:
        console.print(f"[red]worse[/red] {line}", markup=True)
    return 1 if worse and not options.accept else 0


def calibrate(options: argparse.Namespace) -> int:
    """Learns the calibration from the tuning cases over the corpus, and over what the options add."""
    from evals.calibrate import learn
    from evals.training import training_sets

    with ExitStack() as stack:
        learned = learn(training_sets(read_settings(), options.articles, options.public, stack), options.output)
    print(learned.provenance)
    print(f"written to {_shown(options.output)}")
    return 0


def _planted(options: argparse.Namespace) -> int:
    """What the judge of phrased sentences catches and drops; exit code 1 where it is not good enough."""
    from assistant.claims import Judge
    from evals.planted import judge_planted, reached, read_planted, shares, table

    rows = read_planted(options.set, options.language)
    settings = read_settings()
    with ExitStack() as stack:
        parts = prepare(settings, [settings.corpus], stack, None)
        outcomes = judge_planted(Judge(parts.index, parts.embedder, parts.detector), rows)
    found = shares(outcomes)
    console = Console(highlight=False)
    for outcome in outcomes:
        if not outcome.is_right:
            row = outcome.planted
            console.print(f"{row.language} {row.kind}: {row.text} ({outcome.reason or 'passed'})", markup=False)
    console.print(table(found, outcomes))
    return 0 if reached(found) else 1


def _bench(options: argparse.Namespace) -> int:
    from evals.bench import bench

    return bench(options.json)


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _shown(path: Path) -> str:
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


if __name__ == "__main__":
    sys.exit(main())
