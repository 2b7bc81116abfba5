"""The parity ledger: what is wrong between and within the articles of all languages.

In: articles, and a model to compare meanings with, if there is one. Out: Findings, by file and line, each once.
Never: reads files, changes an article, or loads a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assistant.compare import (
    compare_figures,
    compare_lengths,
    compare_links,
    compare_names,
    compare_sections,
    compare_shapes,
    expected_lengths,
)
from assistant.language import Detector
from assistant.ledger import KINDS, Finding, Group, Place, article_groups, name_of, section_groups
from assistant.links import find_dead_links
from assistant.polarity import compare_polarity
from assistant.records import Article
from assistant.scars import count_words, find_scars


def check_parity(articles: Sequence[Article], detector: Detector) -> list[Finding]:
    """Everything that can be told without a model."""
    groups = section_groups(articles)
    units = [(group, unit) for group in groups for unit in group.units()]
    found = [*_missing_articles(articles), *compare_sections(groups), *find_dead_links(articles)]
    for group in groups:
        found += compare_shapes(group)
    lengths = expected_lengths([unit for _, unit in units])
    words = {article.key: count_words(article.source) for article in articles}
    for group, unit in [*units, *_irregular(groups)]:
        for place in unit:
            siblings = [other for other in unit if other is not place] or _others(group, place)
            found += find_scars(place, siblings, words[place.article.key], detector)
    for _, unit in units:
        if len(unit) > 1:
            translated = [p for p in unit if not any(one.place is p and one.kind == "language" for one in found)]
            for compare in (compare_figures, compare_links, compare_names, compare_polarity):
                found += compare(translated) if len(translated) > 1 else ()
            found += compare_lengths(translated, lengths)
    return order_findings(found)


def order_findings(found: Sequence[Finding]) -> list[Finding]:
    """By file, line and kind; of the same thing at the same place one."""
    kept: dict[tuple[object, ...], Finding] = {}
    for finding in found:
        kept.setdefault((finding.place.article.path, finding.place.line, finding.kind, finding.what), finding)
    return sorted(
        kept.values(), key=lambda one: (one.place.article.path, one.place.line, KINDS.index(one.kind), one.what)
    )


def _irregular(groups: Sequence[Group]) -> Iterator[tuple[Group, tuple[Place, ...]]]:
    """Blocks of sections that have not the shape of their translations: each alone."""
    for group in groups:
        for section in group.sections:
            if section.shape != group.usual_shape:
                yield from ((group, (section.place(block),)) for block in section.entry.blocks)


def _others(group: Group, place: Place) -> list[Place]:
    """The whole text of a section's translations."""
    return [section.whole for section in group.sections if section.article is not place.article]


def _missing_articles(articles: Sequence[Article]) -> Iterator[Finding]:
    """Articles that some languages of a corpus with anchors have and others do not."""
    families = [family for family in article_groups(articles) if any(e.given for a in family for e in a.entries)]
    languages = dict.fromkeys(article.language for family in families for article in family)
    for family in families:
        first = family[0]
        place = Place(first, "", 1, first.title)
        for language in languages:
            if all(article.language != language for article in family):
                reason = f"{name_of(first)} has no translation into `{language}`, other articles have one; add it"
                yield Finding("article", place, language, reason)
