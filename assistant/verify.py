"""Judges each sentence by its own citation, before it leaves.

In: a Sentence with its passage and quote. Out: "" or the reason why it must not be said.
Never: trusts where a sentence came from: sentences cut from an article are checked like any other.
"""

from __future__ import annotations

from assistant.figures import unsupported_figures
from assistant.lexical import tokenise
from assistant.records import Sentence


def objection(sentence: Sentence) -> str:
    """Why the sentence is not supported by its quote; "" when it is.

    The quote must be an exact part of the passage; every figure, and every word of the sentence, must stand in the quote.
    """
    if not sentence.quote or sentence.quote not in sentence.passage.text:
        return "the quote is not part of the passage"
    strangers = unsupported_figures(sentence.text, sentence.quote)
    if strangers:
        return f"figures not in the quote: {', '.join(str(figure.value) for figure in strangers)}"
    missing = set(tokenise(sentence.text)) - set(tokenise(sentence.quote))
    if any(len(token) > 1 for token in missing):
        return "words not in the quote"
    return ""
