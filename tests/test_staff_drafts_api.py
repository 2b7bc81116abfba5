"""The drafts' API over the real articles: writing, judging, saving over one another, sending, entries and cases."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import yaml

from assistant.pipeline import Assistant
from evals.cases import Case
from tests.staff import Desk, make_desk

DRAFTS = "/api/v1/staff/drafts"
# Language -> a ticket with two questions that the articles answer and one that they don't, and a claim of nobody's.
TICKETS = {
    "ja": (
        "Trainiumクレジットは最大でいくら受け取れますか？\nPyTorchのコードは書き直す必要がありますか？\n東京オフィスの電話番号を教えていただけますか？",
        "クレジットは毎年100万ドルまで増額されます。",
    ),
    "zh-Hans": (
        "Trainium 额度最多可以拿到多少？\nPyTorch 代码需要重写吗？\n你们上海办公室的电话是多少？",
        "额度每年增加到一百万美元。",
    ),
    "es": (
        "¿Cuánto valen los créditos?\n¿Hay que reescribir el código PyTorch?\n¿Qué teléfono tienen en Madrid?",
        "Los créditos suben cada año hasta un millón de dólares.",
    ),
    "en": (
        "How much are Trainium credits worth?\nMust I rewrite my PyTorch code?\nWhat is your London phone number?",
        "The credits grow to one million dollars every year.",
    ),
}


@pytest.fixture
async def desk(real_assistant: Assistant) -> Desk:
    return make_desk(real_assistant)


@pytest.fixture
async def ana(desk: Desk) -> AsyncIterator[httpx2.AsyncClient]:
    async with desk.signed_in("editor", "Ana") as client:
        yield client


async def write(client: httpx2.AsyncClient, language: str = "ja", **given: object) -> dict[str, Any]:
    """A new draft."""
    response = await client.post(DRAFTS, json={"message": TICKETS[language][0], "agent_language": "es", **given})
    assert response.status_code == 201, response.text
    return dict(response.json())


def texts(draft: dict[str, Any], **changed: str) -> dict[str, Any]:
    """What saves a draft with other texts."""
    parts = [{"id": one["id"], "text": changed.get(one["id"], one["text"])} for one in draft["parts"]]
    return {"version": draft["version"], "parts": parts}


@pytest.mark.parametrize("language", list(TICKETS))
async def test_a_message_becomes_a_draft(ana: httpx2.AsyncClient, language: str) -> None:
    """Two questions are answered in the customer's language by lines that each rest on a passage, whose version in the
    agent's language lies beside it; the third is a gap."""
    draft = await write(ana, language)
    assert draft["language"] == language
    assert [one["kind"] for one in draft["parts"]] == ["greeting", "answer", "answer", "gap", "closing"]
    assert draft["open_gaps"] == 1
    assert draft["unsupported"] == 0
    for part in draft["parts"]:
        assert "".join(line["text"] for line in part["lines"]) == part["text"]
        assert all(line["source"] for line in part["lines"] if line["state"] == "supported")
    for source in draft["sources"]:
        assert source["quote"]
        assert source["is_readable"] if language == "es" else source["sibling"]["language"] == "es"
    assert [draft["message"][one["start"] : one["end"]] for one in draft["questions"]] == TICKETS[language][0].split(
        "\n"
    )


@pytest.mark.parametrize("language", list(TICKETS))
async def test_an_invented_sentence_is_marked(ana: httpx2.AsyncClient, language: str) -> None:
    """A sentence that no passage says is unsupported, with a reason in the agent's language, and nothing is saved."""
    draft = await write(ana, language)
    part = draft["parts"][1]
    body = {"part_id": part["id"], "text": f"{part['text']}\n{TICKETS[language][1]}"}
    found = (await ana.post(f"{DRAFTS}/{draft['id']}/check", json=body)).json()
    assert [line["state"] for line in found["lines"]][-1] == "unsupported"
    assert found["lines"][-1]["reason"]
    assert (await ana.get(f"{DRAFTS}/{draft['id']}")).json()["version"] == 1


async def test_a_stale_version_overwrites_nothing(desk: Desk, ana: httpx2.AsyncClient) -> None:
    """Complaint 29: drafts are on the server; who saves an old version gets 409, with what stands now and by whom."""
    draft = await write(ana)
    path = f"{DRAFTS}/{draft['id']}"
    async with desk.signed_in("agent", "Bo") as bo:
        assert (await bo.put(path, json=texts(draft, closing="敬具"))).status_code == 200
    for method, place, body in (
        ("PUT", "", texts(draft, closing="草々")),
        ("POST", "/parts/q1/regenerate", {"version": 1}),
        ("POST", "/sent", {"version": 1, "confirm": True}),
        ("POST", "/rejected", {"version": 1}),
    ):
        refused = await ana.request(method, path + place, json=body)
        assert refused.status_code == 409
        assert refused.json()["changed_by"] == "Bo"
        assert refused.json()["current"]["parts"][-1]["text"] == "敬具"
    assert (await ana.get(path)).json()["version"] == 2


