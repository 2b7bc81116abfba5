"""Hundreds of questions from Slack, each delivered several times to several processes that are killed meanwhile.

In: how many, how long an answer takes, how often a process is killed. Out: what became of them, and how soon they were
acknowledged. Never: leaves loopback.

As a program: `python -m tests.slack_storm [--questions 500] [--threads 100] [--seconds 10] [--kills 6]`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import httpx

from tests.slack_events import event_body, signed
from tests.slack_server import SlackServer, slack_server

CHECKOUT = Path(__file__).parent.parent
DELIVERIES, PROCESSES = 4, 2
PER_SECOND = 10  # questions; each is delivered four times


@dataclass
class Outcome:
    """What became of the questions.

    Args:
        asked, answered: thread -> its questions, and those whose replies stand there, in order.
        kept_at: question -> when it was first acknowledged, which is when the bot knew of it.
        posted_at: question -> when its reply was posted.
        took_s: how long each acknowledgement took, in ascending order.
    """

    asked: dict[str, list[str]] = field(default_factory=dict)
    answered: dict[str, list[str]] = field(default_factory=dict)
    kept_at: dict[str, float] = field(default_factory=dict)
    posted_at: dict[str, float] = field(default_factory=dict)
    took_s: list[float] = field(default_factory=list)
    kills: int = 0
    seconds: float = 0.0

    @property
    def replies(self) -> list[str]:
        """The questions of all replies."""
        return [text for answered in self.answered.values() for text in answered]

    @property
    def overtaken(self) -> list[str]:
        """Questions that a later one of their thread was answered before, though they were known when it was."""
        found = []
        for texts in self.asked.values():
            for at, text in enumerate(texts):
                later = [self.posted_at[other] for other in texts[at + 1 :] if other in self.posted_at]
                if any(self.kept_at[text] < posted < self.posted_at.get(text, 0.0) for posted in later):
                    found.append(text)
        return found

    def took(self, share: float) -> float:
        """The time within which that share of deliveries was acknowledged."""
        return self.took_s[min(len(self.took_s) - 1, int(len(self.took_s) * share))]


class Process:
    """One server, started again on the same port after it was killed."""

    def __init__(self, slack_url: str, store_url: str, seconds: float, lease_s: float) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._arguments = [str(self.port), slack_url, store_url, str(seconds), str(lease_s)]
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.slack_apps", *self._arguments]
        self._running = subprocess.Popen(command, cwd=CHECKOUT, env={**os.environ, "PYTHONPATH": str(CHECKOUT)})

    def kill(self) -> None:
        self._running.send_signal(signal.SIGKILL)
        self._running.wait(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def ready(self) -> None:
        async with httpx.AsyncClient(trust_env=False) as client:
            for _ in range(600):
                with suppress(httpx.HTTPError):
                    if (await client.get(f"{self.url}/readyz")).status_code == 200:
                        return
                await asyncio.sleep(0.05)
        raise AssertionError("the server did not start")


async def storm(
    questions: int, threads: int, seconds: float, kills: int, lease_s: float = 12.0, patience_s: float = 300.0
) -> Outcome:
    """Asks, delivers again, kills, waits until all is answered (or for `patience_s`)."""
    outcome, chance = Outcome(), random.Random(5)
    with tempfile.TemporaryDirectory() as folder, slack_server() as slack:
        _trouble(slack, questions)
        store_url = f"sqlite:///{folder}/store.sqlite3"
        processes = [Process(slack.url, store_url, seconds, lease_s) for _ in range(PROCESSES)]
        limit = aiohttp.TCPConnector(limit=300)
        client = aiohttp.ClientSession(connector=limit, timeout=aiohttp.ClientTimeout(total=30))
        urls = [f"{process.url}/slack/events" for process in processes]
        try:
            await asyncio.gather(*(process.ready() for process in processes))
            began = time.monotonic()
            lasts_s = questions / PER_SECOND
            killing = asyncio.create_task(_kill(processes, kills, lasts_s + seconds, outcome, chance))
            post = partial(_deliver, client, urls, outcome, chance)
            count = questions // threads
            asked = [_ask(slack, post, number, count, lasts_s, outcome, chance) for number in range(threads)]
            await asyncio.gather(*asked)
            await killing
            end = time.monotonic() + patience_s
            while _missing(slack, outcome) and time.monotonic() < end:  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.2)
            await asyncio.sleep(lease_s + 2)  # a reply that comes twice comes within this
            _missing(slack, outcome)
            outcome.seconds = time.monotonic() - began
        finally:
            await client.close()
            for process in processes:
                process.kill()
        outcome.took_s.sort()
    return outcome


def _trouble(slack: SlackServer, questions: int) -> None:
    """What goes wrong with one call in ten or so."""
    few = max(questions // 40, 1)
    slack.fail("chat.postMessage", status=429, retry_after_s=1, times=few)
    slack.fail("chat.postMessage", drop="after", times=few)
    slack.fail("chat.postMessage", status=503, times=few)
    slack.fail("chat.postMessage", drop="before", times=few)


async def _ask(
    slack: SlackServer,
    deliver: Callable[[str, bytes, int], Coroutine[Any, Any, None]],
    number: int,
    count: int,
    lasts_s: float,
    outcome: Outcome,
    chance: random.Random,
) -> None:
    """One thread: a mention, then what its asker writes below it, within two seconds."""
    await asyncio.sleep(chance.random() * lasts_s)
    user, root = f"U{number}", ""
    deliveries: list[asyncio.Task[None]] = []
    outcome.asked[str(number)] = []
    for turn in range(count):
        text = f"thread {number} question {turn}"
        asked = slack.workspace.say("C1", user, text if root else f"<@UBOT> {text}", root)
        root = root or asked["ts"]
        outcome.asked[str(number)].append(text)
        body = event_body(asked)
        deliveries += [asyncio.create_task(deliver(text, body, nth)) for nth in range(DELIVERIES)]
        await asyncio.sleep(chance.random() * 2 / count)
    await asyncio.gather(*deliveries)


async def _deliver(
    client: aiohttp.ClientSession,
    urls: list[str],
    outcome: Outcome,
    chance: random.Random,
    text: str,
    body: bytes,
    nth: int,
) -> None:
    """One delivery; Slack goes on for some time where it is not acknowledged."""
    await asyncio.sleep(nth * chance.random())
    for attempt in range(100):
        headers, began = signed(body, retry=nth + attempt), time.monotonic()
        with suppress(aiohttp.ClientError, TimeoutError):
            async with client.post(chance.choice(urls), data=body, headers=headers) as response:
                if response.status == 200:
                    outcome.took_s.append(time.monotonic() - began)
                    outcome.kept_at.setdefault(text, time.monotonic())
                    return
        await asyncio.sleep(0.2 + chance.random())
    raise AssertionError("an event was never acknowledged")


async def _kill(processes: list[Process], kills: int, within_s: float, outcome: Outcome, chance: random.Random) -> None:
    for _ in range(kills):
        await asyncio.sleep(chance.uniform(0.5, 1.5) * within_s / kills)
        killed = chance.choice(processes)
        killed.kill()
        outcome.kills += 1
        await asyncio.sleep(chance.random())
        killed.start()
        await killed.ready()


def _missing(slack: SlackServer, outcome: Outcome) -> int:
    """Notes the replies so far; how many questions have none."""
    roots: dict[str, str] = {}
    answered: dict[str, list[str]] = defaultdict(list)
    for message in list(slack.workspace.messages["C1"]):
        text = str(message["text"])
        if message.get("bot_id"):
            answered[roots[message["thread_ts"]]].append(text.removeprefix("About "))
        elif message["ts"] == message.get("thread_ts", message["ts"]):
            roots[message["ts"]] = text.split()[2]
    outcome.answered = dict(answered)
    for call in slack.called("chat.postMessage"):
        if call.answer.get("ok"):
            outcome.posted_at.setdefault(str(call.arguments["text"]).removeprefix("About "), call.at)
    return sum(len(set(asked) - set(answered[number])) for number, asked in outcome.asked.items())


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description="many questions from Slack, delivered often, processes killed")
    for name, value in (("questions", 500), ("threads", 100), ("seconds", 10), ("kills", 6)):
        parser.add_argument(f"--{name}", type=int, default=value)
    given = parser.parse_args()
    found = asyncio.run(storm(given.questions, given.threads, given.seconds, given.kills))
    sys.stdout.write(
        f"{len(found.kept_at)} questions, {len(found.replies)} replies, {len(set(found.replies))} different, "
        f"{len(found.overtaken)} overtaken, {found.kills} kills, {found.seconds:.0f} s; {len(found.took_s)} "
        f"acknowledgements: p50 {found.took(0.5) * 1000:.0f} ms, p99 {found.took(0.99) * 1000:.0f} ms, "
        f"longest {found.took_s[-1] * 1000:.0f} ms\n"
    )


if __name__ == "__main__":
    main()
