"""The records of the parity ledger: where something stands, what is wrong there, and which places belong together.

In: articles of all languages. Out: for each section its siblings, for each of their blocks the blocks it answers to.
Never: needs a model: translations are found by file name and anchor, else by the shape and the names they share.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from assistant.language import LATIN_RUN
from assistant.parse_extracted import cells_of
from assistant.records import Article, Block, Entry

# Kinds of findings, in the order they are shown.
KINDS = (
    "article", "section", "order", "shape", "length", "figures", "links", "names", "polarity", "language", "word",
    "repeat", "dead_link", "allow",
)  # fmt: skip
SHARED_NAMES = 0.5  # share of the Latin words with a capital that two extracted translations have in common at least
EXCERPT = 160  # characters


@dataclass(frozen=True, slots=True)
class Place:
    """A block or heading of an article.

    Args:
        text: without markup.
        line: 1-based.
    """

    article: Article
    anchor: str
    line: int
    text: str

    @property
    def language(self) -> str:
        """The article's language."""
        return self.article.language

    def excerpt(self, around: str = "") -> str:
        """What a reader is shown: the text, cut around what is meant where it is long."""
        at = max(self.text.find(around), 0) if around else 0
        start = max(0, min(at - EXCERPT // 3, len(self.text) - EXCERPT))
        cut = self.text[start : start + EXCERPT]
        return ("…" if start else "") + cut + ("…" if start + EXCERPT < len(self.text) else "")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    Args:
        kind: one of KINDS.
        what: the figure, word, address or phrase it is about, "" where it is about all of the text.
        reason: one sentence: what is wrong, and how to mend it.
        sibling: what it was compared with, if anything.
    """

    kind: str
    place: Place
    what: str
    reason: str
    sibling: Place | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """An entry with its article."""

    article: Article
    entry: Entry

    @property
    def head(self) -> Place:
        """Its heading as a place."""
        text = self.entry.heading or self.article.title
        return Place(self.article, self.entry.anchor, self.entry.line, text)

    @property
    def shape(self) -> tuple[str, ...]:
        """The kinds of its blocks, in order."""
        return tuple(block.kind for block in self.entry.blocks)

    @property
    def columns(self) -> int:
        """Cells of its first table row, 0 without a table."""
        rows = [block for block in self.entry.blocks if block.kind == "row"]
        return len(cells_of(rows[0].text.splitlines()[0])) if rows else 0

    def place(self, block: Block) -> Place:
        """One of its blocks as a place."""
        return Place(self.article, self.entry.anchor, block.line, block.plain)

    @property
    def whole(self) -> Place:
        """All of its blocks as one place."""
        return Place(self.article, self.entry.anchor, self.entry.line, "\n".join(b.plain for b in self.entry.blocks))


@dataclass(frozen=True, slots=True)
class Group:
    """Sections that are translations of each other, each language once, and the articles they could stand in."""

    sections: tuple[Section, ...]
    articles: tuple[Article, ...]

    @property
    def usual_shape(self) -> tuple[str, ...]:
        """The shape that most of the sections have; of two as frequent ones the first."""
        return Counter(section.shape for section in self.sections).most_common(1)[0][0]

    def units(self) -> Iterator[tuple[Place, ...]]:
        """What is compared: the headings, then block by block where sections have the usual shape."""
        yield tuple(section.head for section in self.sections)
        regular = [section for section in self.sections if section.shape == self.usual_shape]
        for number in range(len(self.usual_shape)):
            yield tuple(section.place(section.entry.blocks[number]) for section in regular)


def sections_of(articles: Sequence[Article]) -> list[Section]:
    """All sections, in order."""
    return [Section(article, entry) for article in articles for entry in article.entries]


def article_groups(articles: Sequence[Article]) -> list[tuple[Article, ...]]:
    """Articles that are translations of each other: of one name, or of one shape with the same names in them."""
    named: dict[str, list[Article]] = defaultdict(list)
    loose: list[Article] = []
    for article in articles:
        if any(entry.given for entry in article.entries):
            named[name_of(article)].append(article)
        else:
            loose.append(article)
    return [*(tuple(group) for group in named.values()), *_loose_groups(loose)]


def name_of(article: Article) -> str:
    """The file's name, which translations share."""
    return article.key.rpartition("/")[2]


def section_groups(articles: Sequence[Article]) -> list[Group]:
    """The sections of each group of articles by their anchor."""
    groups: list[Group] = []
    for family in article_groups(articles):
        by_anchor: dict[str, dict[str, Section]] = defaultdict(dict)
        for section in sections_of(family):
            if section.entry.given or not any(entry.given for entry in section.article.entries):
                by_anchor[section.entry.anchor].setdefault(section.article.language, section)
        groups += [Group(tuple(found.values()), family) for found in by_anchor.values()]
    return groups


def _loose_groups(articles: Sequence[Article]) -> Iterator[tuple[Article, ...]]:
    """Articles without given anchors, joined where they have as many sections and share most of their names."""
    groups = [[article] for article in articles]
    for first, second in combinations(articles, 2):
        own, other = (next(group for group in groups if one in group) for one in (first, second))
        languages = [article.language for article in [*own, *other]]
        if own is not other and len(set(languages)) == len(languages) and _alike(first, second):
            own.extend(other)
            groups.remove(other)
    yield from map(tuple, groups)


def _alike(first: Article, second: Article) -> bool:
    if [entry.anchor for entry in first.entries] != [entry.anchor for entry in second.entries]:
        return False
    names, others = (latin_names(article.source) for article in (first, second))
    return len(names & others) >= max(SHARED_NAMES * min(len(names), len(others)), 1)


def latin_names(text: str) -> frozenset[str]:
    """Latin words that hold a capital or a digit inside, in lower case: what translations keep."""
    words = (found.group().rstrip("._-/") for found in LATIN_RUN.finditer(text))
    return frozenset(
        word.lower()
        for word in words
        if word[:1].isalpha() and (any(c.isupper() for c in word[1:]) or "." in word) and not word.endswith("-")
    )
