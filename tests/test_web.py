"""The HTTP surface: answers, streams, refusals, limits; over real HTTP where the connection itself matters."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
import regex

from assistant.errors import IndexUnavailable
from assistant.settings import Settings, read_settings
from assistant.surfaces import backend, chat, stream
from assistant.surfaces.guard import JsonLines
from assistant.surfaces.page import preferred_language
from assistant.surfaces.web import create_app
from assistant.wording import Wordings
from tests.fakes import REPLIES, FakeAssistant, answer

CHAT = "/api/v1/chat"
STREAM = {"Accept": "text/event-stream"}
JSON = {"Content-Type": "application/json"}
LANGUAGES = list(REPLIES)
BAD_REQUESTS = {
    "empty": (b'{"message": ""}', JSON, 422),
    "invisible": (b'{"message": " \\u200b\\n"}', JSON, 422),
    "over-long": ('{"message": "' + "長" * 201 + '"}', JSON, 422),
    "control character": (b'{"message": "a\\u0000b"}', JSON, 422),
    "lone surrogate": (b'{"message": "\\ud800"}', JSON, 422),
    "invalid UTF-8": (b'{"message": "\xff"}', JSON, 400),
    "number": (b'{"message": 7}', JSON, 422),
    "null": (b'{"message": null}', JSON, 422),
    "list": (b'{"message": ["a"]}', JSON, 422),
    "no message": (b"{}", JSON, 422),
    "array": (b"[]", JSON, 422),
    "no body": (b"", JSON, 422),
    "cut off": (b'{"mess', JSON, 400),
    "unknown field": (b'{"message": "a", "system": "b"}', JSON, 422),
    "unreadable field": (b'{"message": "a", "\\ud800": "b"}', JSON, 422),
    "bad language": (b'{"message": "a", "page_language": "../../etc"}', JSON, 422),
    "bad conversation": (b'{"message": "a", "conversation_id": "a\\nb"}', JSON, 422),
    "numeric conversation": (b'{"message": "a", "conversation_id": 7}', JSON, 422),
    "too deep": (b'{"message": ' + b"[" * 20_000 + b"]" * 20_000 + b"}", JSON, 400),
    "too large": (b'{"message": "' + b"a" * 70_000 + b'"}', JSON, 413),
    "plain text": (b'{"message": "a"}', {"Content-Type": "text/plain"}, 415),
    "form": (b'{"message": "a"}', {"Content-Type": "application/x-www-form-urlencoded"}, 415),
    "no type": (b'{"message": "a"}', {}, 415),
}


def client_for(fake: FakeAssistant, **settings: object) -> httpx2.AsyncClient:
    app = create_app(fake, Settings(**settings))  # type: ignore[arg-type]
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app, raise_app_exceptions=False), base_url="http://test")


@pytest.fixture
async def client(fake: FakeAssistant) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_for(fake) as client:
        yield client


def events(text: str) -> list[tuple[int, str, dict[str, object]]]:
    """(id, name, data) of each Server-Sent Event; comments are left out."""
    found = []
    for frame in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in frame.splitlines() if not line.startswith(":"))
        if fields:
            found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return found


def is_one_sentence(response: httpx2.Response) -> bool:
    """Whether the body is the uniform error: one key, one line, no traceback."""
    body = response.json()
    return list(body) == ["error"] and "\n" not in body["error"] and "Traceback" not in body["error"] and body["error"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_chat_gives_the_answer(client: httpx2.AsyncClient, language: str) -> None:
    """A question in any language gets the contract's Answer as JSON."""
    response = await client.post(CHAT, json={"message": REPLIES[language][0], "page_language": language})
    assert response.status_code == 200
    assert response.json()["text"] == answer(language).text
    assert response.json()["language"] == language


@pytest.mark.parametrize("language", LANGUAGES)
async def test_chat_streams_the_answer(client: httpx2.AsyncClient, language: str) -> None:
    """A client that accepts an event stream gets progress, the sentences that make up the text, and the same Answer."""
    response = await client.post(CHAT, json={"message": REPLIES[language][0]}, headers=STREAM)
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["x-accel-buffering"] == "no"
    found = events(response.text)
    assert [name for _, name, _ in found] == ["progress", "progress", "sentence", "sentence", "answer"]
    assert [number for number, _, _ in found] == [1, 2, 3, 4, 5]
    assert found[0][2] == {"stage": "understand"}
    assert found[2][2]["citations"][0]["n"] == 1  # type: ignore[index]
    assert found[-1][2]["language"] == language
    assert set(found[-1][2]) >= {"html", "citations", "outcome"}


