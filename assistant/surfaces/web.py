"""The web server: the API, health, the page to try it, and one shape for every error.

In: an assistant or a function that builds one, and the settings. Out: a FastAPI application, or a running server.
Never: serves third-party scripts (the usual API docs pages do), or shows a traceback.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import metadata
from typing import TYPE_CHECKING, Annotated

import uvicorn
from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from assistant.desk import Desk
from assistant.errors import AssistantError, InputError, what_is_wrong
from assistant.language import normalise_code
from assistant.settings import Settings
from assistant.store import MEMORY, Store
from assistant.surfaces.articles import Shelf
from assistant.surfaces.asking import samples
from assistant.surfaces.assets import assets_router
from assistant.surfaces.backend import Answers, Backend, NotReady
from assistant.surfaces.chat import Busy, ErrorBody, busy_response, chat_router
from assistant.surfaces.connection import HEAD_BYTES, Connection
from assistant.surfaces.feedback import feedback_router
from assistant.surfaces.gate import SiteGate
from assistant.surfaces.guard import Guard, JsonLines, error_response
from assistant.surfaces.metrics import Metrics, metrics_router
from assistant.surfaces.page import interface, page, preferred_language
from assistant.surfaces.replies import TOO_SLOW, Replies
from assistant.surfaces.staff.access import build_staff
from assistant.surfaces.staff.desk import add_staff, expire_staff
from assistant.surfaces.staff.gaps import keep_gathering
from assistant.wording import Wordings

if TYPE_CHECKING:  # an extra
    from assistant.handover import Courier
    from assistant.surfaces.slack.bot import Bot

FINISH_S, SHUTDOWN_S = 8.0, 10  # streams have so long to finish before they are handed over; everything ends after
TELEMETRY_OFF = {"tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False}
LanguageQuery = Annotated[str, Query(pattern=r"^([A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,4})?$")]
ArticleQuery = Annotated[str, Query(max_length=200)]
NO_JSON = "the body is no valid JSON; see /openapi.json for its form"
SENTENCES = {400: NO_JSON, 404: "there is nothing at this address", 405: "this address does not take that method"}


def create_app(
    source: Answers | Callable[[], Answers],
    settings: Settings,
    store: Store | None = None,
    courier: Courier | None = None,
) -> FastAPI:
    """The application; a `source` that builds the assistant runs in the background once the server has started.

    Args:
        store: where conversations are kept, closed in the end; without one they live as long as the application.
        courier: tells the handover's webhook; closed in the end.
    """
    backend, wordings, metrics = Backend(source), Wordings(), Metrics()
    replies = Replies(metrics)
    kept = store or Store(MEMORY, settings.retention_days)
    bot = _slack_bot(backend, settings, kept, courier, metrics)
    staff = build_staff(settings, kept, backend, wordings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        work = (backend.load(), expire_staff(staff), keep_gathering(staff))
        working = [asyncio.create_task(one) for one in work]
        if bot:
            bot.start()
        yield
        for task in working:
            task.cancel()
        if bot:
            await bot.stop()
        if courier:
            await asyncio.to_thread(courier.close)
        await asyncio.to_thread(kept.close)

    app = FastAPI(
        title="Multilingual FAQ assistant",
        version=metadata.version("multilingual-faq-assistant"),
        summary="Answers in the asker's language, made only of what the articles say, with their passages.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        telemetry=TELEMETRY_OFF,  # type: ignore[arg-type]  # its logs would hold messages
    )
    app.add_middleware(Guard, gate=SiteGate(settings, metrics), count=metrics.count)
    app.include_router(chat_router(backend, settings, kept, replies, metrics, courier))
    app.include_router(feedback_router(kept, Desk(settings), courier))
    app.include_router(assets_router())
    app.include_router(metrics_router(metrics))
    if bot:
        _add_slack(app, bot, settings, kept)
    app.state.replies = replies
    _add_health(app, backend)
    _add_page(app, backend, wordings, settings)
    add_staff(app, staff)
    _add_errors(app)
    return app


def _slack_bot(
    backend: Backend, settings: Settings, store: Store, courier: Courier | None, metrics: Metrics
) -> Bot | None:
    """The Slack bot, where the settings say how to check what comes from Slack by HTTP."""
    if settings.slack_signing_secret is None:
        return None
    try:
        from assistant.surfaces.slack.bot import Bot
    except ImportError as error:
        missing = f"Slack needs the extra `slack`, of which something is missing ({error}); see README, Slack"
        raise InputError(missing) from None
    if settings.slack_bot_token is None and not settings.slack_client_id:
        raise InputError("ASSISTANT_SLACK_BOT_TOKEN is missing; set the bot token (xoxb-…), see README")
    return Bot(backend, settings, store, courier, metrics)


def _add_slack(app: FastAPI, bot: Bot, settings: Settings, store: Store) -> None:
    from assistant.surfaces.slack.app import create_bolt, slack_router

    assert settings.slack_signing_secret is not None
    bolt = create_bolt(bot, settings, settings.slack_signing_secret.get_secret_value())
    app.include_router(slack_router(bolt, bot, settings, store))


def _add_health(app: FastAPI, backend: Backend) -> None:
    @app.head("/healthz", include_in_schema=False)
    @app.get("/healthz", summary="Whether the process is alive")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.head("/readyz", include_in_schema=False)
    @app.get("/readyz", summary="Whether questions can be answered", responses={503: {"model": ErrorBody}})
    async def readyz() -> dict[str, str]:
        backend.now()
        return {"status": "ready"}


def _add_page(app: FastAPI, backend: Backend, wordings: Wordings, settings: Settings) -> None:
    shelf, is_manned = Shelf(settings.corpus, settings.file_limit_mb), Desk(settings).is_manned

    @app.head("/", include_in_schema=False)
    @app.get("/", response_class=HTMLResponse, summary="The help page")
    async def index(request: Request, language: LanguageQuery = "", article: ArticleQuery = "") -> HTMLResponse:
        accepted = request.headers.get("accept-language", "")
        chosen = language or preferred_language(accepted, wordings.languages, settings.default_language)
        headers = {"Vary": "Accept-Language", "Cache-Control": "no-cache"}
        articles = await asyncio.to_thread(shelf.articles)
        address, key = str(request.base_url), next(iter(settings.sites), "")
        html = page(wordings, chosen, articles, article, address, key, settings.message_limit)
        return HTMLResponse(html, headers=headers)

    @app.get("/api/v1/interface", summary="The widget's labels in a language")
    async def labels(response: Response, language: LanguageQuery = "") -> dict[str, object]:
        response.headers["Cache-Control"] = "public, max-age=300"
        return interface(wordings, language or settings.default_language, settings.message_limit, is_manned)

    @app.get("/api/v1/suggestions", summary="Questions that the articles answer", responses={503: {"model": ErrorBody}})
    async def suggestions(language: LanguageQuery = "") -> list[str]:
        code = normalise_code(language or settings.default_language)
        return await asyncio.to_thread(samples, backend.now(), code)

    @app.get("/favicon.ico", include_in_schema=False)
    async def favicon() -> Response:
        return Response(status_code=204, headers={"Cache-Control": "max-age=86400"})


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        is_own = error.status_code == 404 and error.detail != "Not Found"
        sentence = "" if is_own else SENTENCES.get(error.status_code, "")
        return error_response(error.status_code, sentence or str(error.detail), error.headers)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return error_response(400, NO_JSON)
        place = ".".join(str(part)[:60] for part in first["loc"] if part not in ("body", "query")) or "the body"
        reason = "has an unusable form" if first["type"] == "string_pattern_mismatch" else what_is_wrong(first)
        return error_response(422, f"{place}: {reason}; see /openapi.json for what it may hold")

    @app.exception_handler(AssistantError)
    async def unusable(_: Request, error: AssistantError) -> Response:
        if isinstance(error, InputError):
            return error_response(422, str(error))
        return error_response(503, str(error), {"Retry-After": "10"})

    @app.exception_handler(NotReady)
    async def loading(_: Request, error: NotReady) -> Response:
        return error_response(503, str(error), {"Retry-After": "3"})

    @app.exception_handler(Busy)
    async def busy(_: Request, error: Busy) -> Response:
        return busy_response()

    @app.exception_handler(TimeoutError)
    async def slow(_: Request, error: TimeoutError) -> Response:
        return error_response(504, TOO_SLOW)


class Server(uvicorn.Server):
    """Says where it listens as soon as it does; at its end open streams finish, or are told to ask its successor."""

    def __init__(self, config: uvicorn.Config, replies: Replies, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._replies, self._announce = replies, announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listens, then says so."""
        await super().startup(sockets)
        if self.started:
            self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Takes no new requests, and gives those under way their time."""
        handing_over = asyncio.create_task(self._replies.close(FINISH_S))
        await super().shutdown(sockets)
        handing_over.cancel()


def serve(
    source: Callable[[], Answers],
    settings: Settings,
    announce: Callable[[str], None],
    store: Store | None = None,
    courier: Courier | None = None,
) -> None:
    """Listens until a signal ends it; `announce` gets the server's address once it takes requests.

    Args:
        store, courier: see `create_app`.

    Raises:
        InputError: the address can't be listened on.
    """
    listener = _listen(settings.host, settings.port)
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    log_as_json()
    app = create_app(source, settings, store, courier)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=SHUTDOWN_S,
        http=Connection,
        h11_max_incomplete_event_size=HEAD_BYTES,
        forwarded_allow_ips=settings.trusted_proxies,
    )
    with listener:
        Server(config, app.state.replies, lambda: announce(address)).run([listener])


def log_as_json() -> None:
    """Lines of JSON on standard error, without a word of a message."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for noisy in ("httpx", "httpx2", "chromadb", "uvicorn", "slack_sdk", "slack_bolt", "aiohttp", "authlib"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=2048)
    except (OSError, UnicodeError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        fix = "choose others with --host and --port"
        raise InputError(f"can't listen on {host} port {port}: {reason}; {fix}") from None
