"""What small words do to a claim, in every language: the files senses/<language>.yaml, checked and made searchable.

In: the YAML files beside this module. Out: for a language, where a text denies, restricts, obliges, bounds or compares.
Never: guesses for a language without a file: what can't be judged there is not said there.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import regex
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.errors import InputError
from assistant.files import MEGABYTE, parse_yaml, read_text
from assistant.language import normalise_code

FOLDER = Path(__file__).parent / "senses"
SPACED = regex.compile(r"[\p{Latin}\p{Cyrillic}\p{Arabic}\p{Devanagari}\p{M}\p{N}*' -]+")
LETTER = r"[\p{L}\p{M}\p{N}]"
LONGEST_STEM = 40  # letters before an ending: tried at every letter, more would take time of a long word's square
SENSES = (
    "only", "all", "always", "never", "must", "sure", "partly", "depends", "at_most", "at_least", "free", "right",
    "wrong",
)  # fmt: skip
AXES = (
    "answer", "amount", "price", "quality", "speed", "order", "time", "likeness", "edge", "ease", "consent", "inside",
)  # fmt: skip
UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")


class Language(BaseModel):
    """One language's file; a term may stand under several names, and the longest term at a place counts.

    Args:
        harmless: what looks like a term and is none.
        turns: words that end the reach of a denial.
        denies_next, denies_last: denials that reach forward, and backward, up to the next mark or turn.
        denies_sentence: denials that reach all of their sentence ("custom kernels do not.").
        denies_clause: denials of a verb, which reach all of their clause ("rarely").
        leads, trails: marks of a comparison: what stands before a `leads` is ahead of what follows, before a `trails`
            behind.
        senses, units: name -> terms; opposites: axis -> the terms of its two sides.
        numerals: numbers that are spelled out; implied: words that say a number (`twice`).
        numeral_links: words inside one number; counters: what follows a spelled number in scripts without spaces.
        capitalises_nouns: whether a capital tells no name.
        names: how names are written in this script -> in Latin letters, where other languages may keep these.
        doubles: words that may stand twice in a row.
        denies_weakly, restricts_weakly: words that may stand for a denial, or for "only", where a translation has one,
            and alone prove none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    harmless: list[str]
    turns: list[str]
    denies_next: list[str]
    denies_last: list[str]
    denies_sentence: list[str]
    denies_clause: list[str]
    leads: list[str]
    trails: list[str]
    senses: dict[str, list[str]]
    opposites: dict[str, tuple[list[str], list[str]]]
    units: dict[str, list[str]]
    numerals: dict[str, int]
    implied: dict[str, int] = Field(default_factory=dict)
    numeral_links: list[str]
    counters: list[str]
    capitalises_nouns: bool = False
    names: dict[str, str] = Field(default_factory=dict)
    doubles: list[str] = Field(default_factory=list)
    denies_weakly: list[str] = Field(default_factory=list)
    restricts_weakly: list[str] = Field(default_factory=list)

    @cached_property
    def terms(self) -> dict[str, tuple[str, ...]]:
        """Term -> the names it stands under, folded."""
        table: dict[str, list[str]] = {}
        groups = {"turn": self.turns, "next": self.denies_next, "last": self.denies_last, "": self.harmless}
        groups |= {
            "sentence": self.denies_sentence,
            "clause": self.denies_clause,
            "leads": self.leads,
            "trails": self.trails,
        }
        groups |= {**self.senses, **{f"unit {name}": terms for name, terms in self.units.items()}}
        for axis, (first, second) in self.opposites.items():
            groups |= {f"{axis} +": first, f"{axis} -": second}
        for name, terms in groups.items():
            for term in terms:
                table.setdefault(fold(term), []).append(name)
        return {term: tuple(name for name in names if name) for term, names in table.items()}

    @cached_property
    def pattern(self) -> regex.Pattern[str]:
        """Finds terms, the longest first; each as a group of its own, numbered in the order of `terms`."""
        ordered = sorted(self.terms, key=len, reverse=True)
        return regex.compile("|".join(f"(?P<t{list(self.terms).index(term)}>{as_pattern(term)})" for term in ordered))


@dataclass(frozen=True, slots=True)
class Mention:
    """A term found in a folded text, with the names it stands under."""

    start: int
    end: int
    names: tuple[str, ...]


def fold(text: str) -> str:
    """One case, width and apostrophe; offsets of the folded text are those of everything found in it."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("ʼ", "'")


def as_pattern(term: str) -> str:
    """A term as a regular expression: a whole word where its script puts spaces; `*` stands for the word's rest,
    `^` for the text's beginning."""
    if term.startswith("^"):
        return rf"\A{as_pattern(term[1:])}"
    if not SPACED.fullmatch(term):
        return regex.escape(term)
    middle = regex.escape(term.strip("*")).replace(r"\ ", r"\s+")
    before = f"{LETTER}{{0,{LONGEST_STEM}}}" if term.startswith("*") else f"(?<!{LETTER})"
    return f"{before}{middle}" + (rf"{LETTER}*" if term.endswith("*") else f"(?!{LETTER})")


def find_mentions(folded: str, language: Language) -> Iterator[Mention]:
    """The terms of a language in a folded text, in order, none inside another."""
    names = list(language.terms.values())
    for found in language.pattern.finditer(folded):
        yield Mention(found.start(), found.end(), names[int(str(found.lastgroup)[1:])])


@cache
def read_senses(code: str) -> Language | None:
    """The file of a language; None where it has none.

    Raises:
        InputError: the file is malformed, or leaves out a sense, axis or unit; says which.
    """
    path = FOLDER / f"{normalise_code(code)}.yaml"
    if not path.exists():
        return None
    try:
        language = Language.model_validate(parse_yaml(read_text(path, MEGABYTE)))
    except (yaml.YAMLError, ValidationError) as error:
        raise InputError(f"{path}: is no usable file of senses: {' '.join(str(error).split())[:300]}") from None
    for wanted, given in ((SENSES, language.senses), (AXES, language.opposites), (UNITS, language.units)):
        if list(wanted) != list(given):
            wrong = sorted(set(wanted).symmetric_difference(given)) or ["their order"]
            raise InputError(f"{path}: must hold {', '.join(wanted)}, in this order; see {wrong[0]}")
    return language