@pytest.mark.parametrize(("body", "headers", "status"), BAD_REQUESTS.values(), ids=BAD_REQUESTS)
@pytest.mark.parametrize("accept", [{}, STREAM], ids=["json", "stream"])
async def test_bad_requests_are_refused(
    client: httpx2.AsyncClient, body: bytes, headers: dict[str, str], status: int, accept: dict[str, str]
) -> None:
    """What can't be a question is refused with its status and one sentence, whichever form the client wants."""
    response = await client.post(CHAT, content=body, headers={**headers, **accept})
    assert response.status_code == status
    assert is_one_sentence(response)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/assets/../web.py", 404),
        ("GET", "/assets/%2e%2e/web.py", 404),
        ("GET", "/docs", 404),
        ("GET", "/redoc", 404),
        ("GET", CHAT, 405),
        ("DELETE", "/healthz", 405),
        ("OPTIONS", CHAT, 405),
        ("GET", "/?language=%3Cscript%3E", 422),
        ("GET", "/api/v1/interface?language=" + "x" * 500, 422),
    ],
)
async def test_bad_addresses_are_refused(client: httpx2.AsyncClient, method: str, path: str, status: int) -> None:
    """Unknown addresses, methods and parameters get the same form of error; API docs do not exist."""
    response = await client.request(method, path)
    assert response.status_code == status
    assert is_one_sentence(response)
    assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/", "/healthz", "/readyz", "/openapi.json", "/widget.js", "/nowhere", CHAT])
async def test_every_response_is_guarded(client: httpx2.AsyncClient, path: str) -> None:
    """Pages, files, API and errors all carry the security headers; scripts and styles come from here alone."""
    headers = (await client.get(path)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


async def test_unexpected_failures_stay_inside(client: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture) -> None:
    """A defect becomes a 500 of one sentence; the log names the place but holds nothing of the message."""
    with caplog.at_level(logging.INFO):
        response = await client.post(CHAT, json={"message": "broken secret-words"})
    assert response.status_code == 500
    assert is_one_sentence(response)
    logged = "".join(JsonLines().format(record) for record in caplog.records)
    assert "RuntimeError" in logged
    assert "fakes.py" in logged
    assert "secret-words" not in logged


async def test_failures_in_a_stream_become_events(client: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture) -> None:
    """What breaks once the stream has begun ends it with an `error` event of one sentence."""
    broken = await client.post(CHAT, json={"message": "broken secret-words"}, headers=STREAM)
    gone = await client.post(CHAT, json={"message": REPLIES["ja"][0] + "unavailable"}, headers=STREAM)
    assert [name for _, name, _ in events(broken.text)] == ["progress", "error"]
    assert "secret-words" not in events(broken.text)[-1][2]["error"]  # type: ignore[operator]
    assert "secret-words" not in caplog.text
    assert events(gone.text)[-1][1:] == ("error", {"error": "the vector store has gone; start it again"})


async def test_access_lines_hold_no_words_of_the_visitor(
    client: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    """An access line is JSON with route, status and time, and nothing of the message or the address as sent."""
    with caplog.at_level(logging.INFO, logger="assistant.access"):
        await client.post(CHAT, json={"message": REPLIES["es"][0]})
        await client.get("/secret-words?secret-words")
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records if record.name == "assistant.access"]
    assert [(line["route"], line["method"], line["status"]) for line in lines] == [
        (CHAT, "POST", 200),
        ("-", "GET", 404),
    ]
    assert not [line for line in lines if "secret" in str(line) or "devolución" in str(line)]


async def test_no_more_than_the_limit_are_in_work(fake: FakeAssistant) -> None:
    """One request more than the limit is turned away with Retry-After, and let in once another is done."""
    async with client_for(fake, concurrency=1) as client:
        first = asyncio.create_task(client.post(CHAT, json={"message": "slow"}))
        await fake.began.wait()
        second = await client.post(CHAT, json={"message": REPLIES["en"][0]})
        assert second.status_code == 503
        assert second.headers["retry-after"] == "1"
        assert is_one_sentence(second)
        fake.go.set()
        assert (await first).status_code == 200
        assert (await client.post(CHAT, json={"message": REPLIES["en"][0]})).status_code == 200


async def test_slow_answers_are_stopped(fake: FakeAssistant) -> None:
    """At the time limit the work stops, the client is told in the form it asked for, and the place is free again."""
    async with client_for(fake, concurrency=1, request_timeout_s=0.1) as client:
        whole = await client.post(CHAT, json={"message": "slow"})
        streamed = await client.post(CHAT, json={"message": "slow"}, headers=STREAM)
        after = await client.post(CHAT, json={"message": REPLIES["zh-Hans"][0]})
    assert whole.status_code == 504
    assert is_one_sentence(whole)
    assert [name for _, name, _ in events(streamed.text)] == ["progress", "error"]
    assert fake.stopped == 2
    assert after.status_code == 200


async def test_silence_is_filled_with_heartbeats(fake: FakeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """While nothing happens the stream carries comments, which keep proxies from closing it and are no events."""
    monkeypatch.setattr(stream, "HEARTBEAT_S", 0.02)
    async with client_for(fake, request_timeout_s=0.2) as client:
        response = await client.post(CHAT, json={"message": "slow"}, headers=STREAM)
    assert response.text.count(": still here\n\n") >= 3
    assert [number for number, _, _ in events(response.text)] == [1, 2]


async def test_conversations_go_on(client: httpx2.AsyncClient, fake: FakeAssistant) -> None:
    """With its conversation's id a message is asked with the user's earlier ones; without, or with another, alone."""
    for conversation, message in (("c1", "uno"), ("c1", "二"), ("c2", "三"), ("c1", "four"), (None, "five")):
        await client.post(CHAT, json={"message": message, "conversation_id": conversation})
    assert [(text, history) for text, _, _, history in fake.asked] == [
        ("uno", ()), ("二", ("uno",)), ("三", ()), ("four", ("uno", "二")), ("five", ()),
    ]  # fmt: skip


async def test_openapi_describes_the_chat(client: httpx2.AsyncClient) -> None:
    """The description holds examples in four languages, the stream's media type and the error's form."""
    operation = (await client.get("/openapi.json")).json()["paths"][CHAT]["post"]
    assert set(operation["requestBody"]["content"]["application/json"]["examples"]) == {"zh", "ja", "es", "en"}
    assert set(operation["responses"]["200"]["content"]) == {"application/json", "text/event-stream"}
    assert operation["responses"]["503"]["content"]["application/json"]["schema"]["$ref"].endswith("ErrorBody")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("zh-CN", "退款需要多久？"),
        ("zh-TW", "退款需要多久？"),
        ("ja", "返金には何日かかりますか？"),
        ("es-MX", "¿Cuánto tarda una devolución?"),
        ("en", "How long does a refund take?"),
        ("fr", None),
    ],
)
async def test_sample_questions_come_from_the_articles(
    client: httpx2.AsyncClient, code: str, expected: str | None
) -> None:
    """Sample questions are the articles' own in that language, or none; Chinese spellings stand in for each other."""
    found = (await client.get(f"/api/v1/suggestions?language={code}")).json()
    assert found == ([expected] if expected else [])


