"""Small help centres, written for training and calibration: passages, questions they answer, questions they don't.

In: sites/<name>.txt, and sites/next/<name>.txt, which the model has not learned from yet. Out: Sites, and their
articles as files that an ingest takes. Never: real texts or the corpus's subject.

A file has one record a line, its fields parted by tabs:
    S  name  language  subject
    P  id  heading or FAQ question  text
    Q  id of the passage that answers  language  question
    U  language  question that no passage answers
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assistant.errors import InputError
from assistant.language import normalise_code
from evals.public import Asked

FOLDER = Path(__file__).parent / "sites"
FIELDS = {"S": 4, "P": 4, "Q": 4, "U": 3}
# Three sites of each language are kept from training, drawn by chance: progress and confidence are measured on them.
HELD_OUT = frozenset({
    "ai-tutor", "analytics-platform", "ceramics-studio", "coffee-subscription",
    "dental-plan", "elderly-care", "error-monitoring", "esports-arena",
    "flamenco-school", "scholarship-fund", "vineyard-tours", "water-filter",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Site:
    """One help centre in one language.

    Args:
        passages: id -> (heading or question, text).
        questions: with the ids of the passages that answer in `facts`, none where it can't be answered.
    """

    name: str
    language: str
    passages: dict[str, tuple[str, str]]
    questions: tuple[Asked, ...]


def read_sites(held_out: bool, folder: Path = FOLDER) -> list[Site]:
    """The sites to learn from, or those kept from it.

    Raises:
        InputError: a line is malformed or names an unknown passage; says file and line.
    """
    return [_read(file) for file in sorted(folder.glob("*.txt")) if (file.stem in HELD_OUT) is held_out]


def _read(file: Path) -> Site:
    language, passages, questions = "", {}, []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        kind, *fields = line.split("\t")
        if FIELDS.get(kind) != len(fields) + 1:
            raise InputError(f"{file}:{number}: must be S, P, Q or U and its fields, parted by tabs")
        if kind == "S":
            language = normalise_code(fields[1])
        elif kind == "P":
            passages[fields[0]] = (fields[1], fields[2])
        elif kind == "Q" and fields[0] not in passages:
            raise InputError(f"{file}:{number}: unknown passage {fields[0]}")
        else:
            facts = (fields[0],) if kind == "Q" else ()
            code = normalise_code(fields[-2])
            questions.append(Asked(f"{file.stem}:{number}", fields[-1], code, bool(facts), facts))
    return Site(file.stem, language, passages, tuple(questions))


def write_article(site: Site, folder: Path) -> Path:
    """The site as one article whose anchors are the passages' ids; its path."""
    path = folder / site.language / f"{site.name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    sections = [f"## {heading} {{#{name}}}\n\n{text}\n" for name, (heading, text) in site.passages.items()]
    head = f"---\ntitle: {site.name}\nlanguage: {site.language}\n---\n\n"
    path.write_text(head + "\n".join(sections), encoding="utf-8")
    return path
