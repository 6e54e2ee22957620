"""libFuzzer on gfsmith.toml's reader: a text is a configuration with kernels, or refused by one line.

.venv/bin/python tests/fuzz/config.py [libFuzzer's options] [corpus folders]

GFSMITH_FUZZ_TEETH in the environment plants a mistake, which must be found.
"""

from __future__ import annotations

import os
import sys

import atheris

with atheris.instrument_imports(include=["gfsmith.config", "gfsmith.spec", "gfsmith.codes", "tomllib"]):
    from gfsmith import config

NAME = "fuzz.toml"
#: Shapes beyond this take long to expand, which is no mistake: kernels of a configuration, shards of a code.
KERNELS, SHARDS = 40, 40


def planted(found: config.Config) -> None:
    """What a generator does that forgot a case."""
    if "GFSMITH_FUZZ_TEETH" in os.environ and any(group.operation == "xor" for group in found.kernels):
        raise KeyError("xor")


def small(found: config.Config) -> bool:
    """Whether a configuration is quickly expanded."""
    shapes = [shape for group in found.kernels for shape in group.shapes]
    sizes = [int(number) for shape in shapes for number in shape.split("x") if number.isdigit()]
    return len(shapes) <= KERNELS and all(size <= SHARDS for size in sizes)


def test_one_input(data: bytes) -> None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    try:
        found = config.parse(text, NAME)
        planted(found)
        if small(found):
            config.specs(found, NAME)
    except config.ConfigError as error:
        line = str(error)
        assert line.startswith(f"{NAME}: ") and line.isprintable(), repr(line)


if __name__ == "__main__":
    atheris.Setup(sys.argv, test_one_input)
    atheris.Fuzz()
