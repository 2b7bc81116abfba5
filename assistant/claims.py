"""Judges a rephrased sentence by the passage it cites, before it leaves: does the passage say this?

In: a sentence in the asker's language, a passage with its translations. Out: "" or the reason why it must not be said.
Never: trusts the model that wrote it, or compares words with one exact wording: that is `verify`'s work on extracts.

What a text says is read once (`readings`) and compared (`objections`); what was read and decided is remembered.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
import regex

from assistant.additions import adds
from assistant.index import Index, Snapshot
from assistant.language import Detector
from assistant.models import Embedder
from assistant.objections import Evidence, first_objection
from assistant.readings import Reading, read
from assistant.records import Passage
from assistant.senses import read_senses

KEPT = 512  # passages whose readings are remembered
BROKEN = regex.compile(r"[\p{Cc}\p{Cs}\p{Co}\p{Cn}\uFFFD]")
LETTERS = regex.compile(r"\p{L}")


class Judge:
    """Judges sentences; safe to share, remembers passages."""

    def __init__(self, index: Index, embedder: Embedder, detector: Detector) -> None:
        self.index, self.embedder, self.detector = index, embedder, detector
        self._evidence: OrderedDict[tuple[str, str, str], Evidence | None] = OrderedDict()
        self._verdicts: OrderedDict[tuple[str, ...], str] = OrderedDict()
        self._lock = threading.Lock()

    def evidence(self, passage: Passage) -> Evidence | None:
        """The passage and its translations, read; None where its language's small words are not known."""
        snapshot = self.index.snapshot()
        key = (snapshot.generation, passage.id, passage.text)
        with self._lock:
            if key in self._evidence:
                return self._evidence[key]
        found = self._read_evidence(passage, snapshot)
        with self._lock:
            _keep(self._evidence, key, found)
        return found

    def _read_evidence(self, passage: Passage, snapshot: Snapshot) -> Evidence | None:
        family = [snapshot.rows[place].passage for place in snapshot.families.get(passage.family, ())]
        siblings = [passage, *(other for other in family if other.id != passage.id)]
        readings = [self._read(one.shown, one.language, snapshot) for one in siblings]
        if readings[0] is None:
            return None
        return Evidence(passage, readings[0], tuple(found for found in readings[1:] if found is not None))

    def _read(self, text: str, code: str, snapshot: Snapshot) -> Reading | None:
        language = read_senses(code)
        if language is None:
            return None
        mean = snapshot.means.get(code)
        if mean is None:
            mean = np.mean(list(snapshot.means.values()), axis=0)
        return read(text, language, code, self.embedder.embed_passages([text])[0], mean, snapshot.names)

    def adds(self, text: str, passages: Sequence[Passage], language: str) -> bool:
        """Whether `text`, which one of the passages supports, also says something that none of them does."""
        snapshot = self.index.snapshot()
        key = ("adds", snapshot.generation, language, text, *(part for one in passages for part in (one.id, one.text)))
        verdict = self._verdicts.get(key)
        if verdict is None:
            claim = self._read(text, language, snapshot)
            evidence = [found for found in map(self.evidence, passages) if found is not None]
            verdict = "adds" if claim is not None and evidence and adds(claim, evidence) else ""
            with self._lock:
                _keep(self._verdicts, key, verdict)
        return bool(verdict)

    def objection(self, text: str, passage: Passage, language: str) -> str:
        """Why `text`, said in `language` with the passage as its source, is not supported; "" when it is."""
        key = (self.index.snapshot().generation, passage.id, passage.text, language, text)
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._objection(text, passage, language)
            with self._lock:
                _keep(self._verdicts, key, verdict)
        return verdict

    def _objection(self, text: str, passage: Passage, language: str) -> str:
        evidence = self.evidence(passage)
        snapshot = self.index.snapshot()
        claim = self._read(text, language, snapshot)
        if evidence is None or claim is None:
            return "its language can't be judged"
        if BROKEN.search(text) or not LETTERS.search(text):
            return "it holds broken characters, or no words"
        detected = self.detector.detect(text, [language], snapshot.names).language
        if detected != language and {detected, language} != {"zh-Hans", "zh-Hant"}:
            return f"it is not in the asker's language ({detected} instead of {language})"
        return first_objection(claim, evidence)


def _keep(kept: OrderedDict[Any, Any], key: tuple[str, ...], value: object) -> None:
    kept[key] = value
    while len(kept) > KEPT:
        kept.popitem(last=False)
