"""Settings: what the environment says, checked once, frozen, and passed on.

In: variables with the prefix ASSISTANT_. Out: one Settings. Never: a module-level instance.
"""

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, AnyHttpUrl, Field, SecretStr, StringConstraints, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from assistant.errors import InputError, what_is_wrong

SITE = re.compile(r"null|https?://((\*\.)?[a-zA-Z0-9.-]+|\[[0-9a-fA-F:]+\])(:([0-9]{1,5}|\*))?")

CHANNEL = re.compile(r"[CG][A-Z0-9]{2,}")


def _check_origin(origin: str) -> str:
    """A page's address without a path; `*.` is any subdomain, `:*` any port, `null` a sandboxed frame."""
    if not SITE.fullmatch(origin):
        raise ValueError(f"{origin} is no site's address; write one without a path, such as https://shop.example.com")
    return origin


def _check_channel(channel: str) -> str:
    if channel and not CHANNEL.fullmatch(channel):
        raise ValueError(f"{channel} is no channel's ID, such as C0123ABCD, which its details in Slack show at the end")
    return channel


Origin = Annotated[str, AfterValidator(_check_origin)]
SlackChannel = Annotated[str, AfterValidator(_check_channel)]
SiteKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class Settings(BaseSettings):
    """Every setting, its default and its meaning; README's table is tested against this class."""

    model_config = SettingsConfigDict(env_prefix="ASSISTANT_", frozen=True, extra="ignore")

    home: Path = Field(Path(".assistant"), description="where the model and the index live")
    corpus: Path = Field(Path("corpus"), description="the articles that are ingested when there is no index yet")
    embedding_model: str = Field(
        "bundled", description="`bundled`, or any Sentence Transformers model name or folder (extra `huggingface`)"
    )
    chroma_url: AnyHttpUrl | None = Field(None, description="a Chroma server to use instead of the folder in the home")
    chroma_token: SecretStr | None = Field(None, description="bearer token for that server")
    store_url: SecretStr | None = Field(
        None, description="where conversations are kept: `postgresql://…` or `sqlite:///…`, else a file in the home"
    )
    retention_days: float = Field(
        30.0, gt=0, le=3650, description="days after its last message that a conversation is forgotten"
    )
    handover_url: AnyHttpUrl | None = Field(None, description="a page where visitors reach a person")
    handover_email: str = Field(
        "",
        pattern=r"^([^@\s<>?&]+@[^@\s<>?&]+)?$",
        description="an address for visitors' e-mail, where there is no page",
    )
    handover_webhook: AnyHttpUrl | None = Field(
        None, description="told by a signed POST of each visitor who wants or needs a person"
    )
    handover_secret: SecretStr | None = Field(
        None, description="signs these, as standardwebhooks.com says; needed with a webhook"
    )
    default_language: str = Field("en", description="the language of replies when nothing tells the asker's")
    host: str = Field("127.0.0.1", description="address the server listens on")
    port: int = Field(8000, ge=0, le=65535, description="port the server listens on")
    message_limit: int = Field(2000, ge=10, le=100_000, description="longest message accepted, in characters")
    file_limit_mb: int = Field(10, ge=1, le=1000, description="largest article file accepted, in megabytes")
    request_timeout_s: float = Field(15.0, gt=0, le=600, description="longest time one request may take, in seconds")
    concurrency: int = Field(32, ge=1, le=10_000, description="requests worked on or waiting at once; more get 503")
    chat_model: str | None = Field(
        None, description="language model that phrases answers: `openai:…`, `anthropic:…` or `ollama:…` and its name"
    )
    chat_base_url: AnyHttpUrl | None = Field(
        None, description="address of that model's server; the provider's own if unset"
    )
    chat_api_key: SecretStr | None = Field(None, description="key for that server")
    chat_timeout_s: float = Field(
        10.0, gt=0, le=300, description="longest time a reply waits for the model, in seconds"
    )
    chat_max_tokens: int = Field(600, ge=16, le=8000, description="longest reply of the model, in tokens")
    chat_tokens_per_day: int = Field(
        0, ge=0, description="tokens this process may use in 24 hours, after which it quotes; 0 is no limit"
    )
    sites: dict[SiteKey, tuple[Origin, ...]] = Field(
        {}, description="JSON: each site's public key and the addresses whose pages may use it; see Your own site"
    )
    rate_per_client: int = Field(60, ge=1, le=1_000_000, description="requests a minute from one client; more get 429")
    rate_per_site: int = Field(3000, ge=1, le=10_000_000, description="requests a minute with one site's key")
    staff_idle_minutes: float = Field(
        60.0, gt=0, le=1440, description="the staff desk signs out who did nothing for so long"
    )
    staff_session_hours: float = Field(12.0, gt=0, le=720, description="and everybody so long after signing in")
    staff_audit_days: float = Field(
        365.0, gt=0, le=3650, description="days that the staff desk's audit log keeps an entry"
    )
    staff_oidc_issuer: AnyHttpUrl | None = Field(
        None, description="an OpenID provider that staff sign in with (extra `oidc`)"
    )
    staff_oidc_client_id: str = Field("", description="the name under which that provider knows the desk")
    staff_oidc_client_secret: SecretStr | None = Field(None, description="and the secret, if it gave one")
    staff_oidc_agents: str = Field(
        "", description="who may enter: e-mail addresses and `@domains`, with commas; verified ones only"
    )
    staff_oidc_editors: str = Field("", description="who may enter as editor, likewise")
    staff_oidc_role_claim: str = Field(
        "", description="a claim that holds `agent` or `editor`; it decides instead of these lists"
    )
    trusted_proxies: str = Field(
        "127.0.0.1", description="addresses of proxies, with commas, whose `X-Forwarded-For` names the client"
    )
    slack_bot_token: SecretStr | None = Field(
        None, description="Slack's bot token (`xoxb-…`) of the one workspace; see Slack"
    )
    slack_signing_secret: SecretStr | None = Field(
        None, description="checks what comes from Slack by HTTP; with it the server takes `/slack/events`"
    )
    slack_app_token: SecretStr | None = Field(
        None, description="Slack's app-level token (`xapp-…`) for `assistant slack` (Socket Mode)"
    )
    slack_client_id: str = Field("", description="for several workspaces: the app's client ID")
    slack_client_secret: SecretStr | None = Field(None, description="for several workspaces: the app's client secret")
    slack_handover_channel: SlackChannel = Field(
        "", description="ID of the Slack channel that is told who wants a person"
    )
    slack_api_url: AnyHttpUrl = Field(
        AnyHttpUrl("https://slack.com/api/"), description="address of Slack's Web API, or of a proxy before it"
    )


def read_settings(**overrides: object) -> Settings:
    """The settings of this process.

    Raises:
        InputError: a variable holds something unusable; the message names it and what it may hold.
    """
    try:
        return Settings(**overrides)  # type: ignore[arg-type]  # pydantic checks them
    except ValidationError as error:
        first = error.errors()[0]
        name = "ASSISTANT_" + "_".join(str(part) for part in first["loc"][:1]).upper()
        raise InputError(f"{name} can't be used: {what_is_wrong(first)}") from None
    except (SettingsError, RecursionError):
        raise InputError('ASSISTANT_SITES must be JSON such as {"shop": ["https://shop.example.com"]}') from None
