"""Fixtures that several test modules share."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
import uvicorn

from assistant.settings import Settings
from assistant.surfaces.backend import Answers
from assistant.surfaces.web import create_app
from tests.fakes import FakeAssistant


@pytest.fixture
def fake() -> FakeAssistant:
    return FakeAssistant()


@contextmanager
def _running(source: Answers | Callable[[], Answers], settings: Settings) -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(create_app(source, settings), log_config=None, ws="none", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


@pytest.fixture
def start_server() -> Iterator[Callable[..., str]]:
    """Starts a real server on loopback for an assistant, or for a function that builds one; gives its address."""
    with ExitStack() as running:

        def start(source: Answers | Callable[[], Answers], **settings: object) -> str:
            return running.enter_context(_running(source, Settings(**settings)))  # type: ignore[arg-type]

        yield start
