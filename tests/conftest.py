"""Fixtures that several test modules share."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, sync_playwright

from assistant.bootstrap import build
from assistant.pipeline import Assistant
from assistant.settings import Settings, read_settings
from assistant.surfaces.backend import Answers
from assistant.surfaces.connection import HEAD_BYTES, Connection
from assistant.surfaces.web import create_app
from tests.fakes import FakeAssistant
from tests.postgres import find_program, running_postgres
from tests.slack_apps import slack_settings
from tests.slack_server import SlackServer, slack_server

CHECKOUT = Path(__file__).parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-case", action="store_true", help="ask all eval cases, not a slice, where that is long")


@pytest.fixture
def fake() -> FakeAssistant:
    return FakeAssistant()


FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A PostgreSQL server of the tests' own; its address."""
    if not find_program("initdb"):
        pytest.skip("PostgreSQL's server is not installed: apt-get install postgresql")
    with running_postgres() as url:
        yield url


@pytest.fixture
def postgres(postgres_server: str) -> str:
    """The address of an empty PostgreSQL database."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return postgres_server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium a module: for longer, its event loop would be in the way of asynchronous tests."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "Chromium is missing; install it, for example with `apt-get install chromium`"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def running(source: Answers | Callable[[], Answers], settings: Settings, port: int = 0) -> AbstractContextManager[str]:
    """A real server on loopback; gives its address."""
    return serving(create_app(source, settings), port)


@contextmanager
def serving(app: FastAPI, port: int = 0) -> Iterator[str]:
    """An application served on loopback; gives its address."""
    listener = socket.create_server(("127.0.0.1", port))
    config = uvicorn.Config(
        app,
        log_config=None,
        ws="none",
        timeout_graceful_shutdown=2,
        http=Connection,
        h11_max_incomplete_event_size=HEAD_BYTES,
    )
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
    with ExitStack() as servers:

        def start(source: Answers | Callable[[], Answers], **settings: object) -> str:
            return servers.enter_context(running(source, Settings(**settings)))  # type: ignore[arg-type]

        yield start


@pytest.fixture(scope="session")
def real_assistant(tmp_path_factory: pytest.TempPathFactory) -> Assistant:
    """The real pipeline over the project's own corpus, in a home of its own that shares the built model."""
    home = tmp_path_factory.mktemp("home")
    shared = Path(os.environ.get("ASSISTANT_TEST_MODEL_HOME") or CHECKOUT / ".assistant") / "models"
    shared.mkdir(parents=True, exist_ok=True)
    (home / "models").symlink_to(shared)
    return build(read_settings(home=home, corpus=CHECKOUT / "corpus"))


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    with slack_server() as served:
        yield served


@pytest.fixture
def start_slack(slack: SlackServer, fake: FakeAssistant, start_server: Callable[..., str]) -> Callable[..., str]:
    """Starts the server; gives Slack's address for it."""

    def begin(**settings: object) -> str:
        given = slack_settings(slack.url, **settings).model_dump(exclude_unset=True)
        return f"{start_server(fake, **given)}/slack/events"

    return begin
