"""What the browser tests of the widget share: opening it, asking it, pages of other sites, lines that break."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from assistant.wording import Wordings

WORDINGS = Wordings()
expect.set_options(timeout=15_000)  # two slow cores, several browsers
STRICT = (
    "default-src 'none'; script-src {server}/widget.js {server}/assets/; connect-src {server}/api/; "
    "require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; form-action 'none'"
)
SITE = (
    '<!doctype html><html lang="{language}"><title>A shop</title>'
    "<body><header><h1>A shop</h1></header>{body}</body></html>"
)


def label(name: str, language: str = "en") -> str:
    """A label of the widget."""
    wording = WORDINGS.nearest(language)
    return str(getattr(wording.widget, name, None) or getattr(wording.interface, name))


@dataclass
class Visits:
    """Pages of one test; what the browser objected to is in `complaints`."""

    browser: Browser
    complaints: list[str] = field(default_factory=list)
    contexts: list[BrowserContext] = field(default_factory=list)

    def open(self, address: str, size: tuple[int, int] = (1280, 800), script: str = "", **options: Any) -> Page:
        """A page in a browser profile of its own; `script` runs before each page's own."""
        context = self.browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        if script:
            context.add_init_script(script)
        self.contexts.append(context)
        return self.open_in(context, address)

    def open_in(self, context: BrowserContext, address: str) -> Page:
        """A further page of a profile."""
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on(
            "console", lambda line: self.complaints.append(line.text) if line.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(address)
        return page

    def close(self) -> None:
        """Ends all profiles."""
        for context in self.contexts:
            context.close()


def open_panel(page: Page) -> Locator:
    """Opens the widget with its launcher; gives the panel."""
    page.locator("faq-assistant .launcher").click()
    panel = page.locator("faq-assistant .panel")
    expect(panel).to_be_visible()
    return panel


def send(page: Page, question: str) -> None:
    """Types a question and sends it with Enter."""
    box = page.locator("faq-assistant .ask textarea")
    box.fill(question)
    box.press("Enter")


def ask(page: Page, question: str) -> Locator:
    """Sends a question and waits for its reply; gives the exchange."""
    count = page.locator(".exchange").count()
    send(page, question)
    exchange = page.locator(".exchange").nth(count)
    expect(exchange).to_have_attribute("aria-busy", "false", timeout=15_000)
    return exchange


def shown(exchange: Locator) -> str:
    """The words of a reply, markers included."""
    return exchange.locator(".text").inner_text().replace("\u2060", "")


@contextmanager
def site(pages: dict[str, str], headers: dict[str, str] | None = None) -> Iterator[str]:
    """A site of somebody else: path -> HTML, on another origin than the assistant's; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            html = pages.get(urlsplit(self.path).path)
            self.send_response(200 if html is not None else 204)
            for name, value in {"Content-Type": "text/html; charset=utf-8", **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write((html or "").encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def tag(server: str, **attributes: str) -> str:
    """The one tag."""
    given = "".join(f' data-{name}="{value}"' for name, value in attributes.items())
    return f'<script type="module" src="{server}/widget.js"{given}></script>'


class Line:
    """A network line between browser and server that breaks once, or carries the server's bytes one by one.

    Args:
        cut_after: bytes of the answer after which the connection is closed, the first time they are seen.
        drips: whether each byte is sent alone.
    """

    def __init__(self, server: str, cut_after: bytes = b"", drips: bool = False) -> None:
        self._upstream = (urlsplit(server).hostname or "", urlsplit(server).port or 0)
        self._cut_after, self._drips = cut_after, drips
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.cuts = 0
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def close(self) -> None:
        """Ends the line and everything on it."""
        for one in (self._listener, *self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        for thread in self._threads:
            thread.join(5)

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._upstream)
                near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._sockets += [near, far]
                self._start(self._carry, near, far, False)
                self._start(self._carry, far, near, True)

    def _carry(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        seen = b""
        with suppress(OSError):
            while data := source.recv(65536):
                seen += data if is_answer else b""
                begin = seen.find(b"text/event-stream")
                at = seen.find(self._cut_after, begin) if begin >= 0 and self._cut_after and not self.cuts else -1
                if at >= 0:
                    self.cuts += 1
                    target.sendall(data[: max(0, at + len(self._cut_after) - (len(seen) - len(data)))])
                    break
                if self._drips and begin >= 0:
                    for byte in data:
                        target.sendall(bytes([byte]))
                else:
                    target.sendall(data)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