@pytest.mark.parametrize("language", Wordings().languages)
async def test_page_speaks_every_language(client: httpx2.AsyncClient, language: str) -> None:
    """The page and the widget's labels come in each language of phrases/, with its direction."""
    html = (await client.get(f"/?language={language}")).text
    labels = (await client.get(f"/api/v1/interface?language={language}")).json()
    direction = "rtl" if language == "ar" else "ltr"
    assert f'<html lang="{language}" dir="{direction}">' in html
    assert (labels["language"], labels["direction"], labels["message_limit"]) == (language, direction, 2000)
    assert escape(labels["labels"]["message_placeholder"]) in html
    assert escape(labels["labels"]["help_title"]) in html
    assert f'lang="{language}" hreflang="{language}" aria-current="true"' in html


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, False),
        ({"slack_handover_channel": "C0123ABCD"}, False),
        ({"handover_url": "https://help.example.com"}, True),
        ({"handover_email": "help@example.com"}, True),
        ({"handover_webhook": "https://help.example.com/hook"}, True),
    ],
    ids=["nobody", "Slack alone", "page", "e-mail", "webhook"],
)
async def test_the_widget_knows_whether_there_is_a_person(
    fake: FakeAssistant, settings: dict[str, object], expected: bool, language: str
) -> None:
    """The labels say whether a person can be reached from a page; those whom Slack reaches can't be."""
    async with client_for(fake, **settings) as client:
        labels = (await client.get(f"/api/v1/interface?language={language}")).json()
    assert labels["has_person"] is expected


async def test_page_stands_without_articles(tmp_path: Path) -> None:
    """With no corpus, the page has its question box and its tag."""
    async with client_for(FakeAssistant(), corpus=tmp_path / "nowhere") as client:
        html = (await client.get("/?language=ja")).text
    assert 'id="question"' in html
    assert "widget.js" in html


