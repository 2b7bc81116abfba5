"""The pages Gaps and Insight over HTTP: shown, narrowed, exported; no customer's word becomes markup or a formula."""

from __future__ import annotations

import csv
import html
import io
import time
from collections.abc import Iterator

import pytest

from assistant.store import DAY_S, Store
from assistant.surfaces.staff.charts import stacked_bars
from assistant.surfaces.staff.draft_counts import HEADS
from assistant.surfaces.staff.filters import CHANNELS
from assistant.wording import Wordings
from evals.records import fill
from tests.fakes import FakeAssistant
from tests.staff import Desk, keep_draft, make_desk

LANGUAGES = ["zh-Hans", "ja", "es", "en", "ar"]
PAGES = ["/staff/gaps", "/staff/insight"]
HOSTILE = "<b>礼品</b>&\"'包装"
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1+1", " =1", "　=1", "|cmd", "%0A"]


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    """A desk over three hundred records of a month, and two topics of its own."""
    made = make_desk(FakeAssistant())
    fill(made.staff.store, 300)
    add_topic(made.staff.store, "hostile", HOSTILE, 40)
    yield made
    made.staff.store.close()


def add_topic(store: Store, name: str, text: str, count: int) -> None:
    """A topic of so many questions in the same words."""
    from assistant.tables import answers, conversations, gap_questions

    at = time.time()
    rows = [f"{name}{number}" for number in range(count)]
    with store.engine.write() as connection:
        connection.execute(conversations.insert(), [{"id": row, "begun": at, "touched": at} for row in rows])
        kept = {
            "at": at, "question": text, "said": "…", "language": "zh-Hans", "intent": "question", "confidence": 0.1,
            "outcome": "abstained", "searched": [text], "found": [], "cited": [], "offered": [], "signals": {},
            "channel": "slack", "took_ms": 9.0, "day": int(at // DAY_S), "step": 1,
        }  # fmt: skip
        connection.execute(answers.insert(), [{"id": row, "conversation_id": row, **kept} for row in rows])
        gap = {
            "at": at, "language": "zh-Hans", "channel": "slack", "is_rated": False, "model": "m", "text": text,
            "vector": b"", "topic": name, "closeness": 1.0, "part": 0, "words": 1,
        }  # fmt: skip
        connection.execute(gap_questions.insert(), [{"answer_id": row, **gap} for row in rows])


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PAGES)
async def test_pages_speak_the_agents_language(desk: Desk, path: str, language: str) -> None:
    """Each page has its labels in the agent's language, and no label is left unfilled."""
    text = Wordings().nearest(language).staff_insight
    async with desk.signed_in(name=f"{path} {language}") as client:
        page = await client.get(path, params={"language": language})
    assert page.status_code == 200
    assert f'lang="{language}"' in page.text
    assert text["asked"] in page.text
    assert text["channel_slack"] in page.text
    assert "{" not in page.text.partition("<main")[2].partition(">")[2]


@pytest.mark.parametrize("path", [*PAGES, "/staff/gaps.csv", "/staff/insight.csv"])
@pytest.mark.parametrize("query", ["days=0", "days=1000", "asked_in=../x", "channel=mail", "days=x"])
async def test_bad_filters_are_told(desk: Desk, path: str, query: str) -> None:
    """A filter that can't be used is refused in one sentence that names it."""
    async with desk.signed_in(name=f"{path} {query}") as client:
        page = await client.get(f"{path}?{query}")
    assert page.status_code == 422
    assert query.partition("=")[0] in page.json()["error"]


async def test_a_customers_words_are_text(desk: Desk) -> None:
    """Markup in a question is shown, never obeyed."""
    async with desk.signed_in(name="markup") as client:
        page = await client.get("/staff/gaps")
    assert "<b>礼品" not in page.text
    assert "&lt;b&gt;礼品&lt;/b&gt;&amp;&quot;&#x27;包装" in page.text


@pytest.mark.parametrize("channel", CHANNELS)
async def test_rows_and_counts_are_narrowed(desk: Desk, channel: str) -> None:
    """Over the API and on the page the same filters narrow the same counts."""
    async with desk.signed_in(name=channel) as client:
        whole, gaps = [
            (await client.get(path, params={"channel": channel, "days": 90})).json()
            for path in ("/api/v1/staff/insight", "/api/v1/staff/gaps")
        ]
    assert [part["name"] for part in whole["channels"]] == [channel]
    assert whole["total"]["asked"] == sum(part["counts"]["asked"] for part in whole["languages"])
    assert whole["total"]["asked"] == sum(day["counts"]["asked"] for day in whole["days"])
    assert len(whole["days"]) == 90
    assert all([name for name, _ in gap["channels"]] == [channel] for gap in gaps["shown"])
    assert gaps["questions"] == sum(gap["size"] for gap in gaps["shown"]) or len(gaps["shown"]) == 50


async def test_equal_questions_are_one_line(desk: Desk) -> None:
    """The same words of several customers are one example with their number, on the page as in the API."""
    async with desk.signed_in(name="equal") as client:
        page = (await client.get("/staff/gaps")).text
        found = (await client.get("/api/v1/staff/gaps", params={"topic": "hostile"})).json()
    assert [one["count"] for one in found["shown"][0]["examples"]] == [40]
    shown = html.escape(HOSTILE)
    assert page.count(f">{shown}</span>") == 1
    assert f'>{shown}</span>&nbsp;<bdi class="soft">×40</bdi></li>' in page


