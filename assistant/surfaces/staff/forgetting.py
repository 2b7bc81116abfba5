"""Forgetting a conversation at a customer's request: `DELETE /api/v1/staff/conversations/{conversation_id}`.

In: a conversation's id, from an editor. Out: it is gone with all that belongs to it; who did it stands in the audit
log. Never: shows what was said.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.exceptions import HTTPException

from assistant.surfaces.chat import ErrorBody
from assistant.surfaces.staff.access import Editor, StaffParts

ConversationId = Annotated[str, Path(pattern=r"^[\x21-\x7e]{1,128}$")]


def add_forgetting(staff: StaffParts) -> APIRouter:
    """The route."""
    router = APIRouter()

    @router.delete(
        "/api/v1/staff/conversations/{conversation_id}",
        summary="Forget a conversation, as an editor",
        responses={404: {"model": ErrorBody}},
    )
    def forget(member: Editor, conversation_id: ConversationId) -> dict[str, str]:
        if not staff.store.forget(conversation_id):
            raise HTTPException(404, "there is no such conversation; it may have expired")
        staff.audit.add(member, "conversation.forgotten", conversation_id)
        return {"status": "forgotten"}

    return router
