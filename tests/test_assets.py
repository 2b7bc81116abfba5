"""The files that browsers load: small, versioned, cacheable by anyone; and the articles of the help page."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import brotli
import httpx2
import pytest
import regex

from assistant.errors import SourceError
from assistant.settings import read_settings
from assistant.surfaces.articles import Shelf, show_article
from assistant.surfaces.assets import STATIC, join_modules, load_assets
from assistant.surfaces.web import create_app
from tests.articles import CORPUS
from tests.fakes import FakeAssistant

LIMIT = 15_000


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(create_app(FakeAssistant(), read_settings(corpus=CORPUS)))
    async with httpx2.AsyncClient(transport=transport, base_url="http://test", headers={"Accept-Encoding": ""}) as one:
        yield one


@pytest.mark.parametrize("coding", ["br", "gzip"])
def test_widget_is_small(coding: str) -> None:
    """Everything a page loads for the widget, script and styles, compressed as browsers get it, is at most 15 KB."""
    size = sum(len(asset.coded[coding]) for asset in load_assets().widget)
    assert 5000 < size <= LIMIT, size


def test_widget_is_what_is_written() -> None:
    """What is sent is the files' lines without comments, indents and imports: each once, no template literal broken."""
    sent = load_assets().files["faq-assistant.js"].content.decode().splitlines()
    for path in (STATIC / "widget").glob("*.js"):
        lines = path.read_text("utf-8").splitlines()
        code = [line.strip() for line in lines if line.strip() and not line.strip().startswith("//")]
        own = [line.removeprefix("export ") for line in code if not line.startswith("import ")]
        places = [at for at, line in enumerate(sent) if line == own[0] and sent[at : at + len(own)] == own]
        assert len(places) == 1, path.name
        assert all(line.replace("[-`{", "").count("`") % 2 == 0 for line in lines)


def test_joined_modules_keep_their_order() -> None:
    """Each module stands once, after what it imports, also where two import the same; only the first one's names are
    exported."""
    modules = {
        "a.js": 'import { b } from "./b.js";\nimport { c } from "./c.js";\nexport const a = b + c;\n',
        "b.js": 'import {\nc\n} from "./c.js";\nexport function b() {}\nexported = "export text";\n',
        "c.js": "export class c {}\n",
    }
    own = 'class c {}\nfunction b() {}\nexported = "export text";\nconst a = b + c;\n'
    assert join_modules(modules, "a.js") == own + "export { a };\n"


def test_widget_needs_nothing_unsafe() -> None:
    """No module parses HTML, evaluates text, writes inline styles, or names another host."""
    for path in [*STATIC.rglob("*.js"), *STATIC.rglob("*.css")]:
        text = regex.sub(r"^\s*//.*$", "", path.read_text("utf-8"), flags=regex.MULTILINE)
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "Function(", "document.write", "@import"):
            assert word not in text, f"{path}: {word}"
        assert set(regex.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}


async def test_loader_is_short_lived_and_assets_are_for_ever(client: httpx2.AsyncClient) -> None:
    """`/widget.js` is asked for again after minutes; what it names never changes and may be kept for a year."""
    loader = await client.get("/widget.js")
    assert "immutable" not in loader.headers["cache-control"]
    names = set(regex.findall(r'"\./(assets/\w+/[\w.-]+)"', loader.text))
    assert len(names) == 1
    asset = await client.get(f"/{names.pop()}")
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert asset.headers["content-type"].startswith("text/javascript")
    assert not regex.search(r"^import\b|\bimport\(", asset.text, regex.MULTILINE)
    for response in (loader, asset):
        assert response.headers["access-control-allow-origin"] == "*"
        assert response.headers["cross-origin-resource-policy"] == "cross-origin"


