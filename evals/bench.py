"""How fast and how large: one run that measures the assistant and, for comparison, the tutorial stack.

In: the corpus, held-out questions, the built model. Out: medians, ratios. Never: times two things at once, lets torch
into this process, or waits without a limit.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import numpy as np
from rich.console import Console

from assistant.bootstrap import Parts, build, ingest
from assistant.errors import AssistantError
from assistant.ingest import find_files
from assistant.pipeline import Assistant
from assistant.settings import Settings, read_settings
from assistant.weights import NAME
from evals.cases import read_cases
from evals.desk import fill_home, measure_desk
from evals.prepare import prepare
from evals.speeds import ANSWER_RATIO, INDEX_RATIO, speeds_table
from evals.visitors import measure_browser, measure_visitors

CHECKOUT = Path(__file__).parent.parent
QUESTIONS, WARM_UP, ROUNDS, COLD = 72, 36, 3, 5  # warm: three questions of each language first
SERVED = 50  # questions before the server's memory is read
LIMIT = 180.0  # seconds that any one step may take
Measures = dict[str, Any]


def bench(as_json: bool) -> int:
    """Measures everything and prints it.

    Raises:
        AssistantError: a step failed or took too long; says which.
    """
    settings = read_settings()
    questions = mixed_questions(QUESTIONS + WARM_UP)
    with ExitStack() as stack:
        parts = prepare(settings, [settings.corpus], stack, None)
        _say("answering")
        measures = _answering(build(parts.settings, parts=parts), questions)
        _say("indexing")
        measures["index_s"] = _indexing(parts, settings, stack)
        home = parts.settings.home
        _say("the tutorial stack")
        measures |= _tutorial(settings, questions[WARM_UP:])
        _say("serving")
        measures |= _serving(home, questions)
        _say("the staff desk over 100,000 questions")
        measures |= _desk(home)
        _say("starting from nothing")
        measures["ask_cold_s"] = statistics.median(_cold(home, questions[number]) for number in range(COLD))
    measures["make_run_s"] = _make_run(settings)
    measures |= {
        ANSWER_RATIO: measures["tutorial_search_p50_ms"] / measures["answer_p50_ms"],
        INDEX_RATIO: measures["tutorial_index_s"] / measures["index_s"],
    }
    measures = {name: None if value is None else round(value, 3) for name, value in measures.items()}
    if as_json:
        print(json.dumps(measures, indent=1))
    else:
        console = Console(highlight=False)
        console.width = max(console.width, 120)
        console.print(speeds_table(measures, SERVED))
    return 0


def _say(step: str) -> None:
    print(f"measuring: {step} …", file=sys.stderr)


def mixed_questions(count: int) -> list[str]:
    """Held-out questions of all languages in turn."""
    by_language: dict[str, list[str]] = defaultdict(list)
    for case in read_cases("heldout"):
        by_language[case.language].append(case.text)
    rows = chain.from_iterable(zip_longest(*by_language.values()))
    return [text for text in rows if text][:count]


def _answering(assistant: Assistant, questions: Sequence[str]) -> Measures:
    """Milliseconds of a warm answer, everything from the message to the Answer; as in a server, suggestions were
    verified behind."""
    assistant.suggestions.work_behind()
    wait_until(assistant.suggestions.is_idle, "the suggestions")

    async def run() -> list[float]:
        times = []
        for question in questions:
            started = time.perf_counter()
            await assistant.answer(question)
            times.append((time.perf_counter() - started) * 1000)
        return times[WARM_UP:]

    times = asyncio.run(run())
    return {"questions": len(times), "answer_p50_ms": np.median(times), "answer_p95_ms": np.quantile(times, 0.95)}


def _indexing(parts: Parts, settings: Settings, stack: ExitStack) -> float:
    """Seconds to ingest the corpus into a fresh home with the model loaded: the median of the rounds."""
    times = []
    for _ in range(ROUNDS):
        fresh = prepare(settings, [], stack, None, parts)
        started = time.perf_counter()
        ingest(fresh, [settings.corpus])
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def _tutorial(settings: Settings, questions: Sequence[str]) -> Measures:
    """The same articles, questions and weights in the tutorial stack, in a process of its own."""
    task = {
        "model": str((settings.home / "models" / NAME).resolve()),
        "articles": [str(path) for path in find_files([settings.corpus])],
        "questions": list(questions),
        "rounds": ROUNDS,
    }
    done = _run("the tutorial stack", [sys.executable, "-m", "evals.tutorial"], given=json.dumps(task))
    found = json.loads(done)
    return {
        "tutorial_search_p50_ms": np.median(found["search_ms"]),
        "tutorial_search_p95_ms": np.quantile(found["search_ms"], 0.95),
        "tutorial_index_s": statistics.median(found["index_s"]),
    }


def _cold(home: Path, question: str) -> float:
    """Seconds of one `assistant ask` from nothing, with an index that exists."""
    started = time.perf_counter()
    _run("assistant ask", [sys.executable, "-m", "assistant", "ask", question], home=home)
    return time.perf_counter() - started


def _serving(home: Path, questions: Sequence[str]) -> Measures:
    """Seconds from start to ready and to the first answer; the server's peak memory after some questions."""
    port = free_port()
    started = time.perf_counter()
    with _server([sys.executable, "-m", "assistant", "serve"], port, home) as process:
        wait_until(lambda: _is_ready(port), "the server")
        ready = time.perf_counter() - started
        chat(port, questions[0])
        first = time.perf_counter() - started
        times = []
        for question in questions[1:SERVED]:
            at = time.perf_counter()
            chat(port, question)
            times.append((time.perf_counter() - at) * 1000)
        measures = {
            "serve_ready_s": ready,
            "serve_first_answer_s": first,
            "served_p50_ms": np.median(times),
            "serve_peak_mb": peak_memory(process.pid),
        }
        _say("visitors (two minutes)")
        return measures | measure_browser(port, questions) | measure_visitors(port, process.pid, questions[:SERVED])


