"""An assistant for the tests of the surfaces: no model, no index, the same event stream as the real one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from assistant.errors import IndexUnavailable
from assistant.records import Answer, Citation, Event, Outcome, Progress, Spoken, Turn
from assistant.understand import check_message

REPLIES = {
    "zh-Hans": ("退款需要多久？", "退款将在14天内到账。", "银行转账可能还需要3天。"),
    "ja": ("返金には何日かかりますか？", "返金は14日以内に行われます。", "銀行振込ではさらに3日かかります。"),
    "es": ("¿Cuánto tarda una devolución?", "La devolución llega en 14 días. ", "Una transferencia tarda 3 días más."),
    "en": ("How long does a refund take?", "Refunds arrive within 14 days. ", "A bank transfer takes 3 days more."),
    "ar": ("كم يستغرق استرداد المبلغ؟", "يصل المبلغ خلال 14 يومًا. ", "يستغرق التحويل المصرفي 3 أيام أخرى."),
}


def citation(n: int, language: str, quote: str, url: str = "https://help.example.com/refunds") -> Citation:
    return Citation(n, f"{language}/refunds#time.{n}", "Refunds", f"§ {n}", url, language, quote)


def answer(language: str = "en", outcome: Outcome = "answered", text: str = "", **changes: object) -> Answer:
    """The Answer to the question of REPLIES in that language, or one with another text and no citations."""
    _, first, second = REPLIES[language]
    citations = () if text else (citation(1, language, first.strip()), citation(2, language, second))
    values: dict[str, object] = {
        "id": "a1",
        "conversation_id": "c1",
        "outcome": outcome,
        "language": language,
        "text": text or f"{first.rstrip()}[1] {second}[2]",
        "confidence": 0.9,
        "citations": citations,
        "timings_ms": {"total": 1.5},
    }
    return Answer(**{**values, **changes})  # type: ignore[arg-type]  # the tests give fitting ones


@dataclass
class FakeAssistant:
    """Answers what REPLIES or `scripted` holds and abstains from the rest; some words make it misbehave.

    `related` gives that outcome, `slow` waits until `go` is set, `broken` raises an unexpected error that repeats the
    message; once the first sentence is out, `unavailable` raises IndexUnavailable and `pause` waits for `resumed`.
    """

    limit: int = 200
    scripted: dict[str, Answer] = field(default_factory=dict)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    resumed: threading.Event = field(default_factory=threading.Event)
    began: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[tuple[str, str, str, tuple[str, ...]]] = field(default_factory=list)
    stopped: int = 0

    async def ask(
        self, message: str, conversation_id: str = "", page_language: str = "", history: Sequence[Turn] = ()
    ) -> AsyncIterator[Event]:
        text = check_message(message, self.limit)
        self.asked.append(
            (text, conversation_id, page_language, tuple(turn.text for turn in history if turn.role == "user"))
        )
        self.began.set()
        yield Progress("understand")
        try:
            if "slow" in text:
                await self.go.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        if "broken" in text:
            raise RuntimeError(text)
        found = replace(self._reply(text, conversation_id or "c-new", page_language), id=f"a{len(self.asked)}")
        yield Progress("retrieve")
        if text in self.scripted:
            yield Spoken(found.text, found.citations)
        elif found.citations:
            _, first, second = REPLIES[found.language]
            yield Spoken(f"{first.rstrip()}[1]", found.citations[:1])
            if "unavailable" in text:
                raise IndexUnavailable("the vector store has gone; start it again")
            if "pause" in text:
                await asyncio.to_thread(self.resumed.wait, 10)
            yield Spoken(f" {second}[2]", found.citations[1:])
        else:
            yield Spoken(found.text, ())
        yield found

    def sample_questions(self, language: str, count: int) -> list[str]:
        return [REPLIES[language][0]][:count] if language in REPLIES else []

    def _reply(self, text: str, conversation_id: str, page_language: str) -> Answer:
        if text in self.scripted:
            return replace(self.scripted[text], conversation_id=conversation_id)
        for language, (question, *_) in REPLIES.items():
            if text.startswith(question):
                return answer(language, conversation_id=conversation_id)
        if "related" in text:
            said = "The articles don't say that. The closest they say is:\n\nRefunds arrive within 14 days."
            return answer("en", "related", said, conversation_id=conversation_id)
        language = page_language if page_language in REPLIES else "en"
        return answer(language, "abstained", "The articles don't answer this.", conversation_id=conversation_id)
