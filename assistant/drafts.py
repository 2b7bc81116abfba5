"""A customer's message -> a reply to be looked over: one part a question, written from the articles or left open.

In: a message, a language, a tone. Out: a Letter, in which what is asked twice is answered once; one with a part written
anew; its lines with what they rest on.
Never: invents an answer: what the articles do not give is a gap that says so; sends anything; uses a chat model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assistant.compose import compose, reads
from assistant.errors import InputError
from assistant.follow import search
from assistant.frame import frame
from assistant.hearing import Hearing
from assistant.language import Detector
from assistant.letter import Ask, Letter, Part
from assistant.mask import mask
from assistant.recheck import Checker, Line
from assistant.records import Draft, Passage, Question, Sentence
from assistant.restate import is_asked
from assistant.retrieve import Found, Retriever
from assistant.speak import joint, spelled
from assistant.spoken import spoken
from assistant.ticket_words import Tone
from assistant.tickets import Asked, read_ticket
from assistant.understand import check_message, says_something
from assistant.verify import objection

LONGEST_MESSAGE = 20_000  # characters of an e-mail with its history
LONGEST_QUESTION = 600  # characters that are searched for
SHOWN = 120  # characters of a question that a gap repeats
EVIDENCE = 5  # passages kept for a question
CONTEXT = 2  # earlier questions of the message that one which leans is searched with, as in a conversation


@dataclass(frozen=True, slots=True, eq=False)
class Drafter:
    """Writes letters from one index; safe to share."""

    retriever: Retriever
    detector: Detector
    hearing: Hearing
    checker: Checker
    default_language: str = "en"

    def write(self, message: str, language: str = "", tone: Tone = "formal") -> Letter:
        """The reply to a message; private details in it are masked first.

        Args:
            language: of the reply; else the message's own.

        Raises:
            InputError: the message can't be used.
        """
        text = mask(check_message(message, LONGEST_MESSAGE))
        ticket = read_ticket(text, self.hearing, self._tell)
        written, language = ticket.language, language or ticket.language
        asked = ticket.questions or _whole(text, ticket.said)
        asks: list[Ask] = []
        parts = [self._frame("greeting", language, tone)]
        for number, one in enumerate(asked, 1):
            question = self._question(one.text, [before.text for before in asks], language, written)
            ask, draft = self._answer(number, one, question, len(asked) == 1)
            ask = replace(ask, same_as=_said_in(ask, draft, question, asks, parts))
            asks.append(ask)
            if not ask.same_as:
                parts.append(self._part(ask, draft, question, parts))
        parts.append(self._frame("closing", language, tone))
        return Letter(text, language, tone, tuple(asks), tuple(parts))

    def rewrite(self, letter: Letter, name: str, tone: Tone | None = None, passage_ids: Sequence[str] = ()) -> Letter:
        """The letter with one part written anew, from the best passages or from those named.

        Args:
            tone: from now on; greeting and closing are then written in it, save where the agent has changed them.

        Raises:
            InputError: there is no such part or passage.
        """
        if tone and tone != letter.tone:
            letter = replace(letter, tone=tone)
            for one in letter.parts:
                if one.kind in ("greeting", "closing") and one.text == one.proposed:
                    letter = letter.with_part(self._frame(one.kind, letter.language, tone))
        part = letter.part(name)
        if part.kind in ("greeting", "closing"):
            return letter.with_part(self._frame(part.kind, letter.language, letter.tone))
        place = part.question - 1
        ask = letter.asks[place]
        earlier = [one.text for one in letter.asks[:place]]
        question = self._question(ask.text, earlier, letter.language, self._tell(ask.text))
        alone = len(letter.asks) == 1
        if passage_ids:
            draft = self._from_passages(ask, passage_ids, question, alone)
        else:
            ask, draft = self._answer(ask.number, Asked(ask.text, ask.start, ask.end), question, alone)
            asks = (*letter.asks[:place], ask, *letter.asks[place + 1 :])
            letter = replace(letter, asks=asks)
        before = [one for one in letter.parts if one.question < part.question]
        return letter.with_part(self._part(ask, draft, question, before))

    def check(self, letter: Letter, part: Part) -> list[Line]:
        """The lines of a part, edited or not, each supported by a passage that is current or marked."""
        own = [ask for ask in letter.asks if ask.number == part.question]
        ids = dict.fromkeys(name for ask in (*own, *letter.asks) for name in ask.evidence)
        texts = [ask.text for ask in letter.asks if ask.number < part.question]
        asked = [self._question(ask.text, texts, letter.language, self._tell(ask.text)) for ask in own]
        return self.checker.check(
            part,
            self._with_points(self.retriever.passages(ids)),
            letter.language,
            lambda passage: any(is_asked(one, passage, self.retriever) for one in asked),
        )

    def sibling(self, passage: Passage, language: str) -> Passage | None:
        """The same passage in another language; None where there is none."""
        snapshot = self.retriever.index.snapshot()
        family = [snapshot.rows[place].passage for place in snapshot.families.get(passage.family, ())]
        exact = next((one for one in family if one.language == language), None)
        return exact or next((one for one in family if reads(language, one.language)), None)

    def _with_points(self, passages: Sequence[Passage]) -> list[Passage]:
        """The passages, and behind each outline what it lists."""
        found = {one.id: one for passage in passages for one in (passage, *self.retriever.passages(passage.members))}
        return list(found.values())

    def _tell(self, text: str) -> str:
        snapshot = self.retriever.index.snapshot()
        return self.detector.detect(text, (), snapshot.names, snapshot.words, self.default_language).language

    def _question(self, text: str, before: Sequence[str], language: str, written: str) -> Question:
        """A question of the message with what it leans on."""
        own = written if written != language else ""
        text = text[:LONGEST_QUESTION]
        leans = before and self.hearing.leans(text, written)
        return Question(text, language, "question", own, ("\n".join(before[-CONTEXT:]),) if leans else ())

    def _answer(self, number: int, asked: Asked, question: Question, alone: bool) -> tuple[Ask, Draft]:
        """What the articles say to it: with the question alone where that is surer than with what it leans on."""
        found = search(question, self.retriever)
        if question.context:
            plain = search(replace(question, context=()), self.retriever)
            found = max(found, plain, key=lambda one: one.hits[0].confidence if one.hits else 0.0)
        if not says_something(question.text):
            found = Found((), {})
        best = replace(found, hits=found.hits[:1])
        draft = compose(question, best, self.retriever, self.hearing.wordings, alone)
        outcome = draft.outcome if draft.outcome in ("answered", "related") else "abstained"
        evidence = dict.fromkeys(hit.passage.id for hit in found.hits[:EVIDENCE])
        confidence = round(found.hits[0].confidence, 4) if found.hits else 0.0
        ask = Ask(number, asked.text, asked.start, asked.end, outcome, confidence, tuple(evidence))
        return ask, draft

    def _from_passages(self, ask: Ask, ids: Sequence[str], question: Question, alone: bool) -> Draft:
        unknown = [name for name in ids if name not in ask.evidence]
        passages = self.retriever.passages(ids)
        if unknown or len(passages) < len(set(ids)):
            raise InputError(f"passage_ids: question {ask.number} has no such evidence; take ids that the draft lists")
        sentences = [
            Sentence(line.strip().removeprefix("- "), one, one.text, "item" if line.startswith("- ") else "paragraph")
            for one in passages
            for line in ([one.shown] if one.kind == "row" else one.shown.split("\n"))
            if line.strip()
        ]
        framed = frame(sentences, question, self.retriever, self.hearing.wordings, alone)
        return Draft("answered", "", tuple(framed), ask.confidence)

    def _part(self, ask: Ask, draft: Draft, question: Question, before: Sequence[Part]) -> Part:
        name, language = f"q{ask.number}", question.language
        kept = _answering(draft)
        if not kept:
            shown = ask.text if len(ask.text) <= SHOWN else ask.text[: SHOWN - 1] + "…"
            gap = self.hearing.wordings.nearest(language).ticket.gap.format(question=shown)
            return Part(name, "gap", ask.number, gap, gap)
        concerning = self.hearing.wordings.nearest(language).concerning
        paragraph = "".join(_joined(self._unsaid(kept, question, before), draft.opening, concerning, language))
        return Part(name, "answer", ask.number, paragraph, paragraph)

    def _unsaid(self, kept: Sequence[Sentence], question: Question, before: Sequence[Part]) -> list[Sentence]:
        """What no earlier part says; of a passage that was given whole, the one sentence that answers best."""
        said = "\n".join(part.text for part in before)
        new = [one for one in kept if spelled(one.text, one.passage.language, question.language) not in said]
        return new or [kept[self.retriever.best_sentence(question.text, [one.text for one in kept])]]

    def _frame(self, kind: str, language: str, tone: Tone) -> Part:
        words = self.hearing.wordings.nearest(language).ticket
        text = words.greeting(tone) if kind == "greeting" else words.closing(tone)
        return Part(kind, "greeting" if kind == "greeting" else "closing", 0, text, text)


def _whole(text: str, said: str) -> tuple[Asked, ...]:
    """The message as one question, where none was found in it."""
    shown = said or text
    start = max(text.find(shown), 0)
    return (Asked(" ".join(shown.split())[:LONGEST_QUESTION], start, start + len(shown)),)


def _answering(draft: Draft) -> list[Sentence]:
    """The sentences that answer; none where a draft only comes near."""
    return [one for one in draft.sentences if not objection(one)] if draft.outcome == "answered" else []


def _said_in(ask: Ask, draft: Draft, question: Question, asks: Sequence[Ask], parts: Sequence[Part]) -> int:
    """The number of an earlier question that asks the same words or whose part holds all of the answer; else 0."""
    said = spoken(ask.text)
    twin = next((one.number for one in asks if not one.same_as and spoken(one.text) == said), 0)
    if twin and not question.context:  # "and when?" asks something else the second time
        return twin
    texts = [spelled(one.text, one.passage.language, question.language) for one in _answering(draft)]
    holding = (part.question for part in parts if part.kind == "answer" and all(text in part.text for text in texts))
    return next(holding, 0) if texts else 0


def _joined(sentences: Sequence[Sentence], opening: str, concerning: str, language: str) -> Iterator[str]:
    """The sentences as one text, in the customer's spelling."""
    if opening:
        yield opening + "\n\n"
    before, asked = "", ""
    for sentence in sentences:
        text = spelled(sentence.text, sentence.passage.language, language)
        if sentence.asked and sentence.asked != asked:
            named = spelled(sentence.asked, sentence.passage.language, language)
            yield ("\n\n" if before else "") + concerning.format(question=named) + "\n"
            before = ""
        yield joint(before, sentence, text) + text
        before, asked = text, sentence.asked