async def test_one_topic_is_read_alone(desk: Desk) -> None:
    """The API gives one topic by its id."""
    async with desk.signed_in(name="one") as client:
        found = (await client.get("/api/v1/staff/gaps", params={"topic": "hostile"})).json()
    assert [(gap["topic"], gap["size"], gap["title"]["text"]) for gap in found["shown"]] == [("hostile", 40, HOSTILE)]


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
@pytest.mark.parametrize("name", ["gaps", "insight"])
async def test_sheets_are_for_spreadsheets(desk: Desk, name: str, language: str) -> None:
    """The CSV begins with a byte order mark, has the language's headings, and as many cells in each row."""
    async with desk.signed_in(name=f"sheet {name} {language}") as client:
        sheet = await client.get(f"/staff/{name}.csv", params={"language": language})
    assert sheet.headers["content-type"] == "text/csv; charset=utf-8"
    assert sheet.headers["content-disposition"] == f'attachment; filename="{name}.csv"'
    assert sheet.text.startswith("\ufeff")
    head, *rows = csv.reader(io.StringIO(sheet.text.removeprefix("\ufeff")))
    assert Wordings().nearest(language).staff_insight["asked"] in head
    assert len(rows) >= 30
    assert {len(row) for row in rows} == {len(head)}


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en", "ar"])
async def test_endings_of_drafts_are_shown(language: str) -> None:
    """The page, the API and the sheet tell how drafts ended and how much was changed, in the agent's language; a
    language that only drafts are in can be chosen, and nothing sent has no share."""
    desk, text = make_desk(FakeAssistant()), Wordings().nearest(language).staff_insight
    for ended, changed in (("unedited", 0), ("edited", 3), ("rejected", 9), ("", 0)):
        keep_draft(desk.staff.store, "ko", ended, changed)  # type: ignore[arg-type]  # the literals
    keep_draft(desk.staff.store, "hi")
    async with desk.signed_in() as client:
        page = (await client.get("/staff/insight", params={"language": language})).text
        drafts = (await client.get("/api/v1/staff/insight")).json()["drafts"]
        sheet = await client.get("/staff/insight.csv", params={"language": language, "asked_in": "ko"})
    assert f'aria-label="{html.escape(text["drafts_by_language"])}"' in page
    assert all(html.escape(text[name]) in page for name in HEADS)
    assert '<option value="ko"' in page
    assert drafts["total"]["endings"] == {"unedited": 1, "edited": 1, "rejected": 1, "open": 2}
    assert [part["name"] for part in drafts["languages"]] == ["ko", "hi"]
    assert drafts["languages"][0]["counts"]["changed"] == {"quarter": 0.075, "half": 0.15, "three_quarters": 0.225}
    assert drafts["languages"][1]["counts"]["changed"] is None
    assert len(drafts["days"]) == 30
    head, *rows = csv.reader(io.StringIO(sheet.text.removeprefix("\ufeff")))
    assert head[-len(HEADS) :] == [text[name] for name in HEADS]
    assert rows[-1][-len(HEADS) :] == ["4", "1", "1", "1", "1", "0.075", "0.15", "0.225"]
    assert rows[0][-len(HEADS) :] == ["0", "0", "0", "0", "0", "", "", ""]
    desk.staff.store.close()


@pytest.mark.parametrize("formula", FORMULAS)
async def test_no_formula_leaves(formula: str) -> None:
    """A question that a spreadsheet would run is quoted."""
    desk = make_desk(FakeAssistant())
    add_topic(desk.staff.store, "t", formula, 1)
    async with desk.signed_in() as client:
        sheet = await client.get("/staff/gaps.csv")
    row = list(csv.reader(io.StringIO(sheet.text.removeprefix("\ufeff"))))[1]
    assert [cell for cell in row if formula.strip() in cell] == [f"'{formula}"] * 2
    desk.staff.store.close()


@pytest.mark.parametrize("path", PAGES)
async def test_an_empty_store_says_so(path: str) -> None:
    """Where nothing was asked the page says so instead of showing empty charts."""
    desk = make_desk(FakeAssistant())
    async with desk.signed_in() as client:
        page = await client.get(path, params={"language": "ja"})
    text = Wordings().nearest("ja").staff_insight
    assert text["no_gaps" if path.endswith("gaps") else "nothing"] in page.text
    assert (text["no_drafts"] in page.text) is path.endswith("insight")
    assert "<svg class" not in page.text
    desk.staff.store.close()


def test_bars_are_as_high_as_their_share() -> None:
    """The largest column fills the picture, parts lie on top of each other, nothing draws nothing."""
    drawn = stacked_bars([[1, 1], [4, 0], [0, 0]], ["a", "b"], 'é "x"')
    assert drawn.count("<rect") == 3
    assert 'class="a" x="1" y="75.00" width="8" height="25.00"' in drawn
    assert 'class="b" x="1" y="50.00" width="8" height="25.00"' in drawn
    assert 'class="a" x="11" y="0.00" width="8" height="100.00"' in drawn
    assert 'aria-label="é &quot;x&quot;"' in drawn
    assert stacked_bars([], ["a"], "x").count("<rect") == 0
