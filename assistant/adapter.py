"""What was learned on top of the published weights: small changes of the matrices, and a projection of token vectors.

In: adapter.npz beside this module. Out: an Adapter. Never: learns; `python -m evals train` does, and writes the file.

A change is the product of two thin matrices (Hu et al., "LoRA", 2021), so that the file stays small. It was learned so
that a question's tokens find the tokens of the passage that answers it (late interaction, Khattab & Zaharia 2020), on
help centres that were written for it (evals/sites); the projection, from 384 to fewer numbers a token, with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from assistant.errors import ModelError

FILE = Path(__file__).with_name("adapter.npz")
Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Adapter:
    """Changes of a model's matrices.

    Args:
        identity: changes with the content.
        factors: matrix name -> (down [r, columns], up [rows, r]); the change is up · down.
        projection: token vectors of unit length, [n, 384], times this give the ones that are compared, [n, d].
    """

    identity: str
    factors: dict[str, tuple[Array, Array]]
    projection: Array

    def change(self, name: str) -> Array | float:
        """What is added to a matrix [rows, columns]; 0 where nothing was learned for it."""
        if name not in self.factors:
            return 0.0
        down, up = self.factors[name]
        return up @ down


@cache
def read_adapter(file: Path = FILE) -> Adapter:
    """The adapter in a file.

    Raises:
        ModelError: the file is missing or damaged.
    """
    try:
        identity = sha256(file.read_bytes()).hexdigest()[:8]
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, BadZipFile):
        raise ModelError(f"{file}: can't be read; reinstall the assistant") from None
    names = sorted({name.rsplit("/", 1)[0] for name in arrays if "/" in name})
    factors = {name: (_unpack(arrays, f"{name}/down"), _unpack(arrays, f"{name}/up")) for name in names}
    return Adapter(identity, factors, arrays["projection"].astype(np.float32))


def write_adapter(file: Path, factors: dict[str, tuple[Array, Array]], projection: Array) -> None:
    """Writes a file that `read_adapter` reads: factors in 8 bits with a scale for each of the r, projection in 16."""
    arrays: dict[str, NDArray[np.generic]] = {"projection": projection.astype(np.float16)}
    for name, (down, up) in factors.items():
        arrays |= _pack(f"{name}/down", down, axis=1) | _pack(f"{name}/up", up, axis=0)
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # its stub takes no generic arrays


def _pack(name: str, values: Array, axis: int) -> dict[str, NDArray[np.generic]]:
    scales = np.maximum(np.abs(values).max(axis=axis, keepdims=True) / 127, np.finfo(np.float32).tiny)
    return {name: np.rint(values / scales).astype(np.int8), f"{name}:scale": scales.astype(np.float32)}


def _unpack(arrays: dict[str, NDArray[np.generic]], name: str) -> Array:
    return arrays[name].astype(np.float32) * arrays[f"{name}:scale"].astype(np.float32)
