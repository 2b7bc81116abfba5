"""What visitors say of an answer, and the forgetting of a conversation.

In: `POST /api/v1/feedback {answer_id, value: "up" | "down", client?, comment?}`,
`DELETE /api/v1/conversations/{conversation_id}`. Out: a short JSON object, 404 for what is unknown.
Never: counts one client's opinion of an answer twice, or keeps private details in a comment.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from assistant.store import Store
from assistant.surfaces.chat import ErrorBody

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
    """It is kept."""

    status: Literal["kept"]


def feedback_router(store: Store) -> APIRouter:
    """The routes."""
    router = APIRouter()
    unknown: dict[int | str, dict[str, Any]] = {404: {"model": ErrorBody}, 503: {"model": ErrorBody}}

    @router.post("/api/v1/feedback", summary="Say what you think of an answer", responses=unknown)
    async def give_feedback(body: Annotated[FeedbackRequest, Body(openapi_examples=EXAMPLES)]) -> FeedbackBody:
        comment = "".join(sign for sign in body.comment if sign.isprintable() or sign == "\n")
        found = await asyncio.to_thread(
            store.add_feedback, body.answer_id, body.client or body.conversation_id, body.value, comment
        )
        if found is None:
            raise HTTPException(404, "there is no such answer; it may have expired")
        return FeedbackBody(status="kept")

    @router.delete("/api/v1/conversations/{conversation_id}", summary="Forget a conversation", responses=unknown)
    async def forget(conversation_id: Annotated[str, Path(pattern=r"^[\x21-\x7e]{1,128}$")]) -> dict[str, str]:
        if not await asyncio.to_thread(store.forget, conversation_id):
            raise HTTPException(404, "there is no such conversation; it may have expired")
        return {"status": "forgotten"}

    return router
