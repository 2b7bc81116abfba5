"""Siblings: translations are found by anchor or by meaning, unrelated articles are left apart."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from assistant.models import Embedder, load_embedder
from assistant.passages import cut_passages
from assistant.records import Passage, PassageKind
from assistant.siblings import find_families
from tests.articles import LANGUAGES, corpus_files, flatten, parse, read

Vectors = NDArray[np.float32]
HOME = Path(os.environ.get("ASSISTANT_TEST_MODEL_HOME") or Path(__file__).parent.parent / ".assistant")
KINDS: list[PassageKind] = ["paragraph", "item", "row"]
UNRELATED = {
    "zh-Hans": "烘焙课程\n面包课每周六早上开课，需要提前电话预约。\n费用为每人三十元，已包含全部材料费。\n",
    "ja": "返品について\n商品の到着後30日以内であれば返品できます。\n返金は5日以内にカードへ行われます。\n",
    "es": "Senderismo\nLa ruta del lago empieza junto a la ermita y dura tres horas.\nHay que llevar agua y calzado.\n",
    "en": "Piano lessons\nLessons take place in our studio on Monday evenings.\nBeginners of every age are welcome.\n",
}


def passage(article: str, number: int, kind: PassageKind = "paragraph", anchor: str = "s1") -> Passage:
    """A passage of an article named `language/name`."""
    language = article.partition("/")[0]
    return Passage(f"{article}#{anchor}.{number}", article, anchor, kind, language, "", "", "", "x", "x", "", "", 1)


def vectors(meanings: Sequence[tuple[str, str]], seed: int = 0) -> Vectors:
    """Unit vectors of (language, meaning): as from a real model, all are near each other, the same meaning the most."""
    directions: dict[str, NDArray[np.float64]] = {}
    generator = np.random.default_rng(seed)
    rows = []
    for language, meaning in meanings:
        for name in ("everything", language, meaning):
            directions.setdefault(name, generator.standard_normal(64) / 8)
        noise = generator.standard_normal(64) / 8
        row = 1.2 * directions["everything"] + 0.2 * directions[language] + 0.8 * directions[meaning] + 0.1 * noise
        rows.append(row / np.linalg.norm(row))
    return np.stack(rows).astype(np.float32)


def families(articles: dict[str, Sequence[str]], given_anchors: bool = False) -> list[set[str]]:
    """The families, as sets of ids, of articles given as lists of meanings."""
    passages = [passage(name, number) for name, meanings in articles.items() for number in range(len(meanings))]
    meanings = [(name.partition("/")[0], meaning) for name, all_of_it in articles.items() for meaning in all_of_it]
    found = find_families(passages, vectors(meanings), [given_anchors] * len(passages))
    grouped: dict[str, set[str]] = defaultdict(set)
    for one, family in zip(passages, found, strict=True):
        grouped[family].add(one.id)
    return sorted(grouped.values(), key=lambda group: sorted(group))


def test_the_corpus_joins_by_anchor() -> None:
    """Each passage of the corpus has exactly one sibling in every language, whatever the vectors say."""
    passages = [one for path in corpus_files() for one in cut_passages(read(path))]
    noise = vectors([(one.language, one.id) for one in passages])
    found = Counter(find_families(passages, noise, [True] * len(passages)))
    assert set(found.values()) == {len(LANGUAGES)}
    assert {one.family for one in passages} == {""}


def test_an_anchor_with_another_shape_is_aligned_by_meaning() -> None:
    """Where a translation has a paragraph more, the others still find each other."""
    found = families({"zh-Hans/x": ["a", "b", "c"], "ja/x": ["a", "c"], "es/x": ["a", "b", "c"]}, given_anchors=True)
    assert [len(group) for group in found] == [3, 2, 3]
    assert {"zh-Hans/x#s1.2", "ja/x#s1.1", "es/x#s1.2"} in found


def test_same_anchors_in_other_files_are_not_joined() -> None:
    """The same anchor in a file of another name is another section."""
    found = families({"en/a": ["p", "q"], "ja/b": ["r", "s"]}, given_anchors=True)
    assert [len(group) for group in found] == [1, 1, 1, 1]


def test_translations_without_anchors_match_one_to_one() -> None:
    """Three languages of one article join passage by passage though one lacks a paragraph."""
    whole = [f"m{number}" for number in range(12)]
    found = families({"zh-Hans/000": whole, "ja/001": [*whole[:4], *whole[5:]], "es/002": whole})
    assert Counter(len(group) for group in found) == {3: 11, 2: 1}
    assert {"zh-Hans/000#s1.4", "es/002#s1.4"} in found
    assert {"zh-Hans/000#s1.5", "ja/001#s1.4", "es/002#s1.5"} in found


@pytest.mark.parametrize("count", [1, 2, 3, 12])
def test_unrelated_articles_stay_apart(count: int) -> None:
    """Two articles that are each other's nearest only for want of others are no translations."""
    found = families({"en/a": [f"a{n}" for n in range(count)], "ja/b": [f"b{n}" for n in range(count)]})
    assert len(found) == 2 * count


