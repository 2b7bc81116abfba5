"""An answer that an agent has written -> what an editor puts into the articles, and an eval case that asks for it.

In: a question, an answer, their language and the passages they rest on. Out: Markdown of the corpus, YAML of the evals.
Never: translates, writes a file, or hides that a language is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import regex
import yaml

from assistant.compose import escape_markup
from assistant.figures import Figure, find_figures
from assistant.records import Passage

SECTION = "FAQ"
BLOCK = regex.compile(
    r"^[ \t]*(?:\p{Nd}{1,9}(?=[.)])|(?=#{2,}|\||=|-\s*$|[-_~]{2,}))"
)  # what begins a block of Markdown


def entry_markdown(question: str, answer: str, language: str, anchor: str, revised: date) -> str:
    """An article of one FAQ pair, in the corpus format; translations take the same file name and anchor."""
    title = " ".join(question.split())
    front = yaml.safe_dump({"title": title, "language": language}, allow_unicode=True, sort_keys=False, width=10_000)
    lines = [_escaped(line) for line in answer.strip().split("\n")]
    heading = f"## {SECTION} {{#faq}}\n\n### {escape_markup(title)} {{#{anchor}}}"
    return f"---\n{front}revised: {revised.isoformat()}\n---\n\n{heading}\n\n" + "\n".join(lines) + "\n"


def eval_case(name: str, question: str, answer: str, language: str, passages: Sequence[Passage]) -> str:
    """One case for evals/cases/<language>/: it must cite where the answer stands and state its figures.

    Args:
        passages: what the answer rests on; none where the articles do not say it, and then no answer is right.
    """
    case: dict[str, object] = {"id": f"{language}-{name}", "text": question, "kind": "paraphrase"}
    if passages:
        figures = [_written(found) for found in find_figures(answer)]
        case |= {"outcome": "answered", "anchors": list(dict.fromkeys(passage.anchor for passage in passages))}
        case |= {"figures": sorted(set(figures))} if figures else {}
    else:
        case |= {"kind": "unanswerable", "outcome": "unanswerable"}
    return yaml.safe_dump([case], allow_unicode=True, sort_keys=False, width=10_000)


def _written(figure: Figure) -> str:
    """A figure as it is read in every language: 30万 as 300000, and three decimals with a nought, for 1.125 is 1125."""
    value = f"{figure.value:f}"
    if len(value.partition(".")[2]) == 3:
        value += "0"
    return f"{value}%" if figure.unit == "%" else value


def _escaped(line: str) -> str:
    """A line whose signs are text; a list stays one."""
    bare = line.removeprefix("- ")
    return ("- " if bare != line else "") + BLOCK.sub(lambda found: found.group() + "\\", escape_markup(bare), count=1)
