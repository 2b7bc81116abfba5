"""What gives a language away: short words, letters, and words of its Latin transcription.

In: an Evidence for each language, from its phrases file, and a text. Out: how much of it the text holds, by language.
Never: decides: see `language`, which weighs this beside its models.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MOST = 3  # signs that are counted: more would make a long text's models superfluous
# A transcribed word alone must be so long, the longest of several so: "no" and "ka" are words of many languages.
SURE_LETTERS, SHORT_LETTERS = 4, 3
SURE_SHARE = 0.5  # of the words, so many must be a transcription's


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one language's texts hold and its neighbours' do not.

    Args:
        words: whole words in lower case; in Han script any run of characters.
        letters: runs of letters; a space is a word's edge.
        romanised: words of the language as they are typed in Latin letters.
    """

    words: frozenset[str] = frozenset()
    letters: tuple[str, ...] = ()
    romanised: frozenset[str] = frozenset()


def count_signs(text: str, words: Sequence[str], evidence: Mapping[str, Evidence]) -> dict[str, int]:
    """Language -> its signs in a text that sets words apart, at most MOST.

    Args:
        words: those of the text that count.
    """
    said = [word.lower() for word in words]
    padded = f" {text.lower()} "
    return {
        code: min(MOST, sum(word in own.words for word in said) + sum(run in padded for run in own.letters))
        for code, own in evidence.items()
    }


def count_runs(text: str, evidence: Mapping[str, Evidence]) -> dict[str, int]:
    """Language -> its words in a text that does not set them apart, at most MOST."""
    return {code: min(MOST, sum(word in text for word in own.words)) for code, own in evidence.items()}


def transcribed(words: Iterable[str], evidence: Mapping[str, Evidence], signs: Mapping[str, int]) -> str:
    """The language of which the words are mostly a Latin transcription; "" where they are none, or could be another's.

    Args:
        signs: what `count_signs` found in the same text.
    """
    said = [word.lower() for word in words]
    found = {code: [word for word in said if word in own.romanised] for code, own in evidence.items()}
    code = max(found, key=lambda code: len(found[code]), default="")
    own = found.get(code, [])
    if not own or len(own) < SURE_SHARE * len(said) or len(own) <= max(signs.values(), default=0):
        return ""
    return code if max(map(len, own)) >= (SURE_LETTERS if len(own) == 1 else SHORT_LETTERS) else ""