async def test_gaps_need_a_confirmation(ana: httpx2.AsyncClient) -> None:
    """A draft with an open gap is not sent by mistake; sent, it says how far it was edited and can't be changed."""
    draft = await write(ana)
    path = f"{DRAFTS}/{draft['id']}"
    assert (await ana.post(f"{path}/sent", json={"version": 1})).status_code == 409
    edited = (await ana.put(path, json=texts(draft, closing="敬具"))).json()
    sent = (await ana.post(f"{path}/sent", json={"version": edited["version"], "confirm": True})).json()
    assert (sent["state"], sent["outcome"]) == ("sent", "edited")
    assert sent["distance"] > 0
    assert (await ana.put(path, json=texts(sent))).status_code == 422


async def test_a_gap_takes_a_passage(ana: httpx2.AsyncClient) -> None:
    """A passage that the agent chooses fills the gap with its sentences; one that was not found is refused."""
    draft = await write(ana)
    place = f"{DRAFTS}/{draft['id']}/parts/q3/regenerate"
    near = draft["questions"][2]["evidence"][0]["passage_id"]
    assert (await ana.post(place, json={"version": 1, "passage_ids": ["ja/x#y.1"]})).status_code == 422
    filled = (await ana.post(place, json={"version": 1, "passage_ids": [near]})).json()
    assert filled["open_gaps"] == 0
    assert filled["unsupported"] == 0


async def test_an_answer_becomes_an_entry_and_a_case(desk: Desk, ana: httpx2.AsyncClient) -> None:
    """An editor proposes an answer: every language of the articles is listed, the missing ones marked; agents may not.
    The case is one that the evals take; a gap becomes neither."""
    draft = await write(ana)
    path, body = f"{DRAFTS}/{draft['id']}", {"version": 1, "part_id": "q2"}
    proposal = (await ana.post(f"{path}/proposals", json=body)).json()
    assert [one["language"] for one in proposal["entries"]] == ["en", "es", "ja", "zh-Hans"]
    assert proposal["missing"] == ["en", "es", "zh-Hans"]
    entry = await ana.get(f"/api/v1/staff/proposals/{proposal['id']}/ja.md")
    assert entry.text.startswith("---\ntitle: PyTorch")
    assert (await ana.get(f"/api/v1/staff/proposals/{proposal['id']}/es.md")).status_code == 404
    case = yaml.safe_load((await ana.post(f"{path}/case", json=body)).text)[0]
    assert Case.model_validate({**case, "language": "ja"}).anchors == ["faq-rewrite"]
    assert (await ana.post(f"{path}/case", json={**body, "part_id": "q3"})).status_code == 422
    async with desk.signed_in("agent", "Bo") as bo:
        assert (await bo.post(f"{path}/proposals", json=body)).status_code == 403


async def test_a_letter_is_copied_as_it_stands(ana: httpx2.AsyncClient) -> None:
    """The text to copy holds the paragraphs and no markers unless sources are asked for; the HTML says its language."""
    draft = await write(ana)
    path = f"{DRAFTS}/{draft['id']}/copy"
    plain, cited = (await ana.get(path)).json(), (await ana.get(path, params={"sources": True})).json()
    assert plain["text"] == "\n\n".join(one["text"].strip() for one in draft["parts"])
    assert "[1]" in cited["text"]
    assert plain["html"].startswith('<div lang="ja" dir="ltr"><p>')


async def test_what_is_not_there_is_told(ana: httpx2.AsyncClient) -> None:
    """A draft or version that does not exist is 404 with a sentence; a message without text is 422."""
    draft = await write(ana)
    for path in (f"{DRAFTS}/nothing", f"{DRAFTS}/{draft['id']}/versions/7"):
        response = await ana.get(path)
        assert response.status_code == 404
        assert response.json()["error"]
    assert (await ana.post(DRAFTS, json={"message": " "})).status_code == 422


@pytest.mark.parametrize("emptied", ["greeting", "q1", "all"])
@pytest.mark.parametrize("nothing", ["", "\u3000\n"], ids=repr)
@pytest.mark.parametrize("language", list(TICKETS))
async def test_an_emptied_part_leaves_no_trace(
    ana: httpx2.AsyncClient, language: str, nothing: str, emptied: str
) -> None:
    """A draft with parts that hold nothing but white space is saved, copied, listed and sent without them."""
    draft = await write(ana, language)
    path = f"{DRAFTS}/{draft['id']}"
    gone = [one["id"] for one in draft["parts"] if emptied in ("all", one["id"])]
    saved = await ana.put(path, json=texts(draft, **dict.fromkeys(gone, nothing)))
    assert saved.status_code == 200
    for sources in (False, True):
        copied = await ana.get(f"{path}/copy", params={"sources": sources})
        assert copied.status_code == 200, copied.text
        assert "<p></p>" not in copied.text
    assert (await ana.get(f"{path}/versions")).status_code == 200
    sent = await ana.post(f"{path}/sent", json={"version": saved.json()["version"], "confirm": True})
    assert sent.status_code == 200, sent.text
