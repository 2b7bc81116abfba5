"""A chat model behind one call: instructions and a prompt in, pieces of text out as they come.

In: the settings, then (instructions, prompt, deadline). Out: pieces of the reply. Never: imports a provider before a
model is named, anything but ModelError when the model fails, or a word of the exchange in a log or an error.

A call is tried again only while nothing of the reply has arrived, so that nothing is said twice. A model that keeps
failing is left alone for a while (Nygard, "Release It!", 2018: circuit breaker).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from assistant.errors import InputError, ModelError
from assistant.settings import Settings

ATTEMPTS, FIRST_WAIT_S, LONGEST_WAIT_S, JITTER_S = 3, 0.2, 1.0, 0.3
PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 529}  # answers that another try may not get
FAILURES, REST_S = 3, 30.0
DAY_S = 86_400.0
BYTES_PER_TOKEN = 3  # where a server counts no tokens; 3 to 4 in every script
BYTES_AT_MOST = 12  # a token: what comes beyond that is a stream without end
# provider -> module, class, and the names its class has for (longest reply, address, key)
PROVIDERS = {
    "openai": ("langchain_openai", "ChatOpenAI", "max_completion_tokens", "base_url", "api_key"),
    "anthropic": ("langchain_anthropic", "ChatAnthropic", "max_tokens", "base_url", "api_key"),
    "ollama": ("langchain_ollama", "ChatOllama", "num_predict", "base_url", ""),
}


@dataclass(slots=True)
class Breaker:
    """Lets calls through until FAILURES of them fail in a row; then none for REST_S seconds, then one to try."""

    clock: Callable[[], float] = time.monotonic
    failures: int = 0
    closed_until: float = 0.0

    def check(self) -> None:
        """Lets one call through.

        Raises:
            ModelError: the model is being left alone.
        """
        if self.failures < FAILURES:
            return
        if self.clock() < self.closed_until:
            raise ModelError("the chat model failed several times and is left alone for a while")
        self.closed_until = self.clock() + REST_S  # this call tries it; others wait for its outcome

    def note(self, succeeded: bool) -> None:
        """What became of a call."""
        self.failures = 0 if succeeded else self.failures + 1
        if self.failures >= FAILURES:
            self.closed_until = self.clock() + REST_S


@dataclass(slots=True)
class Allowance:
    """Tokens spent in the last 24 hours or less, against a limit; 0 is none."""

    limit: int
    clock: Callable[[], float] = time.monotonic
    spent: int = 0
    since: float = field(default=-DAY_S)

    def check(self) -> None:
        """Makes sure that there is something left.

        Raises:
            ModelError: there is not.
        """
        if self.clock() - self.since >= DAY_S:
            self.since, self.spent = self.clock(), 0
        if self.limit and self.spent >= self.limit:
            raise ModelError("the day's tokens (ASSISTANT_CHAT_TOKENS_PER_DAY) are spent")


class ChatModel:
    """Streams replies of one model; safe to share between requests of one event loop.

    Args:
        runner: a LangChain chat model that does not retry by itself.
        max_tokens: longest reply.
        tokens_per_day: 0 is no limit.
    """

    def __init__(self, runner: Any, max_tokens: int, tokens_per_day: int = 0, breaker: Breaker | None = None) -> None:
        self._runner, self._most_bytes = runner, max_tokens * BYTES_AT_MOST
        self.breaker, self.allowance = breaker or Breaker(), Allowance(tokens_per_day)

    async def stream(self, instructions: str, prompt: str, deadline: float) -> AsyncGenerator[str]:
        """The reply in pieces; closing the generator ends the call.

        Args:
            deadline: on the event loop's clock.

        Raises:
            ModelError: the model fails, is too slow, is being left alone, or the allowance is spent.
        """
        self.allowance.check()
        self.breaker.check()
        failure = "was given up"
        finished = False
        try:
            async with aclosing(self._pieces(instructions, prompt, deadline)) as pieces:
                async for piece in pieces:
                    yield piece
            finished = True
            self.breaker.note(True)
        except TimeoutError:
            failure = "took too long"
        except Exception as error:  # the providers' errors share no nearer base, and may hold the prompt
            failure = f"failed ({_described(error)})"
        if not finished:
            self.breaker.note(False)
            raise ModelError(f"the chat model {failure}")

    async def _pieces(self, instructions: str, prompt: str, deadline: float) -> AsyncGenerator[str]:
        size, counted = 0, 0
        first, chunks = await self._begin([("system", instructions), ("human", prompt)], deadline)
        try:
            chunk = first
            while chunk is not None:
                text = str(chunk.text)
                counted = max(counted, int((chunk.usage_metadata or {}).get("total_tokens", 0)))
                size += len(text.encode("utf-8", "surrogatepass"))
                if size > self._most_bytes:
                    return
                if text:
                    yield text
                async with asyncio.timeout_at(deadline):
                    chunk = await anext(chunks, None)
        finally:
            sent = len((instructions + prompt).encode()) + size
            self.allowance.spent += counted or sent // BYTES_PER_TOKEN
            await chunks.aclose()

    async def _begin(self, messages: list[tuple[str, str]], deadline: float) -> tuple[Any, Any]:
        """The first piece, and the rest; tried again where that is safe and may help."""
        import stamina

        left = deadline - asyncio.get_running_loop().time()

        def may_help(error: Exception) -> bool | float:
            wait = _asked_to_wait(error)
            return wait if 0 < wait < left / 2 else is_passing(error) and not wait

        attempts = stamina.retry_context(
            may_help, ATTEMPTS, max(left, 0.01), FIRST_WAIT_S, LONGEST_WAIT_S, JITTER_S
        )  # fmt: skip
        async with asyncio.timeout_at(deadline):
            async for attempt in attempts:
                with attempt:
                    chunks = self._runner.astream(messages)
                    return await anext(chunks, None), chunks
        raise AssertionError("the last attempt returns or raises")


def is_passing(error: BaseException) -> bool:
    """Whether another try may succeed: an overloaded or restarting server, a broken connection."""
    for one in _chain(error):
        status = getattr(one, "status_code", None)
        if status is not None:
            return status in PASSING
        if isinstance(one, ConnectionError) or "TransportError" in {kind.__name__ for kind in type(one).__mro__}:
            return True
    return False


def _asked_to_wait(error: BaseException) -> float:
    """Seconds that a server asks to wait (`Retry-After`), 0 where it does not say."""
    said = getattr(getattr(error, "response", None), "headers", {}).get("retry-after", "")
    return float(said) if said.isascii() and said.isdigit() else 0.0


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _described(error: BaseException) -> str:
    """The kind of an error and the server's status; its text may repeat the prompt or the key."""
    status = getattr(error, "status_code", None)
    return f"{type(error).__name__} {status}" if status else type(error).__name__


