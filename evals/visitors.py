"""Many visitors at once, and one in a real browser: what the widget's users feel.

In: a running server of this machine, its process, questions. Out: times, errors, memory. Never: runs longer than told,
or counts an answer as right that is not the one the same question got alone.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

from assistant.errors import AssistantError

VISITORS, SECONDS = 200, 120.0
THINKING_S = (8.0, 16.0)  # between a visitor's questions: reading an answer, writing the next one
PAUSE_S, PATIENCE_S = 1.0, 30.0
SAMPLE_S = 1.0
BROWSED = 30
HEADERS = {"Accept": "text/event-stream"}
ASK = """
async (question) => {
  const widget = document.querySelector('faq-assistant'), log = widget.shadowRoot.querySelector('.log');
  const started = performance.now();
  widget.ask(question);
  const text = log.lastElementChild.querySelector('.text');
  const first = await new Promise((resolve) => {
    const seen = () => text.textContent && requestAnimationFrame(() => resolve(performance.now()));
    new MutationObserver(seen).observe(text, { childList: true, subtree: true, characterData: true });
  });
  while (log.lastElementChild.getAttribute('aria-busy') === 'true') await new Promise((go) => setTimeout(go, 10));
  return first - started;
}
"""


@dataclass
class Tally:
    """What happened."""

    times_ms: list[float] = field(default_factory=list)
    first_ms: list[float] = field(default_factory=list)
    errors: int = 0
    crossed: int = 0
    retries: int = 0
    memory_mb: list[float] = field(default_factory=list)


def measure_visitors(
    port: int, process: int, questions: Sequence[str], seconds: float = SECONDS, visitors: int = VISITORS
) -> dict[str, Any]:
    """VISITORS conversations at once for some seconds: times in milliseconds, errors, crossed answers, memory in MB."""
    tally = asyncio.run(_visit(f"http://127.0.0.1:{port}", process, questions, seconds, visitors))
    if not tally.times_ms:
        raise AssistantError("no visitor got an answer; start the server by hand to see why")
    half = len(tally.memory_mb) // 2
    return {
        "visitors": visitors,
        "visits_answered": len(tally.times_ms),
        "visits_failed": tally.errors,
        "visits_crossed": tally.crossed,
        "visits_retried": tally.retries,
        "visits_p50_ms": np.median(tally.times_ms),
        "visits_p95_ms": np.quantile(tally.times_ms, 0.95),
        "visits_first_p95_ms": np.quantile(tally.first_ms, 0.95),
        "visits_memory_growth_mb": tally.memory_mb[-1] - tally.memory_mb[half] if half else None,
    }


async def _visit(server: str, process: int, questions: Sequence[str], seconds: float, visitors: int) -> Tally:
    tally = Tally()
    limits = httpx2.Limits(max_connections=visitors + 10, max_keepalive_connections=visitors + 10)
    async with httpx2.AsyncClient(base_url=server, timeout=PATIENCE_S, limits=limits) as client:
        expected = {question: (await _ask(client, question, tally))["text"] for question in questions}
        tally.times_ms.clear()
        tally.first_ms.clear()
        end = time.monotonic() + seconds
        watching = asyncio.create_task(_watch(process, end, tally))
        await asyncio.gather(*(_one(client, number, expected, end, tally) for number in range(visitors)), watching)
    return tally


async def _one(client: httpx2.AsyncClient, number: int, expected: dict[str, str], end: float, tally: Tally) -> None:
    chance = random.Random(number)  # noqa: S311 - a load, not a secret
    await asyncio.sleep(chance.uniform(0, THINKING_S[1]))
    while time.monotonic() < end:
        question = chance.choice(sorted(expected))
        try:
            answer = await _ask(client, question, tally)
            tally.crossed += answer["text"] != expected[question]
        except (httpx2.HTTPError, AssistantError):
            tally.errors += 1
        await asyncio.sleep(chance.uniform(*THINKING_S))


async def _ask(client: httpx2.AsyncClient, question: str, tally: Tally) -> dict[str, Any]:
    """One answer as the widget gets it; a server that has its hands full is asked again, in the time that counts."""
    started = time.monotonic()
    while time.monotonic() < started + PATIENCE_S:
        async with client.stream("POST", "/api/v1/chat", json={"message": question}, headers=HEADERS) as response:
            if response.status_code == 503:
                tally.retries += 1
                await asyncio.sleep(PAUSE_S)
                continue
            response.raise_for_status()
            name, first = "", 0.0
            async for line in response.aiter_lines():
                name = line.removeprefix("event: ") if line.startswith("event: ") else name
                if line.startswith("data: ") and name == "sentence":
                    first = first or time.monotonic()
                if line.startswith("data: ") and name == "answer":
                    tally.first_ms.append(((first or time.monotonic()) - started) * 1000)
                    tally.times_ms.append((time.monotonic() - started) * 1000)
                    found: dict[str, Any] = json.loads(line.removeprefix("data: "))
                    return found
        raise AssistantError("a stream ended without an answer")
    raise AssistantError("the server had its hands full for too long")


async def _watch(process: int, end: float, tally: Tally) -> None:
    while time.monotonic() < end:
        tally.memory_mb += _resident_mb(process)
        await asyncio.sleep(SAMPLE_S)


def _resident_mb(process: int) -> list[float]:
    """Resident memory of a process; nothing where the system does not tell."""
    status = Path(f"/proc/{process}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")]


def measure_browser(port: int, questions: Sequence[str]) -> dict[str, Any]:
    """Milliseconds from sending to the first sentence on the screen, in Chromium; nothing where there is none."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if not path:
        return {"browser_first_p50_ms": None, "browser_first_p95_ms": None}
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        page.locator("faq-assistant .launcher").click()
        times = [page.evaluate(ASK, question) for question in questions[: BROWSED + 1]][1:]
        browser.close()
    return {"browser_first_p50_ms": np.median(times), "browser_first_p95_ms": np.quantile(times, 0.95)}
