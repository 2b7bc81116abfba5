"""The one Bolt app, and where the server takes what Slack sends: `/slack/events`, and the pages of an installation.

In: signed requests, or Socket Mode's envelopes. Out: an acknowledgement once it is kept, 503 while it can't be.
Never: acknowledges what could still be lost, waits for Slack's Web API before it does, or logs what people write.
"""

from __future__ import annotations

import logging
import re
from typing import Any

from fastapi import APIRouter, Request, Response
from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.async_app import AsyncApp, AsyncBoltContext
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.response import BoltResponse

from assistant.attention import Job
from assistant.errors import AssistantError, InputError
from assistant.settings import Settings
from assistant.store import Store
from assistant.surfaces.guard import error_response, log_failure
from assistant.surfaces.slack.bot import Bot
from assistant.surfaces.slack.manifest import EVENTS, REDIRECT, manifest_scopes
from assistant.surfaces.slack.messages import Origin, read_click, read_command, read_message, read_opening
from assistant.surfaces.slack.posting import new_client
from assistant.surfaces.slack.workspaces import States

INSTALL = "/slack/install"
TIMESTAMP = re.compile(r"[0-9]{1,12}", re.ASCII)
BOLT_LOG = "assistant.slack.bolt"
log = logging.getLogger("assistant.slack")


def create_bolt(bot: Bot, settings: Settings, secret: str = "") -> AsyncApp:
    """The Bolt app: each listener only keeps a job.

    Args:
        secret: checks signatures; Socket Mode's envelopes carry none.
    """
    quiet = logging.getLogger(BOLT_LOG)
    quiet.setLevel(logging.CRITICAL)  # Bolt's warnings repeat what was delivered

    async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult | None:
        return await bot.workspaces.authorize(enterprise_id, team_id)

    app = AsyncApp(
        logger=quiet,
        name=BOLT_LOG,  # Bolt gives the logger of this name the level above
        signing_secret=secret or "none",
        client=new_client("", str(settings.slack_api_url)),
        authorize=authorize,  # type: ignore[arg-type]  # None is documented: not installed there
        process_before_response=True,  # the acknowledgement leaves when the listener is done: the job is kept then
        request_verification_enabled=bool(secret),
        attaching_conversation_kwargs_enabled=False,
        ignoring_self_events_enabled=False,  # so is every bot's: see `messages`
    )
    _listen(app, bot)
    return app


def _listen(app: AsyncApp, bot: Bot) -> None:
    async def keep(job: Job | None) -> None:
        if job is None:
            bot.counts.events.labels("other", "ignored").inc()
        else:
            await bot.keep(job)

    @app.event("message")
    @app.event("app_mention")
    async def written(event: dict[str, Any], body: dict[str, Any], context: AsyncBoltContext) -> None:
        await keep(read_message(event, _origin(body, context)))

    @app.event("assistant_thread_started")
    async def opened(event: dict[str, Any], body: dict[str, Any], context: AsyncBoltContext) -> None:
        await keep(read_opening(event, _origin(body, context)))

    @app.event(re.compile("^(app_uninstalled|tokens_revoked)$"))
    async def removed(context: AsyncBoltContext) -> None:
        await bot.workspaces.remove(context.enterprise_id or "", context.team_id or "")

    @app.event(re.compile(""))
    async def other() -> None:
        await keep(None)

    @app.command(re.compile(""))
    async def asked(ack: Any, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await keep(read_command(body, _origin(body, context)))
        await ack()

    @app.action(re.compile(""))
    async def clicked(ack: Any, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await keep(read_click(body, _origin(body, context)))
        await ack()

    @app.error
    async def failed(error: Exception, body: dict[str, Any]) -> BoltResponse:
        if not isinstance(body.get("event", {}), dict):  # Bolt's own code stumbles over it
            return BoltResponse(status=400, body="")
        if isinstance(error, AssistantError):
            log.error("Slack must deliver again: %s", error)
        else:
            log_failure(error)
        return BoltResponse(status=503, body="")


def _origin(body: dict[str, Any], context: AsyncBoltContext) -> Origin:
    """The workspace that a delivery is for, and the bot's user there, which each event names."""
    bots = [one for one in body.get("authorizations") or () if isinstance(one, dict) and one.get("is_bot")]
    user = str(bots[0].get("user_id") or "") if bots else ""
    return Origin(
        team=context.team_id or "", enterprise=context.enterprise_id or "", bot=user or context.bot_user_id or ""
    )


def slack_router(app: AsyncApp, bot: Bot, settings: Settings, store: Store) -> APIRouter:
    """`POST /slack/events` for events, commands and clicks; with OAuth, the pages that install the bot."""
    router = APIRouter(include_in_schema=False)

    @router.post(EVENTS)
    async def receive(request: Request) -> Response:
        body = await request.body()
        at, signature = (request.headers.get(name, "") for name in ("x-slack-request-timestamp", "x-slack-signature"))
        if not TIMESTAMP.fullmatch(at) or not signature.isascii():  # Bolt's check breaks over these
            return error_response(401, "the request is not signed as Slack signs")
        try:
            return to_starlette_response(await app.async_dispatch(to_async_bolt_request(request, body)))
        except AssistantError:
            raise
        except Exception as error:  # Bolt's own, over a body of another form; what a listener raises is a 503 above
            log_failure(error)
            return error_response(400, "the body has no form that Slack sends")

    if bot.workspaces.installations is None:
        return router
    flow = _flow(bot, settings, store)

    @router.get(INSTALL)
    async def install(request: Request) -> Response:
        return to_starlette_response(await flow.handle_installation(to_async_bolt_request(request, b"")))

    @router.get(REDIRECT)
    async def installed(request: Request) -> Response:
        return to_starlette_response(await flow.handle_callback(to_async_bolt_request(request, b"")))

    return router


def _flow(bot: Bot, settings: Settings, store: Store) -> AsyncOAuthFlow:
    if settings.slack_client_secret is None:
        raise InputError("ASSISTANT_SLACK_CLIENT_ID can't be used without ASSISTANT_SLACK_CLIENT_SECRET; set both")
    oauth = AsyncOAuthSettings(
        client_id=settings.slack_client_id,
        client_secret=settings.slack_client_secret.get_secret_value(),
        scopes=sorted(manifest_scopes()),
        install_path=INSTALL,
        redirect_uri_path=REDIRECT,
        installation_store=bot.workspaces.installations,
        state_store=States(store),
    )
    client = new_client("", str(settings.slack_api_url))
    return AsyncOAuthFlow(settings=oauth, client=client, logger=logging.getLogger(BOLT_LOG))
