"""A chat model's server that misbehaves on demand: the OpenAI wire format over real HTTP on loopback.

Each request takes the next Reply; the last one is given again and again. It records what it was asked and who hung up.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

HEAD = "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nConnection: close\r\n{more}\r\n"
EVENTS = "text/event-stream"


@dataclass(frozen=True)
class Reply:
    """How one request is answered.

    Args:
        pieces: what is streamed, a delta each.
        status, kind, body: anything but 200 and events sends `body` as it is.
        pause_s: before each piece.
        split: bytes of the wire at a time, so that characters come in halves; 0 is whole.
        end: `done`, `stall` (nothing more comes), `reset`, `half` (half a character, then the end), `endless`.
    """

    pieces: Sequence[str] = ()
    status: int = 200
    kind: str = EVENTS
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    pause_s: float = 0.0
    split: int = 0
    end: str = "done"


def event(text: str) -> bytes:
    """One delta on the wire; characters as they are, not escaped."""
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    chunk = {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    try:
        return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()
    except UnicodeEncodeError:
        return f"data: {json.dumps(chunk)}\n\n".encode()


@dataclass
class ModelServer:
    """The running server's script and record."""

    replies: list[Reply]
    requests: list[dict[str, Any]] = field(default_factory=list)
    sent_at: list[float] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
        self.requests.append(json.loads(await reader.readexactly(length)))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        try:
            with suppress(ConnectionError):
                await self._send(reply, reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _send(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        more = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
        writer.write(HEAD.format(status=reply.status, kind=reply.kind, more=more).encode())
        if reply.body or reply.status != 200:
            writer.write(reply.body.encode())
            await writer.drain()
            return
        number = 0
        while number < len(reply.pieces) or (reply.end == "endless" and not writer.is_closing()):
            await asyncio.sleep(reply.pause_s)
            wire = event(reply.pieces[number % len(reply.pieces)])
            for start in range(0, len(wire), reply.split or len(wire)):
                writer.write(wire[start : start + (reply.split or len(wire))])
                await writer.drain()
                if reply.split:
                    await asyncio.sleep(0)
            self.sent_at.append(asyncio.get_running_loop().time())
            number += 1
        if reply.end == "half":
            writer.write(event("額度最高可達三十").rstrip()[:-40] + "萬".encode()[:2])
        elif reply.end == "reset":
            linger = struct.pack("ii", 1, 0)  # closing then resets the connection
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            await asyncio.sleep(0.05)
            writer.transport.abort()
        elif reply.end == "stall":
            await reader.read()  # until the client hangs up
            self.hung_up.set()
        elif reply.end == "done":
            writer.write(b"data: [DONE]\n\n")
        await writer.drain()


@contextmanager
def model_server(*replies: Reply) -> Iterator[ModelServer]:
    """A running server with these replies."""
    served = ModelServer(list(replies) or [Reply(("NONE",))])
    loop, ready, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def serve() -> None:
        server = await asyncio.start_server(served.answer, "127.0.0.1", 0)
        served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        ready.set()
        await stop.wait()
        server.close()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    ready.wait(5)
    try:
        yield served
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(5)
        loop.close()
