"""The web server: the API, health, the page to try it, and one shape for every error.

In: an assistant or a function that builds one, and the settings. Out: a FastAPI application, or a running server.
Never: serves third-party scripts (the usual API docs pages do), allows other origins, or shows a traceback.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Annotated

import uvicorn
from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from assistant.errors import AssistantError, InputError
from assistant.language import normalise_code
from assistant.settings import Settings
from assistant.spelling import convert_chinese
from assistant.surfaces.backend import Answers, Backend, NotReady
from assistant.surfaces.chat import Busy, ErrorBody, busy_response, chat_router
from assistant.surfaces.guard import BODY_LIMIT, Guard, JsonLines, error_response
from assistant.surfaces.page import STATIC, interface, page, preferred_language
from assistant.surfaces.stream import TOO_SLOW
from assistant.wording import Wordings

SAMPLES = 4
SHUTDOWN_S = 10
TELEMETRY_OFF = {"tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False}
LanguageQuery = Annotated[str, Query(pattern=r"^([A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,4})?$")]
NO_JSON = "the body is no valid JSON; see /openapi.json for its form"
SENTENCES = {400: NO_JSON, 404: "there is nothing at this address", 405: "this address does not take that method"}


def create_app(source: Answers | Callable[[], Answers], settings: Settings) -> FastAPI:
    """The application; a `source` that builds the assistant runs in the background once the server has started."""
    backend, wordings = Backend(source), Wordings()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        loading = asyncio.create_task(backend.load())
        yield
        loading.cancel()

    app = FastAPI(
        title="Multilingual FAQ assistant",
        version=metadata.version("multilingual-faq-assistant"),
        summary="Answers in the asker's language, made only of what the articles say, with their passages.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        telemetry=TELEMETRY_OFF,  # type: ignore[arg-type]  # its logs would hold messages
    )
    app.add_middleware(Guard)
    app.include_router(chat_router(backend, settings))
    _add_health(app, backend)
    _add_page(app, backend, wordings, settings)
    _add_errors(app)
    return app


def _add_health(app: FastAPI, backend: Backend) -> None:
    @app.get("/healthz", summary="Whether the process is alive")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz", summary="Whether questions can be answered", responses={503: {"model": ErrorBody}})
    async def readyz() -> dict[str, str]:
        backend.now()
        return {"status": "ready"}


def _add_page(app: FastAPI, backend: Backend, wordings: Wordings, settings: Settings) -> None:
    @app.get("/", response_class=HTMLResponse, summary="A page to try it")
    async def index(request: Request, language: LanguageQuery = "") -> HTMLResponse:
        accepted = request.headers.get("accept-language", "")
        chosen = language or preferred_language(accepted, wordings.languages, settings.default_language)
        headers = {"Vary": "Accept-Language", "Cache-Control": "no-cache"}
        return HTMLResponse(page(wordings, chosen, settings.message_limit), headers=headers)

    @app.get("/api/v1/interface", summary="The page's labels in a language")
    async def labels(language: LanguageQuery = "") -> dict[str, object]:
        return interface(wordings, language or settings.default_language)

    @app.get("/api/v1/suggestions", summary="Questions that the articles answer", responses={503: {"model": ErrorBody}})
    async def suggestions(language: LanguageQuery = "") -> list[str]:
        code = normalise_code(language or settings.default_language)
        return await asyncio.to_thread(_samples, backend.now(), code)

    @app.get("/favicon.ico", include_in_schema=False)
    async def favicon() -> Response:
        return Response(status_code=204, headers={"Cache-Control": "max-age=86400"})

    app.mount("/static", StaticFiles(directory=STATIC))


def _samples(assistant: Answers, code: str) -> list[str]:
    """Sample questions; the two Chinese spellings stand in for each other."""
    found = assistant.sample_questions(code, SAMPLES)
    other = {"zh-Hans": "zh-Hant", "zh-Hant": "zh-Hans"}.get(code)
    if found or not other:
        return found
    return [convert_chinese(question, code) for question in assistant.sample_questions(other, SAMPLES)]


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        return error_response(error.status_code, SENTENCES.get(error.status_code) or str(error.detail), error.headers)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return error_response(400, NO_JSON)
        place = ".".join(str(part)[:60] for part in first["loc"] if part not in ("body", "query")) or "the body"
        reason = "has an unusable form" if first["type"] == "string_pattern_mismatch" else first["msg"]
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


class _Server(uvicorn.Server):
    """Says where it listens as soon as it does."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()


def serve(source: Callable[[], Answers], settings: Settings, announce: Callable[[str], None]) -> None:
    """Listens until a signal ends it; `announce` gets the server's address once it takes requests.

    Raises:
        InputError: the address can't be listened on.
    """
    listener = _listen(settings.host, settings.port)
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    _log_as_json()
    config = uvicorn.Config(
        create_app(source, settings),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=SHUTDOWN_S,
        h11_max_incomplete_event_size=BODY_LIMIT,
    )
    with listener:
        _Server(config, lambda: announce(address)).run([listener])


def _log_as_json() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for noisy in ("httpx", "httpx2", "chromadb", "uvicorn"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=2048)
    except (OSError, UnicodeError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        fix = "choose others with --host and --port"
        raise InputError(f"can't listen on {host} port {port}: {reason}; {fix}") from None
