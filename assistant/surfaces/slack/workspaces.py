"""The workspaces that the bot is installed in: their tokens, who the bot is there, what language people there use.

In: the settings, and the store where OAuth leaves installations. Out: clients, Bolt's authorisation, locales.
Never: asks Slack for anything before an event is acknowledged, or puts a token into a log, an error or a text.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from functools import partial
from typing import Any

from slack_bolt.authorization import AuthorizeResult
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.installation_store.sqlalchemy import SQLAlchemyInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.oauth.state_store.sqlalchemy import SQLAlchemyOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from assistant.settings import Settings
from assistant.store import Store
from assistant.surfaces.slack.posting import Limited, Refused, Unsure, call, new_client

STATE_S = 600
LOCALE_S, LOCALES = 3600.0, 10_000
BOT_S = 60.0  # how long an installation that was read is believed
log = logging.getLogger("assistant.slack")


class Installations(AsyncInstallationStore):
    """slack_sdk's store of installations, in the project's database; its calls run in threads."""

    def __init__(self, store: Store, client_id: str) -> None:
        self._store = store
        self._inner = SQLAlchemyInstallationStore(client_id, store.engine.sqlalchemy, logger=log)

    async def async_save(self, installation: Installation) -> None:
        """Keeps an installation."""
        await asyncio.to_thread(self._inner.save, installation)

    async def async_save_bot(self, bot: Bot) -> None:
        """Keeps a bot's token."""
        await asyncio.to_thread(self._inner.save_bot, bot)

    async def async_find_bot(
        self, *, enterprise_id: str | None, team_id: str | None, is_enterprise_install: bool | None = False
    ) -> Bot | None:
        """The bot of a workspace, or of the organisation it belongs to."""
        own = partial(self._inner.find_bot, enterprise_id=enterprise_id)
        found = await self._find(partial(own, team_id=team_id, is_enterprise_install=is_enterprise_install))
        if found is None and enterprise_id:
            found = await self._find(partial(own, team_id=None, is_enterprise_install=True))
        return found

    async def async_delete_bot(self, *, enterprise_id: str | None, team_id: str | None) -> None:
        """Forgets a bot."""
        await asyncio.to_thread(self._inner.delete_bot, enterprise_id=enterprise_id, team_id=team_id)

    async def async_delete_installation(
        self, *, enterprise_id: str | None, team_id: str | None, user_id: str | None = None
    ) -> None:
        """Forgets an installation."""
        delete = partial(self._inner.delete_installation, enterprise_id=enterprise_id, team_id=team_id)
        await asyncio.to_thread(delete, user_id=user_id)

    async def _find(self, find: partial[Bot | None]) -> Bot | None:
        def translated() -> Bot | None:
            with self._store.engine.translated():
                return find()

        return await asyncio.to_thread(translated)


class States(AsyncOAuthStateStore):
    """slack_sdk's store of installations that have begun, in the project's database."""

    def __init__(self, store: Store) -> None:
        self._inner = SQLAlchemyOAuthStateStore(STATE_S, store.engine.sqlalchemy, logger=log)

    async def async_issue(self, *args: Any, **kwargs: Any) -> str:
        """A new state."""
        return await asyncio.to_thread(self._inner.issue)

    async def async_consume(self, state: str) -> bool:
        """Whether the state was issued, and not used yet."""
        return await asyncio.to_thread(self._inner.consume, state)


class Workspaces:
    """Clients and identities; `installations` is None where the settings name one token."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._url = str(settings.slack_api_url)
        token = settings.slack_bot_token
        self._single = new_client(token.get_secret_value(), self._url) if token else None
        self._single_user = ""
        self.installations = Installations(store, settings.slack_client_id) if settings.slack_client_id else None
        self._bots: OrderedDict[tuple[str, str], tuple[float, Bot]] = OrderedDict()
        self._locales: OrderedDict[tuple[str, str], tuple[float, str]] = OrderedDict()

    @property
    def is_single(self) -> bool:
        """Whether the settings name the one workspace's token."""
        return self._single is not None

    async def introduce(self) -> None:
        """Asks Slack, until it says so, who the bot of the one workspace is."""
        delay = 1.0
        while self._single is not None and not self._single_user:
            try:
                self._single_user = str((await call(self._single, "auth.test")).get("user_id", ""))
            except (Limited, Refused, Unsure) as failure:
                log.error("Slack does not say who the bot is: %s; see `assistant slack check`", failure)
                await asyncio.sleep(delay)
                delay = min(delay * 2, 60.0)

    async def authorize(self, enterprise_id: str | None, team_id: str | None) -> AuthorizeResult | None:
        """What Bolt wants to know of a workspace; None where the bot is not installed there."""
        if self._single is not None:
            token, user = self._single.token, self._single_user
        elif bot := await self._bot(enterprise_id or "", team_id or ""):
            token, user = bot.bot_token, bot.bot_user_id
        else:
            return None
        return AuthorizeResult(
            enterprise_id=enterprise_id, team_id=team_id, bot_user_id=user or None, bot_token=token, bot_scopes=[]
        )

    async def client(self, enterprise_id: str, team_id: str) -> AsyncWebClient | None:
        """A client for a workspace; None where the bot is not installed there any more."""
        if self._single is not None:
            return self._single
        bot = await self._bot(enterprise_id, team_id)
        return new_client(bot.bot_token, self._url) if bot else None

    async def remove(self, enterprise_id: str, team_id: str) -> None:
        """The bot was removed from a workspace."""
        self._bots.pop((enterprise_id, team_id), None)
        if self.installations is not None:
            await self.installations.async_delete_bot(enterprise_id=enterprise_id or None, team_id=team_id)
            await self.installations.async_delete_installation(enterprise_id=enterprise_id or None, team_id=team_id)

    async def locale(self, client: AsyncWebClient, team: str, user: str) -> str:
        """The language of somebody's profile, such as `ja-JP`; "" where Slack does not say."""
        known = self._locales.get((team, user))
        if known and known[0] > time.monotonic():
            return known[1]
        try:
            found = await call(client, "users.info", user=user, include_locale=True)
        except Refused as refused:  # it would be so the next time, too
            log.warning("a profile's language is not known: %s", refused)
            found = {}
        except (Limited, Unsure) as failure:
            log.warning("a profile's language is not known: %s", failure)
            return known[1] if known else ""
        locale = str((found.get("user") or {}).get("locale") or "")
        self._locales[team, user] = time.monotonic() + LOCALE_S, locale
        while len(self._locales) > LOCALES:
            self._locales.popitem(last=False)
        return locale

    async def _bot(self, enterprise: str, team: str) -> Bot | None:
        if self.installations is None:
            return None
        known = self._bots.get((enterprise, team))
        if known and known[0] > time.monotonic():
            return known[1]
        bot = await self.installations.async_find_bot(enterprise_id=enterprise or None, team_id=team or None)
        if bot is not None:
            self._bots[enterprise, team] = time.monotonic() + BOT_S, bot
            while len(self._bots) > LOCALES:
                self._bots.popitem(last=False)
        return bot
