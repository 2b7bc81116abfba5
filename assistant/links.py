"""Links inside the articles that lead nowhere.

In: articles. Out: Findings. Never: opens an address on the network, or a file that is no article.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt

from assistant.ledger import Finding, Place
from assistant.records import Article

MARKDOWN = (".md", ".markdown")
PARSER = MarkdownIt("commonmark", {"maxNesting": 40}).enable("table")


def find_dead_links(articles: Sequence[Article]) -> Iterator[Finding]:
    """Anchors that no section has, and relative paths to files that are not there."""
    anchors = {article.path: {entry.anchor for entry in article.entries if entry.given} for article in articles}
    for article in articles:
        if Path(article.path).suffix.lower() in MARKDOWN:
            for target, line, text in _links(article.source):
                if reason := _reason(target, article, anchors):
                    section = [entry.anchor for entry in article.entries if entry.line <= line]
                    place = Place(article, section[-1] if section else "", line, text)
                    yield Finding("dead_link", place, target, f"{reason}; correct the link")


def _links(source: str) -> Iterator[tuple[str, int, str]]:
    """Target, 1-based line and surrounding text of each link and image."""
    head = source.find("\n---", 3)
    skipped = source.count("\n", 0, head + 1) + 1 if source.startswith("---") and head > 0 else 0
    body = "\n".join([""] * skipped + source.split("\n")[skipped:])
    for token in PARSER.parse(body):
        for child in token.children or []:
            target = child.attrGet("href") if child.type == "link_open" else None
            target = child.attrGet("src") if child.type == "image" else target
            if target:
                yield str(target), (token.map or [0])[0] + 1, token.content


def _reason(target: str, article: Article, anchors: dict[str, set[str]]) -> str:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc or target.startswith("/"):
        return ""
    path, anchor = unquote(parts.path), unquote(parts.fragment)
    file = os.path.normpath(Path(article.path).parent / path) if path else article.path
    if path and file not in anchors and not Path(file).exists():
        return f"{path} is no file beside the article"
    if anchor and file in anchors and anchor not in anchors[file]:
        where = path or "the article"
        return f"{where} has no section #{anchor}"
    return ""
