"""What the calibration is learned from: questions with their truth, each set over an index of its own.

In: the corpus, other forms of its articles, the sites the model did not learn from, a folder of public sets. Over the
corpus, the cases of `tuning` and of `confidence`: the second were written later, to be asked once; their unanswerable
questions showed how much the confidence rested on subjects its makers had thought of, so that it learns from them now.
Out: TrainingSets. Never: the held-out cases, or sites the model learned from, where it would look better than it is.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from assistant.bootstrap import Parts, build
from assistant.errors import InputError
from assistant.records import Passage
from assistant.settings import Settings
from evals.calibrate import TrainingSet, case_questions
from evals.cases import read_cases, read_facts
from evals.judge import stands_in
from evals.prepare import prepare
from evals.public import Asked, read_questions, read_rows, write_articles
from evals.sites import read_sites, write_article

INDEXED = frozenset({"en", "zh-Hans", "ja", "es"})  # languages of the parallel FAQ's articles
ASKED = INDEXED | {"de", "fr", "ko", "pt", "ru", "it", "zh-Hant"}
SITES_WEIGHT = 0.5  # of all sites together
WEIGHT = 0.15  # of a public set beside the corpus's own cases: enough to keep other subjects in sight
SEED = 0


def training_sets(
    settings: Settings, articles: Sequence[Path], public: Path | None, stack: ExitStack
) -> list[TrainingSet]:
    """The tuning cases over the corpus and over its articles in another form, held-out sites, and two public FAQ sets.

    Args:
        articles: the same articles in another form; empty for none.
        public: a folder with `faq_parallel`, `faq_abstain` and `deepset_covid`; None for none.
        stack: removes what is temporary when it closes.

    Raises:
        InputError: a public file can't be read.
    """
    first = prepare(settings, [settings.corpus], stack, None)
    cases, more = case_questions(read_cases("tuning")), case_questions(read_cases(["confidence", "fresh"]))
    facts = read_facts()

    def states(fact: str, passage: Passage) -> bool:
        return stands_in(facts[fact], passage)

    sets = [
        _over(first, "corpus", cases, states, decides=True),
        _over(first, "corpus, more", more, states, decides=True, ranks=False),
    ]
    if articles:
        extracted = prepare(settings, articles, stack, None, first)
        sets.append(_over(extracted, "extracted", cases, states, decides=True))
        sets.append(_over(extracted, "extracted, more", more, states, decides=True, ranks=False))
    sites = read_sites(held_out=True)
    for site in sites:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evals-")))
        parts = prepare(settings, [write_article(site, folder)], stack, None, first)
        sets.append(_over(parts, site.name, site.questions, _has_anchor, SITES_WEIGHT / len(sites)))
    if public:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evals-")))
        try:
            for name, written, questions in _public_sets(public, folder):
                parts = prepare(settings, written, stack, None, first)
                sets.append(_over(parts, name, questions, _has_anchor, WEIGHT))
        except OSError as error:
            raise InputError(f"{error.filename}: can't be read ({error.strerror}); see --public") from None
    return sets


def _over(
    parts: Parts,
    name: str,
    questions: Sequence[Asked],
    states: Callable[[str, Passage], bool],
    weight: float = 1.0,
    decides: bool = False,
    ranks: bool = True,
) -> TrainingSet:
    retriever = build(parts.settings, parts=parts).retriever
    return TrainingSet(name, retriever, tuple(questions), states, weight, decides, ranks)


def _has_anchor(fact: str, passage: Passage) -> bool:
    return passage.anchor == fact


def _public_sets(public: Path, folder: Path) -> Iterator[tuple[str, list[Path], list[Asked]]]:
    """Name, article files and questions; of the parallel FAQ only questions in languages it is not indexed in."""
    chance = random.Random(SEED)  # noqa: S311  # a sample, the same each time
    bank = public / "faq_parallel.bank.jsonl"
    left_out = {row["fid"] for row in read_rows(bank) if row.get("holdout")}
    questions = [
        Asked(row["qid"], row["query"], row["lang"], True)
        for row in read_rows(public / "faq_parallel.queries.jsonl")
        if row["lang"] in ASKED - INDEXED and row["fid"] not in left_out
    ]
    chance.shuffle(questions)
    unanswerable = read_questions(public / "faq_abstain.queries.jsonl", ASKED)
    yield "faq_parallel", write_articles(bank, folder / "faq", INDEXED), questions[:150] + unanswerable
    languages = {"de", "en"}
    questions = read_questions(public / "deepset_covid.queries.jsonl", languages)
    chance.shuffle(questions)
    written = write_articles(public / "deepset_covid.bank.jsonl", folder / "covid", languages)
    yield "deepset_covid", written, questions[:200]
