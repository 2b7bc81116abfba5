"""The help page at `/`: an article with its widget and the tag that brings the widget to any other site.

In: a language, the articles, the server's own address. Out: HTML, or the widget's labels as JSON.
Never: holds a script, a style or a word of its own: labels come from phrases/, everything else from the articles.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from functools import cache
from html import escape
from string import Template

from babel import Locale
from babel.dates import format_date

from assistant.language import normalise_code
from assistant.surfaces.articles import ShownArticle
from assistant.surfaces.assets import STATIC, load_assets
from assistant.surfaces.render import direction
from assistant.wording import Wording, Wordings

EXAMPLE_KEY = "your-key"


def interface(wordings: Wordings, language: str, message_limit: int, has_person: bool) -> dict[str, object]:
    """What the widget needs of one language: `language`, `direction`, `labels`; `message_limit`, `has_person`."""
    wording = wordings.nearest(language)
    return {
        "language": wording.language,
        "direction": direction(wording.language),
        "labels": _labels(wording),
        "message_limit": message_limit,
        "has_person": has_person,
    }


def page(
    wordings: Wordings,
    language: str,
    articles: Sequence[ShownArticle],
    name: str,
    address: str,
    key: str,
    message_limit: int,
) -> str:
    """The page in one language; an article that does not exist in it is shown in the next of its chain.

    Args:
        name: of the article to show; the first where there is none of that name.
        address: of this server, with a slash at its end.
        key: of the site the tag is for, or "".
    """
    wording = wordings.nearest(language)
    chosen = wording.language
    own = _in_language(articles, wordings.chain(chosen))
    shown = next((article for article in own if article.name == name), own[0] if own else None)
    tag = f'<script type="module" src="{address}widget.js" data-key="{key or EXAMPLE_KEY}"></script>'
    assets = load_assets()
    values: dict[str, object] = {label: escape(text) for label, text in _labels(wording).items()}
    values |= {"icon": assets.path("icon.svg"), "css": assets.path("page.css"), "js": assets.path("page.js")}
    values |= _article_values(shown, chosen)
    values |= {
        "language": escape(chosen),
        "direction": direction(chosen),
        "languages": _language_links(wordings.languages, articles, chosen),
        "hide_articles": " hidden" if len(own) < 2 else "",
        "article_links": _article_links(own, shown, chosen),
        "tag": escape(tag),
        "message_limit": message_limit,
    }
    return _template().substitute(values)


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


def _labels(wording: Wording) -> dict[str, str]:
    labels: dict[str, str] = wording.interface.model_dump() | wording.widget.model_dump()
    return labels


def _in_language(articles: Sequence[ShownArticle], chain: Sequence[str]) -> list[ShownArticle]:
    """One version of each article: in the first language of the chain that has it, else in any."""
    rank = {code: number for number, code in enumerate(chain)}
    best: dict[str, ShownArticle] = {}
    for article in sorted(articles, key=lambda one: rank.get(one.language, len(rank)), reverse=True):
        best[article.name] = article
    return [best[name] for name in sorted(best)]


def _article_values(shown: ShownArticle | None, language: str) -> Mapping[str, str]:
    if shown is None:
        names = ("title", "revised", "revised_shown", "article", "article_name", "sections", "questions")
        values = dict.fromkeys(names, "")
        return {**values, "article_language": language, "article_direction": "auto", "hide_popular": " hidden"}
    sections = "".join(f'<li><a href="#{escape(name)}">{escape(text)}</a></li>' for name, text in shown.sections)
    questions = "".join(f'<li><button type="button">{escape(text)}</button></li>' for text in shown.questions)
    spoken = Locale.parse(shown.language.replace("-", "_"))
    revised = format_date(date.fromisoformat(shown.revised), "long", spoken) if shown.revised else ""
    return {
        "title": escape(shown.title),
        "revised": shown.revised,
        "revised_shown": escape(revised),
        "article": shown.html,
        "article_name": escape(shown.name),
        "article_language": escape(shown.language),
        "article_direction": direction(shown.language),
        "sections": sections,
        "questions": questions,
        "hide_popular": "" if shown.questions and shown.language == language else " hidden",
    }


def _language_links(known: Sequence[str], articles: Sequence[ShownArticle], chosen: str) -> str:
    """The languages that have articles, and the chosen one."""
    written = {article.language for article in articles} | {chosen}
    return "".join(
        f'<li><a href="?language={escape(code)}" lang="{escape(code)}" hreflang="{escape(code)}"'
        f"{_current(code == chosen)}>{escape(own_name(code))}</a></li>"
        for code in known
        if code in written
    )


def _article_links(own: Sequence[ShownArticle], shown: ShownArticle | None, language: str) -> str:
    return "".join(
        f'<li><a href="?language={escape(language)}&amp;article={escape(article.name)}"'
        f' lang="{escape(article.language)}"{_current(article is shown)}>{escape(article.title)}</a></li>'
        for article in own
    )


def _current(holds: bool) -> str:
    return ' aria-current="true"' if holds else ""


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0


@cache
def _template() -> Template:
    return Template((STATIC / "index.html").read_text(encoding="utf-8"))