@pytest.mark.parametrize(
    ("accepted", "coding"), [("gzip, deflate, br, zstd", "br"), ("gzip;q=0.5", "gzip"), ("", None)]
)
async def test_assets_come_in_the_browsers_coding(
    client: httpx2.AsyncClient, accepted: str, coding: str | None
) -> None:
    """Each browser gets the smallest form that it takes."""
    path = f"/{load_assets().path('faq-assistant.js')}"
    async with client.stream("GET", path, headers={"Accept-Encoding": accepted}) as response:
        raw = b"".join([part async for part in response.aiter_raw()])
    assert response.headers.get("content-encoding") == coding
    decode = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}[coding]
    assert decode(raw) == load_assets().files["faq-assistant.js"].content
    assert response.headers["vary"] == "Accept-Encoding"


async def test_known_content_is_not_sent_again(client: httpx2.AsyncClient) -> None:
    """A browser that has the loader is told so."""
    etag = (await client.get("/widget.js")).headers["etag"]
    assert (await client.get("/widget.js", headers={"If-None-Match": etag})).status_code == 304


async def test_other_versions_lead_to_the_current_one(client: httpx2.AsyncClient) -> None:
    """A page loaded before an update still finds its modules, all of the current version; unknown names are 404."""
    moved = await client.get("/assets/0123456789ab/faq-assistant.js")
    assert moved.status_code == 307
    assert moved.headers["cache-control"] == "no-store"
    assert moved.headers["location"] == f"../{load_assets().version}/faq-assistant.js"
    for path in ("/assets/x/index.html", "/assets/x/..%2fweb.py", "/assets/x/nothing.js"):
        assert (await client.get(path)).status_code == 404


def test_modules_are_valid() -> None:
    """Node, where there is one, finds no mistake of syntax in any module, and no name twice where they are joined."""
    try:
        subprocess.run(["node", "--version"], capture_output=True, check=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("no node here")
    joined = load_assets().files["faq-assistant.js"].content
    for content in (joined, *(path.read_bytes() for path in STATIC.rglob("*.js"))):
        checked = subprocess.run(
            ["node", "--input-type=module", "--check"], input=content, capture_output=True, check=False, timeout=60
        )
        assert not checked.returncode, checked.stderr.decode()


@pytest.mark.parametrize("language", ["en", "es", "ja", "zh-Hans"])
def test_articles_are_shown_in_full(language: str) -> None:
    """Each article has its title, date, tables, questions, and a section with an id for each of its anchors."""
    article = next(one for one in Shelf(CORPUS, 10).articles() if one.language == language)
    source = next((CORPUS / language).glob("*.md")).read_text("utf-8")
    assert regex.findall(r'<h[2-4] id="([^"]+)"', article.html) == regex.findall(r"\{#([^}]+)\}", source)
    assert "{#" not in article.html
    assert '<table tabindex="0">' in article.html
    assert article.questions
    assert article.revised == "2026-11-30"


HOSTILE = """---
title: T
language: en
---
## A <img src=x onerror=alert(1)> {#a}
<script>alert(1)</script> [x](javascript:alert(1)) ![p](https://evil.test/p.png) <b onclick=alert(1)>b</b>
"""


def test_articles_markup_is_inert() -> None:
    """HTML in an article is shown as text; foreign schemes and pictures are not linked."""
    html = show_article(HOSTILE, Path("x.md")).html
    assert not regex.search(r"<(script|img|b)\b|href=\"javascript|on\w+=\"", html)
    assert "&lt;script&gt;" in html


def test_a_broken_article_is_left_out(tmp_path: Path) -> None:
    """One file that can't be read does not take the page down; a folder that is not there gives no articles."""
    (tmp_path / "good.md").write_text(HOSTILE, "utf-8")
    (tmp_path / "bad.md").write_text("no front matter", "utf-8")
    assert [one.name for one in Shelf(tmp_path, 10).articles()] == ["good"]
    assert Shelf(tmp_path / "nowhere", 10).articles() == ()
    with pytest.raises(SourceError):
        show_article("no front matter", Path("bad.md"))