def _desk(home: Path) -> Measures:
    """Milliseconds in which the staff desk's pages open over many logged questions."""
    token, port = fill_home(home), free_port()
    with _server([sys.executable, "-m", "assistant", "serve"], port, home):
        wait_until(lambda: _is_ready(port), "the server")
        return measure_desk(port, token)


def _make_run(settings: Settings) -> float | None:
    """Seconds of a second `make run` until it is ready; None where there was no first (it would install)."""
    if not (CHECKOUT / ".venv" / "serving").exists() or not (settings.home / "ingested").exists():
        return None
    port = free_port()
    started = time.perf_counter()
    with _server(["make", "run"], port, settings.home):
        wait_until(lambda: _is_ready(port), "make run")
        return time.perf_counter() - started


@contextmanager
def _server(command: Sequence[str], port: int, home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server in a process group of its own, ended with all its children."""
    environment = _environment(home) | {"ASSISTANT_PORT": str(port), "ASSISTANT_HOST": "127.0.0.1"}
    process = subprocess.Popen(
        command,
        cwd=CHECKOUT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def chat(port: int, message: str) -> dict[str, Any]:
    """One question to a server on this machine."""
    request = Request(
        f"http://127.0.0.1:{port}/api/v1/chat",
        json.dumps({"message": message}).encode(),
        {"Content-Type": "application/json"},
    )
    with urlopen(request, timeout=LIMIT) as reply:
        found: dict[str, Any] = json.load(reply)
        return found


def _is_ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as reply:
            return bool(reply.status == 200)
    except (URLError, OSError):
        return False


def wait_until(holds: Callable[[], bool], what: str, limit: float = LIMIT) -> None:
    """Waits in small steps.

    Raises:
        AssistantError: it does not hold in time.
    """
    deadline = time.monotonic() + limit
    while not holds():
        if time.monotonic() > deadline:
            raise AssistantError(f"{what} was not ready within {limit:.0f} seconds; start it by hand to see why")
        time.sleep(0.02)


def free_port() -> int:
    """A port of the loopback address that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def peak_memory(process: int) -> float | None:
    """Peak resident memory of a process in megabytes; None where the system does not tell."""
    status = Path(f"/proc/{process}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), None)


def _run(what: str, command: Sequence[str], home: Path | None = None, given: str = "") -> str:
    try:
        done = subprocess.run(
            command,
            cwd=CHECKOUT,
            env=_environment(home),
            input=given,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise AssistantError(f"{what} took longer than {LIMIT:.0f} seconds") from None
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["no message"])[-1]
        raise AssistantError(f"{what} failed: {last}; `make setup` installs what it needs") from None
    return done.stdout


def _environment(home: Path | None) -> dict[str, str]:
    found = dict(os.environ) | {"PYTHONIOENCODING": "utf-8"}
    return found | ({"ASSISTANT_HOME": str(home.resolve())} if home else {})
