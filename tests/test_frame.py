"""A yes or no of the articles stands only under the question that it answers, on every way out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import regex
import yaml

from assistant.bootstrap import build, build_drafter
from assistant.drafts import Drafter
from assistant.frame import side_of, taking_sides
from assistant.language import split_sentences
from assistant.pipeline import Assistant
from assistant.records import Answer, Question, Spoken
from assistant.restate import is_asked
from assistant.settings import read_settings
from assistant.wording import Wordings
from tests.model_server import Reply, model_server
from tests.test_phrase import stream, with_model

WORDINGS = Wordings()
POLAR = yaml.safe_load((Path(__file__).parent / "data" / "polar.yaml").read_text("utf-8"))
LANGUAGES = list(POLAR["tuning"])
MARKER = regex.compile(r"\[\d+\]")
# Language -> an FAQ of a shop: a question, its answer, and a question that only another entry's opener would answer.
SHOP = {
    "zh-Hans": (
        "## 常见问题\n\n### 可以退换瓷碗吗？\n\n可以。请在30天内寄回瓷碗。",
        "可以退换瓷碗吗？",
        "可以定制瓷碗吗？",
    ),
    "ja": (
        "## よくある質問\n\n### 茶碗は返品できますか？\n\nはい。30日以内に茶碗をお送りください。",
        "茶碗は返品できますか？",
        "茶碗に名前は入れられますか？",
    ),
    "es": (
        "## Preguntas\n\n### ¿Se puede devolver un cuenco?\n\nSí. Envía el cuenco en 30 días.",
        "¿Se puede devolver un cuenco?",
        "¿Se puede encargar un cuenco con nombre?",
    ),
    "en": (
        "## FAQ\n\n### Can I return a bowl?\n\nYes. Send the bowl back within 30 days.",
        "Can I return a bowl?",
        "Can I order a bowl with a name on it?",
    ),
}


def ask(assistant: Assistant, text: str) -> tuple[Answer, list[str]]:
    """The answer, and its pieces as they came."""

    async def run() -> tuple[Answer, list[str]]:
        pieces = []
        async for event in assistant.ask(text):
            if isinstance(event, Spoken):
                pieces.append(event.text)
            if isinstance(event, Answer):
                return event, pieces
        raise AssertionError

    return asyncio.run(run())


def borrowed(text: str, language: str) -> list[str]:
    """Paragraphs that open with a yes or no and have no line above that names a question of the articles."""
    wording = WORDINGS.nearest(language)
    forms = [form.partition("{question}") for form in (wording.answer_to, wording.concerning)]
    above, found = "", []
    for paragraph in text.split("\n\n"):
        names = any(above.startswith(before) and above.endswith(after) for before, _, after in forms)
        if side_of(MARKER.sub("", paragraph), language, WORDINGS) and not names:
            found.append(paragraph)
        above = paragraph
    return found


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Assistant:
    """An assistant over an FAQ of its own."""
    corpus, home = tmp_path_factory.mktemp("shop"), tmp_path_factory.mktemp("home")
    for language, (body, _, _) in SHOP.items():
        (corpus / language).mkdir()
        head = f"---\ntitle: Tonwaren\nlanguage: {language}\n---\n\n"
        (corpus / language / "bowls.md").write_text(head + body + "\n", "utf-8")
    shared = Path(os.environ.get("ASSISTANT_TEST_MODEL_HOME") or Path(__file__).parents[1] / ".assistant") / "models"
    (home / "models").symlink_to(shared)
    return build(read_settings(home=home, corpus=corpus))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_yes_to_another_question_names_that_question(real_assistant: Assistant, language: str) -> None:
    """Whatever is asked beside an entry, no yes or no of the entry opens a paragraph without its question above; the
    pieces of the stream are the same text."""
    for texts in POLAR.values():
        for question in texts[language]["other"]:
            answer, pieces = ask(real_assistant, question)
            assert borrowed(answer.text, answer.language) == [], question
            assert "".join(pieces) == answer.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_entrys_own_question_gets_its_answer_alone(real_assistant: Assistant, language: str) -> None:
    """Asked as the article asks, or nearly, the answer has no line above that repeats the question."""
    rows = real_assistant.retriever.index.snapshot().rows
    own = [row.passage for row in rows if row.passage.kind == "faq" and row.passage.language == language]
    sided = [one for one in own if taking_sides(split_sentences(one.shown), language, WORDINGS)]
    assert len(sided) >= 1
    for passage in sided:
        answer, _ = ask(real_assistant, passage.question)
        assert answer.text.startswith(split_sentences(passage.shown)[0].strip())


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_nearly_the_same_question_is_told_from_another(real_assistant: Assistant, language: str) -> None:
    """Of the held-out questions most repetitions pass as such, and no other question does."""
    rows = real_assistant.retriever.index.snapshot().rows
    own = [row.passage for row in rows if row.passage.anchor in ("faq-combine", "faq-rewrite")]
    entries = [passage for passage in own if passage.language == language]

    def passes(text: str) -> bool:
        return any(is_asked(Question(text, language), passage, real_assistant.retriever) for passage in entries)

    texts = POLAR["heldout"][language]
    assert [text for text in texts["other"] if passes(text)] == []
    assert sum(map(passes, texts["same"])) >= len(texts["same"]) * 0.5


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_questions_get_no_bare_yes(real_assistant: Assistant, language: str) -> None:
    """Where two things are asked at once, a yes names which of them it answers."""
    rows = real_assistant.retriever.index.snapshot().rows
    named = [row.passage.question for row in rows if row.passage.language == language]
    combine = next(
        one.passage.question
        for one in rows
        if one.passage.id.startswith(f"{language}/") and one.passage.anchor == "faq-combine"
    )
    worth = next(
        row.passage.question
        for row in rows
        if row.passage.id.startswith(f"{language}/") and row.passage.anchor == "faq-worth"
    )
    answer, _ = ask(real_assistant, f"{worth}\n{combine}")
    assert combine in named
    assert borrowed(answer.text, language) == []
    assert combine in answer.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_short_yes_of_any_article_names_its_question(shop: Assistant, language: str) -> None:
    """A one-word sentence is held to the same rule in articles that nothing was tuned on."""
    _, own, other = SHOP[language]
    assert not borrowed(ask(shop, other)[0].text, language)
    answer, _ = ask(shop, own)
    assert answer.outcome == "answered"
    assert borrowed(answer.text, language)  # it stands alone, under the very question that was asked


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_model_may_not_say_yes_to_another_question(
    real_assistant: Assistant, start_server: Callable[..., str], language: str
) -> None:
    """What a chat model opens with a yes that the passage says to another question is left out."""
    yes = WORDINGS.nearest(language).opens.affirms[0].removesuffix("…")
    texts = {
        "zh-Hans": f"{yes}，而且大多数团队都该这么做。",
        "ja": f"{yes}。ほとんどのチームは併用すべきです。",
        "es": f"{yes}, y la mayoría de los equipos debería hacerlo.",
        "en": f"{yes}, and most teams should.",
    }
    question = POLAR["tuning"][language]["other"][1]
    with model_server(Reply((f"{texts[language].capitalize()} [1]\n",))) as server:
        assistant = with_model(real_assistant, server)
        sentences, answer = stream(start_server(assistant, request_timeout_s=60), question)
    shown = "".join(text for _, text in sentences)
    assert shown == answer["text"]
    assert borrowed(shown, language) == []


NAMED = {
    "en": "How much are {name} credits worth?",
    "zh-Hans": "{name}额度值多少钱？",
    "ja": "{name}のクレジットはいくら？",
    "es": "¿Cuánto valen los créditos de {name}?",
}


@pytest.mark.parametrize("language", NAMED)
@pytest.mark.parametrize(
    ("name", "outcome"), [("Trainium", "answered"), ("Azure", "related"), ("azure", "related")], ids=str
)
async def test_a_figure_is_no_answer_for_another_name(
    real_assistant: Assistant, language: str, name: str, outcome: str
) -> None:
    """The figure of one product is only the closest thing said where another product was named."""
    answer = await real_assistant.answer(NAMED[language].format(name=name))
    assert (answer.outcome, answer.language) == (outcome, language)
    assert "30" in answer.text


@pytest.fixture(scope="module")
def drafter(real_assistant: Assistant) -> Drafter:
    return build_drafter(real_assistant)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_draft_names_the_question_too(drafter: Drafter, language: str) -> None:
    """A staff draft proposes no bare yes to another question, and all that it proposes is supported or its own."""
    for question in POLAR["tuning"][language]["other"][:3]:
        letter = drafter.write(question)
        for part in letter.parts:
            assert borrowed(part.text.replace("\n", "\n\n"), language) == []
            assert {line.state for line in drafter.check(letter, part)} <= {"own", "supported", "gap"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_agents_yes_to_another_question_is_marked(drafter: Drafter, language: str) -> None:
    """A sentence of the article that says yes to another question is marked with why; named or asked, it passes."""
    retriever = drafter.retriever
    entry = next(
        row.passage
        for row in retriever.index.snapshot().rows
        if row.passage.language == language and row.passage.anchor == "faq-combine"
    )
    opener = split_sentences(entry.shown)[0].strip()
    lead = WORDINGS.nearest(language).concerning.format(question=entry.question)
    states = []
    for question, text in (
        (POLAR["tuning"][language]["other"][1], opener),
        (POLAR["tuning"][language]["other"][1], f"{lead}\n{opener}"),
        (entry.question, opener),
    ):
        letter = drafter.write(question)
        asks = tuple(replace(ask, evidence=(entry.id,)) for ask in letter.asks)
        part = replace(letter.parts[1], text=text, kind="answer", proposed="")
        line = drafter.check(replace(letter, asks=asks), part)[-1]
        states.append((line.state, line.reason))
    assert states == [("unsupported", "question"), ("supported", ""), ("supported", "")]
