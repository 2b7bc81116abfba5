"""Translations compared by what needs no model: which sections there are, their shape, figures, addresses and names.

In: groups of sections. Out: Findings, each at the language that stands alone where there are three or more.
Never: takes an order of words, a wording or a rounding for a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher
from itertools import combinations
from math import log
from statistics import median

import regex

from assistant.figures import Figure, find_figures
from assistant.language import display_width, language_name
from assistant.ledger import Finding, Group, Place, Section, latin_names
from assistant.numerals import as_digits, implied_values
from assistant.readings import measures, stem
from assistant.records import Article
from assistant.scars import ADDRESSES
from assistant.senses import fold, read_senses

# Units of time in months and in hours, so that 24 months are two years; others are only compared with themselves.
SPANS = {"year": (12, "month"), "quarter": (3, "month"), "week": (168, "hour"), "day": (24, "hour")}
SHORTER = log(1.8)  # how far a text's length may be from what its translations let expect; set on the clean corpus
LEAST_WIDTH = 60  # columns: shorter texts vary more
URL = regex.compile(r"https?://[!-~]+", regex.ASCII)


@dataclass(frozen=True, slots=True)
class Told:
    """The figures of one text.

    Args:
        digits: written with digits; written: these and spelled ones.
        implied: values that words such as `both` say; timed, spans: with a unit of time behind them, and in one unit.
    """

    digits: frozenset[Figure]
    written: frozenset[Figure]
    implied: frozenset[Decimal]
    spans: frozenset[tuple[Decimal, str]]
    timed: frozenset[Decimal]


def compare_sections(groups: Sequence[Group]) -> Iterator[Finding]:
    """Sections that a translation lacks, or has in another order."""
    for family in dict.fromkeys(group.articles for group in groups):
        own = [group for group in groups if group.articles == family]
        for group in own:
            missing = [one for one in family if all(s.article.language != one.language for s in group.sections)]
            for article in missing:
                model = group.sections[0]
                before = [one for above in own[: own.index(group)] for one in above.sections if one.article is article]
                place = before[-1].head if before else Place(article, "", 1, article.title)
                reason = f"section #{model.entry.anchor} of the {_name(model.head)} article is missing; translate it"
                yield Finding("section", place, model.entry.anchor, reason, model.head)
        yield from _orders(own, family)


def _orders(groups: Sequence[Group], family: Sequence[Article]) -> Iterator[Finding]:
    """Sections that one article has at another place than most, counting those that all have."""
    complete = {group.sections[0].entry.anchor for group in groups if len(group.sections) == len(family)}
    orders = {
        article.key: tuple(entry.anchor for entry in article.entries if entry.anchor in complete) for article in family
    }
    usual = Counter(orders.values()).most_common(1)[0][0]
    model = next(article for article in family if orders[article.key] == usual)
    for article in family:
        order = orders[article.key]
        blocks = SequenceMatcher(None, order, usual, autojunk=False).get_matching_blocks()
        kept = {n for block in blocks for n in range(block.a, block.a + block.size)}
        for anchor in (anchor for n, anchor in enumerate(order) if n not in kept):
            place, other = (
                next(Section(one, entry).head for entry in one.entries if entry.anchor == anchor)
                for one in (article, model)
            )
            reason = f"section #{anchor} stands elsewhere than in {_name(other)}; move it"
            yield Finding("order", place, anchor, reason, other)


def compare_shapes(group: Group) -> Iterator[Finding]:
    """Paragraphs, list items, rows and columns that a section has more or fewer of than its translations."""
    counts: dict[str, Callable[[Section], int]] = {
        "paragraphs": lambda section: section.shape.count("paragraph"),
        "list items": lambda section: section.shape.count("item"),
        "table rows": lambda section: section.shape.count("row"),
        "table columns": lambda section: section.columns,
    }
    for what, count in counts.items():
        numbers = {section: count(section) for section in group.sections}
        for odd, model in _odd(group.sections, numbers):
            reason = f"{numbers[odd]} {what} here, {numbers[model]} in {_name(model.head)}"
            yield Finding("shape", odd.head, what, f"{reason}; compare the two", model.head)


def compare_figures(unit: Sequence[Place]) -> Iterator[Finding]:
    """Figures that one text has alone, and those that it alone lacks."""
    told = {place: _told(place) for place in unit}
    for place in unit:
        others = [told[other] for other in unit if other is not place]
        alone = [figure for figure in told[place].written if not any(_holds(o, figure, told[place]) for o in others)]
        alone += [Figure(value, "") for value in _own_times(told[place], others) if Figure(value, "") not in alone]
        lost = [
            figure
            for figure in dict.fromkeys(figure for other in others for figure in other.digits)
            if sum(figure in other.digits for other in others) > 1
            and not _holds(told[place], figure, others[0])
            and not _spells(place, figure)
        ]
        if alone or lost:
            sibling = next(other for other in unit if other is not place)
            if len(unit) == 2 and place is unit[0] and not _only(told, unit):
                continue  # the same difference is reported at the other
            said, instead = (", ".join(sorted(map(_shown, figures))) for figures in (alone, lost))
            here = (
                f"says {said}, which no translation says" if alone else f"does not say {instead}, which translations do"
            )
            here += f", and lacks {instead}" if alone and lost else ""
            what = _written(place, alone)
            yield Finding("figures", place, what or instead, f"{here}; correct one of them", sibling)


def _only(told: dict[Place, Told], unit: Sequence[Place]) -> bool:
    """Whether of two texts the second has no figure of its own to report."""
    first, second = unit
    return all(_holds(told[first], figure, told[second]) for figure in told[second].written)


def _told(place: Place) -> Told:
    language = read_senses(place.language)
    digits = as_digits(place.text, place.language)
    spans = measures(digits, language) if language else frozenset()
    canonical = frozenset(_canonical(value, name.removeprefix("unit ")) for value, name in spans)
    implied = frozenset(map(Decimal, implied_values(place.text, language))) if language else frozenset()
    plain = find_figures(place.text)
    spelled = find_figures(digits)
    sure = {figure for figure in spelled if not _is_vague(figure.value)}
    implied |= {figure.value for figure in spelled - sure}
    return Told(plain, plain | sure, implied, canonical, frozenset(value for value, _ in spans))


def _is_vague(value: Decimal) -> bool:
    """Whether a spelled number may be no figure: none, one, "hundreds", "thousands"."""
    return not value or value == Decimal(10) ** value.adjusted()


def _spells(place: Place, figure: Figure) -> bool:
    """Whether a word for the value stands anywhere in the text, be it part of another (五到六位数)."""
    language = read_senses(place.language)
    folded = fold(place.text)
    return language is not None and any(
        value == figure.value and fold(word) in folded for word, value in language.numerals.items()
    )


def _own_times(own: Told, others: Sequence[Told]) -> list[Decimal]:
    """Numbers of years, days, hours … that no other text gives, in whatever unit; one is often not written."""
    if own.spans <= {span for other in others for span in other.spans}:
        return []
    held = {value for other in others for value in other.timed}
    return sorted(value for value in own.timed - held if not _is_vague(value))


def _canonical(value: Decimal, unit: str) -> tuple[Decimal, str]:
    factor, base = SPANS.get(unit, (1, unit))
    return value * factor, base


def _holds(other: Told, figure: Figure, own: Told) -> bool:
    """Whether a text holds a figure of another: the value and, where it has one, the unit."""
    if figure in other.written or (not figure.unit and figure.value == 1):
        return True
    if figure.unit:
        return False
    if figure.value in own.timed and own.spans & other.spans:
        return True
    said = {one.value for one in other.written}
    return figure.value in said or (figure.value in other.implied and figure.value not in own.timed)


def _shown(figure: Figure) -> str:
    return f"{figure.value:,f}{figure.unit if figure.unit == '%' else f' {figure.unit}' if figure.unit else ''}"


def _written(place: Place, figures: Collection[Figure]) -> str:
    """How the text writes the first of these figures, "" where it spells it."""
    values = {figure.value for figure in figures}
    runs = regex.finditer(r"\p{Nd}[\p{Nd}.,\s]*", place.text)
    return next((run.group().strip() for run in runs if {f.value for f in find_figures(run.group())} & values), "")


def compare_links(unit: Sequence[Place]) -> Iterator[Finding]:
    """Addresses that one text has alone or lacks alone."""
    yield from _compare_sets("links", unit, lambda place: _links(place, {one.language for one in unit}), "the address")


def _links(place: Place, languages: Collection[str]) -> frozenset[str]:
    """Addresses in a text, the part that names a language left out."""
    found = {*URL.findall(place.text), *ADDRESSES.findall(URL.sub(" ", place.text))}
    parts = "|".join(map(regex.escape, sorted(languages, key=len, reverse=True)))
    return frozenset(regex.sub(rf"/(?:{parts})(?=/|$)", "/…", one.rstrip(".,;:)/")).lower() for one in found)


def compare_names(unit: Sequence[Place]) -> Iterator[Finding]:
    """Names in Latin letters, written alike everywhere, that one text has alone or lacks alone."""
    yield from _compare_sets("names", unit, _names, "the name")


def _names(place: Place) -> frozenset[str]:
    """Names in Latin letters as every language writes them: without plural, AI for the Spanish IA."""
    language = read_senses(place.language)
    other = {fold(term): name for term, name in language.names.items()} if language else {}
    found = latin_names(URL.sub(" ", ADDRESSES.sub(" ", place.text)))
    return frozenset(stem(other.get(name, name)) for name in found)


def _compare_sets(
    kind: str, unit: Sequence[Place], read: Callable[[Place], frozenset[str]], called: str
) -> Iterator[Finding]:
    held = {place: read(place) for place in unit}
    for place in unit:
        others = [other for other in unit if other is not place]
        said = [one for one in held[place] if not any(_names_it(other, one, held) for other in others)]
        least = len(others) if kind == "names" else 2
        counts = Counter(one for other in others for one in held[other])
        lost = [one for one, count in counts.items() if count >= max(least, 2) and not _names_it(place, one, held)]
        if len(unit) == 2 and place is unit[0] and any(not _names_it(place, one, held) for one in held[unit[1]]):
            continue
        for one in sorted(said):
            yield Finding(
                kind, place, one, f"{called} `{one}` stands in no translation; correct one".strip(), others[0]
            )
        if not said:
            for one in sorted(lost):
                reason = f"{called} `{one}` is missing, translations have it; add it".strip()
                yield Finding(kind, place, one, reason, others[0])


def _names_it(place: Place, name: str, held: dict[Place, frozenset[str]]) -> bool:
    return name in held[place] or name in fold(place.text)


def expected_lengths(units: Sequence[Sequence[Place]]) -> dict[tuple[str, str], float]:
    """For each two languages the median logarithm of how much wider the first writes the same."""
    ratios: dict[tuple[str, str], list[float]] = {}
    for unit in units:
        for one, other in combinations(unit, 2):
            if min(display_width(one.text), display_width(other.text)) >= LEAST_WIDTH:
                ratio = log(display_width(one.text) / display_width(other.text))
                ratios.setdefault((one.language, other.language), []).append(ratio)
                ratios.setdefault((other.language, one.language), []).append(-ratio)
    return {pair: median(found) for pair, found in ratios.items()}


def compare_lengths(unit: Sequence[Place], expected: dict[tuple[str, str], float]) -> Iterator[Finding]:
    """A text much shorter or longer than each of its translations lets expect."""
    for number, place in enumerate(unit):
        off = []
        for other in unit:
            if other is not place and max(display_width(place.text), display_width(other.text)) >= LEAST_WIDTH:
                ratio = log(max(display_width(place.text), 1) / max(display_width(other.text), 1))
                off.append(ratio - expected.get((place.language, other.language), 0.0))
        if len(off) < len(unit) - 1 or not off or (len(unit) == 2 and number == 0):
            continue
        if min(off) > SHORTER or max(off) < -SHORTER:
            much = "longer" if off[0] > 0 else "shorter"
            sibling = next(other for other in unit if other is not place)
            reason = f"this text is much {much} than its translations let expect; see what is missing or too much"
            yield Finding("length", place, "", reason, sibling)


def _odd(sections: Sequence[Section], values: dict[Section, int]) -> Iterator[tuple[Section, Section]]:
    """Each section whose value most of the others do not have, with one of those; of two the second."""
    counts = Counter(values.values())
    common, count = max(counts.items(), key=lambda item: (item[1], item[0]))
    model = next(section for section in sections if values[section] == common)
    if count < len(sections):
        yield from ((section, model) for section in sections if values[section] != common)


def _name(place: Place) -> str:
    return language_name(place.language, "en")
