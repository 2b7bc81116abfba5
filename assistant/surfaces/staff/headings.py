"""What a section is called in the agent's language, and where it can be read.

In: the current index. Out: a Heading for each `name#anchor`. Never: reads an article file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assistant.insight import shared
from assistant.pipeline import Assistant
from assistant.store import section_of
from assistant.surfaces.backend import Backend, NotReady


@dataclass(frozen=True, slots=True)
class Heading:
    """A section as shown: its article's name and title, its own heading, the language of both, an address or ""."""

    article: str
    title: str
    text: str
    language: str
    url: str


def headings_of(backend: Backend, languages: Sequence[str]) -> dict[str, Heading]:
    """All sections of the index, each in the first of these languages that has it; none while there is no index."""
    try:
        assistant = backend.now()
    except NotReady:
        return {}
    if not isinstance(assistant, Assistant):
        return {}
    rank = {code: place for place, code in enumerate(languages)}
    found: dict[str, Heading] = {}
    for row in assistant.retriever.index.snapshot().rows:
        passage = row.passage
        name = shared(section_of(passage.id))
        known = found.get(name)
        if known is None or rank.get(passage.language, len(rank)) < rank.get(known.language, len(rank)):
            article = passage.article.rpartition("/")[2]
            text = passage.heading or passage.title
            found[name] = Heading(article, passage.title, text, passage.language, passage.url)
    return found
