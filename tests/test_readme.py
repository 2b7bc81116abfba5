"""README says what is there: settings, commands, options, modules."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import pytest
import regex
import typer
from typer.core import TyperGroup

from assistant.cli import app
from assistant.settings import Settings
from evals.options import parser
from tests.test_layout import ORDER

CHECKOUT = Path(__file__).parent.parent
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
BLOCKS = regex.findall(r"^```\w*\n(.*?)^```", README, regex.MULTILINE | regex.DOTALL)
SHOWN = [line.split("  #")[0].strip() for block in BLOCKS for line in block.splitlines()]
SHOWN += regex.findall(r"`((?:make|assistant|python -m evals) [^`]+)`", README)
COMMANDS = sorted({line for line in SHOWN if regex.match(r"(make|assistant|python -m evals)\b", line)})


def commands(start: str) -> list[str]:
    """README's command lines that start so."""
    return [line for line in COMMANDS if line.startswith(start)]


def test_readme_shows_commands() -> None:
    """README shows command lines of all three kinds, so the tests below have something to check."""
    assert all(len(commands(start)) >= 5 for start in ("make ", "assistant ", "python -m evals "))


@pytest.mark.parametrize("line", commands("make "))
def test_make_target_exists(line: str) -> None:
    """Every make target named in README is in the Makefile."""
    targets = regex.findall(r"^([a-z]+):", (CHECKOUT / "Makefile").read_text(encoding="utf-8"), regex.MULTILINE)
    assert next(word for word in line.split()[1:] if "=" not in word) in targets


@pytest.mark.parametrize("line", commands("assistant "))
def test_command_and_options_exist(line: str) -> None:
    """Every `assistant` line in README parses: the command is there, with its options and arguments."""
    words = shlex.split(line)[1:]
    group = typer.main.get_group(app)
    with group.make_context("assistant", words) as context:
        name, command, rest = group.resolve_command(context, words)
        assert command is not None
        inner = command.make_context(name, rest, parent=context)
        if isinstance(command, TyperGroup) and rest:
            name, command, rest = command.resolve_command(inner, rest)
            assert command is not None
            command.make_context(name, rest, parent=inner).close()
        inner.close()


@pytest.mark.parametrize("line", commands("python -m evals"))
def test_evals_line_parses(line: str) -> None:
    """Every `python -m evals` line in README parses."""
    assert isinstance(parser().parse_args(shlex.split(line)[3:]), argparse.Namespace)


def test_settings_table_is_complete() -> None:
    """The settings table holds every setting with its default and meaning, in order, and nothing else."""
    rows = regex.findall(r"^\| `(ASSISTANT_\w+)` \| (.*?) \| (.*?) \|$", README.replace("| |", "|  |"), regex.MULTILINE)
    expected = [
        (f"ASSISTANT_{name.upper()}", "" if field.default is None else f"`{field.default}`", field.description)
        for name, field in Settings.model_fields.items()
    ]
    assert [(name, default.strip(), meaning) for name, default, meaning in rows] == expected


def test_module_map_is_complete() -> None:
    """The module map names every module once, in an order in which imports go up."""
    table = README.partition("## Modules")[2].partition("\n## ")[0]
    named = [
        name
        for row in regex.findall(r"^\| (`.*?) \|", table, regex.MULTILINE)
        for name in regex.findall(r"`(\w+)`", row)
    ]
    assert sorted(named) == sorted({*ORDER, "evals"} - {"__main__"})


def test_example_article_is_accepted(tmp_path: Path) -> None:
    """The article in README is one that `assistant check` accepts."""
    from assistant.surfaces.check import check_files

    example = next(block for block in BLOCKS if block.startswith("---\ntitle"))
    (tmp_path / "refunds.md").write_text(example, encoding="utf-8")
    assert check_files([tmp_path], 1).problems == ()
