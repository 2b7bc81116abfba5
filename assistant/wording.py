"""What the assistant says of itself, in every language: the files phrases/<language>.yaml, checked.

In: the YAML files beside this module. Out: a Wordings that gives the nearest wording for a language.
Never: falls back to a language that the files' own chains do not name, or accepts a file with other keys than the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from assistant.errors import InputError, what_is_wrong
from assistant.evidence import Evidence
from assistant.files import MEGABYTE, parse_yaml, read_text
from assistant.language import normalise_code
from assistant.openers import Openers
from assistant.ticket_words import TicketWords

FOLDER = Path(__file__).parent / "phrases"
PLACEHOLDERS = {
    "quoted_from": {"language"},
    "partly": {"part"},
    "answer_to": {"question"},
    "concerning": {"question"},
    "person": {"address"},
    "offer": {"address"},
    "interface.too_long": {"limit"},
    "widget.too_many": {"time"},
    "ticket.gap": {"question"},
}
LANGUAGE = "{language}"  # where a pattern of `answer_in` and `in_language` holds a language's name

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Section = dict[str, Text]  # texts of one surface: English's keys and placeholders are every language's


class Interface(BaseModel):
    """Labels of the pages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    page_title: Text
    page_intro: Text
    message_label: Text
    message_placeholder: Text
    send: Text
    sources: Text
    working: Text
    copied: Text
    error_network: Text
    error_generic: Text
    too_long: Text
    language_label: str


Phrases = Annotated[list[Text], Field(min_length=1)]


class WidgetLabels(BaseModel):
    """Labels of the chat widget and of the help page that shows it, besides those of `Interface`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    open: Text
    close: Text
    copy_answer: Text
    copy_failed: Text
    helpful: Text
    unhelpful: Text
    comment: Text
    comment_send: Text
    rated: Text
    not_rated: Text
    start_over: Text
    talk_to_person: Text
    stop: Text
    stopped: Text
    waiting: Text
    remove: Text
    reconnecting: Text
    offline: Text
    too_many: Text
    you: Text
    assistant: Text
    read_article: Text
    new_tab: Text
    help_title: Text
    articles: Text
    contents: Text
    popular: Text
    embed_title: Text
    embed_intro: Text
    embed_key: Text
    copy_tag: Text
    skip: Text


class Hears(BaseModel):
    """What people say that is no question, and the small words that show how a message is built.

    Args:
        greetings, thanks, small_talk, feedback: whole messages, or what a message opens or closes with.
        person: a request for a person, anywhere in a message.
        fillers: what may stand beside those without adding anything.
        joins: what joins two questions; asks: what makes a question of a clause.
        choices: what begins the other choice of one question ("or").
        leans: words that point back at what was said before; "…" before one: only at the end of a few words.
        more: what asks for more of the same.
        answer_in: commands for the reply's language; in_language: the same as a clause of its own.
        called: names of languages that CLDR does not have, each with its code.
        ordinals: ways to name the first, second and third option; last: the last, of however many.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    greetings: Phrases
    thanks: Phrases
    small_talk: Phrases
    person: Phrases
    feedback: Phrases
    fillers: Phrases
    joins: Phrases
    choices: Phrases
    asks: Phrases
    leans: Phrases
    more: Phrases
    answer_in: Phrases
    in_language: Phrases
    called: dict[Text, Text]
    last: Phrases
    ordinals: Annotated[list[Phrases], Field(min_length=3, max_length=3)]

    @model_validator(mode="after")
    def _language_patterns(self) -> Hears:
        for name in ("answer_in", "in_language"):
            if not all(pattern.count(LANGUAGE) == 1 for pattern in getattr(self, name)):
                raise ValueError(f"{name}: each pattern must hold {LANGUAGE} once")
        return self


