"""An Answer -> a message in Slack's Block Kit, in the words of the asker's language.

In: an Answer and its wording. Out: arguments of `chat.postMessage`, `chat.update` or a `response_url`: `text` for
notifications and screen readers, `blocks` for everyone else. Should Slack refuse the blocks, `text` alone will do.
Never: lets an article mention or notify anyone, exceeds Slack's limits, or leaves anything out without saying so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assistant.language import is_right_to_left, language_name
from assistant.records import Answer, Citation
from assistant.surfaces.render import place_of, plain_text
from assistant.surfaces.slack.rich import (
    Element,
    Line,
    answer_lines,
    cut_lines,
    elements_of,
    measure,
    quote,
    section,
    shorten,
    text_part,
    turn_lines,
)
from assistant.wording import Wording

Message = dict[str, Any]
Block = dict[str, Any]
# What buttons say when pressed; the value is a question, "up"/"down" and the answer's id, or the answer's id.
ASK, FEEDBACK, SHARE, PERSON = "faq_ask", "faq_feedback", "faq_share", "faq_person"
# https://docs.slack.dev/reference/block-kit/block-elements/button-element
BUTTON_TEXT, BUTTON_VALUE = 75, 2000
CHOICES = 10  # questions to choose from; the pipeline offers three
# All blocks together: Slack's reference names no limit; users measured refusals from 10,600 bytes of UTF-8 on
# (slackapi/bolt-js#2867, openclaw/openclaw#143882).
MESSAGE_BYTES, LABELS, HEADS = 9000, 900, 3600  # of them for labels and notes, and for the names of all sources
FALLBACK_BYTES = 3900  # chat.update refuses a `text` of 4,000 (seratch/ChatGPT-in-Slack#102)
QUOTE, PLACE = 300, 200  # characters shown of each; the source is a click away
RATED = ("answered", "related", "abstained")


def answer_message(answer: Answer, wording: Wording, *, private: bool = False, person: bool = False) -> Message:
    """The reply: answer, sources with quotes, what to ask next, thumbs.

    Args:
        private: only the asker sees it, so it can be shared.
        person: whether somebody can be reached through Slack.
    """
    heads = _heads(answer.citations, answer.language)
    choices = _choices(answer, wording)
    left = MESSAGE_BYTES - LABELS - sum(measure(head["elements"]) for head in heads)
    left -= sum(len(button["text"]["text"].encode()) for button in choices[-1]["elements"]) if choices else 0
    said = answer_lines(answer)
    lines, is_cut = cut_lines(turn_lines(said) if is_right_to_left(answer.language) else said, left)
    left -= sum(measure(line.parts) for line in lines)
    elements = elements_of([*lines, *([Line((text_part(wording.slack["cut"], "italic"),))] if is_cut else [])])
    blocks = [_rich(elements or [section(text_part(wording.interface.error_generic))])]
    if heads:
        quotes = _quotes(answer.citations, left)
        shown = [element for pair in zip(heads, quotes, strict=True) for element in pair if element]
        blocks.append(_rich([section(text_part(wording.interface.sources, "bold")), *shown]))
    return _message(fallback(answer, wording), [*blocks, *choices, *_acts(answer, wording, private, person)])


def notice(text: str) -> Message:
    """Words of the assistant's own, such as what went wrong."""
    said = shorten(text, MESSAGE_BYTES, MESSAGE_BYTES)
    return _message(_fit(said, FALLBACK_BYTES), [_rich([section(text_part(said))])])


def below_question(message: Message, sentence: str, question: str, user: str) -> Message:
    """A reply whose question nobody wrote in the channel, below that question.

    Args:
        sentence: who asks or shares it: `asked` or `shared` of the wording.
    """
    before, after = _around(sentence, "{person}")
    head = section(*before, {"type": "user", "user_id": user}, *after)
    return {**message, "blocks": [_rich([head, quote(shorten(question, QUOTE))]), *message["blocks"]]}


def shared_message(answer: Answer, wording: Wording, question: str, user: str) -> Message:
    """A private reply for everybody in the channel: who shares it, what was asked, the reply."""
    return below_question(answer_message(answer, wording), wording.slack["shared"], question, user)


