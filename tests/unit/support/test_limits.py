"""Tests that a variable makes longer have no time limit then (tests/support/limits.py)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

#: The variable, a value, and a module whose tests it lengthens.
LONGER = (
    ("GFSMITH_SOAK_SECONDS", "3600", "tests.system.hardening.test_soak"),
    *(
        pytest.param(*case, marks=pytest.mark.needs("store"))
        for case in (
            ("GFSMITH_NEMESIS_ROUNDS", "360", "tests.system.apps.stripe_store.test_linearizability"),
            ("GFSMITH_NEMESIS_STEPS", "60", "tests.system.apps.stripe_store.test_disks"),
        )
    ),
)
#: Print the limits of the marks of a module.
PROGRAM = """
import importlib, sys
marks = getattr(importlib.import_module(sys.argv[1]), "pytestmark")
print([mark.args[0] for mark in marks if mark.name == "timeout"])
"""


@pytest.mark.parametrize(("variable", "value", "module"), LONGER)
@pytest.mark.parametrize("given", [True, False])
def test_the_limit_of_a_longer_run(variable: str, value: str, module: str, given: bool) -> None:
    environment = {name: text for name, text in os.environ.items() if name != variable}
    if given:
        environment[variable] = value
    command = [sys.executable, "-c", PROGRAM, module]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ("[0]" if given else "[]")
