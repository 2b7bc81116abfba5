"""Embedding models: texts become unit vectors, one for the text and one for each of its tokens.

In: texts in any language. Out: one Embedding a text, in the same order. Never: torch, transformers or the network while
the bundled model serves; anything but ModelError when a model can't be built or loaded.

Mean pooling and the two prompts are those of multilingual E5 (Wang et al. 2024, arXiv:2402.05672).
"""

import hashlib
import os
import unicodedata
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import regex
from numpy.typing import NDArray

from assistant.adapter import read_adapter
from assistant.checkpoint import HIDDEN, PACKAGE, POSITIONS, SOURCE_SHA256, VERSION
from assistant.errors import ModelError
from assistant.weights import FORMAT, GRAPH, NAME, PIECES, PROMPTS, Report, build_model

BUNDLED = "bundled"
BEGIN, END = 0, 2
# The articles' own questions are embedded again with every reply that weighs or suggests them. 40 KB a text at most.
REMEMBERED, REMEMBERED_TOKENS = 256, 48
SAYING = regex.compile(r"[\p{L}\p{N}\p{Sc}%％]")  # a token that says something; of punctuation only `%` does

Vectors = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Embedding:
    """What a model makes of one text; n is the number of its tokens, prompt and special tokens left out.

    Attributes:
        vector: float32 [d], unit length.
        tokens: float32 [n, t], the projected last hidden state of each token, of about unit length (they are compared
            relative to a mean, which is taken before their length matters); None where the model can't give it.
        rarity: float32 [n], minus the log-probability of each token in the tokenizer's unigram model; 0 if unknown.
        pieces: the n tokens as the tokenizer writes them ("▁" begins a word).
    """

    vector: Vectors
    tokens: Vectors | None
    rarity: Vectors
    pieces: tuple[str, ...]

    def said(self, start: int = 0) -> Vectors:
        """The token vectors to compare, [m, t]: those from `start` on that say something, since question marks match
        each other whatever is asked; all where none does; the text's own vector where the model gives no others."""
        if self.tokens is None or not len(self.tokens):
            return self.vector[None]
        if len(self.pieces) != len(self.tokens):
            return self.tokens
        chosen = self._saying(start)
        return self.tokens[chosen] if chosen else self.tokens[start:]

    def rarity_said(self) -> Vectors:
        """The rarity of each token that `said()` gives, [m]; 1 where it is not known."""
        if self.tokens is None or not len(self.tokens) or len(self.pieces) != len(self.tokens):
            return np.ones(len(self.said()), np.float32)
        chosen = self._saying(0)
        return self.rarity[chosen] if chosen else self.rarity

    def _saying(self, start: int) -> list[int]:
        return [at for at in range(start, len(self.pieces)) if SAYING.search(self.pieces[at])]


class Embedder(Protocol):
    """A model that embeds questions and passages into one space; the methods may be called from several threads."""

    @property
    def name(self) -> str:
        """The model's identity: an index built under one name must not be searched under another."""

    @property
    def dimensions(self) -> int:
        """d, the length of a vector."""

    def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """One Embedding a question, in order."""

    def embed_passages(self, texts: Sequence[str]) -> list[Embedding]:
        """One Embedding a passage, in order."""


