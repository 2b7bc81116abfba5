"""A local stand-in for Slack: its Web API and Socket Mode over real HTTP on loopback, with a record of every call.

In: calls of the Web API, faults to commit, messages of people. Out: Slack's answers, a record, events to send on.
Never: reaches beyond loopback, or is kinder than Slack: scopes, tokens, limits and membership are checked.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.slack_limits import TEXT, UPDATED, complaint
from tests.slack_workspace import METHODS, Refusal, Workspace

SCOPES = {
    "chat.": ("chat:write",),
    "conversations.replies": ("channels:history", "groups:history", "im:history", "mpim:history"),
    "conversations.history": ("channels:history", "groups:history", "im:history", "mpim:history"),
    "conversations.info": ("channels:read", "groups:read", "im:read", "mpim:read"),
    "users.info": ("users:read",),
    "assistant.": ("assistant:write",),
}  # any one of them is enough; a channel's kind decides which
KIND = {"C": "channels", "G": "groups", "D": "im"}


@dataclass(frozen=True)
class Call:
    """One call that arrived: `at` is time.monotonic(), `error` Slack's code, `dropped` or "" where all went well."""

    method: str
    arguments: dict[str, Any]
    token: str
    at: float
    error: str = ""
    answer: dict[str, Any] = field(default_factory=dict)


@dataclass
class Fault:
    """What goes wrong with the next calls of a method.

    Args:
        method: its name, or "*".
        status: the HTTP status instead of 200; with 429, `retry_after_s` is told.
        error: Slack's error code in an answer with status 200.
        delay_s: waits before it answers (the call has been carried out then).
        drop: `before` or `after` carrying the call out, the connection is cut.
        times: so many calls.
        when: only calls whose arguments please it.
    """

    method: str
    status: int = 200
    error: str = ""
    retry_after_s: int = 1
    delay_s: float = 0.0
    drop: str = ""
    times: int = 1
    when: Callable[[dict[str, Any]], bool] = lambda arguments: True


