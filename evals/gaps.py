"""`python -m evals gaps`: whether one subject asked in several languages becomes one row of the gaps.

In: month/topics.yaml and month/others.yaml (subjects in four languages), month/month.yaml (how people vary them, and
what is asked once). Out: for each set of subjects a simulated month's purity and more. Never: asks the assistant: every
simulated question counts as unanswered, and goes through `understand` as a real one does.

Subjects at even places of topics.yaml tuned the clustering; only those at odd places, those of others.yaml and all
together say how good it is.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import regex
import yaml
from pydantic import BaseModel, Field, RootModel, ValidationError
from rich.table import Table

from assistant.bootstrap import Parts
from assistant.clusters import damping, polite_clauses, question_vector, without
from assistant.errors import InputError
from assistant.gather import Asked, group
from assistant.hearing import Hearing
from assistant.language import normalise_code, script_of
from assistant.understand import understand
from evals.cases import FOLDER

MONTH = FOLDER / "month"
QUESTIONS = 3000
TOPICS, OTHERS = "topics.yaml", "others.yaml"
SETS = {  # the files that a set's subjects are from, and which of their subjects
    "tuning": ((TOPICS,), slice(0, None, 2)),
    "reported": ((TOPICS,), slice(1, None, 2)),
    "others": ((OTHERS,), slice(None)),
    "all": ((TOPICS, OTHERS), slice(None)),
}
LANGUAGES_ASKED = (1, 2, 3, 3, 4, 4)  # in how many languages a subject is asked, drawn with equal chance
POPULARITY = 0.7  # of Zipf's law: the k-th subject is asked k ** -0.7 times as often as the first
SLIPS, UNPUNCTUATED, LOWERED = 0.25, 0.2, 0.15  # shares of the questions
MOSTLY = 0.5  # in each of its languages more than this share of a subject's questions is in its row
WHOLE = 0.8  # at least this share of a subject's questions is in its row, and of the row the subject's
LEAST_PURITY = 0.9


class Topics(RootModel[dict[str, dict[str, list[str]]]]):
    """Subject -> language -> phrasings."""


class Month(BaseModel):
    """How people vary what they write, and what is asked once, by language."""

    variations: dict[str, list[str]] = Field(min_length=1)
    once: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Simulated:
    """One question, its subject (its own where it is asked once) and language."""

    topic: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Scores:
    """How well rows fit subjects.

    Args:
        purity: share of the questions that are of their row's main subject.
        gathered: share of the questions that are in their subject's main row.
        several: subjects asked in three languages or more.
        mostly: of these, those whose questions are mostly in one row in each language, that row being mostly theirs.
        one_row: of these, those with WHOLE of their questions in one row, and the row WHOLE theirs.
        pairs: for two languages ("en ja"), subjects asked in both that are so one row as to these languages'
            questions, and how many there are.
    """

    questions: int
    different: int
    topics: int
    rows: int
    purity: float
    gathered: float
    several: int
    mostly: int
    one_row: int
    pairs: dict[str, tuple[int, int]]


def simulate(name: str, count: int = QUESTIONS, seed: int = 1) -> list[Simulated]:
    """A month's questions about one set of the subjects, in random order; the same for the same seed.

    Raises:
        InputError: a file is malformed.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    files, chosen = SETS[name]
    topics, month = _read(files)
    names = list(topics)[chosen]
    chance.shuffle(names)
    weights = [(place + 1) ** -POPULARITY for place in range(len(names))]
    spoken = {name: chance.sample(sorted(topics[name]), chance.choice(LANGUAGES_ASKED)) for name in names}
    found = [
        Simulated(f"once-{language}-{number}", normalise_code(language), text)
        for language, texts in month.once.items()
        for number, text in enumerate(texts)
    ]
    while len(found) < count:
        topic = chance.choices(names, weights)[0]
        language = chance.choice(spoken[topic])
        text = _vary(chance.choice(topics[topic][language]), language, chance)
        text = chance.choice(month.variations[language]).format(q=text)
        found.append(Simulated(topic, normalise_code(language), text))
    chance.shuffle(found)
    return found


def measure_gaps(parts: Parts) -> dict[str, dict[str, Any]]:
    """Scores of each set of subjects."""
    return {name: asdict(measure_month(parts, simulate(name))) for name in SETS}


def measure_month(parts: Parts, month: Sequence[Simulated]) -> Scores:
    """How well the product gathers a month's questions."""
    hearing = Hearing(parts.wordings)
    whole = []
    for one in month:
        understood = understand(one.text, parts.detector, hearing, [one.language])
        whole.append(" ".join(question.text for question in understood.questions) or one.text)
    polite = polite_clauses(whole)
    asked = [
        Asked(str(number), 0, 0.0, one.language, "api", False, without(text, polite), "", "", 0.0)
        for number, (one, text) in enumerate(zip(month, whole, strict=True))
    ]
    keys = list(dict.fromkeys(one.key for one in asked))
    embeddings = parts.embedder.embed_queries([text for _, text in keys])
    damped = damping(parts.topics)
    vectors = {
        key: question_vector(embedding, parts.topics, key[0], damped)
        for key, embedding in zip(keys, embeddings, strict=True)
    }
    return score(month, [name or one.answer_id for one, name, _ in group(asked, vectors)])


