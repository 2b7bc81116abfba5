"""A message -> what it asks: checked, in a language, with an intent, its parts, and what they lean on.

In: the raw message, the page's language, earlier turns. Out: an Understood.
Never: answers, lets an unusable message through, or adds history to a question that stands alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence

import regex

from assistant.errors import InputError
from assistant.hearing import Hearing
from assistant.language import Detector, normalise_code
from assistant.parts import split_questions
from assistant.records import Intent, Question, Turn, Understood
from assistant.spelling import unify_lines

ALLOWED_CONTROLS = "\n\t"
JOINERS = "\u200c\u200d \n\t"
LETTER, SIGN = regex.compile(r"\p{L}"), regex.compile(r"[\p{L}\p{N}]")
LEAST_SIGNS = 2  # different ones: a letter, a number, or one sign over and over asks nothing
PILED = regex.compile(r"(\p{M}{8})\p{M}+")  # no script piles up more marks; ordering them takes quadratic time
SHARED = 2  # a "no" of more languages than these (two spellings of Chinese) tells nothing of the language
HISTORY_TURNS = 5  # how far back a message's language may still be told by what was written before
CONTEXT_TURNS = 2  # earlier questions that one which leans is searched with; more was worse on the public sets
INVISIBLE = regex.compile(
    r"[\p{Cf}--[\u200c\u200d]]", regex.V1
)  # bidi marks, zero-width space; joiners are letters' own


def check_message(text: str, limit: int) -> str:
    """The message in normal form (NFC, no invisible characters or piles of combining marks, lines alike, trimmed).

    Raises:
        InputError: it is empty, longer than `limit` characters, or holds control characters or broken Unicode.
    """
    if len(text) > limit:
        raise InputError(f"the message has {len(text)} characters; {limit} is the most that can be answered")
    text = unify_lines(text)
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
    hearing: Hearing,
    hints: Sequence[str] = (),
    history: Sequence[Turn] = (),
    names: Collection[str] = (),
    home: Mapping[str, Collection[str]] | None = None,
    default: str = "en",
) -> Understood:
    """What a checked message asks, in which language it is to be answered, and what it leans on.

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

    def detect(text: str) -> str:
        return detector.detect(text, surroundings, names, home, default).language

    written = detect(message)
    if chosen := _chosen(message, history, hearing):
        return Understood(detect(chosen), "question", (Question(chosen, detect(chosen)),))
    heard = hearing.heard(message, home)
    for language in (*surroundings, "en", written, *heard):  # "hi" is several languages'
        if language in heard:
            return Understood(language, heard[language])
    if agreed := hearing.only_agrees(message):
        known = [*surroundings, *(() if surroundings and len(agreed) > SHARED else ("en", written, *agreed))]
        return Understood(next((code for code in known if code in agreed), known[0]), "nothing")
    wanted, text = hearing.instruction(message, (written, *surroundings, "en"))
    asked = [question for question in spoken if _asks(question, hearing)]
    if wanted and not text:  # "in English, please": what was asked before is meant
        if not asked:
            return Understood(wanted, "nothing")
        return Understood(wanted, "question", (Question(asked[-1], wanted, written=detect(asked[-1])),))
    if not says_something(text):
        return Understood(wanted or written, "nothing")
    written = detect(text) if wanted else written
    language = wanted or _still_wanted(spoken, [found.language for found in earlier], written, hearing) or written
    return _take_apart(text, language, written, asked, history, hearing)


def says_something(text: str) -> bool:
    """Whether a text holds enough letters and digits of any script to ask something."""
    return bool(LETTER.search(text)) and len(set(SIGN.findall(text.casefold()))) >= LEAST_SIGNS


def _take_apart(
    text: str, language: str, written: str, asked: Sequence[str], history: Sequence[Turn], hearing: Hearing
) -> Understood:
    """The message's questions, each with what it leans on: the ones before it, in the message or the conversation."""
    parts = split_questions(hearing.peel(text, written), hearing.wordings.nearest(written))
    questions: list[Question] = []
    wants_person = False
    for part in parts:
        if hearing.wants_person(part):
            wants_person = True
            continue
        before_all = (*asked, *(question.text for question in questions))
        if hearing.heard(part) or (not before_all and hearing.says_nothing(part, written)):
            continue
        before = before_all[-CONTEXT_TURNS:]
        is_bare = bool(before) and hearing.is_bare(part, written)
        context: tuple[str, ...] = ()
        rounds, may_stand = 0, False
        if is_bare:
            asked_last, rounds = _last_subject(before_all, hearing, written)
            context = (asked_last, *_foreign_turn(history))
            rounds = rounds + 1 if hearing.wants_more(part, written) else 0
        elif before and hearing.leans(part, written):
            context = ("\n".join(before), *_foreign_turn(history))
        elif before and hearing.trails_off(part, written):
            context, may_stand = (before[-1],), True
        own = written if written != language else ""
        questions.append(Question(part, language, "question", own, context, is_bare, may_stand, rounds))
    intent: Intent = "question" if questions else "person" if wants_person else "nothing"
    return Understood(language, intent, tuple(questions), wants_person)


def _last_subject(asked: Sequence[str], hearing: Hearing, language: str) -> tuple[str, int]:
    """The last earlier question that says of what it asks, and how often more was asked of it since."""
    rounds = 0
    for text in reversed(asked):
        if not hearing.is_bare(text, language):
            return text, rounds
        rounds += hearing.wants_more(text, language)
    return asked[-1], 0


def _chosen(message: str, history: Sequence[Turn], hearing: Hearing) -> str:
    """The option that the message chooses from those the last reply offered."""
    last = next((turn for turn in reversed(history) if turn.role == "assistant"), None)
    return hearing.choice(message, last.options) if last and last.outcome == "clarify" else ""


def _asks(text: str, hearing: Hearing) -> bool:
    """Whether an earlier message asked something: it is no greeting, thanks, or command."""
    return not hearing.heard(text) and hearing.instruction(text, ("en",))[1] != ""


def _still_wanted(spoken: Sequence[str], languages: Sequence[str], written: str, hearing: Hearing) -> str:
    """The language asked for earlier, as long as the asker goes on in the language written after that."""
    for at in range(len(spoken) - 1, -1, -1):
        wanted, _ = hearing.instruction(spoken[at], (languages[at], "en"))
        if wanted:
            return wanted if {written, *languages[at + 1 :]} == {written} else ""
    return ""


def _foreign_turn(history: Sequence[Turn]) -> tuple[str, ...]:
    """What another said last; not a reply of ours, which is made of passages and would find itself again."""
    last = history[-1] if history else None
    return (last.text,) if last and last.role == "assistant" and not last.outcome else ()
