"""The drafts' API: replies to customers, written from the articles, kept, checked while they are edited.

In: the requests of `draft_bodies`, by staff who are signed in. Out: its bodies; errors as everywhere in the API.
Never: sends anything to a customer, overwrites what somebody else has saved, or answers without sign-in.

    POST /api/v1/staff/drafts                     DraftRequest -> 201 DraftBody
    GET  /api/v1/staff/drafts?state=&limit=       -> [DraftRow], the last changed first
    GET  /api/v1/staff/drafts/handovers           -> [HandedOver], the newest first
    GET  …/drafts/{id}?agent_language=            -> DraftBody, siblings in that language
    PUT  …/drafts/{id}                            SaveRequest -> DraftBody | 409 ConflictBody
    POST …/drafts/{id}/check?agent_language=      CheckRequest -> CheckBody; saves nothing
    POST …/drafts/{id}/parts/{part}/regenerate    RegenerateRequest -> DraftBody | 409
    POST …/drafts/{id}/sent, …/rejected           CloseRequest -> DraftBody | 409 (also: gaps open, not confirmed)
    GET  …/drafts/{id}/versions                   -> [VersionRow], the newest first
    GET  …/drafts/{id}/versions/{version}         -> DraftBody as it stood then
    GET  …/drafts/{id}/copy?sources=true|false    -> CopyBody
    POST …/drafts/{id}/proposals                  ProposalRequest -> 201 ProposalBody
    GET  /api/v1/staff/proposals                  -> [ProposalBody]
    GET  /api/v1/staff/proposals/{id}/{language}.md   -> the entry, Markdown of the corpus, as a download
    POST …/drafts/{id}/case                       ProposalRequest -> an eval case, YAML, as a download
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from starlette.exceptions import HTTPException

from assistant.cabinet import HandedOver
from assistant.letter import edited
from assistant.spelling import drop_controls
from assistant.surfaces.staff.access import Agent, StaffParts
from assistant.surfaces.staff.draft_bodies import (
    CODE,
    ID,
    MOST,
    CheckBody,
    CheckRequest,
    CloseRequest,
    ConflictBody,
    CopyBody,
    DraftBody,
    DraftRequest,
    DraftRow,
    RegenerateRequest,
    SaveRequest,
    VersionRow,
)
from assistant.surfaces.staff.draft_entries import add_entries
from assistant.surfaces.staff.draft_examples import DRAFT_EXAMPLE
from assistant.surfaces.staff.draft_room import Room, check_once
from assistant.surfaces.staff.draft_views import as_html, as_text, check_body, draft_row, version_row

Limit = Annotated[int, Query(ge=1, le=500)]
Version = Annotated[int, Path(ge=1, le=MOST)]
Name = Annotated[str, Path(pattern=ID)]
Reader = Annotated[str, Query(pattern=CODE, max_length=40)]
WRITTEN: dict[int | str, dict[str, Any]] = {201: {"content": {"application/json": {"example": DRAFT_EXAMPLE}}}}
CONFLICT: dict[int | str, dict[str, Any]] = {409: {"model": ConflictBody}}


def add_drafts(staff: StaffParts) -> APIRouter:
    """The routes."""
    router, room = APIRouter(prefix="/api/v1/staff"), Room(staff)
    _add_reading(router, room)
    _add_writing(router, room)
    _add_ending(router, room)
    add_entries(router, room)
    return router


def _add_reading(router: APIRouter, room: Room) -> None:
    @router.get("/drafts", summary="The drafts, the last changed first")
    def rows(member: Agent, state: Literal["", "open", "sent", "rejected"] = "", limit: Limit = 100) -> list[DraftRow]:
        return [draft_row(slip) for slip in room.cabinet.slips(state, limit)]

    @router.get("/drafts/handovers", summary="Conversations that wait for a person")
    def handovers(member: Agent) -> list[HandedOver]:
        return room.cabinet.handed_over()

    @router.get("/drafts/{name}", summary="A draft, with siblings in the agent's language")
    def read(member: Agent, name: Name, agent_language: Reader = "") -> DraftBody:
        return room.body(room.kept(name), agent_language)

    @router.get("/drafts/{name}/versions", summary="A draft's versions")
    def versions(member: Agent, name: Name) -> list[VersionRow]:
        room.kept(name)
        return [version_row(kept) for kept in room.cabinet.history(name)]

    @router.get("/drafts/{name}/versions/{version}", summary="A draft as it stood")
    def version(member: Agent, name: Name, version: Version, agent_language: Reader = "") -> DraftBody:
        return room.body(room.kept(name, version), agent_language)

    @router.get("/drafts/{name}/copy", summary="The letter to copy")
    def copy(member: Agent, name: Name, sources: bool = False) -> CopyBody:
        body = room.body(room.kept(name), "")
        heading = room.staff.wordings.nearest(body.language).interface.sources if sources else ""
        return CopyBody(as_text(body, heading), as_html(body, heading))


def _add_writing(router: APIRouter, room: Room) -> None:
    @router.post("/drafts", status_code=201, summary="Write a reply to a customer's message", responses=WRITTEN)
    def write(member: Agent, asked: DraftRequest) -> DraftBody:
        reader = room.language(asked.agent_language, "agent_language") or room.staff.settings.default_language
        language = room.language(asked.language, "language")
        message = room.message(asked.message, asked.conversation_id)
        letter = room.drafter.write(message, language, asked.tone)
        kept = room.cabinet.add(letter, member.name, reader, asked.conversation_id)
        room.staff.audit.add(member, "draft.created", kept.slip.id)
        return room.body(kept, reader)

    @router.put("/drafts/{name}", summary="Save the letter as edited", response_model=DraftBody, responses=CONFLICT)
    def save(member: Agent, name: Name, asked: SaveRequest, agent_language: Reader = "") -> Any:
        check_once([part.id for part in asked.parts], "parts")
        letter = room.kept(name).letter.with_texts({part.id: drop_controls(part.text) for part in asked.parts})
        return room.save(
            name, agent_language, lambda: room.cabinet.save(name, asked.version, letter, member.name, "edited")
        )

    @router.post("/drafts/{name}/check", summary="Judge a text that is being edited")
    def check(member: Agent, name: Name, asked: CheckRequest, agent_language: Reader = "") -> CheckBody:
        kept = room.kept(name)
        reader = room.reader(kept, agent_language)
        part = replace(kept.letter.part(asked.part_id), text=drop_controls(asked.text))
        return check_body(kept.letter, part, room.drafter, reader, room.told(reader))

    @router.post(
        "/drafts/{name}/parts/{part}/regenerate",
        summary="Write a part anew",
        response_model=DraftBody,
        responses=CONFLICT,
    )
    def rewrite(member: Agent, name: Name, part: Name, asked: RegenerateRequest, agent_language: Reader = "") -> Any:
        check_once(asked.passage_ids, "passage_ids")
        letter = room.drafter.rewrite(room.kept(name).letter, part, asked.tone, asked.passage_ids)
        return room.save(
            name, agent_language, lambda: room.cabinet.save(name, asked.version, letter, member.name, "regenerated")
        )


def _add_ending(router: APIRouter, room: Room) -> None:
    def end(member: Agent, name: Name, how: Literal["sent", "rejected"], asked: CloseRequest, reader: str) -> Any:
        kept = room.kept(name)
        body = room.body(kept, reader)
        if how == "sent" and (body.open_gaps or body.unsupported) and not asked.confirm:
            raise HTTPException(409, "gaps are open or sentences unsupported; look at them, or send confirm: true")
        ended: Any = "rejected" if how == "rejected" else "edited" if edited(kept.letter)[0] else "unedited"
        found = room.save(
            name,
            reader,
            lambda: room.cabinet.save(name, asked.version, kept.letter, member.name, how, ended),
        )
        if isinstance(found, DraftBody):
            room.staff.audit.add(member, f"draft.{how}", name)
        return found

    @router.post("/drafts/{name}/sent", summary="Mark a draft sent", response_model=DraftBody, responses=CONFLICT)
    def sent(member: Agent, name: Name, asked: CloseRequest, agent_language: Reader = "") -> Any:
        return end(member, name, "sent", asked, agent_language)

    @router.post("/drafts/{name}/rejected", summary="Reject a draft", response_model=DraftBody, responses=CONFLICT)
    def rejected(member: Agent, name: Name, asked: CloseRequest, agent_language: Reader = "") -> Any:
        return end(member, name, "rejected", asked, agent_language)
