"""The frame of every staff page: who is signed in, the way to the other pages, the page's language.

In: a request, a Member, a page's own HTML. Out: the whole page, with its labels from phrases/ (section `staff`).
Never: holds a script or a style, lets a page be kept by a cache, or checks who asks: that is `access`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from string import Template
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from assistant.language import normalise_code
from assistant.members import Member, Role
from assistant.sessions import request_token
from assistant.surfaces.assets import STATIC, load_assets
from assistant.surfaces.guard import CONTENT_POLICY
from assistant.surfaces.page import own_name, preferred_language
from assistant.surfaces.render import direction
from assistant.surfaces.staff.access import StaffParts, cookie_name, session_secret, set_cookie, staff_of
from assistant.wording import Wording

OWN_FORMS = CONTENT_POLICY.replace("form-action 'none'", "form-action 'self'")  # filters are forms, without a script
POLICY = f"{OWN_FORMS}; require-trusted-types-for 'script'; trusted-types 'none'"
LANGUAGE_S = 365 * 86_400


@dataclass(frozen=True, slots=True)
class StaffPage:
    """A line of the desk's list of pages.

    Args:
        name: its label in phrases/ is `page_name`.
        path: where the navigation leads; "" for routes without a page.
        build: makes its routes.
        role: what all of its routes need at least.
    """

    name: str
    path: str
    build: Callable[[StaffParts], APIRouter]
    role: Role = "agent"


def pages_for(request: Request, member: Member) -> list[StaffPage]:
    """The pages that a member may see, in the navigation's order."""
    pages: tuple[StaffPage, ...] = request.app.state.staff_pages
    return [page for page in pages if page.path and member.may_act_as(page.role)]


def wording_of(request: Request) -> Wording:
    """The page's wording: of ?language=, else the cookie, else what the browser accepts."""
    parts = staff_of(request)
    known, default = parts.wordings.languages, parts.settings.default_language
    asked = (request.query_params.get("language", ""), request.cookies.get(cookie_name(request, "language"), ""))
    chosen = next((code for code in map(normalise_code, (one[:35] for one in asked if one)) if code in known), "")
    accepted = request.headers.get("accept-language", "")
    return parts.wordings.nearest(chosen or preferred_language(accepted, known, default))


def staff_page(
    request: Request,
    member: Member,
    name: str,
    main: str,
    *,
    title: str = "",
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """A page for somebody who is signed in.

    Args:
        name: of the page in the desk's list.
        main: its HTML, with all that is not markup escaped.
        title: its heading; the navigation's label where there is none.
        scripts, styles: names of files under static/, modules and style sheets.
        labels: texts for its scripts, which `staff.js` gives them as `labels`.
    """
    wording = wording_of(request)
    heading = title or wording.staff[f"page_{name}" if name else "desk"]
    values = {
        "request_token": request_token(session_secret(request)),
        "navigation": _navigation(request, wording, member, name),
        "account": _account(wording, member),
        "place": name,
        "labels": escape(json.dumps({**_script_labels(wording), **(labels or {})}, ensure_ascii=False)),
    }
    return _page(request, wording, heading, main, scripts, styles, values)


def open_page(request: Request, title: str, main: str, scripts: Sequence[str] = ()) -> HTMLResponse:
    """A page for somebody who is not signed in; see `staff_page`."""
    wording = wording_of(request)
    labels = escape(json.dumps(_script_labels(wording), ensure_ascii=False))
    values = {"request_token": "", "navigation": "", "account": "", "labels": labels, "place": "outside"}
    return _page(request, wording, title, main, scripts, (), values)


def _page(
    request: Request,
    wording: Wording,
    title: str,
    main: str,
    scripts: Sequence[str],
    styles: Sequence[str],
    values: Mapping[str, str],
) -> HTMLResponse:
    assets = load_assets()
    links = "".join(f'<link rel="stylesheet" href="/{assets.path(name)}">' for name in ("staff.css", *styles))
    links += "".join(f'<script type="module" src="/{assets.path(name)}"></script>' for name in ("staff.js", *scripts))
    html = _template().substitute(
        {key: escape(text) for key, text in wording.staff.items()},
        language=wording.language,
        direction=direction(wording.language),
        title=escape(title),
        icon=assets.path("icon.svg"),
        links=links,
        languages=_languages(request, wording),
        main=main,
        **values,
    )
    response = HTMLResponse(html, headers={"Cache-Control": "no-store", "Content-Security-Policy": POLICY})
    _remember_language(request, response, wording)
    return response


def _script_labels(wording: Wording) -> dict[str, str]:
    names = ("error_network", "error_generic", "signed_out", "wrong_token", "locked_out")
    return {name: wording.staff[name] for name in names}


def _navigation(request: Request, wording: Wording, member: Member, current: str) -> str:
    links = "".join(
        f'<li><a href="{page.path}"{_current(page.name == current)}>{escape(label)}</a></li>'
        for page, label in ((page, wording.staff[f"page_{page.name}"]) for page in pages_for(request, member))
    )
    return f'<nav class="pages" aria-label="{escape(wording.staff["pages"])}"><ul>{links}</ul></nav>'


def _account(wording: Wording, member: Member) -> str:
    role, sign_out = wording.staff[f"role_{member.role}"], wording.staff["sign_out"]
    return (
        f'<div class="account"><span><bdi>{escape(member.name)}</bdi> <small>{escape(role)}</small></span>'
        f'<button type="button" id="sign-out" class="quiet">{escape(sign_out)}</button></div>'
    )


def _languages(request: Request, wording: Wording) -> str:
    kept = [(key, value) for key, value in request.query_params.multi_items() if key != "language"]
    return "".join(
        f'<li><a href="?{escape(urlencode([*kept, ("language", code)]))}" lang="{code}" hreflang="{code}"'
        f' dir="{direction(code)}"{_current(code == wording.language)}>{escape(own_name(code))}</a></li>'
        for code in staff_of(request).wordings.languages
    )


def _current(holds: bool) -> str:
    return ' aria-current="true"' if holds else ""


def _remember_language(request: Request, response: Response, wording: Wording) -> None:
    if request.query_params.get("language"):
        set_cookie(request, response, "language", wording.language, LANGUAGE_S)


@cache
def _template() -> Template:
    return Template((STATIC / "staff" / "shell.html").read_text(encoding="utf-8"))
