"""A draft -> what is said, piece by piece: openings, sentences, markers, citations.

In: sentences that may be said. Out: Spoken pieces; joined, they are the reply's text. Never: judges a sentence, or
gives one passage two numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from assistant.compose import escape_markup
from assistant.figures import unsupported_figures
from assistant.language import display_width
from assistant.records import Citation, Draft, Passage, Sentence, Spoken
from assistant.spelling import convert_chinese

NUMBERED = regex.compile(r"^(\p{N}+)(?=[.)]\s)")


class Speaker:
    """Turns one reply's sentences into pieces, in the order in which they are given."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._numbers: dict[str, int] = {}
        self._before = ""

    def say_draft(self, draft: Draft) -> Iterator[Spoken]:
        """The draft's opening and its sentences; each passage has one quote that holds all of them."""
        yield from self.open(draft.opening)
        quotes = _quotes(draft.sentences)
        for sentence in draft.sentences:
            yield self._say(sentence, quotes[sentence.passage.id])

    def say_phrased(self, sentence: Sentence) -> Spoken:
        """A sentence that is not the passage's own; its quote is all of the passage that was judged."""
        return self._say(sentence, sentence.quote)

    def open(self, words: str) -> Iterator[Spoken]:
        """Words of the assistant's own, as a paragraph; nothing where there are none."""
        if words:
            yield Spoken(f"\n\n{words}" if self._before else words, ())
            self._before = words

    def _say(self, sentence: Sentence, quote: str) -> Spoken:
        number = self._numbers.get(sentence.passage.id)
        new: tuple[Citation, ...] = ()
        if number is None:
            number = self._numbers[sentence.passage.id] = len(self._numbers) + 1
            new = (_citation(number, sentence.passage, quote),)
        text = _in_spelling(sentence, self._language)
        before, self._before = self._before, text
        return Spoken(joint(before, sentence, text) + f"{text}[{number}]", new)


def _quotes(sentences: Sequence[Sentence]) -> dict[str, str]:
    """One quote a passage: the shortest part of it that holds the quotes of all its sentences."""
    spans: dict[str, tuple[int, int]] = {}
    texts = {sentence.passage.id: sentence.passage.text for sentence in sentences}
    for sentence in sentences:
        start = sentence.passage.text.index(sentence.quote)
        low, high = spans.get(sentence.passage.id, (start, start))
        spans[sentence.passage.id] = (min(low, start), max(high, start + len(sentence.quote)))
    return {name: texts[name][start:end] for name, (start, end) in spans.items()}


def _in_spelling(sentence: Sentence, language: str) -> str:
    """The sentence in the asker's Chinese spelling, if that loses no figure; what looks like Markdown stays text."""
    text = sentence.text
    if {language, sentence.passage.language} == {"zh-Hans", "zh-Hant"}:
        converted = convert_chinese(text, language)
        text = text if unsupported_figures(converted, text) else converted
    return NUMBERED.sub(r"\1\\", escape_markup(text))


def joint(before: str, sentence: Sentence, text: str) -> str:
    """What stands between two sentences."""
    if not before:
        return "- " if sentence.starts == "item" else ""
    if sentence.starts == "item":
        return "\n- "
    if sentence.starts == "paragraph":
        return "\n\n"
    return "" if 2 in (display_width(before.rstrip()[-1:]), display_width(text[:1])) else " "


def _citation(number: int, passage: Passage, quote: str) -> Citation:
    return Citation(number, passage.id, passage.title, passage.heading, passage.url, passage.language, quote)
