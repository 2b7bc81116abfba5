"""How fast the staff desk's pages open over a store full of questions.

In: a home, a server's port. Out: milliseconds of each page. Never: touches a store that serves anyone else.
"""

from __future__ import annotations

import time
from pathlib import Path
from urllib.request import Request, urlopen

import numpy as np

from assistant.members import Members
from assistant.store import Store
from evals.records import fill

LOGGED = 100_000
ROUNDS, LIMIT_S = 40, 60.0
PAGES = {
    "desk_gaps": "/staff/gaps",
    "desk_gaps_narrowed": "/staff/gaps?asked_in=ja&channel=widget",
    "desk_insight": "/staff/insight",
    "desk_insight_narrowed": "/staff/insight?asked_in=ja&channel=widget",
}


def fill_home(home: Path, count: int = LOGGED) -> str:
    """Adds so many logged questions to a home's store; a token that opens its staff desk."""
    store = Store(f"sqlite:///{home / 'conversations.sqlite3'}", 60)
    fill(store, count)
    token = Members(store.engine).invite("bench", "agent")
    store.close()
    return token


def measure_desk(port: int, token: str, rounds: int = ROUNDS) -> dict[str, float]:
    """Median and 95th percentile of opening each page, in milliseconds; the first opening alone."""
    found = {}
    for name, path in PAGES.items():
        times = [_open(port, token, path) for _ in range(rounds)]
        found[f"{name}_first_ms"] = times[0]
        found[f"{name}_p50_ms"], found[f"{name}_p95_ms"] = (float(np.quantile(times, share)) for share in (0.5, 0.95))
    return found


def _open(port: int, token: str, path: str) -> float:
    request = Request(f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {token}"})
    started = time.perf_counter()
    with urlopen(request, timeout=LIMIT_S) as page:
        page.read()
    return (time.perf_counter() - started) * 1000
