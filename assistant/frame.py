"""A yes or no of the articles -> said under the question that it answers, unless that is what was asked.

In: sentences of passages, the Question. Out: the same sentences; those of a passage that says yes or no to another
question carry that question. Never: writes one, or leaves such a yes or no to stand under what was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import regex

from assistant.figures import unsupported_figures
from assistant.openers import Side
from assistant.records import Question, Sentence
from assistant.restate import is_asked
from assistant.retrieve import Retriever
from assistant.wording import Wordings

ASKS = regex.compile(r"[?？؟]\W*$")


def frame(
    sentences: Sequence[Sentence], question: Question, retriever: Retriever, wordings: Wordings, alone: bool = True
) -> list[Sentence]:
    """The sentences, each passage's in a row; where they say yes or no, with what they say it to.

    Args:
        alone: whether nothing else is asked in the message; else a bare "yes" could answer either.
    """
    framed: list[Sentence] = []
    for _, group in groupby(sentences, key=lambda sentence: sentence.passage.id):
        own = list(group)
        passage = own[0].passage
        taking = taking_sides([one.text for one in own], passage.language, wordings)
        if not taking or (alone and is_asked(question, passage, retriever)):
            framed += own
        elif unsupported_figures(passage.asked, own[0].quote):  # a figure without a source may not be said
            framed += [one for number, one in enumerate(own) if number not in taking]
        else:
            framed += [replace(one, asked=passage.asked) for one in own]
    return framed


def taking_sides(sentences: Sequence[str], language: str, wordings: Wordings) -> dict[int, Side]:
    """Position -> yes or no, of one text's sentences that say so, save to a question right before them."""
    before = ["", *sentences]
    sides = {number: side_of(text, language, wordings) for number, text in enumerate(sentences)}
    return {number: side for number, side in sides.items() if side and not ASKS.search(before[number])}


def side_of(text: str, language: str, wordings: Wordings) -> Side:
    """Whether a sentence says yes or no to a question that it does not name."""
    own = wordings.by_language.get(language)
    if own:
        return own.opens.side(text)
    return next((side for one in wordings.by_language.values() if (side := one.opens.side(text))), "")
