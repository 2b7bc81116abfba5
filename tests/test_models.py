"""Embedding: the light runtime says what the full one says, token by token, and never loads torch."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assistant.adapter import read_adapter
from assistant.errors import ModelError
from assistant.graph import int8_peak
from assistant.models import (
    BundledEmbedder,
    Embedder,
    HuggingFaceEmbedder,
    clean,
    load_embedder,
    physical_cores,
    unit_rows,
)
from assistant.weights import GRAPH, NAME, PIECES, PROMPTS, build_model

CHECKOUT = Path(__file__).parent.parent
HOME = Path(os.environ.get("ASSISTANT_TEST_MODEL_HOME") or CHECKOUT / ".assistant")
TEXTS = [
    "How long does a refund take?",
    "Refunds are paid within 14 days to the card you used; a bank transfer may take three days more.",
    "¿Cuánto tarda una devolución?",
    "Las devoluciones se abonan en un plazo de 14 días en la tarjeta utilizada.",
    "退款需要多长时间？",
    "退款将在14天内退回您付款时使用的银行卡，银行转账可能还需要三天。",
    "返金にはどのくらいかかりますか？",
    "返金は14日以内にご利用のカードに行われます。銀行振込の場合はさらに3日かかることがあります。",
    "كم يستغرق استرداد المبلغ؟",
    "يُعاد المبلغ خلال 14 يومًا إلى البطاقة المستخدمة.",
    "환불은 얼마나 걸리나요?",
    "धनवापसी में कितना समय लगता है?",
    "Сколько времени занимает возврат денег?",
]
ODD_TEXTS = [
    "ＡＢＣ１２３　全角文字",
    "ｶﾞｷﾞｸﾞ ﾊﾟｰｾﾝﾄ",
    "か\u3099き は\u309aん",
    "cafe\u0301 n\u0303 u\u0308",
    "😀👍🏽 🇯🇵",
    "👨\u200d👩\u200d👧",
    "  two  spaces ",
    "tab\tnew\nline\r\n",
    "Ω ℃ ㍿ ① ﷺ ½ ﬁ",
    "\u1112\u1161\u11ab\u1100\u1173\u11af",
    "עִבְרִית",
    "العَرَبِيَّة",
    "～〜ー－",
    "zero\u200bwidth\u200cnon\u00adjoiner",
    "￥１，０００ (税込)",
    "https://example.org/a?b=c&d=%20",
    "a@b.org",
    "…!!! ???",
    "\ufeffBOM",
    "ท้ำ",
    "क़ानून",
]


@pytest.fixture(scope="module")
def embedder() -> BundledEmbedder:
    """The bundled model in the light runtime; its folder is reused from run to run."""
    return BundledEmbedder(build_model(HOME / "models" / NAME))


@pytest.fixture(scope="module")
def full_model() -> Any:
    """The same folder in Sentence Transformers, float32."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(build_model(HOME / "models" / NAME)), device="cpu")


def test_vectors_agree_with_full_precision(embedder: BundledEmbedder, full_model: Any) -> None:
    """Each text's vector is near the float32 model's, under both prompts; nearer where the processor has all 8 bits."""
    cosines = []
    for prompt, found in (("query", embedder.embed_queries(TEXTS)), ("passage", embedder.embed_passages(TEXTS))):
        expected = full_model.encode(TEXTS, prompt_name=prompt, normalize_embeddings=True)
        cosines += [float(mine.vector @ other) for mine, other in zip(found, expected, strict=True)]
    least, mean = (0.97, 0.985) if int8_peak() == 127 else (0.96, 0.975)
    assert min(cosines) >= least
    assert np.mean(cosines) >= mean


def test_token_vectors_agree_with_full_precision(embedder: BundledEmbedder, full_model: Any) -> None:
    """Token vectors are the full model's last hidden states, at unit length, projected, without prompt and special
    tokens."""
    for text, mine in zip(TEXTS, embedder.embed_queries(TEXTS), strict=True):
        states = full_model.encode(PROMPTS["query"] + text, output_value="token_embeddings", prompt="").cpu().numpy()
        expected = unit_rows(unit_rows(states[4:-1]) @ read_adapter().projection)
        assert mine.tokens is not None
        assert mine.tokens.shape == expected.shape
        assert float((unit_rows(mine.tokens) * expected).sum(axis=1).mean()) > (0.97 if int8_peak() == 127 else 0.95)