def load_chat_model(settings: Settings) -> ChatModel | None:
    """The model that the settings name; None where they name none, and then no provider is imported.

    Raises:
        InputError: the setting names no provider or no model.
        ModelError: the provider's package is not installed, or refuses the settings.
    """
    if not settings.chat_model:
        return None
    provider, _, name = settings.chat_model.partition(":")
    if provider not in PROVIDERS or not name.strip():
        known = ", ".join(f"{one}:…" for one in PROVIDERS)
        raise InputError(f"ASSISTANT_CHAT_MODEL={settings.chat_model} can't be used; it may be {known}")
    module, kind, limit, address, key = PROVIDERS[provider]
    try:
        import stamina

        made = getattr(import_module(module), kind)
    except ImportError as error:
        raise ModelError(
            f"ASSISTANT_CHAT_MODEL={settings.chat_model} needs packages that are not installed; "
            f"install the extra `{provider}`"
        ) from error
    stamina.instrumentation.set_on_retry_hooks([])  # they would log errors, which may repeat the prompt
    options: dict[str, Any] = {"model": name.strip(), "temperature": 0.0, limit: settings.chat_max_tokens}
    if settings.chat_base_url:
        options[address] = str(settings.chat_base_url)
    if key:
        secret = settings.chat_api_key.get_secret_value() if settings.chat_api_key else ""
        options |= {key: secret or "none", "max_retries": 0, "timeout": settings.chat_timeout_s}
    try:
        return ChatModel(made(**options), settings.chat_max_tokens, settings.chat_tokens_per_day)
    except Exception as error:  # pydantic's or the provider's own
        raise ModelError(f"ASSISTANT_CHAT_MODEL={settings.chat_model} can't be used: {_described(error)}") from None