def person_message(answer: Answer, wording: Wording, question: str, user: str, link: str) -> Message:
    """For the channel of those who help: who wants a person, where, what was asked, in which language, the evidence.

    Args:
        wording: of the helpers' language.
        link: address of the asker's message; "" where there is none.
    """
    before, after = _around(wording.slack["person_wanted"], "{person}")
    where = [text_part(" "), text_part(wording.slack["to_thread"], url=link)] if link else []
    asked = f"{wording.interface.language_label}: {language_name(answer.language, wording.language)}"
    head = section(*before, {"type": "user", "user_id": user}, *after, *where)
    evidence = [section(text_part(wording.slack["evidence"], "bold"))]
    heads, quotes = _heads(answer.citations, wording.language), _quotes(answer.citations, MESSAGE_BYTES // 4)
    evidence += [element for pair in zip(heads, quotes, strict=True) for element in pair if element]
    if not answer.citations:
        evidence.append(section(text_part(wording.slack["no_evidence"])))
    said = [head, quote(shorten(question, 700)), section(text_part(asked, "italic"))]
    text = f"{wording.slack['person_wanted'].format(person='<@' + user + '>')} {escape(shorten(question, 700))}"
    return _message(text, [_rich(said), _rich(evidence)])


def fallback(answer: Answer, wording: Wording) -> str:
    """Text and sources without markup, escaped for Slack; it ends in an ellipsis where it would be too long."""
    lines = [line.plain for line in answer_lines(answer)]
    if answer.citations:
        lines.append(f"\n{wording.interface.sources}")
    for citation in answer.citations:
        url = f" {citation.url}" if citation.url else ""
        lines.append(f"[{citation.n}] {place_of(citation)}{url}")
    return _fit(plain_text("\n".join(lines)), FALLBACK_BYTES)


def escape(text: str) -> str:
    """The text for a mrkdwn field: nothing in it mentions, links or notifies.

    https://docs.slack.dev/messaging/formatting-message-text#escaping
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _fit(text: str, size: int) -> str:
    """The text escaped, shortened until that fits."""
    limit = size
    while len(escape(text).encode()) > size:
        text, limit = shorten(text, limit, limit), limit - 200
    return escape(text)


def _message(text: str, blocks: Sequence[Block]) -> Message:
    return {"text": text, "blocks": list(blocks), "mrkdwn": False, "unfurl_links": False, "unfurl_media": False}


def _rich(elements: Sequence[Element]) -> Block:
    return {"type": "rich_text", "elements": list(elements)}


def _heads(citations: Sequence[Citation], reader: str) -> list[Element]:
    """Each source's number, place and, where it is not the reader's, language."""
    room = HEADS // max(len(citations), 1)
    heads: list[Element] = []
    for citation in citations:
        own = citation.language == reader
        language = [] if own else [text_part(f" ({language_name(citation.language, reader)})", "italic")]
        place = text_part(shorten(place_of(citation) or citation.passage_id, PLACE, room), url=citation.url)
        heads.append(section(text_part(f"[{citation.n}] "), place, *language))
    return heads


def _quotes(citations: Sequence[Citation], size: int) -> list[Element | None]:
    """The quotes, sharing `size` bytes; those that have no room at all are only linked."""
    room = max(size, 0) // max(len(citations), 1)
    return [
        quote(shorten(one.quote.strip(), QUOTE, room)) if room >= 40 and one.quote.strip() else None
        for one in citations
    ]


def _choices(answer: Answer, wording: Wording) -> list[Block]:
    """Buttons that ask: the options of a `clarify`, else what may be asked next."""
    options = [option for option in answer.suggestions if plain_text(option).strip() and len(option) <= BUTTON_VALUE][
        :CHOICES
    ]
    if not options:
        return []
    buttons = [_button(f"{ASK}_{number}", option, option) for number, option in enumerate(options, 1)]
    label = [] if answer.outcome == "clarify" else [_rich([section(text_part(wording.slack["also"], "bold"))])]
    return [*label, {"type": "actions", "elements": buttons}]


def _acts(answer: Answer, wording: Wording, private: bool, person: bool) -> list[Block]:
    """Share, a person, thumbs. Slack documents its own thumbs for messages only, so a private reply has buttons."""
    acts: list[Block] = []
    labels = {"up": wording.widget.helpful, "down": wording.widget.unhelpful}
    is_rated = answer.outcome in RATED
    if private:
        acts.append(_button(SHARE, wording.slack["share"], answer.id))
    if person and answer.outcome in ("related", "abstained"):
        acts.append(_button(PERSON, wording.widget.talk_to_person, answer.id))
    if private and is_rated:
        acts += [_button(f"{FEEDBACK}_{name}", label, f"{name} {answer.id}") for name, label in labels.items()]
    blocks: list[Block] = [{"type": "actions", "elements": acts}] if acts else []
    if is_rated and not private:
        up, down = (_thumb(name, label, answer.id) for name, label in labels.items())
        thumbs = {"type": "feedback_buttons", "action_id": FEEDBACK, "positive_button": up, "negative_button": down}
        blocks.append({"type": "context_actions", "elements": [thumbs]})
    return blocks


def _button(action: str, label: str, value: str) -> Block:
    text = {"type": "plain_text", "text": shorten(label, BUTTON_TEXT, BUTTON_TEXT * 4), "emoji": False}
    return {"type": "button", "action_id": action, "text": text, "value": value}


def _thumb(name: str, label: str, answer_id: str) -> Block:
    text = {"type": "plain_text", "text": shorten(label, BUTTON_TEXT), "emoji": False}
    return {"text": text, "accessibility_label": text["text"], "value": f"{name} {answer_id}"}


def _around(text: str, mark: str) -> tuple[list[Element], list[Element]]:
    """What stands before and after a placeholder."""
    before, _, after = text.partition(mark)
    return [text_part(before)] if before else [], [text_part(after)] if after else []
