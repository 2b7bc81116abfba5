"""A client's connection: how large the head of a request may be, and how long it may take to come.

In: bytes from a client. Out: requests for the application, through uvicorn. Never: keeps a connection open for a client
that asks nothing, or keeps more of a request's head than the limit; the body's limits are the guard's.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 10.0


class Connection(H11Protocol):
    """uvicorn's, in pure Python because its other one takes heads of any size; with a time limit on the head."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        """Waits for a request from now on."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Takes bytes; what begins a further request has its own time."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._late is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
