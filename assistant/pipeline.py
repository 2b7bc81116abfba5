"""The assistant: runs the stages for one message and yields what happens.

In: a message with its surroundings. Out: an event stream, Progress | Spoken | Answer, the Answer last.
Never: lets a sentence leave that `verify` objects to, or blocks the event loop: stages run in a thread.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import zip_longest

from assistant.compose import compose, join_drafts, list_options
from assistant.desk import Desk
from assistant.follow import search
from assistant.hearing import Hearing
from assistant.language import Detector, normalise_code
from assistant.phrase import Phraser
from assistant.records import (
    Answer,
    Draft,
    Event,
    Handover,
    Progress,
    Question,
    Spoken,
    Trace,
    Turn,
    Understood,
)
from assistant.retrieve import Found, Retriever
from assistant.speak import Speaker
from assistant.suggest import Suggestions
from assistant.understand import check_message, understand
from assistant.verify import objection
from assistant.wording import Wording, Wordings

# Nearer by so much to thanks, a greeting or asking for a person than to any other topic, a message asks nothing. Of
# 6,400 questions of all cases and most sites none came above .04; of 13 messages meant so six lay above .05.
PLAIN = 0.05
UNANSWERED = ("related", "abstained")
SURE = 0.8  # of a question that is left when thanks or a greeting are taken off: below, they may be all there is


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
    phraser: Phraser | None = None

    async def ask(
        self, message: str, conversation_id: str = "", page_language: str = "", history: Sequence[Turn] = ()
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
        told: list[tuple[Question, Draft]] = []
        if understood.questions:
            yield Progress("retrieve")
            at = time.perf_counter()
            questions, found = await asyncio.to_thread(self._search, text, understood)
            timings["retrieve"] = _milliseconds(at)
            yield Progress("compose")
            at = time.perf_counter()
            told = self._compose(questions, found, wording)  # well under a millisecond
            draft = join_drafts([own for _, own in told], questions, wording)
            timings["compose"] = _milliseconds(at)
            understood = _heard_again(understood, draft, found)
        if understood.intent != "question":
            draft = self._social(understood, wording)
        if options := await asyncio.to_thread(self._options, draft, found, language):
            draft = Draft("clarify", list_options(wording.choose, options), (), draft.confidence)
        handover = self._handover(draft, understood, history, text)
        spoken: list[Spoken] = []
        async with aclosing(self._say(draft, told, language)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Draft):
                    draft = piece
                else:
                    spoken.append(piece)
                    yield piece
        if handover and draft.outcome != "handover":
            spoken.append(Spoken("\n\n" + self._way(wording, wording.offer, wording.no_person), ()))
            yield spoken[-1]
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
            trace=_trace(understood, found, draft),
        )

    async def _say(
        self, draft: Draft, told: Sequence[tuple[Question, Draft]], language: str
    ) -> AsyncGenerator[Spoken | Draft]:
        """The reply's pieces; at last the draft again where a chat model found that it does not answer.

        Args:
            told: each question with the draft of its own, which a chat model phrases alone.
        """
        speaker = Speaker(language, self.wordings.nearest(language).answer_to)
        if self.phraser is None or draft.outcome != "answered":
            for piece in speaker.say_draft(draft):
                yield piece
            return
        wording = self.wordings.nearest(language)
        answered = [(question, own) for question, own in told if own.outcome == "answered"]
        if len(answered) < len(told):
            for piece in speaker.open(wording.partly):
                yield piece
        deadline = asyncio.get_running_loop().time() + self.phraser.timeout_s
        outcomes: list[str] = []
        left = list(draft.unanswered)
        for question, own in answered:
            outcomes.append(own.outcome)
            async with aclosing(self.phraser.phrase(question, own, wording, deadline)) as proposed:
                async for item in proposed:
                    if isinstance(item, Draft):
                        outcomes[-1] = item.outcome
                        left += [question] if item.outcome != "answered" else []
                        for piece in speaker.say_draft(item):
                            yield piece
                    elif not self.phraser.objection(item, language):
                        yield speaker.say_phrased(item)
        yield replace(draft, outcome="answered" if "answered" in outcomes else "related", unanswered=tuple(left))

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
        confidence = found[0].hits[0].confidence if found[0].hits else 0.0
        if len(found) == 1 and questions[0].text != text and confidence < SURE:
            whole = self.retriever.find(replace(questions[0], text=text))  # thanks were taken off: all of it may be
            found = [whole if whole.intent != "question" else found[0]]
        return questions, found

    def _compose(
        self, questions: Sequence[Question], found: Sequence[Found], wording: Wording
    ) -> list[tuple[Question, Draft]]:
        """Each question with what is to be said to it, verified."""
        alone = len(questions) == 1
        drafts = [
            compose(one, hits, self.retriever, self.wordings, alone) for one, hits in zip(questions, found, strict=True)
        ]
        return [(one, _verified(own, wording.abstained)) for one, own in zip(questions, drafts, strict=True)]

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
            return Draft("handover", self._way(wording, wording.person, wording.nobody), (), 1.0)
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
            return self.desk.offer("abstained_twice", text) if self.desk.is_manned else None
        return None

    def _way(self, wording: Wording, address: str, nobody: str) -> str:
        """What becomes of a wish for a person: where they are found, that they were told, or that there is nobody."""
        if self.desk.address:
            return address.format(address=self.desk.address)
        return wording.person_told if self.desk.has_hook else nobody


def _heard_again(understood: Understood, draft: Draft, found: Sequence[Found]) -> Understood:
    """With the intent of what, plainly or where nothing answers it, asks nothing, in words that no list holds."""
    if len(found) != 1 or found[0].intent == "question":
        return understood
    if draft.outcome != "abstained" and found[0].intent_lead < PLAIN:
        return understood
    return replace(understood, intent=found[0].intent, wants_person=found[0].intent == "person")


def _trace(understood: Understood, found: Sequence[Found], draft: Draft) -> Trace:
    hits = tuple((hit.passage.id, round(hit.score, 3)) for one in found for hit in one.hits)
    asked = understood.questions
    searched = tuple("\n".join([*question.context, question.text]) for question in asked)
    left = draft.unanswered if draft.outcome == "answered" else asked if draft.outcome in UNANSWERED else ()
    own = dict(zip(asked, found, strict=True)) if len(asked) == len(found) else dict.fromkeys(asked, found[0])
    # "any more?" says nothing alone, and with what it leans on it would repeat what is answered
    unanswered = [
        (question.text, own[question].hits[0].passage.id if own[question].hits else "")
        for question in left
        if len(asked) > 1 and not question.is_bare
    ]
    return Trace(understood.intent, searched, hits, dict(found[0].signals) if found else {}, tuple(unanswered))


def _verified(draft: Draft, abstention: str) -> Draft:
    """The draft without sentences that are not supported; an abstention where none is left."""
    kept = tuple(sentence for sentence in draft.sentences if not objection(sentence))
    if draft.sentences and not kept:
        return Draft("abstained", abstention, (), draft.confidence)
    return replace(draft, sentences=kept)


def _milliseconds(since: float) -> float:
    return round((time.perf_counter() - since) * 1000, 2)