async def test_metrics_count_without_words(client: httpx2.AsyncClient) -> None:
    """`/metrics` counts requests, answers by outcome and language, times, refusals; it holds no word of a message."""
    for language in ("zh-Hans", "ja", "es", "en"):
        await client.post(CHAT, json={"message": REPLIES[language][0]})
    await client.post(CHAT, json={"message": "secret-words"}, headers=STREAM)
    await client.post(CHAT, json={"message": "a"}, headers={"Origin": "https://evil.test"})
    response = await client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=")
    for line in (
        'assistant_requests_total{method="POST",route="/api/v1/chat",status="200"} 5.0',
        'assistant_answers_total{language="ja",outcome="answered"} 1.0',
        'assistant_answers_total{language="en",outcome="abstained"} 1.0',
        'assistant_refused_requests_total{reason="origin"} 1.0',
        "assistant_first_sentence_seconds_count 5.0",
        "assistant_open_streams 0.0",
    ):
        assert line in response.text
    assert "secret" not in response.text


async def test_metrics_are_not_public(fake: FakeAssistant) -> None:
    """A client from the internet does not see the numbers."""
    transport = httpx2.ASGITransport(create_app(fake, read_settings()), client=("93.184.216.34", 1))
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        assert (await client.get("/metrics")).status_code == 404


async def test_answers_are_logged_without_words(client: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture) -> None:
    """Each answer leaves one line of JSON: outcome, language, confidence, sources, times; nothing that was written."""
    with caplog.at_level(logging.INFO, logger="assistant.answers"):
        await client.post(CHAT, json={"message": REPLIES["ja"][0]}, headers=STREAM)
    (line,) = (
        json.loads(JsonLines().format(record)) for record in caplog.records if record.name == "assistant.answers"
    )
    assert (line["outcome"], line["language"], line["sources"], line["id"]) == ("answered", "ja", 2, "a1")
    assert "返金" not in json.dumps(line, ensure_ascii=False)


async def test_page_holds_no_inline_code_and_nothing_foreign(client: httpx2.AsyncClient) -> None:
    """The page has no inline script, style or handler, and loads only from this server."""
    html = (await client.get("/")).text
    assert "style=" not in html
    assert "<style" not in html
    assert not regex.search(r"<[^>]*\son\w+=", html)
    loaded = regex.findall(r'<(?:script|link)[^>]* (?:src|href)="([^"]*)"', html)
    assert len(loaded) == 4
    for address in loaded:
        assert (await client.get(address)).status_code == 200


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("ja,en;q=0.8", "ja"),
        ("zh-TW,zh;q=0.9", "zh-Hant"),
        ("zh-CN", "zh-Hans"),
        ("en;q=0.2, es-MX;q=0.9", "es"),
        ("ar;q=0, en", "en"),
        ("xx, *;q=0.1", "de"),
        ("", "de"),
        (";;;q=,,=", "de"),
        ("ja;q=high", "de"),
    ],
)
def test_browser_language_decides(header: str, expected: str) -> None:
    """The page comes in the best language the browser names that we have, else in the default."""
    assert preferred_language(header, Wordings().languages, "de") == expected


class Gate:
    """Builds an assistant once it is opened, after failing as often as told."""

    def __init__(self, failures: int = 0) -> None:
        self.opened, self.failures = threading.Event(), failures

    def __call__(self) -> FakeAssistant:
        if self.failures:
            self.failures -= 1
            raise IndexUnavailable("the vector store can't be reached; start it")
        self.opened.wait(20)
        return FakeAssistant()


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.opened.set()


def wait_for(url: str, status: int) -> httpx2.Response:
    for _ in range(500):
        response = httpx2.get(url)
        if response.status_code == status:
            return response
        time.sleep(0.02)
    raise AssertionError(f"{url} never gave {status}")


