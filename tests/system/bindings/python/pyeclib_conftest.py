"""conftest.py of PyECLib's own tests: they import gfsmith.compat.pyeclib, of the folder COMPAT, as pyeclib.

Some tests repeat a call 100 or 400,000 times, or try all of 31,824 losses. Here they have fewer rounds.
"""

import importlib
import itertools
import os
import random
import sys

import gfsmith.compat

gfsmith.compat.__path__[:] = [os.environ["COMPAT"]]
sys.modules["pyeclib"] = importlib.import_module("gfsmith.compat.pyeclib")
for name in ("core", "ec_iface"):
    sys.modules[f"pyeclib.{name}"] = importlib.import_module(f"gfsmith.compat.pyeclib.{name}")
sys.modules["pyeclib_c"] = importlib.import_module("gfsmith.compat.pyeclib.pyeclib_c")

ROUNDS = {100: 10, 400_000: 2_000}
LOSSES = 8


def _range(*given):
    return range(ROUNDS.get(given[0], given[0]), *given[1:])


def _combinations(values, size):
    everything = list(itertools.combinations(values, size))
    return random.sample(everything, min(LOSSES, len(everything)))


def pytest_runtest_setup(item):
    """The numbers that a test draws depend on no other test."""
    random.seed(item.name)


def pytest_collection_modifyitems(items):
    for module in {item.module for item in items}:
        module.range = _range
        module.combinations = _combinations
