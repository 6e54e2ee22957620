"""Commands start fast: they load only the modules that they need. The tests count modules and instructions
and measure no time.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gfsmith.cli.main import NAMES
from tests.support.configurations import known_proofs
from tests.support.levels import sample
from tests.support.paths import ROOT

#: Packages that take long to load. `codes` uses Rich for its table.
HEAVY = {
    *(
        "arpy",
        "bokeh",
        "capstone",
        "elftools",
        "iced_x86",
        "jinja2",
        "lief",
        "matplotlib",
        "optuna",
        "peachpy",
    ),
    *("pydantic", "rich", "scipy", "sympy"),
}
#: Limit of modules outside of the standard library, whose own imports differ between versions of Python. The
#: help of all commands takes 85, `codes` with Rich 92.
MOST_MODULES = 110
#: Limit of instructions in addition to Python's start, as a multiple of those of REFERENCE: builds of Python
#: differ by a factor of two. The help of all commands takes 2.6 times as many on Debian's Python 3.11 (350
#: million), and 2.8 times as many on a Python 3.13 built by pyenv.
MOST_TIMES = 4
REFERENCE = """
import dataclasses, enum, pathlib, re, typing
for _ in range(40):
    exec("@dataclasses.dataclass(frozen=True, slots=True)\\nclass A:\\n a: int\\n b: str\\n c: int = 0")
"""

#: The program `gfsmith`, which prints the loaded modules at its end.
PROGRAM = """
import atexit, sys
start = set(sys.modules)
from gfsmith.__main__ import main
atexit.register(lambda: print("loaded:", *sorted(set(sys.modules) - start), file=sys.stderr))
sys.argv[0] = "gfsmith"
main()
"""

SMALL = """
[generator]
isas = ["sse"]
[[kernels]]
operation = "xor"
shapes = ["2x1"]
"""

FAST = (("--help",), ("--version",), ("codes",), ("where", "cmake"), ("completion", "bash"))


def _loaded(*arguments: str, typed: str | None = None) -> set[str]:
    """Return the modules that a command loads, or with `typed`, those that Tab after these words loads.
    Modules of the standard library are left out.
    """
    environment = dict(os.environ)
    if typed is not None:
        words = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
        environment |= {"_GFSMITH_COMPLETE": "bash_complete", **words}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout
    loaded = done.stderr.split("loaded:")[1].split()
    return {name for name in loaded if name.split(".")[0] not in sys.stdlib_module_names}


def _packages(modules: set[str]) -> set[str]:
    return {name.split(".")[0] for name in modules}


@pytest.mark.parametrize("arguments", FAST, ids=" ".join)
def test_fast_commands_load_little(arguments: tuple[str, ...]) -> None:
    loaded = _loaded(*arguments)
    allowed = {"rich"} if arguments == ("codes",) else set()
    assert _packages(loaded) & HEAVY <= allowed
    assert len(loaded) <= MOST_MODULES


@pytest.mark.parametrize("name", NAMES)
def test_help_of_commands_loads_little(name: str) -> None:
    loaded = _loaded(name, "--help")
    assert not _packages(loaded) & HEAVY
    assert len(loaded) <= MOST_MODULES


@pytest.mark.parametrize(
    "typed",
    ["gfsmith ", "gfsmith codes ", "gfsmith gen --code ", "gfsmith verify --abi ", "gfsmith tune --mo"],
)
def test_tab_loads_little(typed: str) -> None:
    loaded = _loaded(typed=typed)
    assert not _packages(loaded) & HEAVY
    assert len(loaded) <= MOST_MODULES


def test_peachpy_is_loaded_for_x86_alone() -> None:
    program = (
        "import sys",
        "from gfsmith.build.generate import generate_one",
        "from tests.support.specs import make_spec",
        "generate_one(make_spec('xor', 2, 1, 'scalar'))",
        "print('peachpy' in sys.modules)",
        "generate_one(make_spec('xor', 2, 1, 'sse'))",
        "print('peachpy' in sys.modules)",
    )
    command = [sys.executable, "-c", "\n".join(program)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def _instructions(*arguments: str) -> int:
    """Return the number of instructions that Python executes in a program."""
    valgrind = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
    done = subprocess.run([*valgrind, sys.executable, *arguments], capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found is not None
    return int(found[1])


@pytest.fixture(scope="module")
def start() -> int:
    return _instructions("-c", "pass")


@pytest.fixture(scope="module")
def most(start: int) -> int:
    return MOST_TIMES * (_instructions("-c", REFERENCE) - start)


@pytest.mark.needs("valgrind")
@pytest.mark.parametrize("arguments", sample(FAST, FAST[0], FAST[2]), ids=" ".join)
def test_fast_commands_execute_few_instructions(arguments: tuple[str, ...], start: int, most: int) -> None:
    assert _instructions("-m", "gfsmith", *arguments) - start <= most


def test_the_counts_can_fail(tmp_path: Path) -> None:
    """A command that generates kernels loads the modules that others must not load."""
    (tmp_path / "gfsmith.toml").write_text(SMALL)
    known_proofs(tmp_path / ".gfsmith-cache")
    loaded = _loaded("gen", "-j", "1", "-c", str(tmp_path / "gfsmith.toml"))
    assert {"peachpy", "pydantic", "sympy"} <= _packages(loaded) and len(loaded) > MOST_MODULES
