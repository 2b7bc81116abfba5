"""The bundled model as an ONNX graph for serving: BERT's encoder with 8-bit matrices.

In: a Source. Out: one file that ONNX Runtime runs. Never: a weight that is not the source's.

The matrices are 8-bit (7 bits used: processors without VNNI saturate on the eighth; it costs .0005 cosine); the word
table keeps the source's own 4-bit blocks, so it loses nothing there and takes 66 MB instead of 384.
"""

from pathlib import Path
from typing import Any

import numpy as np

from assistant.checkpoint import BLOCK, EPSILON, FEED_FORWARD, HEADS, HIDDEN, LAYERS, POSITIONS, Array, Source

INT8_PEAK = 63  # see the module's docstring


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


def write_graph(file: Path, source: Source, name: str) -> None:
    """The encoder: ids and mask, int64 [batch, tokens], become last_hidden_state, float32 [batch, tokens, 384], and
    token_vectors: its rows at length one, under the adapter's projection, [batch, tokens, d]."""
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
    projection = graph.weight("projection", source.adapter.projection)
    unit = graph.node("LpNormalization", [state], axis=-1, p=2)
    graph.nodes.append(helper.make_node("MatMul", [unit, projection], ["token_vectors"]))
    shape = ["batch", "tokens"]
    outputs = {"last_hidden_state": HIDDEN, "token_vectors": source.adapter.projection.shape[1]}
    content = helper.make_graph(
        graph.nodes,
        name,
        [helper.make_tensor_value_info(each, TensorProto.INT64, shape) for each in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info(each, TensorProto.FLOAT, [*shape, width]) for each, width in outputs.items()],
        graph.weights,
    )
    versions = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(content, opset_imports=versions, ir_version=10), file)


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
