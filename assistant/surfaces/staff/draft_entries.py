"""What an answered draft leaves for the articles and the evals: proposed entries, eval cases.

In: a draft's part, by staff who are signed in. Out: the bodies of `draft_bodies`, files to download.
Never: writes into the articles or the evals; a person reviews the files and puts them there.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Response
from starlette.exceptions import HTTPException

from assistant.cabinet import Kept, Proposed
from assistant.errors import InputError
from assistant.letter import Ask, Part
from assistant.proposals import entry_markdown, eval_case
from assistant.surfaces.staff.access import Agent, Editor
from assistant.surfaces.staff.draft_bodies import ID, EntryBody, ProposalBody, ProposalRequest
from assistant.surfaces.staff.draft_room import Room

Name = Annotated[str, Path(pattern=ID)]


def _answer(kept: Kept, asked: ProposalRequest) -> tuple[Ask, Part]:
    """A paragraph that answers a question, and that question; 409 where what was looked at is not what stands now.

    Raises:
        InputError: it answers none.
    """
    if kept.version != asked.version:
        raise HTTPException(409, f"{kept.by} has saved another version; look at it first")
    part = kept.letter.part(asked.part_id)
    found = next((ask for ask in kept.letter.asks if ask.number == part.question), None)
    if found is None:
        raise InputError(f"part {part.id} answers no question; name a paragraph that does")
    if part.is_open or not part.text.strip():
        raise InputError(f"part {part.id} holds no answer yet; fill it in first")
    return found, part


def add_entries(router: APIRouter, room: Room) -> None:
    """The routes of proposals and cases."""

    def shown(proposed: Proposed) -> ProposalBody:
        revised = datetime.fromtimestamp(proposed.at, UTC).date()
        own = (proposed.question, proposed.answer)
        known = {row.passage.language for row in room.drafter.retriever.index.snapshot().rows}
        entries = []
        for code in sorted(known | {proposed.language}):
            if code != proposed.language:
                entries.append(EntryBody(code, proposed.anchor, True, "", "", ""))
                continue
            text = entry_markdown(*own, code, proposed.anchor, revised)
            entries.append(EntryBody(code, proposed.anchor, False, *own, text))
        missing = [one.language for one in entries if one.is_missing]
        return ProposalBody(proposed.id, proposed.draft_id, proposed.anchor, proposed.by, proposed.at, entries, missing)

    @router.post("/drafts/{name}/proposals", status_code=201, summary="Propose an answer as an entry")
    def propose(member: Editor, name: Name, asked: ProposalRequest) -> ProposalBody:
        kept = room.kept(name)
        ask, part = _answer(kept, asked)
        found = room.cabinet.propose(name, kept.letter.language, ask.text, part.text, member.name)
        room.staff.audit.add(member, "proposal.saved", found.id)
        return shown(found)

    @router.get("/proposals", summary="Proposed entries")
    def proposals(member: Agent) -> list[ProposalBody]:
        return [shown(one) for one in room.cabinet.proposals()]

    @router.get("/proposals/{proposal}/{language}.md", summary="A proposed entry as Markdown")
    def markdown(member: Agent, proposal: Name, language: Name) -> Response:
        entries = [entry for one in room.cabinet.proposals(proposal) for entry in shown(one).entries]
        found = next((one for one in entries if one.language == language and not one.is_missing), None)
        if found is None:
            raise HTTPException(404, "there is no such entry; take one that the proposal lists")
        headers = {"Content-Disposition": f'attachment; filename="{found.name}.md"'}
        return Response(found.markdown, headers=headers, media_type="text/markdown; charset=utf-8")

    @router.post("/drafts/{name}/case", summary="An answer as an eval case")
    def case(member: Agent, name: Name, asked: ProposalRequest) -> Response:
        kept = room.kept(name)
        ask, part = _answer(kept, asked)
        supported = [line for line in room.drafter.check(kept.letter, part) if line.passage]
        stated, language = "".join(line.text for line in supported), kept.letter.language
        number = f"{name[:8]}-{ask.number}"
        text = eval_case(number, ask.text, stated, language, [line.passage for line in supported if line.passage])
        headers = {"Content-Disposition": f'attachment; filename="{language}-{number}.yaml"'}
        return Response(text, headers=headers, media_type="application/yaml")
