"""A public set through the product's own understand and retrieve stages.

In: a Bank, QueryRows. Out: for each question the bank's rows in order, and how sure the product is that they answer.
Never: tells the product the question's language or its truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from assistant.errors import InputError
from assistant.follow import gather
from assistant.pipeline import Assistant
from assistant.records import Outcome, Question, Turn, Understood
from assistant.retrieve import Candidates
from assistant.understand import check_message
from evals.bank import Bank
from evals.sets import QueryRow

History = Literal["used", "joined", "ignored"]
JOINED = 2  # earlier user messages put before the question; the plain alternative to understanding them


@dataclass(frozen=True, slots=True)
class Ranked:
    """What came out for one question.

    Args:
        ids: bank rows, best first.
        confidence: that they answer, higher is surer; a probability for the product, a raw score for peers.
        outcome: what the product would say; None for peers, which always answer.
        language: the question's as understood; "" for peers.
    """

    row: QueryRow
    ids: tuple[str, ...]
    confidence: float
    outcome: Outcome | None = None
    language: str = ""


def ask_all(
    bank: Bank, rows: Sequence[QueryRow], history: History = "used", report: Callable[[int], None] = lambda done: None
) -> list[Ranked]:
    """Each question asked of the bank, as a conversation of its own.

    Args:
        history: `used` gives the earlier messages to the product, `ignored` leaves them out, `joined` puts the last
            two messages of the user before the question.
    """
    found = []
    for number, row in enumerate(rows, 1):
        found.append(_ask(bank, row, history))
        report(number)
    return found


def _ask(bank: Bank, row: QueryRow, history: History) -> Ranked:
    assistant = bank.assistant
    turns = [Turn(message.role, message.text) for message in row.history]
    text = row.query
    if history == "joined":
        text = "\n".join([*[turn.text for turn in turns if turn.role == "user"][-JOINED:], row.query])
    try:
        message = understood(assistant, text, turns if history == "used" else [])
    except InputError:  # too long, or no text at all: the product refuses it
        return Ranked(row, (), 0.0, "abstained")
    if not message.questions:
        outcome: Outcome = "clarify" if message.intent == "nothing" else "social"
        return Ranked(row, (), 0.0, outcome, message.language)
    candidates, confidence = gather(asked_as_one(message, text), assistant.retriever)
    found = assistant.retriever.rank(candidates, message.language, confidence)
    ids = _rows_of(bank, candidates, message.language)
    return Ranked(row, ids, confidence, assistant.retriever.judge(found), message.language)


def understood(assistant: Assistant, text: str, history: Sequence[Turn]) -> Understood:
    """What the pipeline understands of a message.

    Raises:
        InputError: the message can't be used.
    """
    return assistant._understand(check_message(text, assistant.message_limit), "", history)


def asked_as_one(message: Understood, text: str) -> Question:
    """The message's question; the whole text where it holds several, since a public question has one truth."""
    first = message.questions[0]
    return first if len(message.questions) == 1 else replace(first, text=text)


def _rows_of(bank: Bank, candidates: Candidates, language: str) -> tuple[str, ...]:
    """The candidates' bank rows, best first: of each family the sibling that would be shown, then the others."""
    chain = bank.assistant.wordings.chain(language)
    order = {code: place for place, code in enumerate(chain)}
    ids: dict[str, None] = {}
    for family in candidates.families:
        rows = [candidates.snapshot.rows[place].passage for place in candidates.snapshot.families[family.name]]
        for passage in sorted(rows, key=lambda one: order.get(one.language, len(order))):
            ids[bank.sections[passage.article, passage.anchor]] = None
    return tuple(ids)
