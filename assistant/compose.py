"""Question and hits -> a draft reply made of the articles' own sentences.

In: a Question and ranked, calibrated Hits. Out: a Draft: outcome, opening words, sentences with quotes.
Never: writes a sentence of its own about the subject; what it says of itself comes from the wordings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from assistant.figures import find_figures
from assistant.follow import PASSAGES
from assistant.frame import ASKS, frame
from assistant.language import LATIN_RUN, display_width, language_name, split_sentences
from assistant.records import Draft, Passage, Question, Sentence
from assistant.retrieve import Found, Retriever
from assistant.wording import Wording, Wordings

SHORT_COLUMNS = 900  # shown whole; of a longer passage only the sentences around the best one
WINDOW = 3
NAME_LETTERS = 4  # a shorter word without a capital may be another language's: `com` stands in addresses
# What would be markup in Markdown: signs anywhere, underscores at a word's edge, and what opens a line as a list.
MARKUP = regex.compile(r"[\\`*\[\]<]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|^(?=[#>+-]\s)")


def compose(question: Question, found: Found, retriever: Retriever, wordings: Wordings, alone: bool = True) -> Draft:
    """The reply to a question: the best passage, and those that are nearly as good, at most PASSAGES.

    Args:
        alone: whether it is all that is asked in the message.
    """
    wording = wordings.nearest(question.language)
    outcome = retriever.judge(found)
    confidence = found.hits[0].confidence if found.hits else 0.0
    if outcome == "abstained":
        return Draft("abstained", wording.abstained, (), confidence)
    if outcome == "answered" and _is_of_another(question.text, found.hits[0].passage, retriever):
        outcome = "related"
    chosen = [hit.passage for hit in found.hits[: PASSAGES if outcome == "answered" else 1]]
    opening = [wording.related] if outcome == "related" else []
    foreign = [passage.language for passage in chosen if not reads(question.language, passage.language)]
    if foreign:
        opening.append(wording.quoted_from.format(language=language_name(foreign[0], question.language)))
    shown = [sentence for passage in chosen for sentence in _sentences(question, passage, retriever)]
    sentences: dict[tuple[str, str], Sentence] = {}
    for sentence in frame(shown, question, retriever, wordings, alone):
        sentences.setdefault((sentence.text, sentence.asked), sentence)
    if not sentences:
        return Draft("abstained", wording.abstained, (), confidence)
    return Draft(outcome, "\n\n".join(opening), tuple(sentences.values()), confidence)


def _is_of_another(text: str, passage: Passage, retriever: Retriever) -> bool:
    """Whether a text asks by name of something that the articles know, and the passage opens with a figure without
    holding any of the names: it would pass for the figure of what was named."""
    snapshot = retriever.index.snapshot()
    words = [word for word in LATIN_RUN.findall(text) if len(word) >= NAME_LETTERS or not word.islower()]
    named = {word.casefold() for word in words} & snapshot.names
    if not named or not find_figures(split_sentences(passage.shown)[0]):
        return False
    family = [snapshot.rows[place].passage for place in snapshot.families.get(passage.family, ())] or [passage]
    held = " ".join(part for one in family for part in (one.title, one.heading, one.text))
    return not named & {word.casefold() for word in LATIN_RUN.findall(held)}


def reads(asker: str, language: str) -> bool:
    """Whether the text can be given in the asker's language: the two Chinese spellings convert into each other."""
    return asker == language or {asker, language} == {"zh-Hans", "zh-Hant"}


def _sentences(question: Question, passage: Passage, retriever: Retriever) -> Iterator[Sentence]:
    if passage.kind == "outline":
        yield Sentence(passage.shown, passage, passage.text, "paragraph")
        for member in retriever.passages(passage.members):
            point = member.lead or split_sentences(member.shown)[0].strip()
            yield Sentence(point, member, point if point in member.text else member.text, "item")
        return
    if passage.kind == "row":
        yield Sentence(passage.shown, passage, passage.text, "paragraph")
        return
    lines = [line for line in passage.shown.split("\n") if line.strip()]
    is_whole = display_width(passage.shown) <= SHORT_COLUMNS
    pieces = [(piece.strip(), not at) for line in lines for at, piece in enumerate(split_sentences(line))]
    if not is_whole:
        best = retriever.best_sentence(question.text, [piece for piece, _ in pieces])
        start = max(0, min(best - 1, len(pieces) - WINDOW))
        if start and ASKS.search(pieces[start - 1][0]):  # what follows may be a bare "yes" to it
            start -= 1
        pieces = pieces[start : start + WINDOW]
    quote = _slice(passage.text, [piece for piece, _ in pieces])
    for number, (piece, opens) in enumerate(pieces):
        is_item = piece.startswith("- ")
        starts = "item" if is_item else "paragraph" if opens or not number else ""
        yield Sentence(piece.removeprefix("- "), passage, quote, starts)  # type: ignore[arg-type]


def _slice(text: str, pieces: Sequence[str]) -> str:
    """The shortest part of `text` from the first to the last piece; all of it where markup hides them."""
    shortest, start = text, text.find(pieces[0])
    while start >= 0:
        last = text.find(pieces[-1], start + (len(pieces) > 1))
        if last >= 0 and last + len(pieces[-1]) - start < len(shortest):
            shortest = text[start : last + len(pieces[-1])]
        start = text.find(pieces[0], start + 1)
    return shortest


def join_drafts(drafts: Sequence[Draft], questions: Sequence[Question], wording: Wording) -> Draft:
    """One draft of several questions': what is answered, and which parts are not."""
    if len(drafts) == 1:
        return drafts[0]
    answered = [draft for draft in drafts if draft.outcome == "answered"]
    left = tuple(question for draft, question in zip(drafts, questions, strict=True) if draft.outcome != "answered")
    parts = " / ".join(escape_markup(" ".join(question.text.split())) for question in left)
    openings = [wording.partly.format(part=parts)] if left else []
    openings += [draft.opening for draft in answered if draft.opening]
    sentences = {(sentence.passage.id, sentence.text): sentence for draft in answered for sentence in draft.sentences}
    if not answered:
        return drafts[0]
    confidence = min(draft.confidence for draft in answered)
    return Draft("answered", "\n\n".join(dict.fromkeys(openings)), tuple(sentences.values()), confidence, left)


def list_options(opening: str, options: Sequence[str]) -> str:
    """Options in a numbered Markdown list, so that a number chooses one."""
    shown = [escape_markup(option) for option in options]
    return "\n".join([opening + "\n", *(f"{number}. {option}" for number, option in enumerate(shown, 1))])


def escape_markup(text: str) -> str:
    """The text with every sign escaped that Markdown would read."""
    return MARKUP.sub(lambda found: "\\" + found.group(), text)
