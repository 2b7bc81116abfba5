"""The parity page: `/staff/parity`, `GET /api/v1/staff/parity`: what `assistant check` finds in the corpus.

In: nothing but who asks. Out: the findings with both sides' text, in the reader's language.
Never: changes an article, or checks articles again that did not change.
"""

from __future__ import annotations

import threading
from collections import Counter
from html import escape
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from assistant.allowances import NAME
from assistant.errors import InputError
from assistant.ingest import find_files
from assistant.language import language_name
from assistant.ledger import Finding, Place
from assistant.settings import Settings
from assistant.surfaces.check import Report, check_files, shown_path
from assistant.surfaces.render import direction
from assistant.surfaces.staff.access import Agent, StaffParts
from assistant.surfaces.staff.filters import shown
from assistant.surfaces.staff.shell import staff_page, wording_of
from assistant.wording import Wording

SHOWN = 500  # findings on the page; the JSON has all
State = tuple[tuple[str, int, int], ...]


class Ledger:
    """The last report over the corpus, made again when a file changed; safe to share."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._kept: tuple[State, Report] | None = None

    def report(self) -> Report:
        """The report on the articles as they are.

        Raises:
            InputError: the corpus or its list of allowances can't be read.
        """
        with self._lock:
            state = self._state()
            if self._kept is None or self._kept[0] != state:
                self._kept = (state, check_files([self.settings.corpus], self.settings.file_limit_mb))
            return self._kept[1]

    def _state(self) -> State:
        folder = self.settings.corpus
        files = [*find_files([folder]), folder / NAME]
        found = [(file, file.stat()) for file in files if file.exists()]
        return tuple((str(file), status.st_mtime_ns, status.st_size) for file, status in found)


def add_parity(staff: StaffParts) -> APIRouter:
    """The routes."""
    router = APIRouter()
    ledger = Ledger(staff.settings)

    @router.get("/staff/parity", response_class=HTMLResponse, include_in_schema=False)
    def show(request: Request, member: Agent) -> HTMLResponse:
        wording = wording_of(request)
        try:
            main = _main(wording, ledger.report())
        except InputError as error:
            main = f'<p class="problem" role="alert">{escape(str(error))}</p>'
        return staff_page(request, member, "parity", main, styles=("parity.css",))

    @router.get("/api/v1/staff/parity", summary="What differs between the articles' translations, and within them")
    def read(member: Agent) -> dict[str, object]:
        return ledger.report().as_json()

    return router


def _main(wording: Wording, report: Report) -> str:
    text = {key: escape(value) for key, value in wording.staff_parity.items()}
    counts = (("checked", report.files), ("found", len(report.findings)), ("allowed", len(report.allowed)))
    facts = "".join(f"<div><dt>{text[name]}</dt><dd>{number}</dd></div>" for name, number in counts)
    parts = [f'<p class="soft">{text["intro"]}</p><dl class="facts">{facts}</dl>']
    if report.problems:
        rows = "".join(f"<li><code>{escape(str(problem))}</code></li>" for problem in report.problems)
        parts.append(f"<h2>{text['unreadable']}</h2><ul>{rows}</ul>")
    if report.is_clean:
        parts.append(f'<p class="card">{text["clean"]}</p>')
    parts.append(_cut(text["cut"], len(report.findings), wording))
    kinds = Counter(finding.kind for finding in report.findings)
    for kind, number in kinds.items():
        cards = "".join(
            _card(finding, text, wording.language) for finding in report.findings[:SHOWN] if finding.kind == kind
        )
        parts.append(f"<h2>{text[f'kind_{kind}']} ({number})</h2>")
        parts.append(f'<ol class="findings">{cards}</ol>' if cards else "")
    if report.allowed:
        parts.append(_cut(text["cut"], len(report.allowed), wording))
        cards = "".join(
            _card(finding, text, wording.language, entry.reason) for finding, entry in report.allowed[:SHOWN]
        )
        parts.append(f'<h2>{text["allowed"]}</h2><ol class="findings">{cards}</ol>')
    return "".join(parts)


def _cut(sentence: str, found: int, wording: Wording) -> str:
    """What says that not all of so many are shown."""
    numbers = {"shown": shown(SHOWN, wording), "found": shown(found, wording)}
    return f'<p class="card">{sentence.format(**numbers)}</p>' if found > SHOWN else ""


def _card(finding: Finding, text: dict[str, str], reader: str, because: str = "") -> str:
    named = f"<p><mark><bdi>{escape(finding.what)}</bdi></mark></p>" if finding.what and finding.kind != "shape" else ""
    label = f"<p>{text[f'kind_{finding.kind}']}</p>" if because else ""
    here = _side(text["here"], finding.place, finding.what, reader)
    there = _side(text["there"], finding.sibling, finding.what, reader) if finding.sibling else ""
    reason = f'<p class="soft">{text["because"]}: {escape(because)}</p>' if because else ""
    return f'<li class="card">{label}{named}<div class="sides">{here}{there}</div>{reason}</li>'


def _side(label: str, place: Place, what: str, reader: str) -> str:
    where = f"{shown_path(Path(place.article.path))}:{place.line}"
    code = escape(place.language or reader)
    name = escape(language_name(code, reader)) if place.language else ""
    quote = f'<blockquote lang="{code}" dir="{direction(code)}">{escape(place.excerpt(what))}</blockquote>'
    return f'<div><p class="soft">{label} {name} <code dir="ltr">{escape(where)}</code></p>{quote}</div>'
