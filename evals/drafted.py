"""Replies drafted to customers' tickets: is every sentence supported or marked, is what no article answers left open?

In: tickets, a Drafter. Out: counts by language and set, and each sentence and question that went wrong.
Never: believes the desk's own word for "supported": what it names as the source is read again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.table import Table

from assistant.cut import BULLET
from assistant.drafts import Drafter
from assistant.letter import Letter
from assistant.lexical import words_of
from assistant.recheck import Line
from assistant.spelling import convert_chinese
from evals.tickets import TicketCase, matched

COUNTED = ("sentences", "supported", "marked", "neither", "unanswerable", "left open", "answerable", "answered")


def measure_drafts(
    cases: Sequence[TicketCase], drafter: Drafter, sets: Sequence[str], report: Callable[[float], None] = lambda _: None
) -> dict[str, Any]:
    """For each set the counts of each language and of all; the sentences and questions that went wrong.

    Args:
        report: told which share is done.
    """
    groups: dict[tuple[str, str], Counter[str]] = {}
    wrong = []
    own = [case for case in cases if case.set in sets]
    for number, case in enumerate(own, 1):
        letter = drafter.write(case.message)
        counts = Counter[str]()
        for name, text in (*_sentences(letter, drafter), *_questions(case, letter)):
            counts[name] += 1
            if name in ("neither", "answered anyway", "not answered"):
                wrong.append({"id": case.id, "set": case.set, "what": name, "text": text})
        for language in (case.language, "all"):
            groups.setdefault((case.set, language), Counter()).update(counts)
        report(number / len(own))
    rows = [
        {"set": name, "language": language} | {key: counts[key] for key in COUNTED}
        for (name, language), counts in groups.items()
    ]
    return {"measures": rows, "wrong": wrong}


def _sentences(letter: Letter, drafter: Drafter) -> Iterator[tuple[str, str]]:
    """For each sentence that answers: that it is one, and whether it is supported, marked, or neither of both."""
    for part in letter.parts:
        lines = drafter.check(letter, part)
        for number, line in enumerate(lines):
            # what only says which language or question is quoted opens something of which more is said
            if part.kind != "answer" or (line.state == "own" and number + 1 < len(lines)):
                continue
            yield "sentences", line.text
            marked = line.state == "unsupported"
            yield ("marked" if marked else "supported" if _is_supported(line) else "neither"), line.text


def _is_supported(line: Line) -> bool:
    """Whether the words of the sentence stand in the passage that it is said to rest on, one after the other."""
    if line.passage is None or line.quote not in line.passage.text:
        return False
    said = BULLET.sub("", line.text).strip()
    spellings = (said, convert_chinese(said, line.passage.language))
    held = f"{line.passage.shown}\n{line.passage.text}\n{line.passage.lead}"
    return any(_holds(words_of(held), words_of(text)) for text in spellings)


def _holds(held: Sequence[str], words: Sequence[str]) -> bool:
    return any(list(held[at : at + len(words)]) == list(words) for at in range(len(held) - len(words) + 1))


def _questions(case: TicketCase, letter: Letter) -> Iterator[tuple[str, str]]:
    """For each question that was found: whether articles answer it, and whether the letter does."""
    pairs, _ = matched(case.model_copy(update={"message": letter.message}), letter.asks)
    kinds = {part.question: part.kind for part in letter.parts}
    for question, ask in pairs:
        if ask is None:
            continue
        is_answer = kinds[ask.same_as or ask.number] == "answer"
        if question.answerable:
            yield "answerable", question.text
            yield ("answered" if is_answer else "not answered"), question.text
        else:
            yield "unanswerable", question.text
            yield ("answered anyway" if is_answer else "left open"), question.text


def drafts_table(result: dict[str, Any]) -> Table:
    """The counts as a table."""
    drawn = Table("set", "language", *COUNTED, title="Replies drafted to tickets, of the questions found")
    for row in result["measures"]:
        drawn.add_row(*(str(value) for value in row.values()))
    drawn.caption = "; ".join(f"{one['id']} {one['what']}: {one['text']}" for one in result["wrong"])
    return drawn
