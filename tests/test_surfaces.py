"""One question, three surfaces: Slack, HTTP and the command line state the same facts with the same citations.

A slice of the eval cases is asked; `pytest tests/test_surfaces.py --every-case` asks all of them.
"""

from __future__ import annotations

import asyncio
import html
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import regex

from assistant.pipeline import Assistant
from assistant.surfaces.batch import answer_rows
from assistant.surfaces.render import is_web_address
from evals.cases import SETS, Case, read_cases
from tests.conftest import running
from tests.slack_apps import slack_settings
from tests.slack_events import Sender
from tests.slack_reader import Source, seen, sources_of
from tests.slack_server import SlackServer, slack_server

LANGUAGES = sorted(
    {file.parent.name for file in (Path(__file__).parent.parent / "evals" / "cases").glob("*/tuning.yaml")}
)
SLICE, AT_ONCE = 0.06, 4
MARKER = regex.compile(r'<sup><a href="#cite-([0-9]+)"[^>]*>[0-9]+</a></sup>')
TAG = regex.compile(r"<[^>]+>")


@dataclass(frozen=True)
class Said:
    """What a surface tells a person: words without spaces, and the sources."""

    words: str
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Surfaces:
    """A server with all of them, and the assistant behind it."""

    url: str
    slack: SlackServer
    assistant: Assistant


@pytest.fixture(scope="module")
def surfaces(real_assistant: Assistant, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surfaces]:
    with slack_server() as slack:
        settings = slack_settings(slack.url, home=tmp_path_factory.mktemp("surfaces"), request_timeout_s=120)
        with running(real_assistant, settings) as url:
            yield Surfaces(url, slack, real_assistant)


def as_json_says(answer: dict[str, Any]) -> Said:
    """What the contract's JSON tells, read from its HTML."""
    text = html.unescape(TAG.sub("", MARKER.sub(r"[\1]", answer["html"])))
    sources = (
        Source(one["n"], " › ".join(filter(None, (one["title"], one["heading"]))), one["url"], one["quote"])
        for one in answer["citations"]
    )
    return Said(squeeze(text), tuple(sources))


def as_slack_shows(message: dict[str, Any], known: Said) -> Said:
    """What a message in Slack tells; a place or quote that is visibly shortened counts as the whole of it."""
    sources = []
    for shown, whole in zip(sources_of(message), known.sources, strict=False):
        place = whole.place if is_shortened(shown.place, whole.place) else shown.place
        url = whole.url if not shown.url and not is_web_address(whole.url) else shown.url
        quote = whole.quote if is_shortened(shown.quote, whole.quote.strip()) else shown.quote
        sources.append(Source(shown.number, place, url, quote))
    sources += sources_of(message)[len(known.sources) :]
    return Said(squeeze(without_marks(message["blocks"][0])), tuple(sources))


def is_shortened(shown: str, whole: str) -> bool:
    return shown == whole or (shown.endswith("…") and whole.startswith(shown[:-1].rstrip()) and len(shown) > 20)


def without_marks(block: dict[str, Any]) -> str:
    """A block's text without bullets and numbers, which HTML leaves to the browser."""
    lines = []
    for element in block["elements"]:
        items = element["elements"] if element["type"] == "rich_text_list" else [element]
        lines += [seen(item) for item in items]
    return "\n".join(lines)


def squeeze(text: str) -> str:
    return regex.sub(r"[\s\u200f]+", "", text)  # the mark that turns a line is no word


def client_of(surfaces: Surfaces) -> httpx.AsyncClient:
    limits = httpx.Limits(keepalive_expiry=1)  # the server gives up idle connections after five seconds
    return httpx.AsyncClient(base_url=surfaces.url, timeout=120, limits=limits, trust_env=False)


async def by_http(client: httpx.AsyncClient, case: Case) -> dict[str, Any]:
    """The Answer to the case's last message, in one conversation with those before."""
    conversation = ""
    found: dict[str, Any] = {}
    for text in (*case.history, case.text):
        body = {"message": text, "conversation_id": conversation, "page_language": case.page_language}
        response = await client.post("/api/v1/chat", json=body)
        assert response.status_code == 200, f"{case.id}: {response.text}"
        found = response.json()
        conversation = found["conversation_id"]
    return found


