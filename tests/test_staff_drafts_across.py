"""Drafts for customers in whose language there is no article: found, quoted and marked across languages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from assistant.bootstrap import build
from assistant.language import language_name
from assistant.pipeline import Assistant
from assistant.settings import read_settings
from assistant.wording import Wordings
from tests.staff import make_desk

CHECKOUT = Path(__file__).parents[1]
# The customer's language -> the only one that there are articles in, and what the customer asks.
ASKED = {
    "zh-Hans": ("en", "PyTorch 代码需要重写吗？"),
    "ja": ("en", "PyTorchのコードは書き直す必要がありますか？"),
    "es": ("en", "¿Hay que reescribir el código PyTorch?"),
    "de": ("en", "Muss ich meinen PyTorch-Code umschreiben?"),
    "ar": ("en", "هل يجب إعادة كتابة كود PyTorch؟"),
    "en": ("ja", "Must I rewrite my PyTorch code?"),
}


@pytest.fixture(scope="module")
def assistant_over(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Assistant]:
    """Builds the real pipeline over the articles of one language alone, once each."""

    @cache
    def over(language: str) -> Assistant:
        home = tmp_path_factory.mktemp("home")
        shared = Path(os.environ.get("ASSISTANT_TEST_MODEL_HOME") or CHECKOUT / ".assistant") / "models"
        shared.mkdir(parents=True, exist_ok=True)
        (home / "models").symlink_to(shared)
        shutil.copytree(CHECKOUT / "corpus" / language, home / "corpus" / language)
        return build(read_settings(home=home, corpus=home / "corpus"))

    return over


@pytest.mark.parametrize("language", list(ASKED))
async def test_complaint_11_drafts_search_every_language(
    assistant_over: Callable[[str], Assistant], language: str
) -> None:
    """A customer's question is answered from the section that holds it, though only another language has it; the draft
    says so in the customer's language, and neither that nor the quote is marked as unsupported."""
    other, message = ASKED[language]
    desk = make_desk(assistant_over(other))
    async with desk.signed_in() as client:
        asked = {"message": message, "agent_language": language}
        draft = (await client.post("/api/v1/staff/drafts", json=asked)).json()
    assert draft["language"] == language
    (part,) = [one for one in draft["parts"] if one["kind"] == "answer"]
    (source,) = draft["sources"]
    assert (source["language"], source["passage_id"].split("#")[1].split(".")[0]) == (other, "faq-rewrite")
    assert part["text"].startswith(
        Wordings().nearest(language).quoted_from.format(language=language_name(other, language))
    )
    assert draft["unsupported"] == 0
    assert [line["state"] for line in part["lines"]][-2:] == ["supported", "supported"]
    desk.staff.store.close()
