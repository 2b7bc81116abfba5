"""The drafts' API where it is asked for what it can't do, or could do wrongly."""

from __future__ import annotations

import pytest
import yaml

from assistant.pipeline import Assistant
from evals.cases import read_cases
from tests.fakes import answer
from tests.staff import Desk, make_desk
from tests.test_staff_drafts_api import DRAFTS, TICKETS, texts, write

INVENTED = {
    "ja": "上限は777,000ドルです。",
    "zh-Hans": "上限是777,000美元。",
    "es": "El máximo es de 777.000 dólares.",
    "en": "The maximum is $777,000.",
}


@pytest.fixture
async def desk(real_assistant: Assistant) -> Desk:
    return make_desk(real_assistant)


@pytest.mark.parametrize("message", ["", "¿Cuánto dan?"], ids=["without a message", "with one"])
async def test_an_unknown_conversation_is_not_found(desk: Desk, message: str) -> None:
    """A conversation that does not exist, or has expired, is 404: nothing is wrong with the store or the message."""
    async with desk.signed_in() as client:
        refused = await client.post(DRAFTS, json={"message": message, "conversation_id": "nowhere"})
    assert refused.status_code == 404
    assert "conversation" in refused.json()["error"]


async def test_a_conversation_is_opened_by_its_id(desk: Desk) -> None:
    """Of a conversation that was handed over, what its visitor wrote is drafted for, and the list of those that wait
    names the draft."""
    question = TICKETS["es"][0].split("\n")[0]
    desk.staff.store.remember(question, answer("es", "handover", "Te paso con una persona.", conversation_id="c9"))
    async with desk.signed_in() as client:
        draft = (await client.post(DRAFTS, json={"conversation_id": "c9"})).json()
        waiting = (await client.get(f"{DRAFTS}/handovers")).json()
    assert (draft["message"], draft["conversation_id"]) == (question, "c9")
    assert [(one["conversation_id"], one["draft_id"]) for one in waiting] == [("c9", draft["id"])]


@pytest.mark.parametrize("field", ["language", "agent_language"])
async def test_an_unknown_language_is_refused(desk: Desk, field: str) -> None:
    """A language without phrases is 422 and says which there are, instead of a letter half in English."""
    async with desk.signed_in() as client:
        refused = await client.post(DRAFTS, json={"message": TICKETS["en"][0], field: "xx"})
    assert refused.status_code == 422
    assert "zh-Hans" in refused.json()["error"]


@pytest.mark.parametrize(
    ("asked", "given"),
    [("zh-CN", "zh-Hans"), ("ZH_hant", "zh-Hant"), ("ES", "es"), ("ja-JP", "ja"), ("en-GB", "en")],
)
async def test_languages_are_taken_however_they_are_written(desk: Desk, asked: str, given: str) -> None:
    """A code in another form gives the letter, and the siblings, in that language."""
    async with desk.signed_in() as client:
        body = {"message": TICKETS["en"][0], "language": asked, "agent_language": asked}
        draft = (await client.post(DRAFTS, json=body)).json()
    assert (draft["language"], draft["agent_language"]) == (given, given)


