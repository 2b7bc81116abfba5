"""A part of a letter, as proposed or as edited -> its sentences, each supported by a passage or marked.

In: a part, the passages that were found, the customer's language. Out: Lines, which joined are the part's text.
Never: trusts where a sentence came from, or passes one in doubt: what can't be judged is marked.

A sentence is supported when it is a whole sentence of a passage, word for word (`verify`), or when the judge of phrased
sentences (`claims`) finds nothing against it in one passage, the likeliest does not say the contrary, and nothing is
added that no passage says ("…, but only in Europe"). Half a sentence is not: a dropped "not" would be one. Nor is a yes
or no that a passage says to another question than the customer's, unless the part names that question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import regex

from assistant.claims import Judge
from assistant.compose import reads
from assistant.cut import BULLET
from assistant.figures import find_figures
from assistant.frame import ASKS, side_of, taking_sides
from assistant.language import language_name, split_sentences
from assistant.letter import Part
from assistant.lexical import words_of
from assistant.openers import Side
from assistant.records import Passage, Sentence
from assistant.speak import spelled
from assistant.spelling import convert_chinese
from assistant.verify import objection
from assistant.wording import Wordings

LineState = Literal["supported", "unsupported", "own", "gap"]
Reason = Literal["", "figure", "name", "contrary", "addition", "meaning", "language", "question"]
JUDGED = 8  # passages against which an edited sentence is judged, the likeliest first
LETTER = regex.compile(r"[\p{L}\p{N}]")
# How the judge's objections begin -> what the agent is told; any other speaks of a turned-round meaning.
TOLD: tuple[tuple[str, Reason], ...] = (
    ("a figure", "figure"),
    ("figures", "figure"),
    ("a currency", "figure"),
    ("a span", "figure"),
    ("a name", "name"),
    ("the passage does not say this", "meaning"),
    ("a word that", "meaning"),
    ("its language", "language"),
    ("it is not in the asker's language", "language"),
    ("it holds broken", "language"),
)


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence with the white space behind it.

    Args:
        passage, quote: what it rests on, where it is supported; the quote is an exact part of `passage.text`.
    """

    text: str
    state: LineState
    reason: Reason = ""
    passage: Passage | None = None
    quote: str = ""


