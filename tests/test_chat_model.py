"""The chat model's call over real HTTP: what is tried again, what is given up, what is never imported."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assistant.chat_model import FAILURES, REST_S, Breaker, ChatModel, load_chat_model
from assistant.errors import InputError, ModelError
from assistant.settings import Settings, read_settings
from tests.model_server import ModelServer, Reply, model_server

TEXT = "額度最高30万美元 クレジット ¡Sí! 🙂 [1]"
FAILING = Reply(status=500, body='{"error": {"message": "secret prompt"}}', kind="application/json")


def settings(server: ModelServer, **more: object) -> Settings:
    return read_settings(chat_model="openai:any", chat_base_url=server.url, **more)


def loaded(server: ModelServer, **more: object) -> ChatModel:
    model = load_chat_model(settings(server, **more))
    assert model is not None
    return model


async def said(model: ChatModel, within_s: float = 5.0) -> str:
    deadline = asyncio.get_running_loop().time() + within_s
    return "".join([piece async for piece in model.stream("rules", "question", deadline)])


@pytest.mark.parametrize("split", [0, 1, 3, 7], ids=lambda split: f"{split} bytes at a time")
async def test_characters_survive_any_chunks(split: int) -> None:
    """Characters that the network cuts in halves arrive whole (ollama-js#255)."""
    with model_server(Reply((TEXT,), split=split)) as server:
        assert await said(loaded(server)) == TEXT


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_passing_failure_is_tried_again(status: int) -> None:
    """An overloaded server is asked again while nothing has arrived."""
    with model_server(Reply(status=status, body="{}"), Reply((TEXT,))) as server:
        assert await said(loaded(server)) == TEXT
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        (Reply(status=401, body="{}"), 1),
        (Reply(status=400, body="{}"), 1),
        (Reply(status=429, body="{}", headers={"Retry-After": "60"}), 1),
        (Reply(body="<html><p>Welcome</p></html>", kind="text/html"), 1),
        (Reply(("Half a ",), end="reset"), 1),
        (Reply(("Half",), end="half"), 1),
    ],
    ids=["401", "400", "429 for long", "html", "reset after a word", "half a character"],
)
async def test_what_can_not_be_repaired_fails_at_once(reply: Reply, calls: int) -> None:
    """A refusal, a page, a break after the first word: one call, one error that repeats nothing of the exchange."""
    with model_server(reply) as server:
        with pytest.raises(ModelError, match="the chat model") as caught:
            await said(loaded(server))
        assert len(server.requests) == calls
        assert "question" not in str(caught.value)


async def test_a_stalled_reply_ends_in_time() -> None:
    """A server that falls silent is given up at the deadline, and is hung up on."""
    with model_server(Reply(("Half",), end="stall")) as server:
        started = time.perf_counter()
        with pytest.raises(ModelError, match="too long"):
            await said(loaded(server), within_s=0.5)
        assert time.perf_counter() - started < 2
        assert server.hung_up.wait(3)


async def test_closing_the_reply_cancels_the_call() -> None:
    """Who stops listening makes the server's connection end."""
    with model_server(Reply(("word ",), end="stall")) as server:
        stream = loaded(server).stream("rules", "question", asyncio.get_running_loop().time() + 30)
        assert await anext(stream) == "word "
        await stream.aclose()
        assert await asyncio.to_thread(server.hung_up.wait, 3)


async def test_an_endless_reply_is_cut_off() -> None:
    """A stream without an end stops at the longest reply, in bytes."""
    with model_server(Reply(("字" * 50,), end="endless")) as server:
        text = await said(loaded(server, chat_max_tokens=100), within_s=10)
        assert 0 < len(text.encode()) <= 100 * 12


async def test_a_model_that_keeps_failing_is_left_alone() -> None:
    """After several failures in a row the server is no longer asked, until it has rested."""
    now = 0.0
    with model_server(FAILING) as server:
        model = loaded(server)
        model.breaker = Breaker(clock=lambda: now)
        for _ in range(FAILURES):
            with pytest.raises(ModelError, match="500"):
                await said(model)
        asked = len(server.requests)
        with pytest.raises(ModelError, match="left alone"):
            await said(model)
        assert len(server.requests) == asked
        now = REST_S + 1
        server.replies[:] = [Reply((TEXT,))]
        assert await said(model) == TEXT


async def test_a_spent_allowance_stops_the_calls() -> None:
    """Once the day's tokens are spent, the server is not asked again."""
    with model_server(Reply((TEXT,))) as server:
        model = loaded(server, chat_tokens_per_day=5)
        await said(model)
        with pytest.raises(ModelError, match="ASSISTANT_CHAT_TOKENS_PER_DAY"):
            await said(model)
        assert len(server.requests) == 1


@pytest.mark.parametrize("name", ["gpt", "openai", "openai:", "mistral:large", ":x"])
def test_an_unknown_model_is_refused(name: str) -> None:
    """A name without a known provider and a model is refused in one sentence that says which there are."""
    with pytest.raises(InputError, match="openai:…, anthropic:…, ollama:…"):
        load_chat_model(read_settings(chat_model=name))


@pytest.mark.parametrize("provider", ["openai", "anthropic", "ollama"])
def test_a_missing_extra_is_named(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider whose package is not installed names the extra that brings it."""
    monkeypatch.setitem(sys.modules, f"langchain_{provider}", None)
    with pytest.raises(ModelError, match=f"install the extra `{provider}`"):
        load_chat_model(read_settings(chat_model=f"{provider}:any"))


def test_without_a_model_no_provider_is_imported() -> None:
    """No setting, no provider: neither LangChain's nor their clients are loaded."""
    code = (
        "import sys\nfrom assistant.chat_model import load_chat_model\nfrom assistant.settings import read_settings\n"
        "assert load_chat_model(read_settings()) is None\n"
        "assert not {'openai', 'langchain_openai', 'langchain_core', 'stamina', 'anthropic'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[1], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
