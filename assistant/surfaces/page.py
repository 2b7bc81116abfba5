"""The page at `/`: static files with the labels of a language filled in.

In: a language, or what the browser says of languages. Out: HTML, or the labels as JSON for switching in place.
Never: holds a script, a style or a word of its own: labels come from phrases/, sample questions from the articles.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from html import escape
from pathlib import Path
from string import Template

from babel import Locale

from assistant.language import normalise_code
from assistant.surfaces.render import direction
from assistant.wording import Wordings

STATIC = Path(__file__).parent / "static"


def interface(wordings: Wordings, language: str) -> dict[str, object]:
    """The labels of one language: `language`, `direction`, `labels`."""
    wording = wordings.nearest(language)
    return {
        "language": wording.language,
        "direction": direction(wording.language),
        "labels": wording.interface.model_dump(),
    }


def page(wordings: Wordings, language: str, message_limit: int) -> str:
    """The page in one language."""
    wording = wordings.nearest(language)
    chosen = wording.language
    options = "".join(
        f'<option value="{escape(code)}" lang="{escape(code)}"{" selected" if code == chosen else ""}>'
        f"{escape(own_name(code))}</option>"
        for code in wordings.languages
    )
    labels = {name: escape(text) for name, text in wording.interface.model_dump().items()}
    return _template().substitute(
        labels, language=escape(chosen), direction=direction(chosen), options=options, message_limit=message_limit
    )


def preferred_language(accept: str, known: Collection[str], default: str) -> str:
    """The first language of an Accept-Language header that is known, by weight; else the default."""
    weighted = []
    for part in accept[:1000].split(","):
        code, _, parameters = part.partition(";")
        weighted.append((_weight(parameters), normalise_code(code)))
    ranked = [code for weight, code in sorted(weighted, key=lambda pair: -pair[0]) if weight > 0]
    return next((code for code in ranked if code in known), normalise_code(default))


@cache
def own_name(code: str) -> str:
    """What a language calls itself, with its script where that matters (`日本語`, `中文 (简体)`)."""
    name = Locale.parse(code.replace("-", "_")).get_display_name() or code
    return name[:1].upper() + name[1:]


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0


@cache
def _template() -> Template:
    return Template((STATIC / "index.html").read_text(encoding="utf-8"))
