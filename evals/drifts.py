"""Articles that drifted apart on purpose: a copy of a corpus with changes in one language each.

In: a corpus folder, drifts/<language>/<set>.yaml (written by hand) and a seed. Out: the copy, and where it was changed.
Never: two changes in one section of one language, or a look at what the checks find.

What takes understanding (a negation, a condition, a stray word, a spelled figure) is written by hand; what is
mechanical is drawn with the seed, nine a language: a row, an address, a digit, a scale, a paragraph, a section, a block
of another language, a dead anchor and a phrase said twice.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import regex
import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from assistant.errors import InputError
from assistant.language import split_sentences
from evals.cases import FOLDER

HEADING = regex.compile(r"^#{2,3} .*\{#([\w-]+)\}$", regex.MULTILINE)
ADDRESS = "getaiperks.com"
ATTEMPTS = 500
LONG = 40  # characters of a paragraph that may go or be swapped
HAN_OR_KANA = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")


class Written(BaseModel):
    """A drift as it stands in a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    anchor: str
    find: str
    replace: str


@dataclass(frozen=True, slots=True)
class Drift:
    """A change of one section in one language."""

    kind: str
    language: str
    anchor: str
    before: str
    after: str


@dataclass(slots=True)
class Section:
    """A section's source from its heading to the next."""

    anchor: str
    text: str

    @property
    def paragraphs(self) -> list[str]:
        """Its longer paragraphs."""
        parts = self.text.split("\n\n")[1:]
        return [part.strip() for part in parts if len(part.strip()) >= LONG and part.lstrip()[0] not in "|#"]

    @property
    def rows(self) -> list[str]:
        """Its table's rows, without header and rule."""
        return [line for line in self.text.splitlines() if line.startswith("|")][2:]


Sections = dict[str, list[Section]]  # by language, the front matter first


