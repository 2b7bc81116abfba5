"""Replies that outlive their connection: taken up again, read by several, ended in time, handed over at a shutdown."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest

from assistant.settings import Settings, read_settings
from assistant.surfaces import replies
from assistant.surfaces.web import create_app
from tests.fakes import REPLIES, FakeAssistant
from tests.test_web import STREAM, events

CHAT = "/api/v1/chat"
ID = "0123456789abcdef"
CHECKOUT = Path(__file__).parent.parent


def client_for(fake: FakeAssistant, **settings: object) -> httpx2.AsyncClient:
    app = create_app(fake, Settings(**settings))  # type: ignore[arg-type]
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test")


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
async def test_same_question_with_its_id_is_asked_once(fake: FakeAssistant, language: str) -> None:
    """Whoever asks again with the same id gets the same reply, from the event after the last one seen."""
    body = {"message": REPLIES[language][0], "request_id": ID}
    async with client_for(fake) as client:
        whole = await client.post(CHAT, json=body, headers=STREAM)
        rest = await client.post(CHAT, json=body, headers={**STREAM, "Last-Event-ID": "3"})
        answer = await client.post(CHAT, json=body)
    assert events(rest.text) == events(whole.text)[3:]
    assert answer.json() == events(whole.text)[-1][2]
    assert len(fake.asked) == 1


@pytest.mark.parametrize("last", ["99", "-1", "x", "9" * 400])
async def test_unusable_positions_begin_anew(fake: FakeAssistant, last: str) -> None:
    """A last event that the reply does not have gives the whole of it."""
    body = {"message": REPLIES["ja"][0], "request_id": ID}
    async with client_for(fake) as client:
        whole = await client.post(CHAT, json=body, headers=STREAM)
        again = await client.post(CHAT, json=body, headers={**STREAM, "Last-Event-ID": last})
    assert again.text == whole.text


async def test_replies_are_not_mixed_up(fake: FakeAssistant) -> None:
    """The same id with another question, conversation or language is another reply."""
    async with client_for(fake) as client:
        for body in (
            {"message": "a"}, {"message": "b"}, {"message": "a", "conversation_id": "c"},
            {"message": "a", "page_language": "ja"},
        ):  # fmt: skip
            await client.post(CHAT, json={**body, "request_id": ID})
    assert len(fake.asked) == 4


async def test_two_readers_share_one_reply(fake: FakeAssistant) -> None:
    """Two tabs that ask at the same moment with one id read one reply; it is worked on once."""
    body = {"message": f"{REPLIES['en'][0]} slow", "request_id": ID}
    async with client_for(fake, concurrency=1) as client:
        both = [asyncio.create_task(client.post(CHAT, json=body, headers=STREAM)) for _ in range(2)]
        await fake.began.wait()
        fake.go.set()
        first, second = await asyncio.gather(*both)
    assert events(first.text) == events(second.text)
    assert len(fake.asked) == 1


async def test_refused_reply_is_tried_again(fake: FakeAssistant) -> None:
    """What could not even begin, such as a question too many, is not kept: the same id may ask again."""
    async with client_for(fake, concurrency=1) as client:
        first = asyncio.create_task(client.post(CHAT, json={"message": "slow"}))
        await fake.began.wait()
        body = {"message": REPLIES["es"][0], "request_id": ID}
        assert (await client.post(CHAT, json=body)).status_code == 503
        fake.go.set()
        await first
        assert (await client.post(CHAT, json=body)).status_code == 200


async def test_nobody_comes_back(fake: FakeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply with an id goes on for a while after its reader has gone, and stops when nobody comes back."""
    monkeypatch.setattr(replies, "ABSENCE_S", 0.2)
    async with client_for(fake) as client:
        asked = asyncio.create_task(client.post(CHAT, json={"message": "slow", "request_id": ID}, headers=STREAM))
        await fake.began.wait()
        await asyncio.sleep(0.05)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        assert fake.stopped == 0
        for _ in range(100):
            if fake.stopped:
                break
            await asyncio.sleep(0.02)
    assert fake.stopped == 1


async def test_memory_is_bounded(fake: FakeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the latest replies are kept."""
    monkeypatch.setattr(replies, "KEPT", 3)
    app = create_app(fake, read_settings())
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test") as client:
        for number in range(20):
            await client.post(CHAT, json={"message": "a", "request_id": f"{number:016}"})
    assert len(app.state.replies) <= 4


SERVER = """
import asyncio, sys, threading, time
from pathlib import Path
from assistant.settings import Settings, read_settings
from assistant.surfaces import web
from tests.fakes import FakeAssistant
web.FINISH_S = float(sys.argv[1])
fake = FakeAssistant()
def resume():
    while not fake.asked:
        time.sleep(0.05)
    time.sleep(1)
    fake.resumed.set()
threading.Thread(target=resume, daemon=True).start()
web.serve(lambda: fake, Settings(port=0, corpus=Path("nowhere")), lambda address: print(address, flush=True))
"""


@pytest.mark.parametrize(
    ("message", "patience", "last"),
    [(f"{REPLIES['ja'][0]} pause", "8", "answer"), ("slow", "0.3", "moved")],
    ids=["finished", "handed over"],
)
def test_shutdown_loses_no_stream(message: str, patience: str, last: str) -> None:
    """After the signal to end, an open stream finishes; one that takes too long is told to ask the successor."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, patience],
        cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout
        address = process.stdout.readline().strip()
        names = []
        body = json.dumps({"message": message, "request_id": ID}).encode()
        headers = {"Content-Type": "application/json", **STREAM}
        with httpx2.stream("POST", f"{address}api/v1/chat", content=body, headers=headers, timeout=60) as stream:
            for line in stream.iter_lines():
                if line.startswith("event: "):
                    names.append(line.removeprefix("event: "))
                    if len(names) == 1:
                        process.send_signal(signal.SIGTERM)
        assert names[-1] == last
        started = time.monotonic()
        process.wait(30)
        assert time.monotonic() - started < 15
    finally:
        process.kill()
        process.communicate()
