"""Proposed entries: Markdown that reads back as an article of the corpus, and cases that the evals accept."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
import yaml

from assistant.figures import unsupported_figures
from assistant.passages import cut_passages
from assistant.proposals import entry_markdown, eval_case
from assistant.records import Article, Passage
from evals.cases import Case, read_cases
from tests.articles import CORPUS, passages_of, read

DAY = date(2026, 12, 1)
# Language -> a question and an answer of two paragraphs' signs, a list, and signs that Markdown would take for its own.
ENTRIES = {
    "zh-Hans": ("能否开具发票？", "可以，金额最高为30万美元。\n- 电子发票\n- 纸质*发票*"),
    "ja": ("請求書は発行できますか？", "はい、最大30万ドルまで発行できます。\n- 電子 [1]\n- 紙"),
    "es": ("¿Emiten factura?", "Sí, hasta 300.000 dólares.\n- # electrónica\n- en papel"),
    "en": ("Do you issue invoices: yes or no?", "Yes, up to $300,000.\n- by e-mail\n- on <b>paper</b>"),
}
LANGUAGES = list(ENTRIES)


def article_of(folder: Path, language: str, question: str, answer: str) -> Article:
    """The entry's file, read as the corpus is."""
    path = folder / language / "faq-invoice.md"
    path.parent.mkdir(parents=True)
    path.write_text(entry_markdown(question, answer, language, "faq-invoice", DAY), encoding="utf-8")
    return read(path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_entry_is_an_article(tmp_path: Path, language: str) -> None:
    """What an editor gets parses as a corpus article in its language, with the question and all lines of the answer as
    they were written, signs of markup included."""
    question, answer = ENTRIES[language]
    article = article_of(tmp_path, language, question, answer)
    assert (article.language, article.title) == (language, question)
    [entry] = [entry for entry in article.entries if entry.question]
    assert (entry.question, entry.anchor) == (question, "faq-invoice")
    written = [line.removeprefix("- ") for line in answer.split("\n")]
    assert [block.plain.removeprefix("- ") for block in entry.blocks] == written


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_entry_can_be_found(tmp_path: Path, language: str) -> None:
    """The article is cut into passages that answer its question and can be cited by its anchor."""
    question, answer = ENTRIES[language]
    found = cut_passages(article_of(tmp_path, language, question, answer))
    assert {passage.question for passage in found if passage.anchor == "faq-invoice"} == {question}


@pytest.mark.parametrize(
    "hostile", ["---\ntitle: x\n---", "## Mine {#faq}", "| a | b |\n|---|---|", "> said", "1. one", "a\n=", "a\n-"]
)
def test_an_answer_can_not_change_the_article(tmp_path: Path, hostile: str) -> None:
    """Lines that look like front matter, headings, tables or lists stay the answer's text."""
    article = article_of(tmp_path, "en", "What?", hostile)
    [entry] = [entry for entry in article.entries if entry.question]
    shown = " ".join(block.plain for block in entry.blocks)
    assert " ".join(shown.split()) == " ".join(hostile.split())
    assert [entry.anchor for entry in article.entries if entry.question] == ["faq-invoice"]


def amount(language: str) -> Passage:
    """The corpus's passage that states the most one can get."""
    file = next((CORPUS / language).glob("*.md"))
    return next(passage for passage in cut_passages(read(file)) if passage.anchor == "intro")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_case_passes_the_validator(tmp_path: Path, language: str) -> None:
    """The case's file is read by the evals, cites the passage's section and states the answer's figures."""
    question, answer = ENTRIES[language]
    file = tmp_path / language / "proposed.yaml"
    file.parent.mkdir()
    file.write_text(eval_case("invoice", question, answer, language, [amount(language)]), encoding="utf-8")
    [case] = read_cases("proposed", folder=tmp_path)
    assert (case.language, case.text, case.allowed) == (language, question, frozenset({"answered"}))
    assert case.anchors == ["intro"]
    assert case.figures
    assert not any(unsupported_figures(figure, answer) for figure in case.figures)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_no_article_says_has_no_right_answer(language: str) -> None:
    """Without passages the case asks that nothing is claimed, for the articles don't say it yet."""
    [row] = yaml.safe_load(eval_case("invoice", *ENTRIES[language], language, []))
    case = Case(**{"language": language, **row})
    assert (case.outcome, case.anchors, case.figures) == (["unanswerable"], [], [])


def test_a_passage_cited_twice_is_one_anchor() -> None:
    """Passages of one section give one anchor."""
    both = passages_of("## A {#a}\n\nOne thing.\n\nTwo things.\n")
    [row] = yaml.safe_load(eval_case("x", "What?", "Things.", "en", both))
    assert row["anchors"] == ["a"]


@pytest.mark.parametrize(
    "answer", ["额度是30万美元。", "1.125％です。", "Cuesta 1,125 € o 1.125.000 €.", "1.5 million or 12.125%", "٣٠٪"]
)
def test_a_right_answer_passes_its_own_case(answer: str) -> None:
    """The figures that a case asks for are all read in the answer that it was made from."""
    [row] = yaml.safe_load(eval_case("x", "What?", answer, "en", passages_of("## A {#a}\n\nOne thing.\n")))
    assert row["figures"]
    assert [figure for figure in row["figures"] if unsupported_figures(figure, answer)] == []
