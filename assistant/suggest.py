"""What may be asked instead or next: options where a question is unclear, neighbours of what was answered.

In: hits, or the passages that an answer cites. Out: questions in the reply's language.
Never: offers what the articles do not answer: each is first asked of the index itself, and its own passage must come.
"""

from __future__ import annotations

import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress

from assistant.errors import AssistantError
from assistant.index import Snapshot
from assistant.records import Passage, Question
from assistant.retrieve import Found, Retriever
from assistant.spelling import convert_chinese
from assistant.spoken import spoken

MOST = 3
TRIES = 6  # neighbours asked of the index for one answer; each takes as long as a question, once
TERSE_TOKENS = 4  # a question of so few says too little where the evidence splits
REMEMBERED = 5000
PAUSE_S = 0.01  # after each question asked behind: replies go first
log = logging.getLogger(__name__)


class Suggestions:
    """Verified questions of one index; remembers what was verified, and is safe to share.

    Each is verified when it is first wanted; after `work_behind`, ahead of that in a thread of its own: replies wait
    for none then, and offer what is verified so far.
    """

    def __init__(self, retriever: Retriever) -> None:
        self.retriever = retriever
        self._generation = ""
        self._verified: dict[tuple[str, str], bool] = {}
        self._articles: dict[str, dict[str, Passage]] = {}
        self._waiting: queue.Queue[tuple[str, str, Passage]] | None = None
        self._changing = threading.Lock()

    def work_behind(self) -> None:
        """Verifies in the background from now on, beginning with every section in its own language."""
        self._waiting, self._generation = queue.Queue(REMEMBERED), ""
        threading.Thread(target=self._work, name="suggestions", daemon=True).start()
        self._refresh()

    def is_idle(self) -> bool:
        """Whether nothing waits to be verified behind."""
        return self._waiting is None or not self._waiting.unfinished_tasks

    def options(self, found: Found, language: str) -> tuple[str, ...]:
        """Up to MOST questions to choose from where a terse question may mean several sections; else none."""
        if found.signals.get("length", math.inf) > math.log(TERSE_TOKENS):  # the signal is the tokens' logarithm
            return ()
        sections: dict[tuple[str, str], Passage] = {}
        for hit in found.hits:
            sections.setdefault((hit.passage.article, hit.passage.heading), hit.passage)
        if len(sections) < 2:
            return ()
        texts = self._answerable(sections.values(), language, set(), self._verify)
        return texts if len(texts) > 1 else ()

    def next_to(self, cited: Sequence[Passage], language: str, asked: Collection[str]) -> tuple[str, ...]:
        """Up to MOST questions of the sections around the first passage cited, none of them asked or answered yet."""
        if not cited:
            return ()
        self._refresh()
        sections = self._articles.get(cited[0].article, {})
        anchors = list(sections)
        if cited[0].anchor not in sections:
            return ()
        here = anchors.index(cited[0].anchor)
        near = sorted(range(len(anchors)), key=lambda at: (abs(at - here), at < here))
        told = {passage.anchor for passage in cited}
        neighbours = [sections[anchors[at]] for at in near if anchors[at] not in told]
        return self._answerable(neighbours[:TRIES], language, {spoken(text) for text in asked}, self._is_verified)

    def _answerable(
        self,
        passages: Collection[Passage],
        language: str,
        known: set[str],
        is_answered: Callable[[str, str, Passage], bool],
    ) -> tuple[str, ...]:
        texts: dict[str, None] = {}
        for passage in passages:
            text = _asked_by(passage, language)
            if text and spoken(text) not in known and is_answered(text, language, passage):
                texts[text] = None
            if len(texts) == MOST:
                break
        return tuple(texts)

    def _is_verified(self, text: str, language: str, passage: Passage) -> bool:
        """Whether it is answered, as far as is known: behind, it is found out for the next reply."""
        if self._waiting is None:
            return self._verify(text, language, passage)
        known = self._verified.get((text, language))
        if known is None:
            with suppress(queue.Full):
                self._waiting.put_nowait((text, language, passage))
        return bool(known)

    def _work(self) -> None:
        assert self._waiting is not None
        while True:
            text, language, passage = self._waiting.get()
            try:
                self._verify(text, language, passage)
            except AssistantError as error:
                log.warning("suggestion not verified: %s", error)
            finally:
                self._waiting.task_done()
            time.sleep(PAUSE_S)

    def _verify(self, text: str, language: str, passage: Passage) -> bool:
        self._refresh()
        key = (text, language)
        if key not in self._verified:
            if len(self._verified) >= REMEMBERED:
                self._verified.clear()
            found = self.retriever.find(Question(text, language))
            sections = {(hit.passage.article, hit.passage.anchor) for hit in found.hits}
            answers = self.retriever.judge(found) == "answered"
            self._verified[key] = answers and (passage.article, passage.anchor) in sections
        return self._verified[key]

    def _refresh(self) -> None:
        snapshot = self.retriever.index.snapshot()
        with self._changing:
            if snapshot.generation == self._generation:
                return
            self._verified, self._articles = {}, _sections(snapshot)
            self._generation = snapshot.generation
        if self._waiting is not None:
            for passage in (one for sections in self._articles.values() for one in sections.values()):
                if text := _asked_by(passage, passage.language):
                    self._is_verified(text, passage.language, passage)


def _sections(snapshot: Snapshot) -> dict[str, dict[str, Passage]]:
    """Article -> anchor of each section, in order -> its first passage."""
    table: dict[str, dict[str, Passage]] = {}
    for passage in _in_order(snapshot):
        table.setdefault(passage.article, {}).setdefault(passage.anchor, passage)
    return table


def _in_order(snapshot: Snapshot) -> Iterator[Passage]:
    return (row.passage for row in sorted(snapshot.rows, key=lambda row: (row.passage.article, row.passage.line)))


def _asked_by(passage: Passage, language: str) -> str:
    """What the passage answers, as its article asks or calls it, in the reply's language; "" where it is another."""
    text = passage.question if passage.kind == "faq" else passage.heading.rpartition(" › ")[2]
    if passage.language == language:
        return text
    return convert_chinese(text, language) if {passage.language, language} == {"zh-Hans", "zh-Hant"} else ""
