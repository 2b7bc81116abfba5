"""Settings: what the environment says, checked once, frozen, and passed on.

In: variables with the prefix ASSISTANT_. Out: one Settings. Never: a module-level instance.
"""

from pathlib import Path

from pydantic import AnyHttpUrl, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from assistant.errors import InputError


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
        raise InputError(f"{name} can't be used: {first['msg']}") from None
