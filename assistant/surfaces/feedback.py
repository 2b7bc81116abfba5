"""What visitors say of an answer, and the forgetting of a conversation.

In: `POST /api/v1/feedback {answer_id, value: "up" | "down", client?, comment?}`,
`DELETE /api/v1/conversations/{conversation_id}`. Out: a short JSON object, 404 for what is unknown.
Never: counts one client's opinion of an answer twice, or keeps private details in a comment.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Body, Path
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from assistant.desk import Desk
from assistant.spelling import drop_controls, drop_direction_controls
from assistant.store import Store
from assistant.surfaces.chat import ErrorBody, HandoverBody

if TYPE_CHECKING:
    from assistant.handover import Courier

EXAMPLES: dict[str, Any] = {
    "up": {"value": {"answer_id": "5c1f0e", "value": "up"}},
    "down": {"value": {"answer_id": "5c1f0e", "value": "down", "client": "b7e2", "comment": "¿Y para estudiantes?"}},
}


class FeedbackRequest(BaseModel):
    """An opinion of an answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    answer_id: str = Field(pattern=r"^[\x21-\x7e]{1,64}$", description="`id` of the Answer")
    value: Literal["up", "down"]
    client: str = Field(
        "", pattern=r"^[\x21-\x7e]{0,128}$", description="names who says so; the same client's last value counts"
    )
    conversation_id: str = Field(
        "", pattern=r"^[\x21-\x7e]{0,128}$", description="where it was said; stands in for a missing `client`"
    )
    comment: str = Field("", max_length=2000)


class FeedbackBody(BaseModel):
    """It is kept; after a bad opinion the way to a person, where there is one."""

    status: Literal["kept"]
    handover: HandoverBody | None = None


def feedback_router(store: Store, desk: Desk, courier: Courier | None = None) -> APIRouter:
    """The routes."""
    router = APIRouter()
    unknown: dict[int | str, dict[str, Any]] = {404: {"model": ErrorBody}, 503: {"model": ErrorBody}}

    @router.post(
        "/api/v1/feedback",
        summary="Say what you think of an answer",
        responses=unknown,
        response_model_exclude_none=True,
    )
    async def give_feedback(body: Annotated[FeedbackRequest, Body(openapi_examples=EXAMPLES)]) -> FeedbackBody:
        comment = drop_direction_controls(drop_controls(body.comment))
        found = await asyncio.to_thread(
            store.add_feedback, body.answer_id, body.client or body.conversation_id, body.value, comment
        )
        if found is None:
            raise HTTPException(404, "there is no such answer; it may have expired")
        if body.value == "up" or not (desk.is_manned or courier):
            return FeedbackBody(status="kept")
        record = await asyncio.to_thread(store.records, conversation_id=found)
        said = next((one for one in record if one.answer_id == body.answer_id), None)
        asked, language = (said.question, said.language) if said else ("", "")
        if courier:
            courier.send(found, "negative_feedback", asked, language)
        offered = desk.offer("negative_feedback", asked)
        return FeedbackBody(status="kept", handover=HandoverBody(reason=offered.reason, url=offered.url))

    @router.delete("/api/v1/conversations/{conversation_id}", summary="Forget a conversation", responses=unknown)
    async def forget(conversation_id: Annotated[str, Path(pattern=r"^[\x21-\x7e]{1,128}$")]) -> dict[str, str]:
        if not await asyncio.to_thread(store.forget, conversation_id):
            raise HTTPException(404, "there is no such conversation; it may have expired")
        return {"status": "forgotten"}

    return router
