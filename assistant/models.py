"""Embedding models: texts become unit vectors, one for the text and one for each of its tokens.

In: texts in any language. Out: one Embedding a text, in the same order. Never: torch, transformers or the network while
the bundled model serves; anything but ModelError when a model can't be built or loaded.

Mean pooling and the two prompts are those of multilingual E5 (Wang et al. 2024, arXiv:2402.05672).
"""

import hashlib
import os
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from assistant.errors import ModelError
from assistant.weights import (
    FORMAT,
    GRAPH,
    HIDDEN,
    NAME,
    PACKAGE,
    PIECES,
    POSITIONS,
    PROMPTS,
    SOURCE_SHA256,
    VERSION,
    Report,
    build_model,
)

BUNDLED = "bundled"
BATCH_TOKENS = 1024  # padding included; more was no faster and only raised the peak memory (measured 512..4096)
BEGIN, PADDING, END = 0, 1, 2

Vectors = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Embedding:
    """What a model makes of one text; n is the number of its tokens, prompt and special tokens left out.

    Attributes:
        vector: float32 [d], unit length.
        tokens: float32 [n, d], unit rows: the last hidden state of each token; None where the model can't give it.
        rarity: float32 [n], minus the log-probability of each token in the tokenizer's unigram model; 0 if unknown.
        pieces: the n tokens as the tokenizer writes them ("▁" begins a word).
    """

    vector: Vectors
    tokens: Vectors | None
    rarity: Vectors
    pieces: tuple[str, ...]


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

    Args:
        folder: a folder made by `weights.build_model`.
        threads: threads of one pass; None means the physical cores this process may use, at most 4.

    Raises:
        ModelError: the folder's files can't be loaded.
    """

    name = f"{NAME} int8 ({PACKAGE} {VERSION}) {SOURCE_SHA256[:8]}-{FORMAT}"
    dimensions = HIDDEN

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        import onnxruntime
        from sentencepiece import SentencePieceProcessor

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or physical_cores(limit=4)
        options.log_severity_level = 3
        # Spinning gains a little on an idle machine and takes whole cores from the web server beside it.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._tokenizer = SentencePieceProcessor(model_file=str(folder / PIECES))
            self._session = onnxruntime.InferenceSession(
                str(folder / GRAPH), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # ONNX Runtime's and SentencePiece's errors share no nearer base
            reason = one_line(error)
            raise ModelError(f"{folder}: the embedding model can't be loaded ({reason}); delete the folder") from error
        self._prompt_lengths = {prompt: len(self._tokenizer.encode(prompt)) for prompt in PROMPTS.values()}

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
        rows = [self.token_ids(prompt + text) for text in texts]
        found: list[Embedding | None] = [None] * len(rows)
        for batch in batches([len(row) for row in rows], BATCH_TOKENS):
            states = self._run([rows[number] for number in batch])
            for number, state in zip(batch, states, strict=True):
                found[number] = self._embedding(rows[number], state, 1 + self._prompt_lengths[prompt])
        return [embedding for embedding in found if embedding is not None]

    def _run(self, rows: list[list[int]]) -> Vectors:
        """The last hidden state, float32 [batch, longest row, d]."""
        ids = np.full((len(rows), max(map(len, rows))), PADDING, np.int64)
        mask = np.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row)], mask[number, : len(row)] = row, 1
        (states,) = self._session.run(["last_hidden_state"], {"input_ids": ids, "attention_mask": mask})
        return np.asarray(states, dtype=np.float32)

    def _embedding(self, row: list[int], state: Vectors, skipped: int) -> Embedding:
        own = row[skipped:-1]
        return Embedding(
            vector=unit_rows(state[: len(row)].mean(axis=0)),
            tokens=unit_rows(state[skipped : len(row) - 1]),
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
            from langchain_huggingface import HuggingFaceEmbeddings

            self._passages = HuggingFaceEmbeddings(model_name=model)
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


def clean(text: str) -> str:
    """The text as the tokenizers of both runtimes agree on it: composed, no joiners, no lone surrogates, stripped."""
    composed = unicodedata.normalize("NFC", text).replace("\u200d", " ")
    return composed.encode("utf-8", "replace").decode("utf-8").strip()


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Groups positions of texts of similar length, so that each group padded to its longest stays within the budget."""
    group: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda position: lengths[position]):
        if group and (len(group) + 1) * lengths[number] > budget:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


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