class Tells(BaseModel):
    """What gives the language away; see `evidence.Evidence`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    words: list[Text]
    letters: list[Annotated[str, StringConstraints(min_length=1)]]  # a space at either end counts
    romanised: list[Text]


class Wording(BaseModel):
    """One language's file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: Text
    fallback: list[Text]
    abstained: Text
    related: Text
    quoted_from: Text
    greeting: Text
    thanks: Text
    ask_more: Text
    choose: Text
    chatter: Text
    noted: Text
    partly: Text
    answer_to: Text
    concerning: Text
    person: Text
    person_told: Text
    nobody: Text
    no_person: Text
    offer: Text
    interface: Interface
    hears: Hears
    opens: Openers
    tells: Tells
    widget: WidgetLabels
    slack: Section  # the Slack bot's form
    slack_bot: Section
    staff: Section  # the staff desk's frame and sign-in
    ticket: TicketWords
    staff_drafts: Section
    staff_insight: Section  # its pages Gaps and Insight
    staff_parity: Section  # its page of differences between translations

    @model_validator(mode="after")
    def _placeholders(self) -> Wording:
        for name, text in self._texts():
            _check_marks(name, text, PLACEHOLDERS.get(name, set()))
        return self

    @property
    def sections(self) -> dict[str, Section]:
        """The sections by name."""
        return {name: value for name, value in self if isinstance(value, dict)}

    def _texts(self) -> Iterator[tuple[str, str]]:
        sections = {"interface.": self.interface, "widget.": self.widget, "ticket.": self.ticket}
        for place, model in {"": self, **sections}.items():
            yield from ((place + name, text) for name, text in model if isinstance(text, str))


class Wordings:
    """The wordings of all languages.

    Raises:
        InputError: a file is malformed; the message names the file and key.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self.by_language = {path.stem: _read(path) for path in sorted(folder.glob("*.yaml"))}
        if "en" not in self.by_language:
            raise InputError(f"{folder}: en.yaml is missing")
        for language, wording in self.by_language.items():
            for other in wording.fallback:
                if other not in self.by_language or other == language:
                    raise InputError(f"{folder / language}.yaml: fallback: {other} names no other file of the folder")
            _check_sections(folder / f"{language}.yaml", wording, self.by_language["en"])

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that have a file."""
        return tuple(self.by_language)

    @property
    def evidence(self) -> dict[str, Evidence]:
        """Language -> what gives it away."""
        return {
            code: Evidence(
                frozenset(wording.tells.words), tuple(wording.tells.letters), frozenset(wording.tells.romanised)
            )
            for code, wording in self.by_language.items()
        }

    def nearest(self, language: str) -> Wording:
        """The wording of a language, or of the first language in its declared chain; English at the end."""
        code = normalise_code(language)
        own = self.by_language.get(code)
        return own or self.by_language["en"]

    def chain(self, language: str) -> tuple[str, ...]:
        """The language, then those its file names as fallback, in order; English at the end."""
        return tuple(dict.fromkeys([normalise_code(language), *self.nearest(language).fallback, "en"]))


def _marks(name: str, text: str) -> set[str]:
    try:
        return {field for _, field, _, _ in Formatter().parse(text) if field is not None}
    except ValueError:
        raise ValueError(f"{name}: a brace is not closed") from None


def _check_marks(name: str, text: str, wanted: set[str]) -> None:
    if _marks(name, text) != wanted:
        marks = ", ".join(f"{{{mark}}}" for mark in sorted(wanted)) or "no placeholder"
        raise ValueError(f"{name} must hold {marks}, and nothing else in braces")


def _check_sections(path: Path, wording: Wording, english: Wording) -> None:
    for section, texts in english.sections.items():
        own = wording.sections[section]
        for name in sorted(texts.keys() ^ own.keys()):
            raise InputError(f"{path}: {section}.{name}: {'is missing' if name in texts else 'is unknown'}")
        try:
            for name, text in own.items():
                _check_marks(f"{section}.{name}", text, _marks(f"{section}.{name}", texts[name]))
        except ValueError as error:
            raise InputError(f"{path}: {error}") from None


def _read(path: Path) -> Wording:
    if normalise_code(path.stem) != path.stem:
        raise InputError(f"{path}: is not named for its language; rename it {normalise_code(path.stem)}.yaml")
    try:
        values = parse_yaml(read_text(path, MEGABYTE))
        if not isinstance(values, dict):
            raise InputError(f"{path}: must be `name: value` lines")
        return Wording.model_validate({**values, "language": path.stem})
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{path}: {'.'.join(map(str, first['loc'])) or 'wording'}: {what_is_wrong(first)}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(f"{path}: is no usable YAML: {' '.join(str(error).split())[:300]}") from None