class BundledEmbedder:
    """multilingual-e5-small in ONNX Runtime, 8-bit, tokenised by SentencePiece.

    Each text is one pass on one thread; several texts are spread over the threads. Nothing is padded, and a vector
    can't depend on its neighbours: the 8-bit scale of the activations is taken over a whole pass, so padded batches
    moved vectors to cosine .9977 of themselves (.9943 at worst). Side by side on two busy cores it was about as fast as
    batches (medians: 30 against 19 passages of 183 tokens a second, 132 against 144 of 28 tokens).

    Args:
        folder: a folder made by `weights.build_model`.
        threads: texts embedded at once; None means the physical cores this process may use, at most 4.

    Raises:
        ModelError: the folder's files can't be loaded.
    """

    dimensions = HIDDEN

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        from sentencepiece import SentencePieceProcessor

        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # it would look a host up; read at import
        onnxruntime: Any = import_module("onnxruntime")  # it has no type hints

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # parallel over texts instead; no idle thread spins beside the web server
        options.log_severity_level = 3
        try:
            self._tokenizer = SentencePieceProcessor(model_file=str(folder / PIECES))
            self._session = onnxruntime.InferenceSession(
                str(folder / GRAPH), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # ONNX Runtime's and SentencePiece's errors share no nearer base
            reason = one_line(error)
            raise ModelError(f"{folder}: the embedding model can't be loaded ({reason}); delete the folder") from error
        self.name = f"{NAME} int8 ({PACKAGE} {VERSION}) {SOURCE_SHA256[:8]}-{read_adapter().identity}-{FORMAT}"
        self._workers = ThreadPoolExecutor(threads or physical_cores(limit=4), thread_name_prefix="embed")
        self._prompt_lengths = {prompt: len(self._tokenizer.encode(prompt)) for prompt in PROMPTS.values()}
        self._remember = lru_cache(REMEMBERED)(self._embed_row)

    def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """One Embedding a question, in order; what lies beyond 512 positions is left out."""
        return self._embed(texts, PROMPTS["query"])

    def embed_passages(self, texts: Sequence[str]) -> list[Embedding]:
        """One Embedding a passage, in order; what lies beyond 512 positions is left out."""
        return self._embed(texts, PROMPTS["passage"])

    def token_ids(self, text: str) -> list[int]:
        """The ids of a text that already has its prompt, special tokens included, at most 512."""
        return [BEGIN, *self._tokenizer.encode(clean(text))[: POSITIONS - 2], END]

    def _embed(self, texts: Sequence[str], prompt: str) -> list[Embedding]:
        skipped = 1 + self._prompt_lengths[prompt]
        rows = [tuple(self.token_ids(prompt + text)) for text in texts]
        if len(rows) == 1:  # a question need not wait behind passages that are being indexed
            return [self._embedding(rows[0], skipped)]
        return list(self._workers.map(lambda row: self._embedding(row, skipped), rows))

    def _embedding(self, row: tuple[int, ...], skipped: int) -> Embedding:
        return (self._remember if len(row) <= REMEMBERED_TOKENS else self._embed_row)(row, skipped)

    def _embed_row(self, row: tuple[int, ...], skipped: int) -> Embedding:
        """The embedding of one text's ids, the first `skipped` of which are begin and prompt."""
        ids = np.array([row], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        states, tokens = self._session.run(["last_hidden_state", "token_vectors"], given)
        own = row[skipped:-1]
        return Embedding(
            vector=unit_rows(states[0].mean(axis=0)),
            tokens=np.asarray(tokens[0][skipped:-1], np.float32),
            rarity=np.array([-self._tokenizer.get_score(piece) for piece in own], np.float32),
            pieces=tuple(self._tokenizer.id_to_piece(piece) for piece in own),
        )


class HuggingFaceEmbedder:
    """Any Sentence Transformers model, through LangChain; no token vectors.

    Args:
        model: a folder, or a model's name on the hub or in its local cache.

    Raises:
        ModelError: the extra `huggingface` is not installed, or the model can't be loaded.
    """

    def __init__(self, model: str) -> None:
        try:
            self._passages = _load_from_disk_or_hub(model)
        except ImportError as error:
            raise ModelError(
                f"embedding model '{model}' needs packages that are not installed ({one_line(error)}); "
                "install the extra `huggingface`"
            ) from error
        except Exception as error:  # the hub's, torch's and the file formats' errors share no nearer base
            raise ModelError(
                f"embedding model '{model}' could not be loaded: {one_line(error)}; check ASSISTANT_EMBEDDING_MODEL"
            ) from error
        # LangChain shows neither the model's prompts nor a way to embed many queries at once.
        prompts: dict[str, str] = getattr(getattr(self._passages, "_client", None), "prompts", None) or {}
        query = prompts.get("query", "")
        passage = next((prompts[key] for key in ("document", "passage", "corpus") if prompts.get(key)), "")
        self._queries = self._passages.model_copy(
            update={"encode_kwargs": {"normalize_embeddings": True, "prompt": query}}
        )
        self._passages.encode_kwargs = {"normalize_embeddings": True, "prompt": passage}
        self.name = f"{model_identity(model)} (Sentence Transformers)"
        self.dimensions = len(self._queries.embed_documents(["?"])[0])

    def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """One Embedding a question, in order, under the model's own query prompt if it declares one."""
        return self._embed(self._queries, texts)

    def embed_passages(self, texts: Sequence[str]) -> list[Embedding]:
        """One Embedding a passage, in order, under the model's own document prompt if it declares one."""
        return self._embed(self._passages, texts)

    def _embed(self, runner: Any, texts: Sequence[str]) -> list[Embedding]:
        if not texts:
            return []
        vectors = unit_rows(np.array(runner.embed_documents([clean(text) for text in texts]), np.float32))
        return [Embedding(vector, None, np.zeros(0, np.float32), ()) for vector in vectors]


def load_embedder(setting: str, home: Path, report: Report | None = None) -> Embedder:
    """The embedder a setting names.

    Args:
        setting: "bundled", or a Sentence Transformers model name or folder.
        home: where the bundled model is kept (`models/multilingual-e5-small`); it is built there the first time.
        report: told how the building gets on (see `weights.build_model`).

    Raises:
        ModelError: the model can't be built or loaded.
    """
    if setting == BUNDLED:
        return BundledEmbedder(build_model(home / "models" / NAME, report))
    return HuggingFaceEmbedder(setting)


def _load_from_disk_or_hub(model: str) -> Any:
    """LangChain's wrapper of the model; the hub is asked only for what is neither a folder nor in the cache."""
    from langchain_huggingface import HuggingFaceEmbeddings

    try:
        return HuggingFaceEmbeddings(model_name=model, model_kwargs={"local_files_only": True})
    except OSError:
        if Path(model).is_dir():
            raise
        return HuggingFaceEmbeddings(model_name=model)


def clean(text: str) -> str:
    """The text as the tokenizers of both runtimes agree on it: composed, no joiners, no lone surrogates, stripped."""
    composed = unicodedata.normalize("NFC", text).replace("\u200d", " ")
    return composed.encode("utf-8", "replace").decode("utf-8").strip()


def unit_rows(rows: Vectors) -> Vectors:
    """The rows (or the one vector) at length 1; a zero row stays zero."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, np.finfo(np.float32).tiny), dtype=np.float32)


def physical_cores(limit: int) -> int:
    """How many physical cores this process may use, between 1 and the limit; logical ones where that is unknown."""
    if not hasattr(os, "sched_getaffinity"):
        return max(1, min(limit, os.cpu_count() or 1))
    allowed = os.sched_getaffinity(0)
    siblings = {core: Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list") for core in allowed}
    groups = {path.read_text() if path.exists() else str(core) for core, path in siblings.items()}
    return max(1, min(limit, len(groups)))


def model_identity(model: str) -> str:
    """A name that stays when a model's folder moves and changes when its files do."""
    folder = Path(model)
    if not folder.is_dir():
        return model
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    listing = [f"{path.relative_to(folder).as_posix()} {path.stat().st_size}" for path in files]
    return f"{folder.resolve().name} {hashlib.sha256(chr(10).join(listing).encode()).hexdigest()[:8]}"


def one_line(error: BaseException) -> str:
    """The first line of what an error says, or its kind where it says nothing."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)[:300]
