"""Threads for what blocks on the store, so that slow answers, which fill the common ones, hold up no acknowledgement.

In: a blocking function and its arguments. Out: what it returns, to a coroutine. Never: is used for anything slow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

THREADS = 8
P = ParamSpec("P")
T = TypeVar("T")


class Aside:
    """A few threads of the Slack bot's own."""

    def __init__(self, threads: int = THREADS) -> None:
        self._pool = ThreadPoolExecutor(threads, "slack")

    async def __call__(self, function: Callable[P, T], *values: P.args, **named: P.kwargs) -> T:
        """What the function returns."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(function, *values, **named))

    def close(self) -> None:
        """Waits for what was begun."""
        self._pool.shutdown()
