"""The learned changes: packed, read, refused when damaged, and what is committed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assistant.adapter import FILE, read_adapter, write_adapter
from assistant.checkpoint import HIDDEN, LAYERS
from assistant.errors import ModelError

RANDOM = np.random.default_rng(0)


def write_some(file: Path, shift: float = 0.0) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    factors = {
        name: (
            RANDOM.normal(size=(8, 384)).astype(np.float32),
            RANDOM.normal(size=(rows, 8)).astype(np.float32) + shift,
        )
        for name, rows in (("l0.q", 384), ("l3.fi", 1536))
    }
    write_adapter(file, factors, np.eye(384, 16, dtype=np.float32))
    return factors


def test_a_change_survives_the_file(tmp_path: Path) -> None:
    """What is read is what was written, but for the rounding to 8 bits; an unnamed matrix has no change."""
    factors = write_some(tmp_path / "a.npz")
    adapter = read_adapter(tmp_path / "a.npz")
    for name, (down, up) in factors.items():
        written, read = up @ down, np.asarray(adapter.change(name))
        assert read.shape == written.shape
        assert np.linalg.norm(read - written) < 0.02 * np.linalg.norm(written)
    assert adapter.change("l0.k") == 0.0
    assert adapter.projection.shape == (384, 16)


def test_the_identity_follows_the_content(tmp_path: Path) -> None:
    """Another content is another identity, so that an index built before is noticed."""
    write_some(tmp_path / "a.npz")
    write_some(tmp_path / "b.npz", shift=1.0)
    assert read_adapter(tmp_path / "a.npz").identity != read_adapter(tmp_path / "b.npz").identity


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 cut"], ids=["missing", "empty", "cut"])
def test_a_damaged_file_is_one_sentence(tmp_path: Path, content: bytes | None) -> None:
    """A missing or damaged file is a ModelError that names it and says what to do."""
    file = tmp_path / "adapter.npz"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ModelError, match=r"adapter\.npz: can't be read; reinstall") as caught:
        read_adapter(file)
    assert "\n" not in str(caught.value)


def test_the_committed_adapter_fits_the_model() -> None:
    """The learned file changes all six matrices of every layer, and projects onto fewer numbers than it gets."""
    adapter = read_adapter(FILE)
    assert len(adapter.factors) == 6 * LAYERS
    rows, columns = adapter.projection.shape
    assert rows == HIDDEN
    assert columns < HIDDEN
    assert all(np.isfinite(np.asarray(adapter.change(name))).all() for name in adapter.factors)
