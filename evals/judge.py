"""Whether a reply is right.

In: a Case, the Answer, the passages its citations name. Out: a Verdict. Never: compares with one exact wording.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assistant.figures import find_figures, unsupported_figures
from assistant.records import Answer, Citation, Passage
from assistant.spelling import convert_chinese
from evals.cases import Case, Fact


@dataclass(frozen=True, slots=True)
class Verdict:
    """One reply judged.

    Args:
        holds: an answerable question's reply states all it should (whatever the outcome).
        right_citations: citations that name a place of one of the case's facts.
        cited, needed: things asked of which a place is cited, of so many.
        claims: the reply claims to be an answer.
        exact: every quote is an exact part of its passage.
        faithful: every figure of the text stands in a quote.
        figures: faithful, and the figures that must or must not stand in it do.
        lacks: what else is wrong with the wording, in words.
        first_ms: from the message to the reply's first piece, milliseconds.
    """

    case: Case
    answer: Answer
    holds: bool
    right_citations: int
    cited: int
    needed: int
    claims: bool
    exact: bool
    faithful: bool
    figures: bool
    lacks: tuple[str, ...]
    first_ms: float = 0.0

    @property
    def fits(self) -> bool:
        """Whether the outcome is one that is right."""
        return self.answer.outcome in self.case.allowed

    @property
    def is_right(self) -> bool:
        """A right outcome; a claim states all it should; no phrase or figure is missing or out of place."""
        return self.fits and (self.holds or not self.claims) and not self.lacks


def judge(
    case: Case, answer: Answer, facts: Mapping[str, Fact], passages: Mapping[str, Passage], first_ms: float = 0.0
) -> Verdict:
    """The verdict on one reply."""
    quotes = "\n".join(citation.quote for citation in answer.citations)
    cited = [passages[citation.passage_id] for citation in answer.citations if citation.passage_id in passages]
    faithful = not answer.citations or not unsupported_figures(_without_markers(answer), quotes)
    wrong_figures = tuple(_figures(case, answer))
    if case.wanted:
        holds = all(
            any(states(facts[name], passage, answer) for name in need for passage in cited) for need in case.wanted
        )
        met = sum(any(stands_in(facts[name], one) for name in need for one in cited) for need in case.wanted)
        needed = len(case.wanted)
    else:
        holds = bool(case.anchors) and any(passage.anchor in case.anchors for passage in cited)
        met, needed = int(holds), int(bool(case.anchors))
    return Verdict(
        case=case,
        answer=answer,
        holds=holds,
        right_citations=sum(_is_place(case, facts, passage) for passage in cited),
        cited=met,
        needed=needed,
        claims=answer.outcome == "answered",
        exact=all(_is_exact(citation, passages) for citation in answer.citations),
        faithful=faithful,
        figures=faithful and not wrong_figures,
        lacks=(*_phrases(case, answer), *wrong_figures),
        first_ms=first_ms,
    )


def _is_place(case: Case, facts: Mapping[str, Fact], passage: Passage) -> bool:
    return passage.anchor in case.anchors or any(stands_in(facts[name], passage) for name in case.facts)


def stands_in(fact: Fact, passage: Passage) -> bool:
    """Whether the passage is a place where the fact is stated."""
    if passage.anchor[:1] in "sq" and passage.anchor[1:].isdigit():  # an extracted article
        return passage.line in fact.seed_lines
    says = any(phrase.lower() in passage.shown.lower() for phrase in fact.says.get(passage.language, ()))
    return passage.anchor in fact.anchors and (says or passage.kind == "outline")


def states(fact: Fact, passage: Passage, answer: Answer) -> bool:
    """Whether the reply, citing this passage, states the fact."""
    if not stands_in(fact, passage):
        return False
    phrases = [*fact.says.get(passage.language, ())]
    phrases += [convert_chinese(phrase, answer.language) for phrase in phrases]
    return passage.kind == "outline" or any(phrase.lower() in answer.text.lower() for phrase in phrases)


def _phrases(case: Case, answer: Answer) -> Iterator[str]:
    text = answer.text.casefold()
    for wanted in case.must:
        choice = [wanted] if isinstance(wanted, str) else wanted
        if not any(phrase.casefold() in text for phrase in choice):
            yield f"lacks “{' or '.join(choice)}”"
    for phrase in case.must_not:
        if phrase.casefold() in text:
            yield f"must not say “{phrase}”"


def _figures(case: Case, answer: Answer) -> Iterator[str]:
    text = _without_markers(answer)
    for written in case.figures:
        if unsupported_figures(written, text):
            yield f"lacks the figure {written}"
    present = find_figures(text)
    for written in case.no_figures:
        if find_figures(written) <= present:
            yield f"must not hold the figure {written}"


def _is_exact(citation: Citation, passages: Mapping[str, Passage]) -> bool:
    passage = passages.get(citation.passage_id)
    return bool(citation.quote) and passage is not None and citation.quote in passage.text


def _without_markers(answer: Answer) -> str:
    text = answer.text
    for citation in answer.citations:
        text = text.replace(f"[{citation.n}]", " ")
    return text
