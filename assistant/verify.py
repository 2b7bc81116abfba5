"""Judges each sentence by its own citation, before it leaves.

In: a Sentence with its passage and quote. Out: "" or the reason why it must not be said.
Never: trusts where a sentence came from: sentences cut from an article are checked like any other.

The sentence must stand in the quote word for word and without a gap, so that a dropped "not", a changed figure and a
turned-round subject are all noticed, in every script. Only punctuation, case, width and markup may differ. The question
that a yes or no is said to must be the passage's own.
"""

from __future__ import annotations

import html
from functools import lru_cache

import regex

from assistant.figures import unsupported_figures
from assistant.lexical import words_of
from assistant.records import Sentence

LINK_TARGET = regex.compile(
    r"\]\((?:<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)|\]\[[^\]]*\]"
)
TAG = regex.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>|<!--(?:(?!-->).)*-->", regex.DOTALL)
MARKUP = regex.compile(r"\\(?=\p{P}|\p{S})|[*_`~\[\]]+|(?m:^[ \t]*>[> \t]*)")


@lru_cache(maxsize=4096)  # the same passages are shown again and again; a verdict depends on nothing else
def objection(sentence: Sentence) -> str:
    """Why the sentence is not supported by its quote; "" when it is.

    The quote must be an exact part of the passage; the words and figures of the sentence must stand in it, in order.
    """
    quote, passage = sentence.quote, sentence.passage
    if sentence.asked not in ("", passage.asked):
        return "the passage answers another question than is said"
    if unsupported_figures(sentence.asked, quote):
        return "the question it answers holds figures that are not in the quote"
    if not quote or quote not in passage.text:
        return "the quote is not part of the passage"
    if "<!--" in quote:
        return "the quote would show a comment that readers of the article do not see"
    # A row is judged by its own cells with their headers: the slice that quotes it holds the rows above it as well.
    whole = passage.kind == "row" or quote == passage.text
    evidence = [passage.shown] if whole else [quote, _without_markup(quote)]
    missing = [unsupported_figures(sentence.text, text) for text in evidence]
    if all(missing) or unsupported_figures(sentence.text, html.unescape(quote)):  # markup may not make 25 of 2*5*
        return f"figures not in the quote: {', '.join(sorted(format(figure.value, 'f') for figure in missing[-1]))}"
    said = _line(sentence.text)
    if not any(said in _line(text) for text in evidence):
        return "words not in the quote, or not in its order"
    return ""


@lru_cache(maxsize=1024)  # a passage's sentences share their quote
def _without_markup(quote: str) -> str:
    return html.unescape(MARKUP.sub("", TAG.sub("", LINK_TARGET.sub("]", quote))))


@lru_cache(maxsize=1024)
def _line(text: str) -> str:
    return f" {' '.join(words_of(text))} "
