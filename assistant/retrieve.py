"""Question -> ranked, calibrated Hits, one a family of sibling passages.

In: a Question. Out: Found: Hits, best first, each with the sibling to show, and the signals behind the confidence.
Never: reads article files, or shows a passage that the current snapshot does not hold.

First stage: every passage's direction (its token vectors summed) against the question's and against the topics that the
question resembles, with the lexical score; over a large index Chroma's nearest views join. Second stage, for the best
families: late interaction (Khattab & Zaharia, "ColBERT", 2020) with token vectors of the same model: the mean over the
question's tokens of the best cosine with any token of the passage. Vectors are taken relative to their language's mean,
which removes what tells languages apart and little else. A family's score is the mean over its languages, so that one
bad translation does not decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assistant.calibration import Calibration
from assistant.index import FamilyTokens, Index, Snapshot
from assistant.models import Embedder, unit_rows
from assistant.records import Hit, Intent, Outcome, Passage, Question
from assistant.topics import Resemblance, Topics
from assistant.wording import Wordings

Array = NDArray[np.float32]
NEAREST = 32  # views asked of Chroma: two a passage
FAMILIES = 20  # families rescored token by token, by the first stage's order
EXTRA = 6  # more of them that only Chroma found
SHORT_TOKENS = 3
COARSE_WEIGHT = 15.0  # of the question's direction, on the scale of the learned weights


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for one question; `signals` are the inputs of the confidence, `intent` what it wants where it
    resembles a greeting, thanks, or asking for a person more than any question, and `intent_lead` by how much more."""

    hits: tuple[Hit, ...]
    signals: dict[str, float]
    intent: Intent = "question"
    intent_lead: float = 0.0


@dataclass(frozen=True, slots=True)
class Family:
    """A candidate with its scores: `body` by late interaction with its text, of an FAQ pair half with its question;
    `lexical` in 0..1, `topic` a cosine."""

    name: str
    body: float
    lexical: float
    topic: float
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Rescored families of one snapshot, best first, with the signals and the intent (see Found) of the question."""

    snapshot: Snapshot
    families: tuple[Family, ...]
    signals: dict[str, float]
    intent: Intent = "question"
    intent_lead: float = 0.0


class Retriever:
    """Finds passages in one index with one model; holds no state of a question and is safe to share."""

    def __init__(
        self, index: Index, embedder: Embedder, topics: Topics, calibration: Calibration, wordings: Wordings
    ) -> None:
        self.index, self.embedder, self.topics = index, embedder, topics
        self.calibration, self.wordings = calibration, wordings

    def find(self, question: Question) -> Found:
        """Ranked hits for a question; no hits where the index is empty or the question has no words."""
        candidates = self.candidates(question)
        return self.rank(candidates, question.language, self.confidence(candidates))

    def confidence(self, candidates: Candidates) -> float:
        """The calibrated probability that the best candidate answers."""
        return self.calibration.probability(candidates.signals) if candidates.families else 0.0

    def rank(self, candidates: Candidates, language: str, confidence: float) -> Found:
        """The candidates near the best as hits, each shown in a language."""
        if not candidates.families:
            return Found((), {})
        snapshot = candidates.snapshot
        top = candidates.families[0].score
        near = [family for family in candidates.families if top - family.score <= self.calibration.close]
        hits = [Hit(self._shown(snapshot, family.name, language), family.score, confidence) for family in near]
        return Found(tuple(hits), candidates.signals, candidates.intent, candidates.intent_lead)

    def candidates(self, question: Question) -> Candidates:
        """The rescored families, best first, with the signals they give."""
        snapshot = self.index.snapshot()
        written = question.written or question.language
        embedding = self.embedder.embed_queries([question.text])[0]
        tokens = self.topics.centre(embedding.said(), written)
        if not snapshot.rows or not len(tokens):
            return Candidates(snapshot, (), {})
        views = self.index.near(embedding.vector, NEAREST) if self.index.asks_store else []
        topics = self.topics.compare(tokens)
        lexical = snapshot.lexical.score(question.text)
        topical = snapshot.directions @ topics.expansion
        names = self._candidates(snapshot, views, tokens, lexical, topical)
        found = self.index.family_tokens(snapshot, names)
        if not found:  # an ingest has just replaced all of it; the next question sees the new state
            return Candidates(snapshot, (), {})
        families = self._score(snapshot, found, tokens, lexical, topical)
        signals = self._signals(snapshot, families, found[families[0].name], topics, tokens)
        return Candidates(snapshot, tuple(families), signals, *self.topics.intent(topics))

    def judge(self, found: Found) -> Outcome:
        """Whether the best hit answers, comes close, or neither."""
        confidence = found.hits[0].confidence if found.hits else 0.0
        if confidence >= self.calibration.answered:
            return "answered"
        return "related" if confidence >= self.calibration.related else "abstained"

    def passages(self, ids: Iterable[str]) -> list[Passage]:
        """Current passages by id, in order; ids that are gone are left out."""
        snapshot = self.index.snapshot()
        return [snapshot.rows[snapshot.positions[name]].passage for name in ids if name in snapshot.positions]

    def best_sentence(self, text: str, sentences: Sequence[str]) -> int:
        """Position of the sentence nearest to a text."""
        target = self.embedder.embed_queries([text])[0].vector
        vectors = np.stack([embedding.vector for embedding in self.embedder.embed_passages(sentences)])
        return int((vectors @ target).argmax())

    def _candidates(
        self, snapshot: Snapshot, views: Sequence[str], tokens: Array, lexical: Array, topical: Array
    ) -> list[str]:
        """Families worth rescoring: the first stage's best, then what only Chroma found."""
        fusion = self.calibration.fusion_for(len(tokens))
        near = snapshot.directions @ unit_rows(tokens.sum(axis=0))
        score = COARSE_WEIGHT * near + fusion.topic * topical + fusion.lexical * lexical
        sizes = np.bincount(snapshot.family_of)
        means = np.bincount(snapshot.family_of, score) / sizes
        every = list(snapshot.families)
        names = dict.fromkeys(every[number] for number in np.argsort(-means)[:FAMILIES])
        for view in views:
            for position in snapshot.by_hash.get(view, ()):
                if len(names) < FAMILIES + EXTRA:
                    names[snapshot.rows[position].passage.family] = None
        return list(names)

    def _score(
        self, snapshot: Snapshot, found: dict[str, FamilyTokens], tokens: Array, lexical: Array, topical: Array
    ) -> list[Family]:
        fusion = self.calibration.fusion_for(len(tokens))
        cosines, bounds = _cosines(tokens, [(family.tokens, family.starts) for family in found.values()])
        loaded = list(found.values())
        bodies = _per_family(np.maximum.reduceat(cosines, bounds).mean(axis=1), loaded)
        pairs = [number for number, family in enumerate(loaded) if family.is_faq]
        if pairs:
            bodies[pairs] = (bodies[pairs] + _asked(tokens, [loaded[number] for number in pairs])) / 2
        families = []
        for name, body in zip(found, bodies.tolist(), strict=True):
            positions = snapshot.families[name]
            words, topic = float(lexical[positions].max()), float(topical[positions].mean())
            total = fusion.body * body + fusion.lexical * words + fusion.topic * topic
            families.append(Family(name, body, words, topic, total))
        return sorted(families, key=lambda family: -family.score)

    def _signals(
        self,
        snapshot: Snapshot,
        families: Sequence[Family],
        best: FamilyTokens,
        topics: Resemblance,
        tokens: Array,
    ) -> dict[str, float]:
        """What the confidence is learned from; names are those of calibration.json."""
        scores = [family.score for family in families]
        elsewhere = self.topics.elsewhere & ~np.isin(self.topics.names, list(snapshot.covered))
        return {
            "elsewhere": float(topics.one_way[elsewhere].max()),
            "elsewhere_both": float(topics.both_ways[elsewhere].max()),
            "usual_both": float(topics.both_ways[~elsewhere].max()),
            "balance": _log_sum(topics.one_way[elsewhere]) - _log_sum(topics.one_way[~elsewhere]),
            "balance_both": _log_sum(topics.both_ways[elsewhere]) - _log_sum(topics.both_ways[~elsewhere]),
            "body": max(family.body for family in families),
            "lead_five": scores[0] - float(np.mean(scores[:5])),
            "length": math.log(len(tokens)),
            "short": math.exp((1 - len(tokens)) / SHORT_TOKENS),
        } | _fit(tokens, best)

    def _shown(self, snapshot: Snapshot, name: str, language: str) -> Passage:
        """The sibling in the asker's language, else in the first of its declared chain, else any."""
        siblings = {
            snapshot.rows[position].passage.language: snapshot.rows[position].passage
            for position in snapshot.families[name]
        }
        for code in self.wordings.chain(language):
            if code in siblings:
                return siblings[code]
        return siblings.get("en") or next(iter(siblings.values()))


