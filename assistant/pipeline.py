"""The assistant: runs the stages for one message and yields what happens.

In: a message with its surroundings. Out: an event stream, Progress | Spoken | Answer, the Answer last.
Never: lets a sentence leave that `verify` objects to, or blocks the event loop: stages run in a thread.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import regex

from assistant.compose import compose, escape_markup, join_drafts, list_options
from assistant.desk import Desk
from assistant.figures import unsupported_figures
from assistant.follow import search
from assistant.hearing import Hearing
from assistant.language import Detector, display_width, normalise_code
from assistant.records import (
    Answer,
    Citation,
    Draft,
    Event,
    Handover,
    Passage,
    Progress,
    Question,
    Sentence,
    Spoken,
    Trace,
    Turn,
    Understood,
)
from assistant.retrieve import Found, Retriever
from assistant.spelling import convert_chinese
from assistant.suggest import Suggestions
from assistant.understand import check_message, understand
from assistant.verify import objection
from assistant.wording import Wording, Wordings

NUMBERED = regex.compile(r"^(\p{N}+)(?=[.)]\s)")


@dataclass(frozen=True, slots=True, eq=False)
class Assistant:
    """Answers messages from one index."""

    retriever: Retriever
    detector: Detector
    hearing: Hearing
    suggestions: Suggestions
    desk: Desk
    message_limit: int
    default_language: str

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
        understood = await asyncio.to_thread(self._understand, text, page_language, history)
        language, wording = understood.language, self.wordings.nearest(understood.language)
        timings["understand"] = _milliseconds(started)
        found: list[Found] = []
        if understood.questions:
            yield Progress("retrieve")
            at = time.perf_counter()
            questions, found = await asyncio.to_thread(self._search, text, understood)
            timings["retrieve"] = _milliseconds(at)
            yield Progress("compose")
            at = time.perf_counter()
            drafts = [
                compose(question, one, self.retriever, self.wordings)  # well under a millisecond
                for question, one in zip(questions, found, strict=True)
            ]
            draft = join_drafts([_verified(one, wording.abstained) for one in drafts], questions, wording)
            timings["compose"] = _milliseconds(at)
        else:
            draft = self._social(understood, wording)
        options = await asyncio.to_thread(self._options, draft, found, language)
        if options:
            draft = Draft("clarify", list_options(wording.choose, options), (), draft.confidence)
        handover = self._handover(draft, understood, history, text)
        spoken = list(_speak(draft, language))
        if handover and draft.outcome != "handover" and self.desk.address:
            spoken.append(Spoken("\n\n" + wording.offer.format(address=self.desk.address), ()))
        for piece in spoken:
            yield piece
        suggestions = options or await asyncio.to_thread(self._next, draft, language, text, history)
        timings["total"] = _milliseconds(started)
        yield Answer(
            id=uuid.uuid4().hex,
            conversation_id=conversation_id or uuid.uuid4().hex,
            outcome=draft.outcome,
            language=language,
            text="".join(piece.text for piece in spoken),
            confidence=round(draft.confidence, 4),
            citations=tuple(citation for piece in spoken for citation in piece.citations),
            suggestions=suggestions,
            timings_ms=timings,
            handover=handover,
            trace=_trace(understood, found),
        )

    @property
    def wordings(self) -> Wordings:
        """What the assistant says of itself."""
        return self.hearing.wordings

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

    def _understand(self, text: str, page_language: str, history: Sequence[Turn]) -> Understood:
        hints = [normalise_code(page_language)] if page_language else []
        snapshot = self.retriever.index.snapshot()
        return understand(
            text,
            self.detector,
            self.hearing,
            hints,
            history,
            snapshot.names,
            snapshot.words,
            self.default_language,
        )

    def _search(self, text: str, understood: Understood) -> tuple[list[Question], list[Found]]:
        """Each question with what is found; the whole message instead where none of its parts is answered."""
        questions = list(understood.questions)
        found = [search(question, self.retriever) for question in questions]
        if len(found) > 1 and not any(self.retriever.judge(one) == "answered" for one in found):
            questions = [replace(questions[0], text=text)]
            found = [self.retriever.find(questions[0])]
        return questions, found

    def _options(self, draft: Draft, found: Sequence[Found], language: str) -> tuple[str, ...]:
        """What to choose from where one terse question is neither answered nor beside the subject."""
        if draft.outcome != "related" or len(found) != 1:
            return ()
        return self.suggestions.options(found[0], language)

    def _next(self, draft: Draft, language: str, text: str, history: Sequence[Turn]) -> tuple[str, ...]:
        if draft.outcome != "answered":
            return ()
        cited = [sentence.passage for sentence in draft.sentences]
        asked = [text, *(turn.text for turn in history if turn.role == "user")]
        return self.suggestions.next_to(cited, language, asked)

    def _social(self, understood: Understood, wording: Wording) -> Draft:
        """The reply to a message that asks nothing of the articles."""
        if understood.intent == "person":
            told = wording.person_told if self.desk.has_hook else wording.nobody
            address = self.desk.address
            return Draft("handover", wording.person.format(address=address) if address else told, (), 1.0)
        replies = {
            "greeting": wording.greeting,
            "thanks": wording.thanks,
            "small_talk": wording.chatter,
            "feedback": wording.noted,
        }
        reply = replies.get(understood.intent)
        return Draft("social", reply, (), 1.0) if reply else Draft("clarify", wording.ask_more, (), 1.0)

    def _handover(self, draft: Draft, understood: Understood, history: Sequence[Turn], text: str) -> Handover | None:
        """The way to a person, where one is asked for or two questions in a row could not be answered."""
        if understood.wants_person:
            return self.desk.offer("asked", text)
        last = next((turn for turn in reversed(history) if turn.role == "assistant"), None)
        if draft.outcome == "abstained" and last and last.outcome == "abstained":
            return self.desk.offer("abstained_twice", text) if self.desk.address or self.desk.has_hook else None
        return None


def _trace(understood: Understood, found: Sequence[Found]) -> Trace:
    hits = tuple((hit.passage.id, round(hit.score, 3)) for one in found for hit in one.hits)
    searched = tuple("\n".join([*question.context, question.text]) for question in understood.questions)
    return Trace(understood.intent, searched, hits, dict(found[0].signals) if found else {})


def _verified(draft: Draft, abstention: str) -> Draft:
    """The draft without sentences that are not supported; an abstention where none is left."""
    kept = tuple(sentence for sentence in draft.sentences if not objection(sentence))
    if draft.sentences and not kept:
        return Draft("abstained", abstention, (), draft.confidence)
    return replace(draft, sentences=kept)


def _speak(draft: Draft, language: str) -> Iterator[Spoken]:
    """The reply in pieces: the opening, then each sentence with its marker, one number a passage."""
    if draft.opening:
        yield Spoken(draft.opening, ())
    numbers: dict[str, int] = {}
    quotes = _quotes(draft.sentences)
    before = draft.opening
    for sentence in draft.sentences:
        number = numbers.get(sentence.passage.id)
        new: tuple[Citation, ...] = ()
        if number is None:
            number = numbers[sentence.passage.id] = len(numbers) + 1
            new = (_citation(number, sentence.passage, quotes[sentence.passage.id]),)
        text = _in_spelling(sentence, language)
        yield Spoken(_joint(before, sentence, text) + f"{text}[{number}]", new)
        before = text


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
    return NUMBERED.sub(r"\1\\", escape_markup(text))


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