@pytest.mark.parametrize("language", list(TICKETS))
async def test_a_case_asks_for_nothing_invented(
    desk: Desk, language: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Figures that no article holds do not get into a case; two cases of one draft stand in one file; the evals read
    it."""
    async with desk.signed_in() as client:
        draft = (await client.post(DRAFTS, json={"message": TICKETS[language][0]})).json()
        path = f"{DRAFTS}/{draft['id']}"
        changed = texts(draft, q1=f"{draft['parts'][1]['text']}\n{INVENTED[language]}")
        saved = (await client.put(path, json=changed)).json()
        cases = [
            (await client.post(f"{path}/case", json={"version": saved["version"], "part_id": part})).text
            for part in ("q1", "q2")
        ]
    folder = tmp_path_factory.mktemp("cases") / language
    folder.mkdir()
    (folder / "desk.yaml").write_text("".join(cases), encoding="utf-8")
    assert len(read_cases("desk", folder=folder.parent)) == 2
    assert "777" not in str(yaml.safe_load(cases[0])[0].get("figures"))


@pytest.mark.parametrize("place", ["proposals", "case"])
async def test_only_what_was_seen_is_proposed(desk: Desk, place: str) -> None:
    """Where somebody has saved another version, an entry or case of the old one is 409."""
    async with desk.signed_in("editor") as client:
        draft = (await client.post(DRAFTS, json={"message": TICKETS["ja"][0]})).json()
        path = f"{DRAFTS}/{draft['id']}"
        assert (await client.put(path, json=texts(draft, q1="別の文。"))).status_code == 200
        refused = await client.post(f"{path}/{place}", json={"version": 1, "part_id": "q1"})
    assert refused.status_code == 409


async def test_control_characters_do_not_reach_the_store(desk: Desk) -> None:
    """What no database takes, or no reader sees, is left out of a saved text; joiners and line ends stay."""
    async with desk.signed_in() as client:
        draft = (await client.post(DRAFTS, json={"message": TICKETS["en"][0]})).json()
        changed = texts(draft, q1="a\u0000b\u0007\r\nنمی\u200cخواهم")
        saved = (await client.put(f"{DRAFTS}/{draft['id']}", json=changed)).json()
    assert saved["parts"][1]["text"] == "ab\nنمی\u200cخواهم"


async def test_versions_of_nothing_are_not_found(desk: Desk) -> None:
    """The history of a draft that does not exist is 404."""
    async with desk.signed_in() as client:
        assert (await client.get(f"{DRAFTS}/nothing/versions")).status_code == 404


def parts(*names: str, text: str = "x") -> list[dict[str, str]]:
    return [{"id": name, "text": text} for name in names]


@pytest.mark.parametrize("language", list(TICKETS))
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (parts("greeting", "q1", "q1"), "parts: q1 is there twice"),
        (parts("q2", "greeting", "q2", "greeting"), "parts: q2 is there twice"),
        (parts("q1", "q99"), "no part q99; it has greeting, q1"),
        ([], "at least 1"),
        (parts(*(f"q{number}" for number in range(41))), "at most 40"),
        (parts("q1", text="長" * 8001), "8000"),
        (parts("q1 "), "has an unusable form"),
    ],
    ids=["twice", "two of them", "unknown", "none", "too many", "too long", "no id"],
)
async def test_parts_that_can_t_be_saved(desk: Desk, language: str, given: list[dict[str, str]], words: str) -> None:
    """A list of parts that names one twice, one that is not there, none or too many is 422 in one sentence, and the
    letter stays as it was."""
    async with desk.signed_in() as client:
        draft = await write(client, language)
        path = f"{DRAFTS}/{draft['id']}"
        refused = await client.put(path, json={"version": draft["version"], "parts": given})
        assert refused.status_code == 422, refused.text
        assert list(refused.json()) == ["error"]
        assert words in refused.json()["error"]
        assert (await client.get(path)).json()["parts"] == draft["parts"]


async def test_evidence_is_named_once(desk: Desk) -> None:
    """Passages to write a part from are named once each, exist, and are few; anything else is 422 in one sentence."""
    async with desk.signed_in() as client:
        draft = await write(client, "zh-Hans")
        known = [one["passage_id"] for one in draft["questions"][0]["evidence"]]
        for ids, words in (
            ([known[0], known[0]], "is there twice"),
            (["nothing"], "no such evidence"),
            ([known[0]] * 4, "at most 3"),
        ):
            body = {"version": draft["version"], "passage_ids": ids}
            refused = await client.post(f"{DRAFTS}/{draft['id']}/parts/q1/regenerate", json=body)
            assert refused.status_code == 422, refused.text
            assert words in refused.json()["error"]


@pytest.mark.parametrize("name", ["%00", "a%0Ab", "x" * 200, "%E9%A1%8D"], ids=["NUL", "line", "long", "not ASCII"])
async def test_names_that_no_draft_has_are_refused(desk: Desk, name: str) -> None:
    """A draft's name of a form that none has does not reach the store."""
    async with desk.signed_in() as client:
        for path in (f"{DRAFTS}/{name}", f"{DRAFTS}/{name}/versions", f"/api/v1/staff/proposals/{name}/ja.md"):
            assert (await client.get(path)).status_code in (404, 422)


@pytest.mark.parametrize("end", ["\r", "\v", "\f", "\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("language", list(TICKETS))
async def test_lines_of_any_kind_stay_lines(desk: Desk, language: str, end: str) -> None:
    """Whatever ends the lines of a customer's message and of an agent's text, its questions and lines stay apart."""
    async with desk.signed_in() as client:
        plain = await write(client, language)
        body = {"message": TICKETS[language][0].replace("\n", end), "agent_language": "es"}
        draft = (await client.post(DRAFTS, json=body)).json()
        assert [one["text"] for one in draft["questions"]] == [one["text"] for one in plain["questions"]]
        saved = (await client.put(f"{DRAFTS}/{draft['id']}", json=texts(draft, q1=f"一{end}二"))).json()
    assert saved["parts"][1]["text"] == "一\n二"