def score(month: Sequence[Simulated], rows: Sequence[str]) -> Scores:
    """Compares the row that each question is in with its subject."""
    of_row: dict[str, Counter[str]] = defaultdict(Counter)
    of_topic: dict[str, Counter[str]] = defaultdict(Counter)
    for one, row in zip(month, rows, strict=True):
        of_row[row][one.topic] += 1
        of_topic[one.topic][row] += 1
    spoken = defaultdict(set)
    for one in month:
        spoken[one.topic].add(one.language)
    several = [topic for topic, languages in spoken.items() if len(languages) >= 3]
    return Scores(
        questions=len(month),
        different=len({one.text for one in month}),
        topics=len(of_topic),
        rows=len(of_row),
        purity=round(sum(topics.most_common(1)[0][1] for topics in of_row.values()) / len(month), 3),
        gathered=round(sum(found.most_common(1)[0][1] for found in of_topic.values()) / len(month), 3),
        several=len(several),
        mostly=sum(_is_mostly_one(topic, month, rows, of_row, of_topic) for topic in several),
        one_row=sum(_is_one_row(of_topic[topic], topic, of_row) for topic in several),
        pairs=_pairs(month, rows),
    )


def gaps_table(result: dict[str, dict[str, Any]]) -> Table:
    """The scores as a table."""
    drawn = Table(title="A simulated month of questions in zh, ja, es, en")
    names = ["subjects", *(name for name in Scores.__dataclass_fields__ if name != "pairs")]
    for name in names:
        drawn.add_column(name.replace("_", " "), justify="left" if name == "subjects" else "right")
    for subjects, scores in result.items():
        values = [scores[name] for name in names[1:]]
        drawn.add_row(subjects, *(f"{value:,}" if isinstance(value, int) else f"{value:.3f}" for value in values))
    return drawn


def pairs_table(result: dict[str, dict[str, Any]]) -> Table:
    """Subjects in one row by pair of languages, as a table."""
    drawn = Table(title="Subjects asked in both languages that are one row")
    pairs = list(next(iter(result.values()))["pairs"])
    for name in ("subjects", *pairs):
        drawn.add_column(name, justify="left" if name == "subjects" else "right")
    for subjects, scores in result.items():
        drawn.add_row(subjects, *("{} of {}".format(*scores["pairs"].get(name, (0, 0))) for name in pairs))
    return drawn


def _pairs(month: Sequence[Simulated], rows: Sequence[str]) -> dict[str, tuple[int, int]]:
    found = {}
    for pair in combinations(sorted({one.language for one in month}), 2):
        of_row: dict[str, Counter[str]] = defaultdict(Counter)
        of_topic: dict[str, Counter[str]] = defaultdict(Counter)
        spoken = defaultdict(set)
        for one, row in zip(month, rows, strict=True):
            if one.language in pair:
                of_row[row][one.topic] += 1
                of_topic[one.topic][row] += 1
                spoken[one.topic].add(one.language)
        both = [topic for topic, languages in spoken.items() if len(languages) == 2]
        found[" ".join(pair)] = (sum(_is_one_row(of_topic[topic], topic, of_row) for topic in both), len(both))
    return found


def _is_one_row(found: Counter[str], topic: str, of_row: dict[str, Counter[str]]) -> bool:
    main, inside = found.most_common(1)[0]
    row = of_row[main]
    return inside >= WHOLE * found.total() and row[topic] >= WHOLE * row.total()


def _is_mostly_one(
    topic: str,
    month: Sequence[Simulated],
    rows: Sequence[str],
    of_row: dict[str, Counter[str]],
    of_topic: dict[str, Counter[str]],
) -> bool:
    main = of_topic[topic].most_common(1)[0][0]
    asked = Counter(one.language for one in month if one.topic == topic)
    inside = Counter(one.language for one, row in zip(month, rows, strict=True) if one.topic == topic and row == main)
    is_mostly = all(inside[language] > MOSTLY * count for language, count in asked.items())
    return is_mostly and of_row[main].most_common(1)[0][0] == topic


def _vary(text: str, language: str, chance: random.Random) -> str:
    """Slips of the finger, lost punctuation, small letters."""
    if chance.random() < SLIPS:
        text = _slip(text, language, chance)
    if chance.random() < UNPUNCTUATED:
        text = regex.sub(r"\p{P}", "", text)
    return text.lower() if chance.random() < LOWERED else text


def _slip(text: str, language: str, chance: random.Random) -> str:
    """A letter lost, or in an alphabet two turned round."""
    places = [place for place in range(1, len(text) - 2) if text[place].isalpha() and text[place + 1].isalpha()]
    if len(places) < 5:
        return text
    at = chance.choice(places)
    is_turned = script_of(normalise_code(language)) == "Latn" and chance.random() < 0.5
    return text[:at] + (text[at + 1] + text[at] + text[at + 2 :] if is_turned else text[at + 1 :])


def _read(files: Sequence[str]) -> tuple[dict[str, dict[str, list[str]]], Month]:
    try:
        month, *found = (yaml.safe_load((MONTH / file).read_text(encoding="utf-8")) for file in ("month.yaml", *files))
        topics = {name: texts for one in found for name, texts in Topics.model_validate(one).root.items()}
        return topics, Month.model_validate(month)
    except (ValidationError, yaml.YAMLError, OSError) as error:
        raise InputError(f"{MONTH}: can't be used: {' '.join(str(error).split())[:200]}") from None