class Checker:
    """Checks parts of letters; safe to share."""

    def __init__(self, judge: Judge, wordings: Wordings) -> None:
        self._judge, self._wordings = judge, wordings

    def check(
        self, part: Part, evidence: Sequence[Passage], language: str, is_asked: Callable[[Passage], bool]
    ) -> list[Line]:
        """The lines of a part.

        Args:
            evidence: the passages found for its question, best first, then those of the others.
            is_asked: whether the customer asked the very question that a passage answers.
        """
        lines: list[Line] = []
        for text, is_gap in _cut(part):
            if is_gap:
                lines.append(Line(text, "gap"))
            elif not LETTER.search(text) or self._is_own(text.strip(), part, evidence, language):
                lines.append(Line(text, "own"))
            else:
                line = self._judged(text, evidence, language)
                side = self._side(text, line, language)
                if side:
                    before = "".join(one.text for one in lines)
                    saying = [one for one in evidence if self._says(side, one, before, language, is_asked)]
                    line = self._judged(text, saying, language)
                    line = line if line.passage else Line(text, "unsupported", "question")
                lines.append(line)
        return lines

    def _side(self, text: str, line: Line, language: str) -> Side:
        """The yes or no that a supported line opens with, in the customer's language or as it is quoted."""
        if line.passage is None:
            return ""
        said = BULLET.sub("", text)
        return side_of(said, language, self._wordings) or side_of(said, line.passage.language, self._wordings)

    def _says(
        self, side: Side, passage: Passage, before: str, language: str, is_asked: Callable[[Passage], bool]
    ) -> bool:
        """Whether the passage says this yes or no to what is named before it, or to the customer's question."""
        sentences = [piece.strip() for line in passage.shown.split("\n") for piece in split_sentences(line)]
        if ASKS.search(before) and any(before.rstrip().endswith(piece) for piece in sentences):
            return True
        if side not in taking_sides(sentences, passage.language, self._wordings).values():
            return False
        named = spelled(passage.asked, passage.language, language)
        return f" {' '.join(words_of(named))} " in f" {' '.join(words_of(before))} " or is_asked(passage)

    def _is_own(self, said: str, part: Part, evidence: Sequence[Passage], language: str) -> bool:
        """Whether a sentence is no claim about the subject: a greeting, a closing, who is quoted."""
        if part.kind in ("greeting", "closing"):
            return said in part.proposed or not find_figures(said)
        words = self._wordings.nearest(language)
        named = {language_name(one.language, language) for one in evidence}
        openings = [words.quoted_from.format(language=name) for name in named]
        asked = {spelled(one.asked, one.language, language) for one in evidence}
        openings += [form.format(question=one) for form in (words.answer_to, words.concerning) for one in asked]
        return said in {piece.strip() for opening in openings for piece in split_sentences(opening)}

    def _judged(self, text: str, evidence: Sequence[Passage], language: str) -> Line:
        said = BULLET.sub("", text).strip()
        for passage in evidence:
            if quote := _quoted(said, passage):
                return Line(text, "supported", "", passage, quote)
        reason: Reason = "meaning"
        likeliest = _likeliest(said, evidence)
        for number, passage in enumerate(likeliest):
            found = self._judge.objection(said, passage, language)
            if not found:
                if self._judge.adds(said, likeliest, language):
                    return Line(text, "unsupported", "addition")
                return Line(text, "supported", "", passage, passage.text)
            if not number:
                reason = next((told for opening, told in TOLD if found.startswith(opening)), "contrary")
            if reason == "contrary":  # another passage that merely does not mention it is no support
                break
        return Line(text, "unsupported", reason)


def _cut(part: Part) -> Iterator[tuple[str, bool]]:
    """The sentences of a part, and whether each is a gap's placeholder, which is never cut."""
    mark = part.proposed.strip()
    if not part.is_open:
        yield from ((piece, False) for piece in split_sentences(part.text))
        return
    before, _, after = part.text.partition(mark)
    space = after[: len(after) - len(after.lstrip())]
    yield from ((piece, False) for piece in split_sentences(before))
    yield mark + space, True
    yield from ((piece, False) for piece in split_sentences(after[len(space) :]))


def _quoted(said: str, passage: Passage) -> str:
    """The part of the passage that holds the sentence word for word and whole; "" where none does."""
    spelled = said
    if reads(passage.language, "zh-Hans") or reads(passage.language, "zh-Hant"):
        spelled = convert_chinese(said, passage.language)
    for text in dict.fromkeys((said, spelled)):
        if tuple(words_of(text)) in _whole_sentences(passage):
            quote = text if text in passage.text else passage.text
            if not objection(Sentence(text, passage, quote)):
                return quote
    return ""


@lru_cache(maxsize=1024)  # the same passages are compared with every sentence of a letter
def _whole_sentences(passage: Passage) -> frozenset[tuple[str, ...]]:
    """The words of what may be said alone: its sentences, a row or an item as it is shown, an outline's point."""
    lines = [line.strip().removeprefix("- ") for line in passage.shown.split("\n")]
    sentences = [sentence for line in lines for sentence in split_sentences(line)]
    texts = [*sentences, *lines, passage.shown, passage.lead]
    return frozenset(words for text in texts if (words := tuple(words_of(text))))


def _likeliest(said: str, evidence: Sequence[Passage]) -> list[Passage]:
    """The passages that share most words with the sentence first, at most JUDGED."""
    words = set(words_of(said))
    return sorted(evidence, key=lambda one: -len(words & set(words_of(one.shown))))[:JUDGED]
