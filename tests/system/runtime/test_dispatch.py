"""The choice of the instruction set by CPU, by operating system, and by GFSMITH_ISA (on x86)."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.compiler import Compiler
from tests.support.library import X86_ISAS
from tests.support.machines import instruction_sets

# CPU model of qemu-user: the expected choice and all supported sets. (qemu 7.2 emulates AVX2, but neither
# AVX-512 nor GFNI.)
MODELS = {
    "max": ("avx2", {"scalar", "sse", "avx2"}),
    "Haswell": ("avx2", {"scalar", "sse", "avx2"}),
    "EPYC-Rome": ("avx2", {"scalar", "sse", "avx2"}),
    "Skylake-Server": ("avx2", {"scalar", "sse", "avx2"}),  # qemu has no AVX-512 despite the name
    "Haswell,-avx2": ("sse", {"scalar", "sse"}),
    "Haswell,-avx": ("sse", {"scalar", "sse"}),
    "Haswell,-xsave": ("sse", {"scalar", "sse"}),  # the OS cannot save ymm
    "SandyBridge": ("sse", {"scalar", "sse"}),
    "Nehalem": ("sse", {"scalar", "sse"}),
    # CPUs without SSSE3: on them glibc's own SSE4.2 functions run unconditionally.
    "Opteron_G1": ("scalar", {"scalar"}),
    "Opteron_G3": ("scalar", {"scalar"}),
    "qemu64,-ssse3": ("scalar", {"scalar"}),
}


@pytest.fixture(scope="module")
def probe(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Compiler(build, tmp_path_factory.mktemp("dispatch")).link("probe", "-static")


def run_probe(command: list[str | Path], isa: str | None = None) -> tuple[str, dict[str, str], list[str]]:
    """Return the set that probe chose, the status of choosing each set, and its lines on stderr."""
    environment = {name: value for name, value in os.environ.items() if name != "GFSMITH_ISA"}
    if isa is not None:
        environment["GFSMITH_ISA"] = isa
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, *rest = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    # qemu's messages about features that it lacks are not ours.
    errors = [line for line in done.stderr.splitlines() if "TCG doesn't support" not in line]
    return first[1], dict(rest), errors


@pytest.mark.needs("qemu")
@pytest.mark.parametrize("model", MODELS)
def test_emulated_cpus(probe: Path, model: str) -> None:
    """The probe encodes, repairs and checks with the chosen set, and with all other supported sets."""
    expected, available = MODELS[model]
    command: list[str | Path] = ["qemu-x86_64-static", "-cpu", model, probe]
    chosen, statuses, errors = run_probe(command)
    assert chosen == expected
    assert {name for name, status in statuses.items() if status == "success"} == available
    refused = {status for name, status in statuses.items() if name not in available}
    assert refused <= {"not supported by this CPU or this build"}
    assert set(statuses) == set(X86_ISAS)
    assert errors == []


def preference() -> list[str]:
    """Return the instruction sets of the build, best first."""
    return [isa.name for isa in instruction_sets("x86_64")]


def test_automatic_choice_is_the_best_supported(probe: Path) -> None:
    chosen, statuses, errors = run_probe([probe])
    supported = [name for name in preference() if statuses[name] == "success"]
    assert chosen == supported[0]
    assert errors == []
    assert run_probe([probe], isa="")[::2] == (chosen, [])


def test_environment_overrides(probe: Path) -> None:
    _, statuses, _ = run_probe([probe])
    for name in (name for name, status in statuses.items() if status == "success"):
        assert run_probe([probe], isa=name)[::2] == (name, [])


@pytest.mark.parametrize("bad", ["nonsense", "AVX2", " scalar", "x" * 5000, 'a\x1b[31m\n"\xe9'])
def test_environment_unknown(probe: Path, bad: str) -> None:
    """The library prints one line with the allowed sets, then chooses automatically."""
    automatic, statuses, _ = run_probe([probe])
    chosen, _, errors = run_probe([probe], isa=bad)
    assert chosen == automatic
    (line,) = errors
    shown = re.sub(r'[^ -~]|"', "?", bad.encode().decode("latin-1"))[:64]
    assert line.startswith(f"gfsmith: GFSMITH_ISA={shown} is unknown; allowed here: ")
    allowed = [name for name in preference() if statuses[name] == "success"]
    assert line.endswith(f"allowed here: {' '.join(allowed)}; choosing automatically")


@pytest.mark.needs("qemu")
def test_environment_unsupported(probe: Path) -> None:
    command: list[str | Path] = ["qemu-x86_64-static", "-cpu", "Nehalem", probe]
    chosen, _, errors = run_probe(command, isa="gfni_avx512")
    assert chosen == "sse"
    assert errors == [
        "gfsmith: GFSMITH_ISA=gfni_avx512 is not supported by this CPU; "
        "allowed here: sse scalar; choosing automatically"
    ]
