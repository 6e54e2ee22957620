"""libFuzzer on gfsmith.toml's reader: a text is a configuration with kernels, or refused with one line.

.venv/bin/python tests/system/fuzz/config.py [libFuzzer's options] [corpus folders]

GFSMITH_FUZZ_TEETH in the environment plants an error, which the fuzzer must find.
"""

from __future__ import annotations

import ast
import os
import random
import re
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(
    include=["gfsmith.build.config", "gfsmith.kernel.spec", "gfsmith.codes", "tomllib"]
):
    from gfsmith.build import config

NAME = "fuzz.toml"
#: Larger configurations take long to expand, which is not an error: kernels of a configuration, shards of a
#: code.
KERNELS, SHARDS = 40, 40
TOKEN = re.compile(r'"[^"\n]*"|\w+|\[\[|\]\]|\s+|.')
DICTIONARY = Path(__file__).with_suffix(".dict").read_text().splitlines()
WORDS = [ast.literal_eval(line) for line in DICTIONARY if line.startswith('"')]


def mutate(data: bytes, most: int, seed: int) -> bytes:
    """Return bytes as libFuzzer mutates them, or with a token omitted, repeated, or exchanged for one of its
    kind.
    """
    chance = random.Random(seed)
    if chance.randrange(2):
        return bytes(atheris.Mutate(data, most))
    tokens = TOKEN.findall(data.decode(errors="replace"))
    places = [n for n, token in enumerate(tokens) if not token.isspace()]
    if not places:
        return bytes(atheris.Mutate(data, most))
    at = chance.choice(places)
    kin = [word for word in WORDS if (word[0] == '"') == (tokens[at][0] == '"')]
    other = chance.choice(kin)
    tokens[at : at + 1] = chance.choice(([other], [other], [], [tokens[at]] * 2, [other, tokens[at]]))
    return "".join(tokens).encode()[:most]


def planted(found: config.Config) -> None:
    """The planted error: raise as a generator without one of its cases would."""
    if "GFSMITH_FUZZ_TEETH" in os.environ and any(group.operation == "xor" for group in found.kernels):
        raise KeyError("xor")


def small(found: config.Config) -> bool:
    """Return True if a configuration can be expanded quickly."""
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
    atheris.Setup(sys.argv, test_one_input, custom_mutator=mutate)
    atheris.Fuzz()
