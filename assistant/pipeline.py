"""The assistant: runs the stages for one message and yields what happens.

In: a message with its surroundings. Out: an event stream, Progress | Spoken | Answer, the Answer last.
Never: lets a sentence leave that `verify` objects to, or blocks the event loop: stages run in a thread.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest

import regex

from assistant.compose import compose
from assistant.figures import unsupported_figures
from assistant.language import Detector, display_width, normalise_code
from assistant.phrase import Phraser
from assistant.records import (
    Answer,
    Citation,
    Draft,
    Event,
    Outcome,
    Passage,
    Progress,
    Question,
    Sentence,
    Spoken,
    Turn,
)
from assistant.retrieve import Retriever
from assistant.spelling import convert_chinese
from assistant.understand import check_message, understand
from assistant.verify import objection
from assistant.wording import Wordings

# What would be markup in Markdown: signs anywhere, underscores at a word's edge, and what opens a line as a list.
MARKUP = regex.compile(r"[\\`*\[\]<]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|^(?=[#>+-]\s)")
NUMBERED = regex.compile(r"^(\p{N}+)(?=[.)]\s)")


@dataclass(frozen=True, slots=True, eq=False)
class Assistant:
    """Answers messages from one index."""

    retriever: Retriever
    detector: Detector
    wordings: Wordings
    message_limit: int
    default_language: str
    phraser: Phraser | None = None

    async def ask(
        self,
        message: str,
        conversation_id: str = "",
        page_language: str = "",
        history: Sequence[Turn] = (),
    ) -> AsyncIterator[Event]:
        """The events of one reply.

        Raises:
            InputError: the message can't be used.
            IndexUnavailable: there is no index to answer from.
        """
        started = time.perf_counter()
        timings: dict[str, float] = {}
        text = check_message(message, self.message_limit)
        yield Progress("understand")
        question = await asyncio.to_thread(self._understand, text, page_language, history)
        timings["understand"] = _milliseconds(started)
        draft = self._social(question)
        if draft is None:
            yield Progress("retrieve")
            at = time.perf_counter()
            found = await asyncio.to_thread(self.retriever.find, question)
            timings["retrieve"] = _milliseconds(at)
            yield Progress("compose")
            at = time.perf_counter()
            draft = compose(question, found, self.retriever, self.wordings)  # well under a millisecond
            timings["compose"] = _milliseconds(at)
        draft = _verified(draft, self.wordings.nearest(question.language).abstained)
        spoken = []
        speaker = Speaker(draft, question.language)
        async with aclosing(self._sentences(question, draft)) as sentences:
            async for sentence in sentences:
                for piece in speaker.say(sentence):
                    spoken.append(piece)
                    yield piece
        if not spoken:
            spoken = list(speaker.end())
            for piece in spoken:
                yield piece
        timings["total"] = _milliseconds(started)
        yield Answer(
            id=uuid.uuid4().hex,
            conversation_id=conversation_id or uuid.uuid4().hex,
            outcome=draft.outcome,
            language=question.language,
            text="".join(piece.text for piece in spoken),
            confidence=round(draft.confidence, 4),
            citations=tuple(citation for piece in spoken for citation in piece.citations),
            timings_ms=timings,
        )

    async def _sentences(self, question: Question, draft: Draft) -> AsyncGenerator[Sentence]:
        """The reply's sentences as they become ready, each judged: the articles' own, or a chat model's."""
        if self.phraser is None or draft.outcome != "answered":
            for sentence in draft.sentences:
                yield sentence
            return
        async with aclosing(self.phraser.phrase(question, draft)) as proposed:
            async for sentence in proposed:
                judge = partial(self.phraser.objection, language=question.language) if sentence.phrased else objection
                if not judge(sentence):
                    yield sentence

    async def answer(self, message: str, **surroundings: object) -> Answer:
        """The Answer alone; see `ask`."""
        async for event in self.ask(message, **surroundings):  # type: ignore[arg-type]  # the same keywords
            if isinstance(event, Answer):
                return event
        raise AssertionError("the stream ends with an Answer")

    def sample_questions(self, language: str, count: int) -> list[str]:
        """At most `count` questions that the articles ask in that language, from as many articles as can be."""
        by_article: dict[str, list[str]] = {}
        for row in self.retriever.index.snapshot().rows:
            if row.passage.kind == "faq" and row.passage.language == language:
                by_article.setdefault(row.passage.article, []).append(row.passage.question)
        turns = zip_longest(*by_article.values())
        return list(dict.fromkeys(question for turn in turns for question in turn if question))[:count]

    def _understand(self, text: str, page_language: str, history: Sequence[Turn]) -> Question:
        hints = [normalise_code(page_language)] if page_language else []
        snapshot = self.retriever.index.snapshot()
        return understand(
            text,
            self.detector,
            self.wordings,
            hints,
            history,
            snapshot.names,
            snapshot.words,
            self.default_language,
        )

    def _social(self, question: Question) -> Draft | None:
        wording = self.wordings.nearest(question.language)
        replies = {"greeting": wording.greeting, "thanks": wording.thanks, "nothing": wording.ask_more}
        if question.intent == "question":
            return None
        outcome: Outcome = "clarify" if question.intent == "nothing" else "social"
        return Draft(outcome, replies[question.intent], (), 1.0)


def _verified(draft: Draft, abstention: str) -> Draft:
    """The draft without sentences that are not supported; an abstention where none is left."""
    kept = tuple(sentence for sentence in draft.sentences if not objection(sentence))
    if draft.sentences and not kept:
        return Draft("abstained", abstention, (), draft.confidence)
    return replace(draft, sentences=kept)


class Speaker:
    """Turns one reply's sentences into pieces: the opening, then each sentence with its marker, one number a passage.

    The opening introduces the articles' own words; it is left out before a phrased sentence.
    """

    def __init__(self, draft: Draft, language: str) -> None:
        self._opening, self._language = draft.opening, language
        self._quotes = _quotes(draft.sentences)
        self._numbers: dict[str, int] = {}
        self._before = ""

    def say(self, sentence: Sentence) -> Iterator[Spoken]:
        """The sentence, and the opening before the first of the articles' own."""
        if not sentence.phrased:
            yield from self.end()
        number = self._numbers.get(sentence.passage.id)
        new: tuple[Citation, ...] = ()
        if number is None:
            number = self._numbers[sentence.passage.id] = len(self._numbers) + 1
            quote = sentence.quote if sentence.phrased else self._quotes[sentence.passage.id]
            new = (_citation(number, sentence.passage, quote),)
        text = _in_spelling(sentence, self._language)
        yield Spoken(_joint(self._before, sentence, text) + f"{text}[{number}]", new)
        self._before = text

    def end(self) -> Iterator[Spoken]:
        """The opening, where it is still to be said."""
        if self._opening:
            yield Spoken(f"\n\n{self._opening}" if self._before else self._opening, ())
            self._before, self._opening = self._opening, ""


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
    return NUMBERED.sub(r"\1\\", MARKUP.sub(lambda found: "\\" + found.group(), text))


def _joint(before: str, sentence: Sentence, text: str) -> str:
    if not before:
        return "- " if sentence.starts == "item" else ""
    if sentence.starts == "item":
        return "\n- "
    if sentence.starts == "paragraph":
        return "\n\n"
    return "" if display_width(text[:1]) == 2 else " "


def _citation(number: int, passage: Passage, quote: str) -> Citation:
    return Citation(number, passage.id, passage.title, passage.heading, passage.url, passage.language, quote)


def _milliseconds(since: float) -> float:
    return round((time.perf_counter() - since) * 1000, 2)
