"""Lines of an edited reply over the real articles: what the articles say passes, whatever else is marked with why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assistant.bootstrap import build_drafter
from assistant.drafts import Drafter
from assistant.letter import Letter, Part
from assistant.pipeline import Assistant
from assistant.recheck import Line

# Language -> a question, and of what the articles say to it: a sentence, the same with another figure, and one
# with another name.
SAID = {
    "zh-Hans": (
        "Trainium 额度最多可以拿到多少？",
        "AWS Trainium额度最高可达90万美元。",
        "Trainium额度最高可达30万美元，由Microsoft发放。",
    ),
    "ja": (
        "Trainiumクレジットは最大でいくら受け取れますか？",
        "AWS Trainiumクレジットは最大90万ドル分受け取れます。",
        "AWS Trainiumクレジットは、Microsoftから最大30万ドル分受け取れます。",
    ),
    "es": (
        "¿Cuánto valen como máximo los créditos de AWS Trainium?",
        "Con los créditos de AWS Trainium, una startup puede recibir hasta 900.000 dólares.",
        "Con los créditos de Microsoft, una startup puede recibir hasta 300.000 dólares.",
    ),
    "en": (
        "How much are AWS Trainium credits worth at most?",
        "With AWS Trainium credits, a startup can receive up to $900,000.",
        "With Microsoft credits, a startup can receive up to $300,000.",
    ),
}
# Language -> a question, a whole sentence of the article that answers it, and that sentence without its "not".
CHIP = {
    "zh-Hans": ("Trainium 是服务还是芯片？", "Trainium是一款芯片，不是一项服务。", "Trainium是一款芯片，是一项服务。"),
    "ja": (
        "Trainiumはサービスですか、チップですか？",
        "Trainiumはチップであって、サービスではありません。",
        "Trainiumはチップであって、サービスです。",
    ),
    "es": (
        "¿Qué es Trainium: un chip o un servicio?",
        "Trainium no es un servicio, sino un chip.",
        "Trainium es un servicio, un chip.",
    ),
    "en": (
        "How are accelerators billed, by request or by instance hour?",
        "Accelerator spending is billed by the instance hour, not by the request.",
        "Accelerator spending is billed by the instance hour, by the request.",
    ),
}
LANGUAGES = list(SAID)
# What an agent might add to the first sentence of CHIP, `…` being the sentence without its last sign.
ADDED = {
    "zh-Hans": ["…，但仅限欧洲的公司。", "…，除非客户经理书面同意。", "…，并附赠一年保修。"],
    "ja": ["…。ただし欧州の会社に限ります。", "営業担当の同意があれば、…。", "…し、1年間の保証も付きます。"],
    "es": [
        "…, siempre que la empresa sea europea.",
        "…, salvo que el gestor lo apruebe.",
        "… y trae garantía de por vida.",
    ],
    "en": [
        "…, but only for European companies.",
        "…, unless your account manager agrees.",
        "… and comes with a warranty.",
    ],
}


@pytest.fixture(scope="module")
def drafter(real_assistant: Assistant) -> Drafter:
    return build_drafter(real_assistant)


def drafted(drafter: Drafter, question: str, language: str) -> tuple[Letter, Part]:
    """The reply to one question, and its answer."""
    letter = drafter.write(question)
    part = letter.parts[1]
    assert (letter.language, part.kind) == (language, "answer")
    return letter, part


def line_for(drafter: Drafter, question: str, language: str, sentence: str) -> Line:
    """What becomes of a sentence that an agent writes in the place of the answer."""
    letter, part = drafted(drafter, question, language)
    [line] = drafter.check(letter, replace(part, text=sentence))
    assert line.text == sentence
    return line


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_articles_own_sentence_is_supported(drafter: Drafter, language: str) -> None:
    """A whole sentence of a passage passes with an exact quote of it; it is nobody else's claim."""
    question, sentence, _ = CHIP[language]
    line = line_for(drafter, question, language, sentence)
    assert (line.state, line.reason) == ("supported", "")
    assert line.passage is not None
    assert line.quote in line.passage.text
    assert sentence in line.passage.shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_proposed_is_supported(drafter: Drafter, language: str) -> None:
    """Of a draft that nobody has edited every line rests on a passage, or claims nothing."""
    letter, _ = drafted(drafter, SAID[language][0], language)
    states = {part.kind: {line.state for line in drafter.check(letter, part)} for part in letter.parts}
    assert states == {"greeting": {"own"}, "answer": {"supported"}, "closing": {"own"}}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_changed_figure_is_marked(drafter: Drafter, language: str) -> None:
    """A figure that no passage found for the question holds is told as such."""
    question, wrong, _ = SAID[language]
    line = line_for(drafter, question, language, wrong)
    assert (line.state, line.reason, line.passage) == ("unsupported", "figure", None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_another_name_is_marked(drafter: Drafter, language: str) -> None:
    """A company that no passage names is told as such."""
    question, _, wrong = SAID[language]
    line = line_for(drafter, question, language, wrong)
    assert (line.state, line.reason, line.passage) == ("unsupported", "name", None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_dropped_not_is_marked(drafter: Drafter, language: str) -> None:
    """The article's sentence without its "not" is not supported, however alike the two are."""
    question, _, wrong = CHIP[language]
    line = line_for(drafter, question, language, wrong)
    assert (line.state, line.passage) == ("unsupported", None)
    assert line.reason in ("contrary", "meaning")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_in_the_wrong_language_is_marked(drafter: Drafter, language: str) -> None:
    """A right sentence that the customer can't read is told as such."""
    other = CHIP["en" if language != "en" else "es"][1]
    line = line_for(drafter, SAID[language][0], language, other)
    assert (line.state, line.reason) == ("unsupported", "language")


@pytest.mark.parametrize("language", LANGUAGES)
def test_half_a_letter_is_marked_line_by_line(drafter: Drafter, language: str) -> None:
    """Right and wrong sentences of one part are told apart, and the lines joined are its text, spaces included."""
    question, sentence, wrong = CHIP[language]
    letter, part = drafted(drafter, question, language)
    text = f"{sentence}\n\n- {wrong}  \n{part.text}\n"
    lines = drafter.check(letter, replace(part, text=text))
    assert "".join(line.text for line in lines) == text
    states = {line.text.strip(): line.state for line in lines}
    assert states[sentence] == "supported"
    assert states[f"- {wrong}"] == "unsupported"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_gap_is_a_gap(drafter: Drafter, language: str) -> None:
    """A gap's placeholder stays one line whatever question it repeats, and what is invented around it is marked."""
    letter, part = drafted(drafter, SAID[language][0], language)
    mark = drafter.hearing.wordings.nearest(language).ticket.gap.format(question="A? B! C。D.")
    text = f"{SAID[language][1]}\n{mark}\n"
    gap = Part(part.id, "gap", part.question, text, mark)
    lines = drafter.check(letter.with_part(gap), gap)
    assert [(line.state, line.text.strip()) for line in lines] == [("unsupported", SAID[language][1]), ("gap", mark)]
    assert "".join(line.text for line in lines) == text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_closing_may_not_promise_figures(drafter: Drafter, language: str) -> None:
    """An agent's own courtesy needs no source, but a figure in it does."""
    letter, _ = drafted(drafter, SAID[language][0], language)
    closing = letter.part("closing")
    lines = drafter.check(letter, replace(closing, text=f"{closing.text}\n{SAID[language][1]}"))
    assert [line.state for line in lines][-1] == "unsupported"
    assert {line.state for line in lines[:-1]} == {"own"}


@pytest.mark.parametrize("text", ["", "  \n", "—", "。？！", "🙂"])
def test_what_says_nothing_is_not_judged(drafter: Drafter, text: str) -> None:
    """Signs without letters claim nothing, and an empty part has no line that is marked."""
    letter, part = drafted(drafter, SAID["ja"][0], "ja")
    lines = drafter.check(letter, replace(part, text=text))
    assert {line.state for line in lines} <= {"own"}
    assert "".join(line.text for line in lines) == text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("which", range(3), ids=["only for", "unless", "something more"])
def test_what_is_added_to_a_supported_sentence_is_marked(drafter: Drafter, language: str, which: int) -> None:
    """A condition, an exception or a promise that no passage holds is marked, however true the rest of the sentence."""
    question, sentence, _ = CHIP[language]
    letter, part = drafted(drafter, question, language)
    text = ADDED[language][which].replace("…", sentence.rstrip(".。"))
    assert "unsupported" in {line.state for line in drafter.check(letter, replace(part, text=text))}