def read_written(name: str, language: str) -> list[Drift]:
    """The drifts written by hand.

    Raises:
        InputError: the file is missing or malformed.
    """
    file = FOLDER / "drifts" / language / f"{name}.yaml"
    try:
        rows = TypeAdapter(list[Written]).validate_python(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise InputError(f"{file}: is no list of drifts: {' '.join(str(error).split())[:200]}") from None
    return [Drift(row.kind, language, row.anchor, row.find, row.replace) for row in rows]


def drift_corpus(corpus: Path, target: Path, name: str, seed: int, language: str = "") -> list[Drift]:
    """Copies the corpus to `target` and drifts it, in one language or in all.

    Raises:
        InputError: a written drift does not fit the corpus.
    """
    shutil.copytree(corpus, target)
    files = {file.parent.name: file for file in sorted(target.glob("*/*.md"))}
    original: Sections = {code: list(_sections(file.read_text(encoding="utf-8"))) for code, file in files.items()}
    draw = random.Random(seed)  # noqa: S311 - the same drifts with every run
    sections, drifts = next(filter(None, (_attempt(original, name, draw) for _ in range(ATTEMPTS))), ({}, []))
    if not drifts:
        raise InputError(f"{corpus}: has too few sections for a set of drifts")
    for code, file in files.items():
        if language in ("", code):
            file.write_text("".join(section.text for section in sections[code]), encoding="utf-8")
    return [drift for drift in drifts if language in ("", drift.language)]


def _attempt(original: Sections, name: str, draw: random.Random) -> tuple[Sections, list[Drift]] | None:
    """The drifted sections; None where the draw left no section for a kind."""
    sections = {code: [replace(section) for section in own] for code, own in original.items()}
    drifts: list[Drift] = []
    for language in sections:
        for drift in read_written(name, language):
            section = next((one for one in sections[language] if one.anchor == drift.anchor), None)
            if section is None or section.text.count(drift.before) != 1:
                raise InputError(f"drifts/{language}/{name}.yaml: #{drift.anchor}: `{drift.before}` must occur once")
            section.text = section.text.replace(drift.before, drift.after)
            drifts.append(drift)
    for kind, make in MAKERS.items():
        for language in sections:
            drawn = _drawn(kind, make, language, sections, original, drifts, draw)
            if drawn is None:
                return None
            drifts.append(drawn)
    return sections, drifts


def _drawn(
    kind: str,
    make: Callable[[Section, str, Sections, random.Random], str],
    language: str,
    sections: Sections,
    original: Sections,
    drifts: list[Drift],
    draw: random.Random,
) -> Drift | None:
    """One mechanical drift, in a section that has none in this language and as few as can be in the others."""
    taken = {drift.anchor for drift in drifts if drift.language == language}
    often = Counter(drift.anchor for drift in drifts)
    free = [one for one in sections[language] if one.anchor and one.anchor not in taken]
    draw.shuffle(free)
    for section in sorted(free, key=lambda one: often[one.anchor]):
        after = make(section, language, original, draw)
        if after != section.text:
            drift = Drift(kind, language, section.anchor, section.text, after)
            section.text = after
            return drift
    return None


def _sections(source: str) -> Iterator[Section]:
    starts = [found.start() for found in HEADING.finditer(source)]
    yield Section("", source[: starts[0]])
    for start, end in zip(starts, [*starts[1:], len(source)], strict=True):
        found = HEADING.match(source, start)
        yield Section(found.group(1) if found else "", source[start:end])


def _digit(section: Section, language: str, original: Sections, draw: random.Random) -> str:
    heading, rest = section.text.split("\n", 1)
    places = [found for found in regex.finditer(r"(?<![\p{L}\p{N}])[1-9]\d*", rest) if found.group() != "1"]
    if not places:
        return section.text
    chosen = draw.choice(places)
    value = int(chosen.group()) + draw.choice([1, 2, 5])
    return f"{heading}\n{rest[: chosen.start()]}{value}{rest[chosen.end() :]}"


def _scale(section: Section, language: str, original: Sections, draw: random.Random) -> str:
    changes = {"30万": "3万", "300,000": "30,000", "300.000": "30.000", "770万": "77万", "7.7": "77", "7,7": "77"}
    for before, after in changes.items():
        if before in section.text:
            return section.text.replace(before, after, 1)
    return section.text


def _row(section: Section, language: str, original: Sections, draw: random.Random) -> str:
    return section.text.replace(draw.choice(section.rows) + "\n", "", 1) if section.rows else section.text


def _section(section: Section, language: str, original: Sections, draw: random.Random) -> str:
    nested = section.text.startswith("### ")
    return "" if nested else section.text


def _paragraph(section: Section, language: str, original: Sections, draw: random.Random) -> str:
    if len(section.paragraphs) < 2:
        return section.text
    return section.text.replace(draw.choice(section.paragraphs) + "\n\n", "", 1)


def _language(section: Section, language: str, original: Sections, draw: random.Random) -> str:
    other = draw.choice([code for code in original if code != language])
    foreign = next((one.paragraphs for one in original[other] if one.anchor == section.anchor), [])
    own = section.paragraphs
    if not own or len(own) != len(foreign):
        return section.text
    place = draw.randrange(len(own))
    return section.text.replace(own[place], foreign[place], 1)


def _anchor(section: Section, language: str, original: Sections, draw: random.Random) -> str:
    if not section.paragraphs:
        return section.text
    said = draw.choice(section.paragraphs)
    words = said[:6] if HAN_OR_KANA.search(said) else " ".join(said.split()[:2])
    return section.text.replace(said, said.replace(words, f"[{words}](#{section.anchor}-old)", 1), 1)


def _address(section: Section, language: str, original: Sections, draw: random.Random) -> str:
    return section.text.replace(ADDRESS, draw.choice(["getaiperk.com", "aiperks.com", "getaiperks.org"]), 1)


def _twice(section: Section, language: str, original: Sections, draw: random.Random) -> str:
    if not section.paragraphs:
        return section.text
    said = draw.choice(section.paragraphs)
    sentence = draw.choice(split_sentences(said)).strip()
    if HAN_OR_KANA.search(sentence):
        start = draw.randrange(max(len(sentence) - 8, 1))
        phrase = sentence[start : start + draw.randint(4, 7)]
        return section.text.replace(phrase, phrase + phrase, 1)
    words = sentence.split()
    start = draw.randrange(max(len(words) - 4, 1))
    phrase = " ".join(words[start : start + draw.randint(1, 4)])
    return section.text.replace(phrase, f"{phrase} {phrase}", 1)


MAKERS: dict[str, Callable[[Section, str, Sections, random.Random], str]] = {
    "row": _row,
    "address": _address,
    "digit": _digit,
    "scale": _scale,
    "paragraph": _paragraph,
    "section": _section,
    "language": _language,
    "anchor": _anchor,
    "twice": _twice,
}