def test_one_shared_paragraph_makes_no_translation() -> None:
    """A short article that resembles one passage of a long one is not its translation."""
    found = families({"en/a": [f"a{n}" for n in range(12)], "ja/b": ["a3"]})
    assert len(found) == 13


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["en/a", "en/b", "ja/a", "ja/c", "zh-Hans/a", "es/d"]),
            st.integers(0, 6),
            st.sampled_from(KINDS),
            st.sampled_from(["s1", "s2"]),
            st.booleans(),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_no_family_has_two_passages_of_a_language(rows: list[tuple[str, int, PassageKind, str, bool]]) -> None:
    """Whatever is compared, a family holds one passage a language and is named for one of its own."""
    rows = sorted(rows, key=lambda row: (row[0], row[3]))
    passages = [passage(name, number, kind, anchor) for number, (name, _, kind, anchor, _) in enumerate(rows)]
    meanings = [(one.language, f"m{row[1]}") for one, row in zip(passages, rows, strict=True)]
    found = find_families(passages, vectors(meanings), [row[4] for row in rows])
    members = Counter((family, one.language) for one, family in zip(passages, found, strict=True))
    assert set(members.values()) == {1}
    assert set(found) <= {one.id for one in passages}


def test_no_passages_have_no_families() -> None:
    """An empty corpus is no error."""
    assert find_families([], np.zeros((0, 8), np.float32), []) == []


def test_large_articles_align_in_time() -> None:
    """Two thousand passages a language, with one missing, take seconds at most."""
    whole = [f"m{number}" for number in range(2000)]
    started = time.thread_time()
    found = families({"en/a": whole, "ja/b": whole[:700] + whole[701:]})
    assert time.thread_time() - started < 10
    assert Counter(len(group) for group in found) == {2: 1999, 1: 1}


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """The real model."""
    return load_embedder("bundled", HOME)


def embed(embedder: Embedder, passages: Sequence[Passage]) -> Vectors:
    """The passage vectors that an ingest would store."""
    return np.stack([made.vector for made in embedder.embed_passages([one.context for one in passages])])


def test_extracted_articles_find_their_translations(embedder: Embedder) -> None:
    """The flattened corpus joins across all languages with the real model, one paragraph being lost in one of them, and
    with articles on other subjects beside it that join nothing."""
    passages = []
    for path in corpus_files():
        lines = flatten(path).split("\n")
        if path.parent.name == "ja":
            del lines[3]
        passages += cut_passages(parse("\n".join(lines), "txt", path.parent.name))
    count = len(passages)
    for language, text in UNRELATED.items():
        article = parse(text, "txt", language)
        passages += [replace(one, article=f"{language}/other", id=f"{one.id}-other") for one in cut_passages(article)]
    found = find_families(passages, embed(embedder, passages), [False] * len(passages))
    sizes = Counter(found[:count])
    assert Counter(sizes.values()) == {4: len(sizes) - 1, 3: 1}
    assert set(Counter(found[count:]).values()) == {1}
    assert not set(found[:count]) & set(found[count:])


@pytest.mark.parametrize("pair", [("zh-Hans", "ja"), ("ja", "es"), ("es", "en"), ("en", "zh-Hans")], ids="-".join)
def test_two_small_unrelated_articles_stay_apart(embedder: Embedder, pair: tuple[str, str]) -> None:
    """With the real model and nothing else to compare with, articles on two subjects are not joined."""
    passages = [one for language in pair for one in cut_passages(parse(UNRELATED[language], "txt", language))]
    found = find_families(passages, embed(embedder, passages), [False] * len(passages))
    assert len(set(found)) == len(passages) == 4


def test_a_small_article_joins_its_translation(embedder: Embedder) -> None:
    """Two passages are enough for a translation to be found."""
    texts = {
        "en": "Returns\nYou can return goods within 30 days of delivery.\nThe money goes to your card within 5 days.\n",
        "ja": UNRELATED["ja"],
    }
    passages = [one for language, text in texts.items() for one in cut_passages(parse(text, "txt", language))]
    found = find_families(passages, embed(embedder, passages), [False] * len(passages))
    assert Counter(Counter(found).values()) == {2: 2}
