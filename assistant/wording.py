"""What the assistant says of itself, in every language: the files phrases/<language>.yaml, checked.

In: the YAML files beside this module. Out: a Wordings that gives the nearest wording for a language.
Never: falls back to a language that the files' own chains do not name, or accepts a file with other keys than the rest.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import regex
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from assistant.errors import InputError
from assistant.language import normalise_code

FOLDER = Path(__file__).parent / "phrases"
NOT_SPOKEN = regex.compile(r"[^\p{L}\p{M}\p{N}]+")


class Interface(BaseModel):
    """Labels of the pages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    page_title: str
    page_intro: str
    message_label: str
    message_placeholder: str
    send: str
    sources: str
    working: str
    copied: str
    error_network: str
    error_generic: str
    too_long: str
    language_label: str


class Hears(BaseModel):
    """Whole messages that are no question."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    greetings: list[str] = Field(min_length=1)
    thanks: list[str] = Field(min_length=1)


class Wording(BaseModel):
    """One language's file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: str
    fallback: list[str]
    abstained: str
    related: str
    quoted_from: str
    greeting: str
    thanks: str
    ask_more: str
    interface: Interface
    hears: Hears

    @model_validator(mode="after")
    def _placeholders(self) -> Wording:
        for name, text, mark in (
            ("quoted_from", self.quoted_from, "{language}"),
            ("too_long", self.interface.too_long, "{limit}"),
        ):
            if mark not in text:
                raise ValueError(f"{name} must hold {mark}")
        return self


class Wordings:
    """The wordings of all languages.

    Raises:
        InputError: a file is malformed; the message names the file and key.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self.by_language = {path.stem: _read(path) for path in sorted(folder.glob("*.yaml"))}
        if "en" not in self.by_language:
            raise InputError(f"{folder}: en.yaml is missing")

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that have a file."""
        return tuple(self.by_language)

    def nearest(self, language: str) -> Wording:
        """The wording of a language, or of the first language in its declared chain; English at the end."""
        code = normalise_code(language)
        own = self.by_language.get(code)
        return own or self.by_language["en"]

    def chain(self, language: str) -> tuple[str, ...]:
        """The language, then those its file names as fallback, in order."""
        return tuple(dict.fromkeys([normalise_code(language), *self.nearest(language).fallback]))

    def heard(self, text: str) -> dict[str, str]:
        """Language -> `greeting` or `thanks`, for each language in which the whole message is one."""
        return self._heard.get(spoken(text), {})

    @cached_property
    def _heard(self) -> dict[str, dict[str, str]]:
        table: dict[str, dict[str, str]] = {}
        for language, wording in self.by_language.items():
            for kind, messages in (("greeting", wording.hears.greetings), ("thanks", wording.hears.thanks)):
                for message in messages:
                    table.setdefault(spoken(message), {}).setdefault(language, kind)
        return {heard: languages for heard, languages in table.items() if heard}


def spoken(text: str) -> str:
    """A message reduced to what would be heard: letters and digits, one case, single spaces."""
    return NOT_SPOKEN.sub(" ", text.casefold()).strip()


def _read(path: Path) -> Wording:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
        return Wording(language=path.stem, **values)
    except (yaml.YAMLError, UnicodeDecodeError, TypeError) as error:
        raise InputError(f"{path}: is no usable YAML: {str(error).splitlines()[0]}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
