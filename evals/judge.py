"""Whether a reply is right.

In: a Case, the Answer, the passages its citations name. Out: a Verdict. Never: compares with one exact wording.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assistant.figures import unsupported_figures
from assistant.records import Answer, Citation, Passage
from assistant.spelling import convert_chinese
from evals.cases import Case, Fact


@dataclass(frozen=True, slots=True)
class Verdict:
    """One reply judged.

    Args:
        holds: an answerable question's reply states one of its facts (whatever the outcome).
        claims: the reply claims to be an answer.
        exact: every quote is an exact part of its passage.
        faithful: every figure of the text stands in a quote.
    """

    case: Case
    answer: Answer
    holds: bool
    claims: bool
    exact: bool
    faithful: bool

    @property
    def is_right(self) -> bool:
        """Answered with a fact, or no claim where there is none to make."""
        return (self.holds and self.claims) if self.case.facts else not self.claims


def judge(case: Case, answer: Answer, facts: Mapping[str, Fact], passages: Mapping[str, Passage]) -> Verdict:
    """The verdict on one reply."""
    quotes = "\n".join(citation.quote for citation in answer.citations)
    cited = [passages[citation.passage_id] for citation in answer.citations if citation.passage_id in passages]
    return Verdict(
        case=case,
        answer=answer,
        holds=any(states(facts[name], passage, answer) for name in case.facts for passage in cited),
        claims=answer.outcome == "answered",
        exact=all(_is_exact(citation, passages) for citation in answer.citations),
        faithful=not answer.citations or not unsupported_figures(_without_markers(answer), quotes),
    )


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


def _is_exact(citation: Citation, passages: Mapping[str, Passage]) -> bool:
    return bool(citation.quote) and citation.quote in passages[citation.passage_id].text


def _without_markers(answer: Answer) -> str:
    text = answer.text
    for citation in answer.citations:
        text = text.replace(f"[{citation.n}]", " ")
    return text
