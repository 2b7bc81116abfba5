"""The drafts' API for tests of its page: letters in memory, judged by a list of known sentences, no model, no index.

It keeps the forms of `draft_bodies` and refuses a stale version as the real one does.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import pytest
import regex
from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from playwright.sync_api import Locator, Page, expect

from assistant.cabinet import HandedOver
from assistant.errors import StoreUnavailable
from assistant.surfaces.render import direction
from assistant.surfaces.staff import desk as staff_desk
from assistant.surfaces.staff.access import Agent, StaffParts
from assistant.surfaces.staff.draft_bodies import (
    CheckBody,
    CheckRequest,
    CloseRequest,
    ConflictBody,
    CopyBody,
    DraftBody,
    DraftRequest,
    DraftRow,
    EntryBody,
    LineBody,
    PartBody,
    ProposalBody,
    ProposalRequest,
    QuestionBody,
    RegenerateRequest,
    SaveRequest,
    SourceBody,
    Tone,
    VersionRow,
)
from assistant.surfaces.staff.drafts_page import add_drafts_page
from assistant.surfaces.staff.shell import StaffPage
from tests.fakes import FakeAssistant
from tests.staff import Desk, running_desk
from tests.widgets import WORDINGS, Visits

NOW = 1_796_083_200.0
SENTENCE = regex.compile(r"[^。.!?？！\n]*[。.!?？！\n]+\s*|[^。.!?？！\n]+")
REASON = "No hay ningún pasaje que diga esto."


@dataclass(frozen=True)
class Ticket:
    """A customer's three questions: two with an answer, one without."""

    greeting: str
    closing: str
    questions: tuple[str, str, str]
    answers: tuple[str, str]
    gap: str
    wrong: str  # a sentence that no passage says

    @property
    def message(self) -> str:
        return "\n".join([self.greeting, *self.questions, self.closing])


TICKETS = {
    "ja": Ticket(
        "お問い合わせありがとうございます。",
        "よろしくお願いいたします。",
        ("返金には何日かかりますか？", "送料はいくらですか？", "ギフト包装はできますか？"),
        ("返金は14日以内に行われます。", "送料は一律500円です。"),
        "［要記入：ギフト包装］",
        "返金は3日以内です。",
    ),
    "zh-Hans": Ticket(
        "感谢您的来信。",
        "此致敬礼。",
        ("退款需要多久？", "运费是多少？", "可以礼品包装吗？"),
        ("退款将在14天内到账。", "运费统一为30元。"),
        "［待补充：礼品包装］",
        "退款3天内到账。",
    ),
    "es": Ticket(
        "Gracias por escribirnos.",
        "Un saludo.",
        ("¿Cuánto tarda una devolución?", "¿Cuánto es el envío?", "¿Envuelven para regalo?"),
        ("La devolución llega en 14 días.", "El envío cuesta 5 euros."),
        "[Por completar: regalo]",
        "La devolución llega en 3 días.",
    ),
    "en": Ticket(
        "Thank you for writing.",
        "Kind regards.",
        ("How long does a refund take?", "What is the postage?", "Do you wrap gifts?"),
        ("Refunds arrive within 14 days.", "Postage is 5 pounds."),
        "[To fill in: gift wrapping]",
        "Refunds arrive within 3 days.",
    ),
    "ar": Ticket(
        "شكرًا لتواصلك معنا.",
        "مع أطيب التحيات.",
        ("كم يستغرق استرداد المبلغ؟", "كم تكلفة الشحن؟", "هل تغلّفون الهدايا؟"),
        ("يصل المبلغ خلال 14 يومًا.", "تكلفة الشحن 20 درهمًا."),
        "[يُستكمل: تغليف الهدايا]",
        "يصل المبلغ خلال 3 أيام.",
    ),
}
SIBLINGS = ("es", "en", "ar")  # the other agents' languages have no version of the second passage


@dataclass
class Letter:
    """A letter and what became of it."""

    id: str
    ticket: Ticket
    language: str
    tone: Tone
    texts: dict[str, str]
    filled: bool = False
    state: Any = "open"
    history: list[tuple[str, Any, dict[str, str]]] = field(default_factory=list)

    @property
    def version(self) -> int:
        return len(self.history)

    def keep(self, name: str, what: str) -> None:
        """A new version."""
        self.history.append((name, what, dict(self.texts)))


