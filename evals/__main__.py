"""`python -m evals`: how good the answers are, learned how to be confident, how fast.

In: options, the cases, article files, public sets. Out: tables on stdout, progress on stderr, files under
evals/report/; exit code 1 on a regression. Never: touches the index that serves: a run builds its own.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assistant.bootstrap import build
from assistant.calibration import FILE, calibration_file
from assistant.errors import AssistantError, InputError
from assistant.language import normalise_code
from assistant.models import BUNDLED
from assistant.settings import read_settings
from assistant.surfaces.progress import Progress
from evals.cases import FOLDER, read_cases, read_known_failures, set_names
from evals.options import parser
from evals.prepare import prepare
from evals.shown import console, give

REPORT, BASELINE = FOLDER / "report", FOLDER / "baseline.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Returns:
        0 when all is well, 1 on a regression or a failure, 2 on misuse.
    """
    options = parser().parse_args(arguments)
    try:
        return COMMANDS[options.command](options)
    except (AssistantError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
    except KeyboardInterrupt:
        return 130


def measure_cases(options: argparse.Namespace) -> int:
    """Cases -> tables, JSON, HTML; compared with the baseline where that was measured over the same articles."""
    from evals.compare import regressions
    from evals.page import as_html
    from evals.report import baseline_of, tables

    whole = not options.language and options.slice == 1.0
    if options.accept and not whole:
        raise InputError("--accept keeps a whole run; leave out --language and --slice")
    known = read_known_failures({case.id for case in read_cases(set_names())})
    if options.check:
        print(f"{len(read_cases(set_names()))} cases are in order")
        return 0
    what, result, judged = _measured(options, known, whole)
    before = json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.exists() else {}
    comparable = "cases" in before and all(before[name] == what[name] for name in ("set", "articles"))
    worse = regressions(result, before) if comparable else []
    REPORT.mkdir(exist_ok=True)
    _write(REPORT / "report.json", result | {"worse": worse, "judged": judged})
    (REPORT / "report.html").write_text(as_html(result, worse, judged), encoding="utf-8")
    screen = console()
    for table in tables(result):
        screen.print(table)
    screen.print(f"{len(result['failed'])} of {len(result['cases'])} went wrong: {_shown(REPORT / 'report.html')}")
    if judged:
        screen.print(f"as {judged['model']} judges: {judged['means']}")
    if options.accept:
        _write(BASELINE, baseline_of(result, what))
    elif not comparable:
        screen.print("not compared: the baseline is missing, or was measured over other cases or articles")
    for line in worse:
        screen.print(f"[red]worse[/red] {line}")
    for name in result["passing"]:
        screen.print(f"[red]passes[/red] {name}: remove it from known_failures.yaml")
    return 1 if result["passing"] or (worse and not options.accept) else 0


def _measured(
    options: argparse.Namespace, known: dict[str, str], whole: bool
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What was measured, the report, and a language model's judgement where one was asked for."""
    from evals.matrix import recall_matrix
    from evals.report import make_report
    from evals.run import run_cases

    cases = read_cases(options.set, options.language, share=options.slice)
    settings = read_settings()
    articles = options.articles or [settings.corpus]
    judged: dict[str, Any] = {}
    with ExitStack() as stack:
        parts = prepare(settings, articles, stack, options.home)
        report = stack.enter_context(Progress())
        _say(f"asking {len(cases)} cases")
        assistant = build(parts.settings, parts=parts)
        verdicts = run_cases(assistant, cases, lambda done: report("asking", done / len(cases)))
        matrix = None
        if whole:
            _say("asking over the articles of each language alone")
            matrix = recall_matrix(parts, settings, cases, stack, lambda share: report("one language", share))
        if options.judge:
            from evals.opinion import load_model, review_all

            model = load_model(options.judge, options.judge_url)
            _say(f"asking {options.judge}")
            judged = review_all(model, options.judge, verdicts, options.judge_cases, lambda s: report("judging", s))
    what = {
        "set": " ".join(options.set),
        "articles": "the corpus" if not options.articles else f"{len(options.articles)} other files or folders",
        "model": parts.embedder.name,
        "made": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    }
    return what, make_report(verdicts, what, known, matrix), judged


def calibrate(options: argparse.Namespace) -> int:
    """Learns the calibration from the tuning cases over the corpus, and over what the options add."""
    from evals.calibrate import learn
    from evals.training import training_sets

    settings = read_settings()
    with ExitStack() as stack:
        sets = training_sets(settings, options.articles, options.public, stack)
        own = calibration_file(settings.home, sets[0].retriever.embedder.name)
        file = options.output or (FILE if settings.embedding_model == BUNDLED else own)
        learned = learn(sets, file)
    print(learned.provenance)
    print(f"written to {_shown(file)}")
    return 0


def train(options: argparse.Namespace) -> int:
    """Learns the adapter from the sites."""
    from evals.train import train as learn

    for when, values in learn(options.output).items():
        print(f"{when}: held-out sites {', '.join(f'{name} {value:.3f}' for name, value in values.items())}")
    print(f"written to {_shown(options.output)}; learn the calibration again")
    return 0


def measure_set(options: argparse.Namespace) -> int:
    """A public set through understand and retrieve, and through the peers asked for."""
    from evals.public_sets import Selection, languages_of, measure_retrieval, retrieval_tables

    chosen = Selection(
        languages_of(options.bank_language),
        languages_of(options.query_language),
        options.domain,
        options.answers_only,
        options.without_holdout,
        options.history,
    )
    with ExitStack() as stack:
        result, _ = measure_retrieval(
            options.bank, options.queries, chosen, read_settings(), stack, options.peer, rebuild=options.rebuild
        )
    return give(options.json, result, lambda: retrieval_tables(result))


def measure_texts(options: argparse.Namespace) -> int:
    """How often the language of short texts is told."""
    from evals.public_sets import language_table, measure_languages

    result = measure_languages(options.file, [normalise_code(code) for code in options.language])
    return give(options.json, result, lambda: [language_table(result)])


def measure_table(options: argparse.Namespace) -> int:
    """Every row of the table of public sets."""
    from evals.published import measure_published, published_table

    with ExitStack() as stack:
        rows = measure_published(options.data, read_settings(), stack, options.row, options.peer, options.rebuild)
    return give(options.json, rows, lambda: [published_table(rows)])


def measure_planted(options: argparse.Namespace) -> int:
    """What the judge of phrased sentences catches and drops; exit code 1 where it is not good enough."""
    from assistant.claims import Judge
    from evals.planted import judge_planted, planted_table, reached, read_planted, shares

    rows = read_planted(options.set, options.language)
    settings = read_settings()
    with ExitStack() as stack:
        parts = prepare(settings, [settings.corpus], stack, None)
        outcomes = judge_planted(Judge(parts.index, parts.embedder, parts.detector), rows)
    found = shares(outcomes)
    screen = console()
    for outcome in outcomes:
        if not outcome.is_right:
            row = outcome.planted
            screen.print(f"{row.language} {row.kind}: {row.text} ({outcome.reason or 'passed'})", markup=False)
    screen.print(planted_table(found, outcomes))
    return 0 if reached(found) else 1


def measure_gaps(options: argparse.Namespace) -> int:
    """How well questions of a simulated month are gathered; exit code 1 where the rows are not pure enough."""
    from evals.gaps import LEAST_PURITY, gaps_table, pairs_table
    from evals.gaps import measure_gaps as measure

    with ExitStack() as stack:
        result = measure(prepare(read_settings(), [], stack, None))
    give(options.json, result, lambda: [gaps_table(result), pairs_table(result)])
    return 0 if result["reported"]["purity"] >= LEAST_PURITY else 1


def measure_drifts(options: argparse.Namespace) -> int:
    """What the parity ledger finds of articles that drifted on purpose; exit code 1 where it is not good enough."""
    from assistant.language import Detector
    from assistant.parity import check_parity
    from assistant.wording import Wordings
    from evals.parity import measure_parity, parity_reached, parity_table

    wordings = Wordings()
    detector = Detector(wordings.languages, wordings.evidence)
    sets = options.set or ["tuning", "held"]
    result = measure_parity(
        read_settings().corpus, lambda articles: check_parity(articles, detector), detector, sets, options.seeds
    )
    give(options.json, result, lambda: [parity_table(result)])
    return 0 if "held" not in sets or parity_reached(result) else 1


def measure_appended(options: argparse.Namespace) -> int:
    """What the staff desk marks of sentences that an agent has edited."""
    from evals.replies import measure_appended as measure

    return measure(options)


def measure_tickets(options: argparse.Namespace) -> int:
    """How well customers' questions are found, and what becomes of the replies."""
    from evals.replies import measure_tickets as measure

    return measure(options)


def bench(options: argparse.Namespace) -> int:
    """Speed and memory."""
    from evals.bench import bench as measure_speed

    return measure_speed(options.json)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "cases": measure_cases,
    "calibrate": calibrate,
    "train": train,
    "retrieval": measure_set,
    "language": measure_texts,
    "public": measure_table,
    "planted": measure_planted,
    "appended": measure_appended,
    "gaps": measure_gaps,
    "parity": measure_drifts,
    "tickets": measure_tickets,
    "bench": bench,
}


def _say(step: str) -> None:
    print(f"{step} …", file=sys.stderr)


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _shown(path: Path) -> str:
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


if __name__ == "__main__":
    sys.exit(main())
