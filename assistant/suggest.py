"""What may be asked instead or next: options where a question is unclear, neighbours of what was answered.

In: hits, or the passages that an answer cites. Out: questions in the reply's language.
Never: offers what the articles do not answer: each is first asked of the index itself, and its own passage must come.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

from assistant.hearing import spoken
from assistant.index import Snapshot
from assistant.records import Passage, Question
from assistant.retrieve import Found, Retriever
from assistant.spelling import convert_chinese

MOST = 3
TRIES = 6  # neighbours asked of the index for one answer; each takes as long as a question, once
TERSE_TOKENS = 4  # a question of so few says too little where the evidence splits
REMEMBERED = 5000


class Suggestions:
    """Verified questions of one index; remembers what was verified, and is safe to share."""

    def __init__(self, retriever: Retriever) -> None:
        self.retriever = retriever
        self._generation = ""
        self._verified: dict[tuple[str, str], bool] = {}
        self._articles: dict[str, dict[str, Passage]] = {}

    def options(self, found: Found, language: str) -> tuple[str, ...]:
        """Up to MOST questions to choose from where a terse question may mean several sections; else none."""
        if found.signals.get("length", math.inf) > math.log(TERSE_TOKENS):  # the signal is the tokens' logarithm
            return ()
        sections: dict[tuple[str, str], Passage] = {}
        for hit in found.hits:
            sections.setdefault((hit.passage.article, hit.passage.heading), hit.passage)
        if len(sections) < 2:
            return ()
        texts = self._answerable(sections.values(), language, set())
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
        return self._answerable(neighbours[:TRIES], language, {spoken(text) for text in asked})

    def _answerable(self, passages: Collection[Passage], language: str, known: set[str]) -> tuple[str, ...]:
        texts: dict[str, None] = {}
        for passage in passages:
            text = _asked_by(passage, language)
            if text and spoken(text) not in known and self._verify(text, language, passage):
                texts[text] = None
            if len(texts) == MOST:
                break
        return tuple(texts)

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
        if snapshot.generation != self._generation:
            self._verified, self._articles = {}, _sections(snapshot)
            self._generation = snapshot.generation


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
