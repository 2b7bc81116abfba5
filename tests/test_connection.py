"""Connections to a real server: heads without end, clients that say nothing or little, queries of many fields."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from assistant.surfaces import connection
from tests.fakes import REPLIES, FakeAssistant

LANGUAGES = ["zh-Hans", "ja", "es", "en"]


def spoken(address: str, *pieces: bytes, pause_s: float = 0.0) -> tuple[bytes, float]:
    """What the server answers to bytes sent one after another until it closes, and after how many seconds."""
    started = time.monotonic()
    parts = urlsplit(address)
    answer = b""
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=20) as line:
        try:
            for piece in pieces:
                line.sendall(piece)
                time.sleep(pause_s)
            while more := line.recv(65536):
                answer += more
        except ConnectionError:
            pass  # the server closes while there is more to come
    return answer, time.monotonic() - started


def request(body: bytes, *headers: bytes, path: bytes = b"/api/v1/chat") -> bytes:
    given = b"".join(header + b"\r\n" for header in headers)
    head = b"POST " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n" + given
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_request_gets_its_answer(start_server: Callable[..., str], fake: FakeAssistant, language: str) -> None:
    """A question sent byte by byte, with a head below the limit, is answered in its language."""
    body = f'{{"message": "{REPLIES[language][0]}"}}'.encode()
    whole = request(body, b"X-Long: " + b"x" * 30_000)
    answer, _ = spoken(start_server(fake), *(whole[at : at + 7000] for at in range(0, len(whole), 7000)), pause_s=0.01)
    assert answer.startswith(b"HTTP/1.1 200")
    assert f'"language":"{language}"'.encode() in answer


@pytest.mark.parametrize("name", [b"X-Long: ", b"Cookie: ", b"Accept-Language: "])
def test_a_head_without_end_is_refused(start_server: Callable[..., str], fake: FakeAssistant, name: bytes) -> None:
    """A head larger than the limit is not kept: the connection is closed after it."""
    pieces = [b"GET / HTTP/1.1\r\nHost: x\r\n" + name, *[b"x" * 65536] * 200]
    answer, seconds = spoken(start_server(fake), *pieces)
    assert b" 200 " not in answer
    assert seconds < 10


@pytest.mark.parametrize(
    ("pieces", "pause_s"),
    [
        ((), 0.0),
        ((b"GET / HT",), 0.0),
        ((b"G",) * 40, 0.05),
        ((b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HT"), 0.1),
    ],
    ids=["nothing", "half a head", "a head in drops", "half a second head"],
)
def test_who_asks_nothing_is_not_waited_for(
    start_server: Callable[..., str],
    fake: FakeAssistant,
    monkeypatch: pytest.MonkeyPatch,
    pieces: tuple[bytes, ...],
    pause_s: float,
) -> None:
    """A connection whose request does not come in time is closed, however slowly its bytes drop in."""
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.5)
    _, seconds = spoken(start_server(fake), *pieces, pause_s=pause_s)
    assert seconds < 4


@pytest.mark.parametrize("fields", [49, 51, 500])
def test_queries_of_many_fields(start_server: Callable[..., str], fake: FakeAssistant, fields: int) -> None:
    """A foreign page's request with more fields than any of ours is refused in words like any other foreign page's."""
    query = b"&".join(b"key=%d" % number for number in range(fields))
    whole = request(b'{"message": "a"}', b"Origin: https://shop.example.com", path=b"/api/v1/chat?" + query)
    answer, _ = spoken(start_server(fake), whole)
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"this page may not use the assistant" in answer
