"""The shape of the code: what may import what, how long things may grow, what a process loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent
# A module imports only from modules that stand before it. A new module is added where it belongs.
TIERS = [
    "records errors settings spelling files evidence language figures mask",
    "ticket_words openers wording senses numerals cut spoken hearing parts own_words",
    "adapter checkpoint graph weights models lexical",
    "readings contrasts objections additions chat_model",
    "parse_extracted parse_markdown passages ingest",
    "ledger scars links compare polarity parity allowances",
    "tables migrations engine attention store inbox handover",
    "members sessions attempts audit letter cabinet insight endings gaps",
    "vectors siblings topics calibration database summarise index build_index clusters gather",
    "understand desk retrieve restate frame follow suggest compose verify speak claims phrase tickets recheck drafts",
    "proposals",
    "pipeline",
    "bootstrap",
    "surfaces slack_commands staff_commands streams cli __main__",
]
ORDER = " ".join(TIERS).split()
# A heavy or replaceable package stays behind the modules that are its seam.
SEAMS = {
    "chromadb": {"vectors"},
    "langchain_chroma": {"vectors"},
    "langchain_core": {"vectors"},
    "langchain_huggingface": {"models"},
    "langchain_openai": set(),  # named by chat_model's table, imported only when the settings name it
    "langchain_anthropic": set(),
    "langchain_ollama": set(),
    "stamina": {"chat_model"},
    "onnxruntime": {"models"},
    "onnx": {"graph"},
    "sqlalchemy": {
        "tables",
        "migrations",
        "engine",
        "attention",
        "store",
        "inbox",
        "handover",
        "members",
        "sessions",
        "attempts",
        "audit",
        "cabinet",
        "insight",
        "endings",
        "gaps",
        "gather",
    },
    "sklearn": {"clusters"},
    "alembic": {"migrations", "engine"},
    "fastapi": {"surfaces", "cli"},
    "starlette": {"surfaces", "cli"},
    "uvicorn": {"surfaces", "cli"},
    "prometheus_client": {"surfaces"},
    "brotli": {"surfaces"},
    "slack_bolt": {"surfaces"},
    "slack_sdk": {"surfaces"},
    "aiohttp": {"surfaces"},
    "typer": {"cli", "slack_commands", "staff_commands"},
    "authlib": {"surfaces"},
    "torch": set(),
    "transformers": set(),
    "sentence_transformers": set(),
}
HEAVY = (
    "chromadb", "fastapi", "lingua", "numpy", "onnxruntime", "pydantic", "sentencepiece", "sqlalchemy", "torch", "yaml",
)  # fmt: skip
MODULE_LINES, FUNCTION_LINES = 300, 60  # the hard limits; the aims are 250 and 40

MODULES = sorted((CHECKOUT / "assistant").rglob("*.py"))
EVALS = sorted((CHECKOUT / "evals").rglob("*.py"))


def part(path: Path) -> str:
    """The name in ORDER that a file under assistant/ belongs to."""
    first = path.relative_to(CHECKOUT / "assistant").parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything a file imports, inside functions too; `import_module` calls included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute here"
            yield node.lineno, node.module or ""
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from ((node.lineno, ast.literal_eval(name)) for name in node.args if isinstance(name, ast.Constant))


def identify(path: Path) -> str:
    """A readable test id."""
    return path.relative_to(CHECKOUT).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=identify)
def test_imports_go_down_only(path: Path) -> None:
    """A module of the assistant imports only modules that stand before it in the drawn order, never evals or tests."""
    own = part(path)
    if own == "__init__":
        assert {name for _, name in imports(path)} <= {"os"}  # it may set the process up, not load anything
        return
    assert own in ORDER, f"{own} is new: say in ORDER where it stands"
    for line, name in imports(path):
        root, _, rest = name.partition(".")
        assert root not in ("evals", "tests"), f"{path}:{line} imports {name}"
        other = rest.partition(".")[0]
        if root == "assistant" and other and (own, other) != ("surfaces", "surfaces"):
            assert other in ORDER[: ORDER.index(own)], (
                f"{path}:{line}: {own} imports {other}, which does not stand before it"
            )


@pytest.mark.parametrize("path", EVALS, ids=identify)
def test_evals_import_no_tests(path: Path) -> None:
    """The evals stand above the assistant and beside the tests: they import none of them."""
    assert "tests" not in {name.partition(".")[0] for _, name in imports(path)}


@pytest.mark.parametrize("package", SEAMS)
def test_packages_stay_behind_their_seam(package: str) -> None:
    """A package that could be replaced is imported by its own module alone."""
    users = {part(path) for path in MODULES for _, name in imports(path) if name.partition(".")[0] == package}
    assert users <= SEAMS[package]


def test_every_named_module_exists() -> None:
    """The order names no module that is gone."""
    assert set(ORDER) == {part(path) for path in MODULES} - {"__init__"}


@pytest.mark.parametrize("path", [*MODULES, *EVALS], ids=identify)
def test_modules_and_functions_stay_short(path: Path) -> None:
    """No module is longer than 300 lines, no function longer than 60."""
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MODULE_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= FUNCTION_LINES, f"{path}:{node.lineno}: {node.name} has {length} lines"


@pytest.mark.parametrize("path", [*MODULES, *EVALS], ids=identify)
def test_modules_say_what_they_are(path: Path) -> None:
    """Every module has a docstring; one that does more than name things says what it never does."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    described = ast.get_docstring(tree) or ""
    assert described
    if path.name not in ("__init__.py", "errors.py", "__main__.py"):
        assert "Never" in described


@pytest.mark.parametrize("path", sorted((CHECKOUT / "tests").glob("test_*.py")), ids=identify)
def test_tests_say_what_they_show(path: Path) -> None:
    """Every test states in its docstring the behaviour it shows."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            assert ast.get_docstring(node), f"{path}:{node.lineno}: {node.name}"


def loaded_by(code: str, home: Path | None = None) -> set[str]:
    """The top-level packages that a new process has loaded after running the code."""
    listing = "\nimport sys; print('loaded', *{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", code + listing, str(home or "")],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def test_importing_the_package_starts_nothing() -> None:
    """`import assistant` loads no heavy package."""
    assert not loaded_by("import assistant").intersection(HEAVY)


ANSWERING = """
import asyncio, sys
from pathlib import Path
from assistant.bootstrap import build
from assistant.settings import read_settings
assistant = build(read_settings(home=Path(sys.argv[1])))
reply = asyncio.run(assistant.answer("¿Cuánto valen los créditos de Trainium?"))
assert reply.language == "es" and reply.text, reply
"""


def test_answering_loads_no_torch(tmp_path: Path) -> None:
    """Building, ingesting and answering load neither torch nor transformers: a serving install has none."""
    (CHECKOUT / ".assistant" / "models").mkdir(parents=True, exist_ok=True)
    (tmp_path / "models").symlink_to(CHECKOUT / ".assistant" / "models")
    loaded = loaded_by(ANSWERING, tmp_path)
    assert "onnxruntime" in loaded
    assert not loaded.intersection({"torch", "transformers", "sentence_transformers", "sklearn", "scipy"})
