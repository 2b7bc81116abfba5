"""A message's question beside the one that a passage answers -> whether they ask the same.

In: a Question, a passage, the Retriever whose model compares them. Out: yes or no. Never: says yes where in doubt: a
name, a figure, a denial or a restriction more, or one word that has no counterpart, is another question.

How alike two questions are does not tell whether one's answer fits the other ("can I combine them with API credits?",
"… with Azure credits?"), so only what is nearly a repetition passes.
"""

from __future__ import annotations

import numpy as np
import regex

from assistant.figures import find_figures
from assistant.language import LATIN_RUN, script_of
from assistant.records import Passage, Question
from assistant.retrieve import Retriever
from assistant.senses import AXES, as_pattern, find_mentions, fold, read_senses
from assistant.spoken import spoken

COMMON = 5.0  # minus the log-probability of a token that says little (an article, a particle)
DENIALS = {"next", "last", "sentence", "clause"}
STRICT = ("only", "never", "at_most", "at_least")
LOOSE = ("amount", "quality", "inside")  # axes whose words ("more", "well", "with") stand in questions of all kinds
# Least cosine of a telling word's best counterpart, either way, and least mean of all: tuned on tests/data/polar.yaml.
WORST, MEAN = 0.55, 0.88


def is_asked(question: Question, passage: Passage, retriever: Retriever) -> bool:
    """Whether the question is practically the passage's own."""
    snapshot = retriever.index.snapshot()
    family = [snapshot.rows[place].passage for place in snapshot.families.get(passage.family, ())] or [passage]
    if spoken(question.text) in {spoken(one.asked) for one in family}:
        return True
    written = question.written or question.language
    own = next((one for one in family if one.language == written), passage)
    if question.context or not _agree(question.text, written, own, snapshot.names):
        return False
    worst, mean = likeness(question.text, written, own, retriever)
    return worst >= WORST and mean >= MEAN


def likeness(text: str, language: str, passage: Passage, retriever: Retriever) -> tuple[float, float]:
    """How well the text and the passage's question meet, token by token, in the direction that is worse: the telling
    token that is met worst, and the mean of all."""
    said, held = retriever.embedder.embed_queries([text, passage.asked])
    cosines = retriever.topics.centre(said.said(), language) @ retriever.topics.centre(held.said(), passage.language).T
    worst, mean = 1.0, 1.0
    for best, one in ((cosines.max(axis=1), said), (cosines.max(axis=0), held)):
        telling = best[one.rarity_said() > COMMON]
        worst = min(worst, float(np.min(telling, initial=1.0)))
        mean = min(mean, float(best.mean()))
    return worst, mean


def _agree(text: str, language: str, passage: Passage, names: frozenset[str]) -> bool:
    """Whether figures, names and small words speak against neither being the other."""
    asked = passage.asked
    if find_figures(text) != find_figures(asked):
        return False
    known = {word.casefold() for word in LATIN_RUN.findall(f"{asked} {passage.title}")}
    words = {word.casefold() for word in LATIN_RUN.findall(text)} - known
    if words & names or (words and script_of(language) != "Latn"):
        return False
    first, second = _senses(text, language), _senses(asked, passage.language)
    if first is None or second is None:
        return False
    differing = first ^ second
    sides = {f"{axis} {side}" for axis in AXES if axis not in LOOSE for side in "+-"} - {"consent +"}  # "may I" asks it
    return not differing & {"denies", *STRICT, *sides}


def _senses(text: str, code: str) -> set[str] | None:
    language = read_senses(code)
    if language is None:
        return None
    folded = fold(text)
    found = {name for mention in find_mentions(folded, language) for name in mention.names}
    weakly = any(regex.search(as_pattern(fold(term)), folded) for term in language.denies_weakly)
    return found | ({"denies"} if weakly or found & DENIALS else set())
