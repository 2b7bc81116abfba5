"""The files that browsers load: the widget's modules, the pages' scripts and styles, a version under its own address.

In: the files of static/. Out: responses: `/widget.js`, a few lines that load the current version, and
`/assets/<version>/<name>`, kept by browsers for a year; compressed once, in both codings that browsers take.
Never: serves a file that is not in static/, or two contents under one address.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import brotli
import regex
from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

STATIC = Path(__file__).parent / "static"
WIDGET = "faq-assistant.js"  # all modules of static/widget/ and their style, with static/markup.js
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
LINE_COMMENT = regex.compile(r"^[ \t]*//.*\n", regex.MULTILINE)
BLOCK_COMMENT = regex.compile(r"^[ \t]*/\*.*?\*/\n", regex.MULTILINE | regex.DOTALL)
IMPORT = regex.compile(r'^import \{[^}]*\} from "\./([\w.]+)";\n', regex.MULTILINE)
EXPORT = regex.compile(r"^export (?=\w)", regex.MULTILINE)
EXPORTED = regex.compile(r"^export (?:async )?(?:class|function\*?|const) (\w+)", regex.MULTILINE)
INDENT = regex.compile(r"^[ \t]+|^\n", regex.MULTILINE)
OPEN_TO_ALL = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
FOR_EVER = "public, max-age=31536000, immutable"
FOR_MINUTES = "public, max-age=300, stale-while-revalidate=86400"


@dataclass(frozen=True)
class Asset:
    """One file as it is sent."""

    name: str
    content: bytes

    @cached_property
    def coded(self) -> Mapping[str, bytes]:
        """Content by coding, the smallest first."""
        return {"br": brotli.compress(self.content), "gzip": gzip.compress(self.content, 9, mtime=0)}

    @cached_property
    def etag(self) -> str:
        """Changes with the content."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:16]}"'

    def response(self, request: Request, caching: str) -> Response:
        """The file in the best coding that the browser takes, or 304 where it has it."""
        headers = {"Cache-Control": caching, "ETag": self.etag, "Vary": "Accept-Encoding", **OPEN_TO_ALL}
        if self.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        accepted = {part.partition(";")[0].strip() for part in request.headers.get("accept-encoding", "").split(",")}
        coding = next((name for name in self.coded if name in accepted), "")
        content = self.coded[coding] if coding else self.content
        if coding:
            headers["Content-Encoding"] = coding
        media_type = MEDIA_TYPES[Path(self.name).suffix]
        return Response(content, headers=headers, media_type=media_type)


@dataclass(frozen=True)
class Assets:
    """All files of one version of the program."""

    files: Mapping[str, Asset]
    version: str

    @cached_property
    def loader(self) -> Asset:
        """`/widget.js`: loads the widget's current version."""
        load = f'import {{ install }} from "./assets/{self.version}/{WIDGET}";\ninstall(import.meta.url);\n'
        return Asset("widget.js", load.encode())

    @property
    def widget(self) -> tuple[Asset, ...]:
        """Everything that a page loads for the widget."""
        return self.loader, self.files[WIDGET]

    def path(self, name: str) -> str:
        """Where a file is found, relative to the server's root."""
        return f"assets/{self.version}/{self.files[name].name}"


@cache
def load_assets() -> Assets:
    """Reads static/ once a process; comments and indents stay behind."""
    files = {path.name: Asset(path.name, _read(path)) for path in sorted(STATIC.rglob("*.*"))
             if path.suffix in MEDIA_TYPES}  # fmt: skip
    modules = {path.name: files.pop(path.name).content.decode() for path in (STATIC / "widget").iterdir()}
    modules["markup.js"] = files["markup.js"].content.decode()  # the staff desk's modules import it by itself
    modules["style.js"] = f"export const css = {json.dumps(modules.pop('widget.css'), ensure_ascii=False)};\n"
    files[WIDGET] = Asset(WIDGET, join_modules(modules, "element.js").encode())
    together = hashlib.sha256(b"".join(name.encode() + asset.content for name, asset in sorted(files.items())))
    return Assets(files, together.hexdigest()[:12])


def join_modules(modules: Mapping[str, str], first: str) -> str:
    """One module of several: each once, after those that it imports, without the lines that join them.

    Compressed together they are an eighth smaller than apart, and one request brings them all. Their top-level names
    must differ, which `test_modules_are_valid` sees to; only what `first` exports is exported.
    """
    joined: dict[str, str] = {}

    def add(name: str) -> None:
        for other in IMPORT.findall(modules[name]):
            if other not in joined:
                add(other)
        joined[name] = EXPORT.sub("", IMPORT.sub("", modules[name]))

    add(first)
    names = ", ".join(EXPORTED.findall(modules[first]))
    return "".join(joined.values()) + f"export {{ {names} }};\n"


def _read(path: Path) -> bytes:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        text = INDENT.sub("", LINE_COMMENT.sub("", text))
    elif path.suffix == ".css":
        text = INDENT.sub("", BLOCK_COMMENT.sub("", text))
    return text.encode()


def assets_router() -> APIRouter:
    """`/widget.js` and `/assets/…`."""
    router = APIRouter(include_in_schema=False)
    assets = load_assets()

    @router.get("/widget.js")
    async def widget(request: Request) -> Response:
        return assets.loader.response(request, FOR_MINUTES)

    @router.get("/assets/{version}/{name}")
    async def asset(request: Request, version: str, name: str) -> Response:
        found = assets.files.get(name)
        if found is None:
            raise HTTPException(404)
        if version != assets.version:  # a page that was loaded from another version of this server
            headers = {"Cache-Control": "no-store", **OPEN_TO_ALL}
            return RedirectResponse(f"../{assets.version}/{name}", 307, headers)
        return found.response(request, FOR_EVER)

    return router