def _cosines(tokens: Array, parts: Sequence[tuple[Array, NDArray[np.int64]]]) -> tuple[Array, NDArray[np.int64]]:
    """Cosines of every token of the parts with the question's tokens, [m, n], and where each passage begins, [k]."""
    ends = np.cumsum([len(vectors) for vectors, _ in parts])
    cosines = np.empty((int(ends[-1]), len(tokens)), np.float32)
    columns = np.ascontiguousarray(tokens.T)
    for (vectors, _), end in zip(parts, ends.tolist(), strict=True):
        np.matmul(vectors, columns, out=cosines[end - len(vectors) : end])
    offsets = zip(parts, ends.tolist(), strict=True)
    return cosines, np.concatenate([starts + (end - len(vectors)) for (vectors, starts), end in offsets])


def _per_family(scores: NDArray[np.floating], families: Sequence[FamilyTokens]) -> Array:
    """Passages' scores, family after family, as each family's mean over its languages."""
    sizes = np.array([len(family.starts) for family in families])
    return np.asarray(np.add.reduceat(scores, np.cumsum(sizes) - sizes) / sizes, np.float32)


def _asked(tokens: Array, families: Sequence[FamilyTokens]) -> Array:
    """Late interaction with the question that each family answers."""
    cosines, bounds = _cosines(tokens, [(family.asked, family.asked_starts) for family in families])
    return _per_family(np.maximum.reduceat(cosines, bounds).mean(axis=1), families)


def _fit(tokens: Array, family: FamilyTokens) -> dict[str, float]:
    """How well the best family fits: `low`, the mean of the worst third of the question's tokens; `back`, how well the
    family's own tokens are met by the question's."""
    cosines, bounds = _cosines(tokens, [(family.tokens, family.starts)])
    found = np.sort(np.maximum.reduceat(cosines, bounds).mean(axis=0))
    return {"low": float(found[: max(1, len(found) // 3)].mean()), "back": float(cosines.max(axis=1).mean())}


def _log_sum(scores: Array) -> float:
    """A soft maximum, so that several near topics weigh more than one."""
    return float(np.log(np.exp(20 * scores).sum()))
