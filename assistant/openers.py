"""The `opens` section of phrases/<language>.yaml: how an answer opens that says yes or no to its question.

In: the section's values, a sentence. Out: the side it takes, "" where it stands without a question. Never: reads a file
or knows a language.

"Yes, and most teams should." affirms whatever was asked before it, so that it is true under one question only.
"""

from __future__ import annotations

import unicodedata
from functools import cached_property
from typing import Annotated, Literal

import regex
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Side = Literal["", "yes", "no"]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
REST = "…"
PILED = 4  # hedges before one another: "Unfortunately, as a rule, no."
BEFORE = regex.compile(r"[^\p{L}\p{N}]+")
CLAUSE = regex.compile(r"(?:[\p{L}\p{M}\p{N}'\u200c\u200d]|(?<=\S)-(?=\S)|\s)*")
WORD = regex.compile(r"[\p{L}\p{M}\p{N}'\u200c\u200d-]")
WORD_RUN = regex.compile(r"[\p{L}\p{M}\p{N}'\u200c\u200d-]+")
ASKED = regex.compile(r"[?？؟]")
UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]")


class Openers(BaseModel):
    """One language's section.

    Args:
        affirms, denies: clauses; `…` at either end stands for the clause's rest.
        hedges: what may come before one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    affirms: Annotated[list[Text], Field(min_length=1)]
    denies: Annotated[list[Text], Field(min_length=1)]
    hedges: Annotated[list[Text], Field(min_length=1)]

    def side(self, sentence: str) -> Side:
        """What the sentence says to the question it answers, whatever that is."""
        return self._side(_folded(sentence), PILED)

    def is_all_of(self, text: str) -> bool:
        """Whether a text says yes or no and nothing else."""
        said = " ".join(WORD_RUN.findall(_folded(text)))
        return not ASKED.search(text) and any(said == phrase.replace(REST, "") for phrase, _ in self._sides)

    def _side(self, text: str, hedges: int) -> Side:
        text = text[len(opening.group()) :] if (opening := BEFORE.match(text)) else text
        clause = _clause(text)
        hedge = next((hedge for hedge in self._hedges if _begins(clause, hedge)), "")
        if hedge and hedges and (side := self._side(text[len(hedge) :], hedges - 1)):
            return side
        return next((side for phrase, side in self._sides if _fits(clause, phrase)), "")

    @cached_property
    def _hedges(self) -> list[str]:
        return sorted(map(_folded, self.hedges), key=len, reverse=True)

    @cached_property
    def _sides(self) -> list[tuple[str, Side]]:
        sides: list[tuple[str, Side]] = [(_folded(phrase), "no") for phrase in self.denies]
        return sides + [(_folded(phrase), "yes") for phrase in self.affirms]


def _folded(text: str) -> str:
    """One case, width and apostrophe; the sign for a clause's rest stays."""
    parts = (unicodedata.normalize("NFKC", part) for part in text.split(REST))
    return REST.join(parts).casefold().replace("’", "'")


def _clause(text: str) -> str:
    found = CLAUSE.match(text)
    return " ".join(found.group().split()) if found else ""


def _fits(clause: str, phrase: str) -> bool:
    if phrase.startswith(REST):
        return clause.endswith(phrase[1:])
    return _begins(clause, phrase[:-1]) if phrase.endswith(REST) else clause == phrase


def _begins(clause: str, phrase: str) -> bool:
    """Whether the clause begins so, with a whole word where its script sets words apart."""
    rest = clause[len(phrase) :]
    return clause.startswith(phrase) and (not rest or not WORD.match(rest) or bool(UNSPACED.match(rest)))
