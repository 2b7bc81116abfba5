"""A draft -> what is said, piece by piece: openings, sentences, markers, citations.

In: sentences that may be said. Out: Spoken pieces; joined, they are the reply's text. Never: judges a sentence, or
gives one passage two numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import regex

from assistant.compose import escape_markup
from assistant.figures import unsupported_figures
from assistant.language import display_width
from assistant.records import Citation, Draft, Passage, Sentence, Spoken
from assistant.spelling import convert_chinese

NUMBERED = regex.compile(r"^(\p{N}+)(?=[.)]\s)")


class Speaker:
    """Turns one reply's sentences into pieces, in the order in which they are given.

    Args:
        answer_to: introduces what the articles say to a question that they name.
    """

    def __init__(self, language: str, answer_to: str) -> None:
        self._language, self._answer_to = language, answer_to
        self._asked = ""
        self._numbers: dict[str, int] = {}
        self._before = ""

    def say_draft(self, draft: Draft) -> Iterator[Spoken]:
        """The draft's opening and its sentences; each passage has one quote that holds all of them."""
        yield from self.open(draft.opening)
        quotes = _quotes(draft.sentences)
        for sentence in draft.sentences:
            if sentence.asked and sentence.asked != self._asked:
                asked = spelled(sentence.asked, sentence.passage.language, self._language)
                yield from self.open(self._answer_to.format(question=escape_markup(asked)))
                sentence = replace(sentence, starts="item" if sentence.starts == "item" else "paragraph")
            self._asked = sentence.asked
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
    return NUMBERED.sub(r"\1\\", escape_markup(spelled(sentence.text, sentence.passage.language, language)))


def spelled(text: str, own: str, language: str) -> str:
    """A text of an article in the asker's Chinese spelling, if that loses no figure."""
    if {language, own} != {"zh-Hans", "zh-Hant"}:
        return text
    converted = convert_chinese(text, language)
    return text if unsupported_figures(converted, text) else converted


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