@dataclass
class SlackServer:
    """The running stand-in.

    Args:
        url: base address for `slack_sdk` (`base_url`), ending in `/api/`.
        calls: everything that arrived, in order.
        tokens: accepted bot tokens -> their scopes; `app_tokens` are those for Socket Mode.
        seconds_apart: where above 0, messages to one channel must be so far apart, or 429 is answered.
        clock_offset_s: how far the server's Date header is off.
    """

    workspace: Workspace = field(default_factory=Workspace)
    url: str = ""
    calls: list[Call] = field(default_factory=list)
    tokens: dict[str, set[str]] = field(default_factory=dict)
    app_tokens: set[str] = field(default_factory=lambda: {"xapp-1-test"})
    faults: list[Fault] = field(default_factory=list)
    seconds_apart: float = 0.0
    clock_offset_s: float = 0.0
    acknowledged: dict[str, float] = field(default_factory=dict)
    sockets: list[web.WebSocketResponse] = field(default_factory=list)
    opened: int = 0
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _last_post: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def fail(self, method: str, **changes: Any) -> None:
        """Makes the next calls of a method go wrong; see Fault."""
        self.faults.append(Fault(method, **changes))

    def called(self, method: str) -> list[Call]:
        """The calls of a method (all whose name begins so, where it ends in a dot)."""
        return [call for call in self.calls if call.method == method or (method[-1] == "." and method in call.method)]

    def wait_for(self, met: Callable[[SlackServer], object], timeout_s: float = 30.0) -> None:
        """Returns once it is met; in an asynchronous test, call it by `asyncio.to_thread`."""
        end = time.monotonic() + timeout_s
        while not met(self):
            assert time.monotonic() < end, f"not met; calls: {[(call.method, call.error) for call in self.calls]}"
            time.sleep(0.01)

    def response_url(self, name: str = "1") -> str:
        """An address such as commands and buttons carry; what is posted there is recorded as `response_url`."""
        return f"{self.url.removesuffix('api/')}response/{name}"

    def send_socket(self, kind: str, payload: dict[str, Any], envelope_id: str, retry: int = 0) -> None:
        """Sends `events_api`, `slash_commands` or `interactive` over one open socket; see `acknowledged`."""
        envelope = {
            "type": kind, "envelope_id": envelope_id, "payload": payload, "accepts_response_payload": False,
            "retry_attempt": retry, "retry_reason": "timeout" if retry else "",
        }  # fmt: skip
        until = time.monotonic() + 5
        while not (open_sockets := [socket for socket in self.sockets if not socket.closed]):
            assert time.monotonic() < until, "no socket is open"
            time.sleep(0.01)  # the client may know of it a moment before this side does
        sending = open_sockets[-1].send_str(json.dumps(envelope, ensure_ascii=False))
        asyncio.run_coroutine_threadsafe(sending, self.loop).result(5)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """One call of the Web API."""
        method, at = request.match_info["method"], time.monotonic()
        arguments = await _arguments(request)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ") or str(arguments.pop("token", ""))
        fault = self._fault(method, arguments)
        if fault and fault.drop == "before":
            return self._cut(request, Call(method, arguments, token, at, "dropped"))
        status, answer = fault.status if fault else 200, {}
        if fault and (fault.error or status != 200):
            answer = {"ok": False, "error": fault.error or ("ratelimited" if status == 429 else "internal_error")}
        else:
            status, answer = self._carry_out(method, arguments, token)
        if fault and fault.delay_s:
            self.calls.append(Call(method, arguments, token, at, str(answer.get("error", "")), answer))
            await asyncio.sleep(fault.delay_s)
        elif fault and fault.drop == "after":
            return self._cut(request, Call(method, arguments, token, at, "dropped", answer))
        else:
            self.calls.append(Call(method, arguments, token, at, str(answer.get("error", "")), answer))
        wait = fault.retry_after_s if fault and fault.status == 429 else 1
        return self._respond(status, answer, token, wait)

    async def take_response(self, request: web.Request) -> web.StreamResponse:
        """What an app posts to a command's or a button's response_url."""
        arguments = await _arguments(request)
        fault = self._fault("response_url", arguments)
        error, _ = complaint(arguments)
        broken = "dropped" if fault and fault.drop else error
        self.calls.append(Call("response_url", {**arguments, "url": str(request.url)}, "", time.monotonic(), broken))
        if fault and fault.drop:
            return self._cut(request)
        if fault and fault.status != 200:
            return web.Response(status=fault.status, headers={"Retry-After": str(fault.retry_after_s)})
        return web.Response(text="ok") if not error else web.json_response({"ok": False, "error": error}, status=400)

    async def link(self, request: web.Request) -> web.StreamResponse:
        """A Socket Mode connection: greets, then notes what is acknowledged and when."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.sockets.append(socket)
        await socket.send_json({"type": "hello", "num_connections": len(self.sockets), "connection_info": {}})
        async for message in socket:
            if message.type == WSMsgType.TEXT and message.data.startswith("{"):
                envelope = json.loads(message.data).get("envelope_id", "")
                self.acknowledged.setdefault(envelope, time.monotonic())
        return socket

    def _fault(self, method: str, arguments: dict[str, Any]) -> Fault | None:
        for fault in self.faults:
            if fault.times > 0 and fault.method in (method, "*") and fault.when(arguments):
                fault.times -= 1
                return fault
        return None

    def _carry_out(self, method: str, arguments: dict[str, Any], token: str) -> tuple[int, dict[str, Any]]:
        try:
            if method == "apps.connections.open":
                if token not in self.app_tokens:
                    raise Refusal("invalid_auth")
                self.opened += 1
                address = self.url.replace("http:", "ws:").removesuffix("api/")
                return 200, {"ok": True, "url": f"{address}link?ticket={self.opened}"}
            if method == "oauth.v2.access":
                return 200, {"ok": True, **self.workspace.grant(arguments, self.tokens)}
            self._admit(method, arguments, token)
            if method not in METHODS:
                raise Refusal("unknown_method")
            error, details = complaint(arguments, UPDATED if method == "chat.update" else TEXT)
            if error:
                raise Refusal(error, response_metadata={"messages": [f"[ERROR] {said}" for said in details]})
            if method == "chat.postMessage" and self._too_soon(str(arguments.get("channel"))):
                return 429, {"ok": False, "error": "ratelimited"}
            return 200, {"ok": True, **METHODS[method](self.workspace, arguments)}
        except Refusal as refusal:
            return 200, {"ok": False, "error": refusal.code, **refusal.more}

    def _admit(self, method: str, arguments: dict[str, Any], token: str) -> None:
        if token not in self.tokens:
            raise Refusal("invalid_auth" if token else "not_authed")
        wanted = next((any_of for start, any_of in SCOPES.items() if method.startswith(start)), ())
        if len(wanted) > 1:
            kind = KIND.get(str(arguments.get("channel", ""))[:1], "channels")
            wanted = tuple(scope for scope in wanted if scope.startswith(kind))
        if wanted and not self.tokens[token].intersection(wanted):
            raise Refusal("missing_scope", needed=wanted[0], provided=",".join(sorted(self.tokens[token])))

    def _too_soon(self, channel: str) -> bool:
        now = time.monotonic()
        if self.seconds_apart and now - self._last_post[channel] < self.seconds_apart:
            return True
        self._last_post[channel] = now
        return False

    def _respond(self, status: int, answer: dict[str, Any], token: str, wait_s: int) -> web.Response:
        stamp = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + self.clock_offset_s))
        headers = {"Date": stamp, "X-OAuth-Scopes": ",".join(sorted(self.tokens.get(token, ())))}
        if status == 429:
            headers["Retry-After"] = str(wait_s)
        if status >= 500:
            return web.Response(text="upstream failure", status=status, headers=headers)
        return web.json_response(answer, status=status, headers=headers)

    def _cut(self, request: web.Request, call: Call | None = None) -> web.Response:
        if call:
            self.calls.append(call)
        if request.transport:
            request.transport.abort()
        return web.Response()


async def _arguments(request: web.Request) -> dict[str, Any]:
    """A call's arguments, from JSON, a form or the query; JSON inside a form is decoded."""
    if request.content_type == "application/json":
        return dict(await request.json())
    given: dict[str, Any] = {**request.query, **(await request.post())}
    for name in ("blocks", "metadata", "view", "prompts"):
        if isinstance(given.get(name), str):
            with suppress(ValueError):
                given[name] = json.loads(given[name])
    return given


@contextmanager
def slack_server(scopes: set[str] | None = None, token: str = "xoxb-test") -> Iterator[SlackServer]:
    """A running stand-in on a free port; its one token has these scopes, or every scope that there is."""
    served = SlackServer()
    everything = {scope for any_of in SCOPES.values() for scope in any_of}
    served.tokens[token] = everything if scopes is None else scopes
    ready, stop = threading.Event(), asyncio.Event()

    async def serve() -> None:
        app = web.Application(client_max_size=10_000_000)
        app.router.add_route("*", "/api/{method}", served.answer)
        app.router.add_post("/response/{name}", served.take_response)
        app.router.add_get("/link", served.link)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        served.url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
        ready.set()
        await stop.wait()
        for socket in served.sockets:
            await socket.close()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: served.loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(5), "the stand-in did not start"
    try:
        yield served
    finally:
        served.loop.call_soon_threadsafe(stop.set)
        thread.join(5)
        served.loop.close()
