"""Signing in through an OpenID provider: the authorization code flow with PKCE, state and nonce (Authlib).

In: the settings, a browser sent there and back. Out: who it is (subject, name, role) by the provider's signed word.
Never: believes an address that the provider has not verified, or a token that a shared secret signed or that is for
another program.

One random secret in a cookie ties the browser to its flow; state, nonce and PKCE's verifier are derived from it, so
that nothing is kept here. OpenID Connect Core 1.0, 3.1; RFC 7636.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from assistant.errors import AccessRefused, InputError
from assistant.members import ROLES, Role
from assistant.settings import Settings

METADATA = "/.well-known/openid-configuration"
SIGNED = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
SCOPE = "openid email profile"
TIMEOUT_S = 10.0
LEEWAY_S = 60  # the two clocks may differ by so much
FLOW_LENGTH = 43  # characters of 32 random bytes; without a cookie there is no flow
FLOW_S = 600  # so long somebody may take at the provider
NO_ACCESS = "your account has no access to the staff desk; ask for it to be listed in ASSISTANT_STAFF_OIDC_AGENTS"


class ProviderFailed(AccessRefused):
    """The provider could not be asked, or what it said can't be believed."""


@dataclass(frozen=True, slots=True)
class Vouched:
    """Whom the provider vouches for; `subject` names it for ever."""

    subject: str
    name: str
    role: Role


class Provider:
    """One OpenID provider.

    Raises:
        InputError: the settings don't suffice, or Authlib is not installed.
    """

    def __init__(self, settings: Settings) -> None:
        _check(settings)
        try:
            from authlib.integrations.starlette_client import StarletteOAuth2App
        except ImportError:
            raise InputError(
                "ASSISTANT_STAFF_OIDC_ISSUER needs the extra oidc: pip install 'multilingual-faq-assistant[oidc]'"
            ) from None
        self._settings, self._issuer = settings, str(settings.staff_oidc_issuer).rstrip("/")
        secret = settings.staff_oidc_client_secret
        self._client: Any = StarletteOAuth2App(
            None,
            client_id=settings.staff_oidc_client_id,
            client_secret=secret.get_secret_value() if secret else None,
            server_metadata_url=self._issuer + METADATA,
            client_kwargs={
                "scope": SCOPE,
                "code_challenge_method": "S256",
                "timeout": TIMEOUT_S,
                "token_endpoint_auth_method": "client_secret_basic" if secret else "none",
            },
        )

    async def address(self, flow: str, returns_to: str, language: str) -> str:
        """Where the browser is sent.

        Args:
            flow: the secret of the browser's cookie.
            returns_to: our address that the provider sends it back to.

        Raises:
            ProviderFailed: the provider can't be reached.
        """
        try:
            await self._metadata()
            found = await self._client.create_authorization_url(
                returns_to,
                state=derive(flow, "state"),
                nonce=derive(flow, "nonce"),
                code_verifier=derive(flow, "verifier"),
                ui_locales=language,
            )
        except Exception as error:  # of the network, of JSON, of Authlib, of joserfc: they share no base
            raise _failed(error) from None
        return str(found["url"])

    async def vouched(self, flow: str, state: str, code: str, returns_to: str) -> Vouched:
        """Who came back with that code.

        Raises:
            ProviderFailed: it is not this browser's flow, or the provider's word can't be had or believed.
            AccessRefused: the settings give this person no role.
        """
        if len(flow) < FLOW_LENGTH or not hmac.compare_digest(
            state.encode("utf-8", "replace"), derive(flow, "state").encode()
        ):
            raise ProviderFailed("this sign-in was not begun in this browser, or long ago; begin again")
        try:
            await self._metadata()
            token = await self._client.fetch_access_token(returns_to, code=code, code_verifier=derive(flow, "verifier"))
            known = {"iss": {"essential": True, "value": self._client.server_metadata["issuer"]},
                     "aud": {"essential": True, "value": self._settings.staff_oidc_client_id},
                     "nonce": {"essential": True, "value": derive(flow, "nonce")}}  # fmt: skip
            claims = await self._client.parse_id_token(token, derive(flow, "nonce"), known, leeway=LEEWAY_S)
            subject = f"{claims['iss']}#{claims['sub']}"
        except Exception as error:
            raise _failed(error) from None
        return Vouched(subject, _name(claims), role_of(claims, self._settings))

    async def _metadata(self) -> None:
        metadata = await self._client.load_server_metadata()
        if str(metadata.get("issuer", "")).rstrip("/") != self._issuer:
            metadata.clear()
            raise ValueError("it calls itself something else than ASSISTANT_STAFF_OIDC_ISSUER says")
        offered = metadata.get("id_token_signing_alg_values_supported") or []
        metadata["id_token_signing_alg_values_supported"] = [name for name in offered if name in SIGNED] or ["RS256"]


def role_of(claims: dict[str, Any], settings: Settings) -> Role:
    """The highest role that a claim or the lists of addresses give.

    Raises:
        AccessRefused: they give none.
    """
    if settings.staff_oidc_role_claim:
        given = claims.get(settings.staff_oidc_role_claim, ())
        values = {given} if isinstance(given, str) else set(given) if isinstance(given, list | tuple) else set()
        found = [role for role in ROLES if role in values]
    else:
        address = str(claims.get("email", "")).strip().lower() if claims.get("email_verified") is True else ""
        lists = {"agent": settings.staff_oidc_agents, "editor": settings.staff_oidc_editors}
        found = [role for role in ROLES if _is_listed(address, lists[role])]
    if not found:
        raise AccessRefused(NO_ACCESS, 403)
    return found[-1]


def new_flow() -> str:
    """The secret of a browser's flow."""
    return secrets.token_urlsafe(32)


def derive(flow: str, purpose: str) -> str:
    """A value of a flow for one purpose, which tells nothing of others: 64 characters, as PKCE's verifier may have."""
    return hmac.new(flow.encode("utf-8", "replace"), purpose.encode(), hashlib.sha256).hexdigest()


def _check(settings: Settings) -> None:
    parts = urlsplit(str(settings.staff_oidc_issuer))
    if parts.scheme != "https" and not _is_loopback(parts.hostname or ""):
        raise InputError("ASSISTANT_STAFF_OIDC_ISSUER must begin with https://")
    if not settings.staff_oidc_client_id:
        raise InputError("ASSISTANT_STAFF_OIDC_ISSUER can't be used without ASSISTANT_STAFF_OIDC_CLIENT_ID; set it")
    if not (settings.staff_oidc_role_claim or settings.staff_oidc_agents or settings.staff_oidc_editors):
        raise InputError(
            "ASSISTANT_STAFF_OIDC_ISSUER lets nobody in yet: say who in ASSISTANT_STAFF_OIDC_AGENTS, _EDITORS "
            "or _ROLE_CLAIM"
        )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_listed(address: str, listed: str) -> bool:
    local, _, domain = address.rpartition("@")
    entries = {entry.strip().lower() for entry in listed.split(",")} - {"", "@"}
    return bool(local and domain) and (address in entries or f"@{domain}" in entries)


def _name(claims: dict[str, Any]) -> str:
    """What the audit log calls a person: the address, for it is unique, or what else there is."""
    given = next((claims[key] for key in ("email", "preferred_username", "name", "sub") if claims.get(key)), "?")
    return "".join(sign for sign in str(given) if sign.isprintable())[:100] or "?"


def _failed(error: Exception) -> ProviderFailed:
    return ProviderFailed(f"the OpenID provider could not be asked, or not be believed ({type(error).__name__})")
