"""The commands that measure the staff desk's replies: `tickets` and `appended`.

In: options. Out: tables or JSON on stdout; exit codes. Never: touches the index that serves.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from assistant.bootstrap import build, build_drafter
from assistant.hearing import Hearing
from assistant.language import Detector
from assistant.settings import read_settings
from assistant.surfaces.progress import Progress
from assistant.wording import Wordings
from evals import appended
from evals.drafted import drafts_table, measure_drafts
from evals.prepare import prepare
from evals.shown import console, give
from evals.tickets import SETS, read_tickets, tickets_table
from evals.tickets import measure_tickets as measure


def measure_appended(options: argparse.Namespace) -> int:
    """What the staff desk marks of sentences that an agent has edited."""
    settings = read_settings()
    with ExitStack() as stack:
        parts = prepare(settings, [settings.corpus], stack, None)
        drafter = build_drafter(build(parts.settings, parts=parts))
        marked = appended.mark_all(drafter, appended.read_appended(options.set or appended.SETS, options.language))
    screen = console()
    for one in marked:
        if not one.is_right:
            row = one.edited
            screen.print(f"{row.set} {row.language}: {row.text} ({', '.join(one.reasons) or 'passed'})", markup=False)
    screen.print(appended.appended_table(appended.shares(marked)))
    return 0


def measure_tickets(options: argparse.Namespace) -> int:
    """How well customers' questions are found, and what becomes of the replies; 1 where a sentence is neither supported
    nor marked."""
    wordings, cases, sets = Wordings(), read_tickets(), options.set or list(SETS)
    detector = Detector(wordings.languages, wordings.evidence)
    result = measure(cases, Hearing(wordings), lambda text: detector.detect(text).language, sets)
    if options.questions:
        return give(options.json, result, lambda: [tickets_table(result)])
    settings = read_settings()
    with ExitStack() as stack:
        parts = prepare(settings, [settings.corpus], stack, None)
        report = stack.enter_context(Progress())
        drafter = build_drafter(build(parts.settings, parts=parts))
        drafted = measure_drafts(cases, drafter, sets, lambda share: report("drafting", share))
    both = result | {"drafts": drafted}
    give(options.json, both, lambda: [tickets_table(result), drafts_table(drafted)])
    return 1 if any(row["neither"] for row in drafted["measures"]) else 0
