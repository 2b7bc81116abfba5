"""Feedback, forgetting and history over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest
from sqlalchemy import select

from assistant.engine import MEMORY
from assistant.errors import StoreUnavailable
from assistant.settings import Settings
from assistant.store import Store
from assistant.surfaces.web import create_app
from assistant.tables import feedback
from tests.fakes import REPLIES, FakeAssistant

CHAT, FEEDBACK = "/api/v1/chat", "/api/v1/feedback"


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store(MEMORY)
    yield store
    store.close()


def client_for(store: Store, fake: FakeAssistant, **settings: object) -> httpx2.AsyncClient:
    app = create_app(fake, Settings(**settings), store)  # type: ignore[arg-type]
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test")


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
async def test_feedback_is_kept_once(store: Store, fake: FakeAssistant, language: str) -> None:
    """An opinion of an answer is kept; said again by the same client it replaces the former."""
    async with client_for(store, fake) as client:
        answer = (await client.post(CHAT, json={"message": REPLIES[language][0]})).json()
        for value in ("up", "down"):
            body = {"answer_id": answer["id"], "value": value, "client": "x", "comment": "a@b.example"}
            response = await client.post(FEEDBACK, json=body)
            assert (response.status_code, response.json()) == (200, {"status": "kept"})
    (record,) = store.records()
    assert (record.question, record.feedback) == (REPLIES[language][0], (("down", "[email]"),))


async def test_bad_feedback_opens_the_way_to_a_person(store: Store, fake: FakeAssistant) -> None:
    """After negative feedback the client learns where a person is; after positive it does not."""
    async with client_for(store, fake, handover_email="help@example.com") as client:
        answer = (await client.post(CHAT, json={"message": REPLIES["es"][0]})).json()
        good = await client.post(FEEDBACK, json={"answer_id": answer["id"], "value": "up"})
        bad = await client.post(FEEDBACK, json={"answer_id": answer["id"], "value": "down"})
    assert "handover" not in good.json()
    assert bad.json()["handover"]["reason"] == "negative_feedback"
    assert bad.json()["handover"]["url"].startswith("mailto:help@example.com?body=")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"answer_id": "nowhere", "value": "up"}, 404),
        ({"answer_id": "a1", "value": "great"}, 422),
        ({"value": "up"}, 422),
        ({"answer_id": "a1", "value": "up", "comment": "長" * 2001}, 422),
        ({"answer_id": "a1", "value": "up", "more": 1}, 422),
    ],
    ids=["unknown answer", "unknown value", "no answer", "long comment", "unknown field"],
)
async def test_unusable_feedback_is_refused(
    store: Store, fake: FakeAssistant, body: dict[str, object], status: int
) -> None:
    """What can't be kept is refused in one sentence."""
    async with client_for(store, fake) as client:
        response = await client.post(FEEDBACK, json=body)
    assert response.status_code == status
    assert list(response.json()) == ["error"]


@pytest.mark.parametrize(
    ("comment", "kept"),
    [
        ("太旧\u2028请更新", "太旧\n请更新"),
        ("古い\u3000直して\r", "古い\u3000直して\n"),
        ("viejo\vactualizad\x07", "viejo\nactualizad"),
        ("old\u00a0page\fnew\u202e", "old\u00a0page\nnew"),
    ],
    ids=["zh", "ja", "es", "en"],
)
async def test_comments_keep_their_spaces_and_lines(store: Store, fake: FakeAssistant, comment: str, kept: str) -> None:
    """Any line end of a comment is one, spaces of every script stay, and what nobody sees goes."""
    async with client_for(store, fake) as client:
        asked = (await client.post(CHAT, json={"message": "uno"})).json()
        body = {"answer_id": asked["id"], "value": "down", "comment": comment}
        assert (await client.post(FEEDBACK, json=body)).status_code == 200
    store.flush(5)
    with store.engine.read() as connection:
        assert [row.comment for row in connection.execute(select(feedback))] == [kept]


async def test_a_conversation_is_forgotten(store: Store, fake: FakeAssistant) -> None:
    """Deleted, a conversation is no history any more; deleting it again finds nothing."""
    async with client_for(store, fake) as client:
        await client.post(CHAT, json={"message": "uno", "conversation_id": "c1"})
        assert (await client.delete("/api/v1/conversations/c1")).json() == {"status": "forgotten"}
        assert (await client.delete("/api/v1/conversations/c1")).status_code == 404
        await client.post(CHAT, json={"message": "二", "conversation_id": "c1"})
    assert [history for *_, history in fake.asked] == [(), ()]


async def test_a_store_out_of_reach_costs_the_history_only(
    store: Store, fake: FakeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the store can't be read, the question is answered as if it were the first."""

    def fail(conversation_id: str) -> None:
        raise StoreUnavailable("the store has gone")

    monkeypatch.setattr(store, "history", fail)
    async with client_for(store, fake) as client:
        response = await client.post(CHAT, json={"message": REPLIES["ja"][0], "conversation_id": "c1"})
    assert response.status_code == 200
    assert response.json()["language"] == "ja"
