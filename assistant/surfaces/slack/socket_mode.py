"""`assistant slack`: the bot without a public address, over Slack's Socket Mode.

In: the settings and the real parts. Out: a process that answers until a signal ends it.
Never: listens on a port, or acknowledges an envelope before what it says is kept.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler

from assistant.errors import InputError
from assistant.handover import Courier
from assistant.settings import Settings
from assistant.store import Store
from assistant.surfaces.backend import Answers, Backend
from assistant.surfaces.metrics import Metrics
from assistant.surfaces.slack.app import create_bolt
from assistant.surfaces.slack.bot import Bot
from assistant.surfaces.slack.posting import new_client

log = logging.getLogger("assistant.slack")


def run_socket_mode(
    source: Callable[[], Answers],
    settings: Settings,
    announce: Callable[[str], None],
    store: Store,
    courier: Courier | None = None,
) -> None:
    """Answers until it is interrupted; `announce` is told once Slack is connected.

    Raises:
        InputError: a token is missing.
    """
    if settings.slack_app_token is None:
        raise InputError("ASSISTANT_SLACK_APP_TOKEN is missing; set the app-level token (xapp-…), see README")
    if settings.slack_bot_token is None and not settings.slack_client_id:
        raise InputError("ASSISTANT_SLACK_BOT_TOKEN is missing; set the bot token (xoxb-…), see README")
    asyncio.run(_run(source, settings, announce, store, courier))


async def _run(
    source: Callable[[], Answers],
    settings: Settings,
    announce: Callable[[str], None],
    store: Store,
    courier: Courier | None,
) -> None:
    assert settings.slack_app_token is not None
    backend = Backend(source)
    bot = Bot(backend, settings, store, courier, Metrics())
    app = create_bolt(bot, settings)
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, ended.set)
    client = new_client("", str(settings.slack_api_url))
    handler = AsyncSocketModeHandler(
        app, settings.slack_app_token.get_secret_value(), logger=app.logger, web_client=client
    )
    loading = asyncio.create_task(backend.load())
    bot.start()
    connecting = asyncio.create_task(_connect(handler, announce))
    try:
        await ended.wait()
    finally:
        loading.cancel()
        connecting.cancel()
        await handler.client.close()  # type: ignore[no-untyped-call]  # slack_sdk's
        await bot.stop()
        if courier:
            await asyncio.to_thread(courier.close)
        await asyncio.to_thread(store.close)


async def _connect(handler: AsyncSocketModeHandler, announce: Callable[[str], None]) -> None:
    """Connects, as often as it takes; from then on slack_sdk's client connects again by itself."""
    delay = 1.0
    while True:
        try:
            await handler.client.connect()  # type: ignore[no-untyped-call]  # slack_sdk's
        except Exception as error:  # of many kinds, some of which hold the address with its ticket
            log.error("Slack can't be reached by Socket Mode: %s; see `assistant slack check`", type(error).__name__)
            await asyncio.sleep(delay)
            delay = min(delay * 2, 60.0)
        else:
            announce("connected to Slack")
            return