def test_server_listens_while_it_loads(
    start_server: Callable[..., str], gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the start the server is alive and serves the page; until loaded it is not ready and chats get 503."""
    monkeypatch.setattr(chat, "PATIENCE_S", 0.1)
    server = start_server(gate)
    assert httpx2.get(f"{server}/healthz").status_code == 200
    assert httpx2.get(f"{server}/").status_code == 200
    for response in (
        httpx2.get(f"{server}/readyz"),
        httpx2.get(f"{server}/api/v1/suggestions"),
        httpx2.post(server + CHAT, json={"message": "hi"}),
    ):
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) > 0
        assert is_one_sentence(response)
    gate.opened.set()
    wait_for(f"{server}/readyz", 200)
    assert httpx2.post(server + CHAT, json={"message": REPLIES["ja"][0]}).json()["language"] == "ja"


def test_chat_waits_for_a_server_that_is_nearly_ready(start_server: Callable[..., str], gate: Gate) -> None:
    """A chat that comes while the server loads is answered as soon as that is done."""
    server = start_server(gate)
    threading.Timer(0.3, gate.opened.set).start()
    assert httpx2.post(server + CHAT, json={"message": REPLIES["es"][0]}).status_code == 200


def test_failed_loading_is_told_and_tried_again(
    start_server: Callable[..., str], gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where loading fails, readiness says why in the error's own words, and loading is tried again."""
    monkeypatch.setattr(backend, "FIRST_DELAY_S", 0.3)
    gate.failures = 1
    server = start_server(gate)
    seen = [httpx2.get(f"{server}/readyz").json()["error"]]
    gate.opened.set()
    while (response := httpx2.get(f"{server}/readyz")).status_code == 503:
        seen.append(response.json()["error"])
        time.sleep(0.02)
    assert "the vector store can't be reached; start it" in seen


def test_loading_begun_early_is_not_done_twice(fake: FakeAssistant) -> None:
    """What was begun before the server is waited for by the first call; where it failed, a later call builds anew."""
    built: list[str] = []

    def build() -> FakeAssistant:
        built.append(threading.current_thread().name)
        if len(built) == 1:
            raise IndexUnavailable("the vector store can't be reached; start it")
        return fake

    load = backend.begin(build)
    with pytest.raises(IndexUnavailable, match="start it"):
        load()
    assert len(built) == 1
    assert load() is fake
    assert len(built) == 2


def connect(server: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", urlsplit(server).port or 0), timeout=10)


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_work_stops_when_the_client_goes(start_server: Callable[..., str], fake: FakeAssistant, accept: str) -> None:
    """A closed connection ends the work for it and frees its place."""
    server = start_server(fake, concurrency=1)
    body = b'{"message": "slow"}'
    with connect(server) as line:
        head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nContent-Type: application/json\r\n"
        line.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        while not fake.asked:
            time.sleep(0.01)
    for _ in range(500):
        if fake.stopped:
            break
        time.sleep(0.01)
    assert fake.stopped == 1
    assert httpx2.post(server + CHAT, json={"message": REPLIES["en"][0]}).status_code == 200


def test_chunked_bodies_are_limited(start_server: Callable[..., str], fake: FakeAssistant) -> None:
    """A body that does not say its length is cut off at the limit."""
    server = start_server(fake)

    def chunks() -> Iterator[bytes]:
        yield b'{"message": "'
        for _ in range(70):
            yield b"a" * 1000
        yield b'"}'

    response = httpx2.post(server + CHAT, content=chunks(), headers=JSON)
    assert response.status_code == 413
    assert is_one_sentence(response)


def test_sentences_arrive_one_by_one(start_server: Callable[..., str], fake: FakeAssistant) -> None:
    """Over real HTTP the stream begins before the answer is known."""
    server = start_server(fake, request_timeout_s=1)
    body = b'{"message": "slow"}'
    started = time.monotonic()
    with httpx2.stream("POST", server + CHAT, content=body, headers={**JSON, **STREAM}) as response:
        first = next(response.iter_text())
        assert time.monotonic() - started < 0.9
        assert first.startswith("event: progress\n")


def test_a_body_that_never_comes_is_given_up(
    start_server: Callable[..., str], fake: FakeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that announces a body and does not send it gets 408 in one sentence instead of a connection for ever."""
    monkeypatch.setattr("assistant.surfaces.guard.BODY_SECONDS", 0.3)
    host, _, port = start_server(fake).removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as client:
        client.sendall(
            b"POST /api/v1/chat HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{"
        )
        reply = client.recv(65536).decode()
    assert reply.startswith("HTTP/1.1 408")
    assert "did not arrive" in reply


@pytest.mark.parametrize("path", ["/", "/healthz", "/readyz"])
async def test_head_is_answered(client: httpx2.AsyncClient, path: str) -> None:
    """Monitors that ask for the head alone get the status of the whole."""
    assert (await client.head(path)).status_code == 200


@pytest.mark.parametrize(
    ("accept", "streams"),
    [
        ("text/event-stream", True),
        ("application/json, Text/Event-Stream;q=0.5", True),
        ("text/event-stream;q=0", False),
        ("text/event-stream; q=0.000, application/json", False),
        ("application/json", False),
        ("*/*", False),
    ],
)
async def test_a_stream_is_for_those_who_want_one(client: httpx2.AsyncClient, accept: str, streams: bool) -> None:
    """A client that names the event stream gets it, unless it gives it the weight zero."""
    response = await client.post(CHAT, json={"message": REPLIES["en"][0]}, headers={"Accept": accept})
    assert response.headers["content-type"].startswith("text/event-stream" if streams else "application/json")