async def by_slack(sender: Sender, slack: SlackServer, case: Case, locale: str = "") -> dict[str, Any]:
    """The bot's last message, in a direct conversation of a person whose profile has that locale."""
    user, channel = f"U{case.id}", f"D{case.id}"
    slack.workspace.users[user] = {"id": user, "locale": locale or case.page_language, "is_bot": False}
    for number, text in enumerate((*case.history, case.text), 1):
        event = slack.workspace.say(channel, user, html.escape(text, quote=False))
        assert (await sender.event(event)).status_code == 200
        await asyncio.to_thread(slack.wait_for, partial(has_replies, channel, number), 120)
    return slack.workspace.by_bot(channel)[-1]


def has_replies(channel: str, count: int, slack: SlackServer) -> bool:
    return len(slack.workspace.by_bot(channel)) >= count


def by_command(assistant: Assistant, cases: list[Case]) -> list[dict[str, Any]]:
    """What `assistant ask --batch --json` writes for the cases."""
    rows = [
        {"id": case.id, "text": case.text, "history": case.history, "page_language": case.page_language or None}
        for case in cases
    ]
    written: list[dict[str, Any]] = []
    lines = io.BytesIO("\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode())
    assert answer_rows(assistant, lines, written.append) == 0  # type: ignore[arg-type]  # each is a JSON object
    return written


@pytest.mark.parametrize("language", LANGUAGES)
async def test_facts_and_citations_are_the_same_everywhere(
    surfaces: Surfaces, language: str, request: pytest.FixtureRequest
) -> None:
    """Slack, HTTP and the command line give the same words, markers, sources, places, addresses and quotes."""
    cases = read_cases(SETS, (language,), share=1.0 if request.config.getoption("--every-case") else SLICE)
    slots = asyncio.Semaphore(AT_ONCE)

    async def ask(case: Case) -> tuple[dict[str, Any], dict[str, Any]]:
        async with slots:
            return await by_http(client, case), await by_slack(sender, surfaces.slack, case)

    async with (
        client_of(surfaces) as client,
        Sender(f"{surfaces.url}/slack/events") as sender,
    ):
        answers = await asyncio.gather(*(ask(case) for case in cases))
    commands = await asyncio.to_thread(by_command, surfaces.assistant, cases)
    differing: list[str] = []
    for case, (told, shown), printed in zip(cases, answers, commands, strict=True):
        known = as_json_says(told)
        if as_slack_shows(shown, known) != known:
            differing.append(f"{case.id}, Slack: {as_slack_shows(shown, known)} instead of {known}")
        if as_json_says(printed) != known or printed["outcome"] != told["outcome"]:
            differing.append(f"{case.id}, command: {as_json_says(printed)} instead of {known}")
    print(f"{language}: {len(cases)} cases, {len(differing)} differences")  # noqa: T201
    assert differing == []


@pytest.mark.parametrize(
    ("locale", "page"),
    [("zh-CN", "zh-Hans"), ("zh-TW", "zh-Hant"), ("ja-JP", "ja"), ("es-LA", "es"), ("en-GB", "en"), ("ko-KR", "ko")],
)
@pytest.mark.parametrize("text", ["Trainium", "?", "👍"], ids=["a name", "a sign", "an emoji"])
async def test_a_profiles_language_decides_as_a_pages_does(
    surfaces: Surfaces, locale: str, page: str, text: str
) -> None:
    """Where a message does not tell its language, that of the person's profile in Slack decides, as a page's does."""
    case = Case(id=f"{page}-{text}", text=text, kind="one-word", outcome=["social"], language=page, page_language=page)
    async with (
        client_of(surfaces) as client,
        Sender(f"{surfaces.url}/slack/events") as sender,
    ):
        told, shown = await by_http(client, case), await by_slack(sender, surfaces.slack, case, locale)
    assert told["language"] == page
    assert as_slack_shows(shown, as_json_says(told)) == as_json_says(told)
