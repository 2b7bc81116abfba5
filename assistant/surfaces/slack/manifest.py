"""The Slack app's manifest: what is pasted into Slack to create it.

In: manifest.yaml beside this module; for a server, its public address. Out: YAML for Slack, the scopes it asks for.
Never: holds a secret, or asks for a scope that nothing here uses.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from assistant.errors import InputError

FILE = Path(__file__).parent / "manifest.yaml"
EVENTS, REDIRECT = "/slack/events", "/slack/oauth_redirect"


def read_manifest(url: str = "") -> str:
    """The manifest for Socket Mode, or for a server that Slack reaches at `url`.

    Raises:
        InputError: Slack would not accept the address.
    """
    text = FILE.read_text(encoding="utf-8")
    if not url:
        return text
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme == "https" and bool(parts.hostname) and not parts.query and not parts.fragment
    except ValueError:
        is_usable = False
    if not is_usable:
        raise InputError(f"--url {url}: Slack sends to https only; give an address such as https://help.example.com")
    base, manifest = url.rstrip("/"), _load(text)
    for command in manifest["features"]["slash_commands"]:
        command["url"] = base + EVENTS
    manifest["oauth_config"]["redirect_urls"] = [base + REDIRECT]
    for part in ("event_subscriptions", "interactivity"):
        manifest["settings"][part]["request_url"] = base + EVENTS
    manifest["settings"]["socket_mode_enabled"] = False
    return yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=120)


def manifest_scopes() -> frozenset[str]:
    """The bot scopes that the manifest asks for."""
    return frozenset(_load(FILE.read_text(encoding="utf-8"))["oauth_config"]["scopes"]["bot"])


def _load(text: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded
