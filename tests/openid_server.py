"""A small OpenID provider over real HTTP, which says what a test wants it to: true, wrong, or nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

CLIENT, SECRET = "staff-desk", "a secret of the client with 32 bytes or more"


@dataclass
class OpenIdServer:
    """What it says of whoever comes, and what it was asked.

    Args:
        person: claims of the identity token, besides those of the protocol.
        lies: claims that override those of the protocol.
        algorithm: signs the token; "none" leaves it unsigned.
        is_other_key: whether the token is signed with a key that the provider does not publish.
        metadata: overrides of the discovery document.
        fails: paths that answer 500.
    """

    address: str = ""
    person: dict[str, Any] = field(default_factory=dict)
    lies: dict[str, Any] = field(default_factory=dict)
    algorithm: str = "RS256"
    is_other_key: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    fails: set[str] = field(default_factory=set)
    asked: list[Mapping[str, str]] = field(default_factory=list)
    codes: dict[str, Mapping[str, str]] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "k1"}))

    def discovery(self) -> dict[str, Any]:
        names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "jwks"}
        found = {name: f"{self.address}/{path}" for name, path in names.items()}
        return {"issuer": self.address, "id_token_signing_alg_values_supported": ["RS256"], **found, **self.metadata}

    def authorize(self, asked: Mapping[str, str]) -> str:
        """Where the browser goes back to."""
        self.asked.append(asked)
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, sent: Mapping[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """The answer to a code: it counts once, for its client, its browser and its address."""
        asked = self.codes.pop(sent.get("code", ""), None)
        challenge = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        expected = base64.urlsafe_b64encode(challenge).decode().rstrip("=")
        login = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if (
            asked is None
            or asked.get("code_challenge") != expected
            or asked.get("redirect_uri") != sent.get("redirect_uri")
            or authorization != f"Basic {login}"
        ):
            return 400, {"error": "invalid_grant"}
        return 200, {"access_token": "unused", "token_type": "Bearer", "id_token": self._sign(asked)}

    def _sign(self, asked: Mapping[str, str]) -> str:
        now = int(time.time())
        claims = {
            "iss": self.address, "aud": CLIENT, "iat": now, "exp": now + 60, "nonce": asked.get("nonce"),
            **self.person, **self.lies,
        }  # fmt: skip
        if self.algorithm == "none":
            parts = (json.dumps({"alg": "none"}), json.dumps(claims))
            return ".".join(base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts) + "."
        if self.algorithm == "HS256":
            return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET))
        key = RSAKey.generate_key(2048, {"kid": "k1"}) if self.is_other_key else self.key
        return jwt.encode({"alg": self.algorithm, "kid": "k1"}, claims, key)


@contextmanager
def running_openid() -> Iterator[OpenIdServer]:
    """The provider on loopback."""
    provider = OpenIdServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", provider.authorize(first(parts.query)))
                self.end_headers()
            elif parts.path == "/jwks":
                self.answer(200, {"keys": [provider.key.as_dict(private=False)]})
            else:
                self.answer(200, provider.discovery())

        def do_POST(self) -> None:
            sent = first(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.answer(*provider.token(sent, self.headers.get("Authorization", "")))

        def answer(self, status: int, body: Mapping[str, Any]) -> None:
            fails = urlsplit(self.path).path in provider.fails
            self.send_response(500 if fails else status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(b"<h1>broken</h1>" if fails else json.dumps(body).encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def first(query: str) -> dict[str, str]:
    """The first value of each parameter."""
    return {name: values[0] for name, values in parse_qs(query).items()}