@dataclass
class FakeDrafts:
    """The API; `letters` can be looked at, `handovers` filled, and each method wrapped by a test."""

    letters: dict[str, Letter] = field(default_factory=dict)
    handovers: list[HandedOver] = field(default_factory=list)
    is_broken: bool = False  # nothing can be saved
    checked: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def write(self, language: str, tone: Tone = "formal", name: str = "Ana") -> Letter:
        """A new letter."""
        one = TICKETS[language]
        texts = {"greeting": one.greeting, "q1": one.answers[0], "q2": one.answers[1], "q3": one.gap}
        letter = Letter(f"d{next(self.numbers)}", one, language, tone, {**texts, "closing": one.closing})
        letter.keep(name, "written")
        self.letters[letter.id] = letter
        return letter

    def save(self, letter: Letter, texts: dict[str, str], name: str) -> None:
        """As another agent does."""
        letter.texts = {part: texts.get(part, "") for part in letter.texts}
        letter.keep(name, "edited")

    def add(self, staff: StaffParts) -> APIRouter:
        """The routes."""
        router = APIRouter(prefix="/api/v1/staff")
        self._add_reading(router)
        self._add_changing(router)
        self._add_files(router)
        self._add_endings(router)  # last: its path would take the others'
        return router

    def _add_reading(self, router: APIRouter) -> None:
        @router.get("/drafts")
        def rows(member: Agent) -> list[DraftRow]:
            return [self._row(letter) for letter in reversed(self.letters.values())]

        @router.get("/drafts/handovers")
        def waiting(member: Agent) -> list[HandedOver]:
            return self.handovers

        @router.get("/drafts/{name}")
        def read(name: str, member: Agent, agent_language: str = "es") -> DraftBody:
            return body(self.letters[name], agent_language)

        @router.get("/drafts/{name}/versions")
        def versions(name: str, member: Agent) -> list[VersionRow]:
            found = enumerate(self.letters[name].history, 1)
            rows = [VersionRow(at, who, NOW, what, "\n\n".join(texts.values())) for at, (who, what, texts) in found]
            return rows[::-1]

        @router.get("/drafts/{name}/versions/{version}")
        def version(name: str, version: int, member: Agent) -> DraftBody:
            letter = self.letters[name]
            return body(replace(letter, texts=letter.history[version - 1][2]), "es")

        @router.get("/drafts/{name}/copy")
        def copied(name: str, member: Agent) -> CopyBody:
            texts = [text for text in self.letters[name].texts.values() if text]
            return CopyBody("\n\n".join(texts), "".join(f"<p>{text}</p>" for text in texts))

    def _add_changing(self, router: APIRouter) -> None:
        @router.post("/drafts", status_code=201)
        def create(asked: DraftRequest, member: Agent) -> DraftBody:
            known = (code for code, one in TICKETS.items() if one.questions[0] in asked.message)
            letter = self.write(asked.language or next(known, "ja"), asked.tone, member.name)
            return body(letter, asked.agent_language)

        @router.put("/drafts/{name}")
        def save(name: str, asked: SaveRequest, member: Agent, agent_language: str = "es") -> Any:
            if self.is_broken:
                raise StoreUnavailable("the store can't be written; try again")
            texts = {part.id: part.text for part in asked.parts}
            return self._change(
                name, asked.version, agent_language, lambda letter: self.save(letter, texts, member.name)
            )

        @router.post("/drafts/{name}/check")
        def check(name: str, asked: CheckRequest, member: Agent, agent_language: str = "es") -> CheckBody:
            self.checked.append(asked.text)
            letter = self.letters[name]
            found = lines(letter, asked.part_id, asked.text)
            return CheckBody(found, sources(letter, agent_language), letter.ticket.gap in asked.text)

        @router.post("/drafts/{name}/parts/{part}/regenerate")
        def regenerate(
            name: str, part: str, asked: RegenerateRequest, member: Agent, agent_language: str = "es"
        ) -> Any:
            def rewrite(letter: Letter) -> None:
                fresh = dict(letter.history[0][2])
                letter.tone = asked.tone or letter.tone
                letter.filled = letter.filled or bool(asked.passage_ids)
                letter.texts[part] = letter.ticket.answers[1] if asked.passage_ids else fresh[part]
                letter.keep(member.name, "regenerated")

            return self._change(name, asked.version, agent_language, rewrite)

    def _add_endings(self, router: APIRouter) -> None:
        @router.post("/drafts/{name}/{how}")
        def end(name: str, how: str, asked: CloseRequest, member: Agent, agent_language: str = "es") -> Any:
            def close(letter: Letter) -> None:
                shown = body(letter, agent_language)
                assert asked.confirm or how == "rejected" or not (shown.open_gaps or shown.unsupported)
                letter.state = how
                letter.keep(member.name, how)

            return self._change(name, asked.version, agent_language, close)

    def _add_files(self, router: APIRouter) -> None:
        @router.post("/drafts/{name}/proposals", status_code=201)
        def propose(name: str, asked: ProposalRequest, member: Agent) -> ProposalBody:
            letter = self.letters[name]
            own = letter.ticket.questions[0], letter.texts[asked.part_id]
            entries = [
                EntryBody(code, "faq", code != letter.language, *(own if code == letter.language else ("", "")), "")
                for code in ("en", "es", "ja", "zh-Hans")
            ]
            missing = [one.language for one in entries if one.is_missing]
            return ProposalBody("p1", name, "refund", member.name, NOW, entries, missing)

        @router.post("/drafts/{name}/case")
        def case(name: str, asked: ProposalRequest, member: Agent) -> Response:
            headers = {"Content-Disposition": 'attachment; filename="refund.yaml"'}
            return Response("- id: refund\n", headers=headers, media_type="application/yaml")

    def _change(self, name: str, version: int, agent_language: str, act: Callable[[Letter], None]) -> Any:
        letter = self.letters[name]
        if version != letter.version:
            current = body(letter, agent_language)
            conflict = ConflictBody("somebody else saved it", current.changed_by, NOW, current)
            return JSONResponse(asdict(conflict), 409)
        act(letter)
        return body(letter, agent_language)

    def _row(self, letter: Letter) -> DraftRow:
        one = body(letter, "es")
        return DraftRow(
            one.id, one.version, one.state, one.outcome, 0, one.language, one.message[:80], 3, one.open_gaps,
            one.changed_by, NOW, "",
        )  # fmt: skip


def lines(letter: Letter, part: str, text: str) -> list[LineBody]:
    """Each sentence, judged by whether a passage says it."""
    known = {one: at for at, one in enumerate(letter.ticket.answers, 1)}

    def judge(piece: str) -> LineBody:
        if part in ("greeting", "closing"):
            return LineBody(piece, "own")
        source = known.get(piece.strip(), 0)
        return LineBody(piece, "supported", "", source) if source else LineBody(piece, "unsupported", REASON)

    gap = letter.ticket.gap
    if part == "q3" and gap in text:
        before, _, after = text.partition(gap)
        split = (
            [judge(piece) for piece in SENTENCE.findall(before)],
            [judge(piece) for piece in SENTENCE.findall(after)],
        )
        return [*split[0], LineBody(gap, "gap"), *split[1]]
    return [judge(piece) for piece in SENTENCE.findall(text)]


def sources(letter: Letter, agent: str) -> list[SourceBody]:
    """The two passages, the first with a sibling in every language that staff read."""

    def source(n: int, language: str, text: str, sibling: SourceBody | None = None) -> SourceBody:
        place = f"{language}/refunds#q{n}.1"
        url = f"https://help.example.com/{language}/refunds#q{n}"
        own = language == agent
        return SourceBody(n, place, "Help", f"§ {n}", url, language, direction(language), text, text, own, sibling)

    found = []
    for n, text in enumerate(letter.ticket.answers, 1):
        is_there = agent != letter.language and agent in TICKETS and (n == 1 or agent in SIBLINGS)
        found.append(
            source(n, letter.language, text, source(n, agent, TICKETS[agent].answers[n - 1]) if is_there else None)
        )
    return found


def body(letter: Letter, agent: str) -> DraftBody:
    """The letter as the API gives it."""
    one, found = letter.ticket, sources(letter, agent)
    questions = []
    for n, text in enumerate(one.questions, 1):
        start = one.message.index(text)
        outcome: Any = "answered" if n < 3 else "abstained"
        evidence = found[n - 1 : n] if n < 3 else [replace(found[1], n=0)]
        questions.append(QuestionBody(n, text, start, start + len(text), outcome, 0.9 if n < 3 else 0.1, evidence))
    kinds: dict[str, Any] = {"greeting": "greeting", "closing": "closing", "q3": "answer" if letter.filled else "gap"}
    parts = []
    for part, text in letter.texts.items():
        number = int(part[1]) if part.startswith("q") else 0
        is_open = part == "q3" and one.gap in text
        parts.append(PartBody(part, kinds.get(part, "answer"), number, text, is_open, lines(letter, part, text)))
    wrong = sum(line.state == "unsupported" for part in parts for line in part.lines)
    outcome_of: dict[Any, Any] = {"open": "", "sent": "edited", "rejected": "rejected"}
    return DraftBody(
        letter.id, letter.version, letter.state, outcome_of[letter.state], 0, one.message, letter.language, "",
        direction(letter.language), agent, direction(agent), letter.tone, "", letter.history[-1][0], NOW, questions,
        parts, found, sum(part.is_open for part in parts), wrong,
    )  # fmt: skip


@contextmanager
def running_drafts(drafts: FakeDrafts) -> Iterator[Desk]:
    """A desk as a real server whose drafts are these."""
    page = StaffPage("drafts", "/staff/drafts", add_drafts_page)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staff_desk, "PAGES", (page, StaffPage("drafts_api", "", drafts.add)))
        with running_desk(FakeAssistant()) as running:
            yield running


def word(name: str, language: str = "es", /, **values: object) -> str:
    """A word of the page."""
    return WORDINGS.nearest(language).staff_drafts[name].format(**values)


def visit_drafts(
    visits: Visits, desk: Desk, letter: Letter | None = None, language: str = "es", **options: Any
) -> Page:
    """Opens the page, or a letter of it, as a new member; `name` and `role` say who it is."""
    name, role = options.pop("name", "Ana"), options.pop("role", "agent")
    query = f"&draft={letter.id}" if letter else ""
    page = visits.open("about:blank", **{"reduced_motion": "reduce", **options})
    desk.sign_in(page.context, role, name)
    page.goto(f"{desk.address}/staff/drafts?language={language}{query}")
    expect(page.locator(".sheet" if letter else ".paste")).to_be_visible()
    return page


def part(page: Page, number: int) -> Locator:
    """The paragraph in its place, the greeting first."""
    return page.locator(".part").nth(number)
