"""What an extra's modules import comes with that extra: nothing is there only because something else brought it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = "multilingual-faq-assistant"
LOOK = """
import importlib, json, sys
from importlib import metadata
importlib.import_module(sys.argv[1])
of = metadata.packages_distributions()
roots = {name.partition(".")[0] for name in sys.modules}
print(json.dumps(sorted({of[name][0] for name in roots if len(of.get(name, ())) == 1})))
"""
MODULES = {
    "": "assistant.surfaces.web",
    "slack": "assistant.surfaces.slack.socket_mode",
    "oidc": "assistant.surfaces.staff.openid",
    "staff": "assistant.clusters",
}


def required(extra: str) -> set[str]:
    """Every distribution that the project with an extra brings, by name."""
    found: set[str] = set()
    waiting = deque([(PROJECT, frozenset({extra}))])
    while waiting:
        name, extras = waiting.popleft()
        for line in metadata.requires(name) or ():
            wanted = Requirement(line)
            if wanted.marker and not any(wanted.marker.evaluate({"extra": one}) for one in extras | {""}):
                continue
            known = canonicalize_name(wanted.name)
            if known not in found or wanted.extras:
                found.add(known)
                waiting.append((wanted.name, frozenset(wanted.extras)))
    return found


@pytest.mark.parametrize("extra", MODULES, ids=lambda extra: extra or "none")
def test_an_extra_brings_all_that_its_modules_import(extra: str) -> None:
    """The modules of an extra import only what the project with that extra requires, directly or in turn."""
    looked = subprocess.check_output([sys.executable, "-c", LOOK, MODULES[extra]], text=True, timeout=60)
    imported = {canonicalize_name(name) for name in json.loads(looked)} - {PROJECT}
    assert imported <= required(extra) | {"pip", "setuptools"}