def test_full_model_is_complete(full_model: Any) -> None:
    """Sentence Transformers loads float32 weights, 384 dimensions, 512 positions and the prompts from the folder."""
    assert {str(parameter.dtype) for parameter in full_model.parameters()} == {"torch.float32"}
    assert full_model.max_seq_length == 512
    assert (full_model.prompts["query"], full_model.prompts["passage"]) == ("query: ", "passage: ")


@pytest.mark.parametrize("text", TEXTS + ODD_TEXTS)
def test_token_ids_agree(text: str, embedder: BundledEmbedder, full_model: Any) -> None:
    """SentencePiece in the light runtime and `tokenizers` in the full one cut a text into the same tokens."""
    assert embedder.token_ids("query: " + text) == full_model.tokenizer("query: " + text)["input_ids"]


def test_embedding_describes_its_tokens(embedder: BundledEmbedder) -> None:
    """Pieces and token vectors run in parallel, prompt left out; vectors are single precision."""
    (found,) = embedder.embed_passages(["the refund"])
    assert found.pieces == ("▁the", "▁ref", "und") or "".join(found.pieces) == "▁the▁refund"
    assert found.tokens is not None
    assert found.tokens.shape == (len(found.pieces), read_adapter().projection.shape[1])
    assert found.vector.dtype == found.tokens.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found.vector), 1, atol=1e-5)


@pytest.mark.parametrize("text", ["¿requisitos?", "资格？", "いくら？", "how much?"], ids=["es", "zh", "ja", "en"])
def test_punctuation_is_not_compared(text: str, embedder: BundledEmbedder) -> None:
    """Question marks colour their neighbours but are no tokens to compare: they would match every question."""
    (found,) = embedder.embed_queries([text])
    telling = [piece for piece in found.pieces if any(sign.isalnum() for sign in piece)]
    assert len(found.said()) == len(telling) < len(found.pieces)
    (mute,) = embedder.embed_queries(["？！…"])
    assert len(mute.said()) == len(mute.pieces) > 0


def test_batches_equal_singles(embedder: BundledEmbedder) -> None:
    """A text's vector does not depend on the texts beside it, and the order is kept."""
    together = embedder.embed_passages(TEXTS)
    for text, found in zip(TEXTS, together, strict=True):
        (alone,) = embedder.embed_passages([text])
        assert found.pieces == alone.pieces
        np.testing.assert_array_equal(found.vector, alone.vector)


@pytest.mark.parametrize(
    "text", ["退款需要多久？", "返金はいつ？", "¿Cuándo me devuelven el dinero?", "When is my refund?"]
)
def test_a_short_text_is_computed_once(text: str, embedder: BundledEmbedder) -> None:
    """A short text asked again is remembered, as a question apart from the same text as a passage."""
    (first,), (passage,) = embedder.embed_queries([text]), embedder.embed_passages([text])
    assert embedder.embed_queries([text, text]) == [first, first]
    assert not np.array_equal(first.vector, passage.vector)


def test_long_texts_are_not_remembered(embedder: BundledEmbedder) -> None:
    """What is remembered stays small, whatever is asked."""
    text = "word " * 100
    assert embedder.embed_queries([text])[0] is not embedder.embed_queries([text])[0]


@pytest.mark.parametrize("text", ["", "   \n", "\u200d"])
def test_empty_text_has_a_vector_and_no_tokens(text: str, embedder: BundledEmbedder) -> None:
    """A text with nothing in it gets the prompt's unit vector and zero tokens."""
    (found,) = embedder.embed_queries([text])
    assert found.tokens is not None
    assert (len(found.tokens), found.pieces) == (0, ())
    assert float(np.linalg.norm(found.vector)) == pytest.approx(1)


def test_no_texts_give_no_embeddings(embedder: BundledEmbedder) -> None:
    """An empty batch is an empty list."""
    assert embedder.embed_queries([]) == []


def test_long_text_is_cut_at_512_positions(embedder: BundledEmbedder) -> None:
    """What lies beyond the model's positions is left out; prompt and special tokens count among the 512."""
    (found,) = embedder.embed_passages(["palabra " * 2000])
    assert found.tokens is not None
    assert len(found.tokens) == len(found.pieces) == 512 - 4


def test_broken_unicode_is_embedded(embedder: BundledEmbedder) -> None:
    """Lone surrogates and NUL bytes do not stop a batch."""
    for found in embedder.embed_queries(["\ud800 hello \x00 world", "\U000e0041"]):
        assert np.isfinite(found.vector).all()


def test_threads_share_an_embedder(embedder: BundledEmbedder) -> None:
    """Queries embedded from several threads at once get the vectors they get alone."""
    alone = [embedder.embed_queries([text])[0].vector for text in TEXTS]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: embedder.embed_queries([text])[0].vector, TEXTS))
    np.testing.assert_allclose(np.stack(alone), np.stack(together), atol=1e-5)


def test_translations_are_nearer_than_other_topics(embedder: BundledEmbedder) -> None:
    """A question finds its answer in another language before an unrelated passage."""
    (query,) = embedder.embed_queries(["退款需要多长时间？"])
    right, wrong = embedder.embed_passages([TEXTS[3], "La biblioteca cierra los lunes y los días festivos."])
    assert query.vector @ right.vector > query.vector @ wrong.vector + 0.02


def test_serving_loads_no_torch() -> None:
    """Loading the bundled model and embedding with it imports neither torch nor transformers nor LangChain."""
    program = (
        "import sys; from pathlib import Path; from assistant.models import load_embedder; "
        f"load_embedder('bundled', Path({str(HOME)!r})).embed_queries(['hola']); "
        "print([name for name in ('torch', 'transformers', 'sentence_transformers', 'langchain_huggingface', "
        "'tokenizers', 'onnx') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_folder_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    """A folder with damaged files gives a ModelError that names the folder and what to do."""
    (tmp_path / "onnx").mkdir()
    (tmp_path / PIECES).write_bytes(b"not a model")
    (tmp_path / GRAPH).write_bytes(b"nor this")
    with pytest.raises(ModelError, match=r"the embedding model can't be loaded .*delete the folder"):
        BundledEmbedder(tmp_path)


def test_hugging_face_folder_gives_the_same_vectors(embedder: BundledEmbedder, tmp_path: Path) -> None:
    """The same folder through LangChain uses its own prompts, so that both runtimes agree; token vectors are absent."""
    other: Embedder = load_embedder(str(HOME / "models" / NAME), tmp_path)
    assert other.dimensions == 384
    assert other.name.startswith(NAME)
    assert other.name != embedder.name
    for mine, theirs in (
        (embedder.embed_queries, other.embed_queries),
        (embedder.embed_passages, other.embed_passages),
    ):
        for left, right in zip(mine(TEXTS[:4]), theirs(TEXTS[:4]), strict=True):
            assert float(left.vector @ right.vector) > (0.98 if int8_peak() == 127 else 0.96)
            assert right.tokens is None
    assert other.embed_queries([]) == []


def test_unknown_model_names_the_setting(tmp_path: Path) -> None:
    """A folder that holds no model gives one sentence with the model, the reason and the setting to check."""
    pattern = r"^embedding model '.*' could not be loaded: [^\n]+; check ASSISTANT_EMBEDDING_MODEL$"
    with pytest.raises(ModelError, match=pattern):
        HuggingFaceEmbedder(str(tmp_path))


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the optional packages the error names the extra to install."""
    monkeypatch.setitem(sys.modules, "langchain_huggingface", None)
    with pytest.raises(ModelError, match="install the extra `huggingface`"):
        HuggingFaceEmbedder("some/model")


def test_clean_composes_and_never_fails() -> None:
    """Text is composed, joiners become spaces, lone surrogates a question mark, and the ends are stripped."""
    assert clean(" e\u0301\u200da\ud800 ") == "é a?"


def test_physical_cores_stay_within_limit() -> None:
    """At least one core and at most the limit is used."""
    assert physical_cores(1) == 1
    assert 1 <= physical_cores(4) <= 4
