"""A message -> a Question: checked, in a language, with an intent.

In: the raw message and the page's language. Out: a Question. Never: answers, or lets an unusable message through.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence

import regex

from assistant.errors import InputError
from assistant.language import Detector, normalise_code
from assistant.records import Question, Turn
from assistant.wording import Wordings

ALLOWED_CONTROLS = "\n\r\t"
JOINERS = "\u200c\u200d \n\r\t"
USABLE = regex.compile(r"[\p{L}\p{N}]")
PILED = regex.compile(r"(\p{M}{8})\p{M}+")  # no script piles up more marks; ordering them takes quadratic time
HISTORY_TURNS = 5  # how far back a message's language may still be told by what was written before
INVISIBLE = regex.compile(
    r"[\p{Cf}--[\u200c\u200d]]", regex.V1
)  # bidi marks, zero-width space; joiners are letters' own


def check_message(text: str, limit: int) -> str:
    """The message in normal form (NFC, no invisible characters or piles of combining marks, trimmed).

    Raises:
        InputError: it is empty, longer than `limit` characters, or holds control characters or broken Unicode.
    """
    if len(text) > limit:
        raise InputError(f"the message has {len(text)} characters; {limit} is the most that can be answered")
    for character in text:
        category = unicodedata.category(character)
        if category == "Cs" or (category == "Cc" and character not in ALLOWED_CONTROLS):
            raise InputError(f"the message holds the unusable character U+{ord(character):04X}; send plain text")
    visible = PILED.sub(r"\1", INVISIBLE.sub("", text))
    clean = unicodedata.normalize("NFC", visible).strip()
    if not clean.strip(JOINERS):
        raise InputError("the message is empty; write a question")
    return clean


def understand(
    message: str,
    detector: Detector,
    wordings: Wordings,
    hints: Sequence[str] = (),
    history: Sequence[Turn] = (),
    names: Collection[str] = (),
    home: Mapping[str, Collection[str]] | None = None,
    default: str = "en",
) -> Question:
    """What a checked message asks.

    Args:
        hints: languages of the surroundings, strongest first; they only break ties.
        history: earlier turns, the oldest first.
        names: lower-case words that are written alike in every language.
        home: the articles' languages with their folded words: a little likelier than others.
        default: the language where nothing tells.
    """
    spoken = [turn.text for turn in history if turn.role == "user"][-HISTORY_TURNS:]
    earlier = [detector.detect(text, hints, names, home, default) for text in spoken]
    surroundings = tuple(
        dict.fromkeys([*(found.language for found in reversed(earlier) if found.certain), *map(normalise_code, hints)])
    )
    detected = detector.detect(message, surroundings, names, home, default).language
    heard = wordings.heard(message)
    for language in (*surroundings, "en", detected, *heard):  # "hi" is several languages'
        if language in heard:
            return Question(message, language, "greeting" if heard[language] == "greeting" else "thanks")
    return Question(message, detected, "question" if USABLE.search(message) else "nothing")
