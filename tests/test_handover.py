"""Handover: an address or a draft to offer, a hook that is told, signed, and told again until it hears."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from assistant import handover
from assistant.bootstrap import open_courier
from assistant.desk import Desk
from assistant.errors import InputError
from assistant.handover import Courier
from assistant.settings import read_settings
from assistant.store import Store

SECRET = "whsec_" + base64.b64encode(b"s" * 24).decode()


class Hook:
    """A server that records what it is told and answers as it is set to."""

    def __init__(self) -> None:
        self.told: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        self.delay = 0.0
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(hook.delay)
                hook.told.append(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(hook.answers.pop(0) if hook.answers else 204)
                self.end_headers()

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait(self, count: int) -> None:
        for _ in range(500):
            if len(self.told) >= count:
                return
            time.sleep(0.02)
        raise AssertionError(f"told {len(self.told)} times, not {count}")


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    monkeypatch.setattr(handover, "FIRST_DELAY_S", 0.05)
    monkeypatch.setattr(handover, "LOOK_EVERY_S", 0.05)
    hook = Hook()
    yield hook
    hook.server.shutdown()
    hook.server.server_close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(f"sqlite:///{tmp_path / 'x.sqlite3'}")
    yield store
    store.close()


def states(store: Store) -> list[str]:
    with store.engine.read() as connection:
        return [str(state) for (state,) in connection.execute(text("SELECT state FROM handovers"))]


def settle(store: Store, expected: list[str]) -> None:
    for _ in range(500):
        if states(store) == expected:
            return
        time.sleep(0.02)
    raise AssertionError(states(store))


@pytest.mark.parametrize("asked", ["请联系 li@example.cn", "担当者は？", "¿Quién?", "Who? a@b.example"])
def test_the_hook_is_told_signed_and_masked(hook: Hook, store: Store, asked: str) -> None:
    """The hook gets the reason and the masked question with a signature that its secret verifies."""
    courier = Courier(store, hook.url, SECRET)
    courier.send("c1", "asked", asked, "es")
    hook.wait(1)
    courier.close()
    headers, body = hook.told[0]
    told = json.loads(body)
    assert (told["reason"], told["conversation_id"], told["language"]) == ("asked", "c1", "es")
    assert "@" not in told["question"]
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(b"s" * 24, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    settle(store, ["delivered"])


def test_a_hook_that_fails_is_told_again(hook: Hook, store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """Failures and redirects are tried again under the same id, and the log holds no word of the question."""
    hook.answers = [500, 302, 204]
    courier = Courier(store, hook.url, "plain")
    courier.send("c1", "abstained_twice", "secret-words", "en")
    hook.wait(3)
    settle(store, ["delivered"])
    courier.close()
    assert len({headers["webhook-id"] for headers, _ in hook.told}) == 1
    assert "secret-words" not in caplog.text


def test_what_was_not_told_is_told_after_a_restart(hook: Hook, store: Store) -> None:
    """A handover outlives its process."""
    hook.answers = [500]
    first = Courier(store, hook.url, "plain")
    first.send("c1", "asked", "q", "ja")
    hook.wait(1)
    first.close()
    second = Courier(store, hook.url, "plain")
    settle(store, ["delivered"])
    second.close()


def test_attempts_end(hook: Hook, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that never answers well is given up after a number of attempts."""
    monkeypatch.setattr(handover, "ATTEMPTS", 2)
    hook.answers = [500] * 10
    courier = Courier(store, hook.url, "plain")
    courier.send("c1", "asked", "q", "zh-Hans")
    settle(store, ["failed"])
    courier.close()
    assert len(hook.told) == 2


def test_telling_never_waits(hook: Hook, store: Store) -> None:
    """A hook that takes its time does not hold up who tells it."""
    hook.delay = 1.0
    courier = Courier(store, hook.url, "plain")
    started = time.perf_counter()
    courier.send("c1", "asked", "q", "en")
    assert time.perf_counter() - started < 0.1
    hook.wait(1)
    courier.close()


@pytest.mark.parametrize("asked", ["多少钱？", "いくら？", "¿Cuánto? & más", "how much?"])
def test_the_desk_offers_a_page_or_a_draft(asked: str) -> None:
    """A page comes before an e-mail; the draft holds what was asked and nothing can be added to its head."""
    page = Desk(read_settings(handover_url="https://help.example.com/contact", handover_email="help@example.com"))
    assert page.offer("asked", asked).url == "https://help.example.com/contact"
    mail = Desk(read_settings(handover_email="help@example.com"))
    draft = mail.offer("asked", asked).url
    assert draft.startswith("mailto:help@example.com?body=")
    assert draft.count("?") == 1
    assert "&" not in draft
    assert Desk(read_settings()).offer("asked", asked).url == ""


def test_a_hook_needs_a_secret(store: Store) -> None:
    """A hook without a secret is refused in one sentence; without a hook there is no courier."""
    with pytest.raises(InputError, match="ASSISTANT_HANDOVER_SECRET"):
        open_courier(read_settings(handover_webhook="https://example.com/hook"), store)
    assert open_courier(read_settings(), store) is None


@pytest.mark.parametrize("secret", ["whsec_x", "whsec_これ", "whsec_a b="])
def test_a_secret_that_is_none_is_named(store: Store, secret: str) -> None:
    """A secret in the standard's form whose rest is no base64 is refused in one sentence that does not repeat it."""
    settings = read_settings(handover_webhook="https://example.com/hook", handover_secret=secret)
    with pytest.raises(InputError, match="ASSISTANT_HANDOVER_SECRET") as caught:
        open_courier(settings, store)
    assert secret not in str(caught.value)


def test_a_hook_that_never_stops_answering(store: Store) -> None:
    """Of a hook's answer only the status counts: a body without end is not waited for."""
    listener = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def answer() -> None:
        connection, _ = listener.accept()
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        with suppress(OSError):
            while not done.wait(0.01):
                connection.sendall(b"4\r\nmore\r\n")
        connection.close()

    thread = threading.Thread(target=answer)
    thread.start()
    courier = Courier(store, f"http://127.0.0.1:{listener.getsockname()[1]}/", "plain")
    courier.send("c1", "asked", "q", "en")
    settle(store, ["delivered"])
    courier.close()
    done.set()
    thread.join()
    listener.close()
