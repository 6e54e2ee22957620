"""Which instruction set is chosen: by CPU, by operating system, by GFSMITH_ISA."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from .conftest import Compiler
from .support import REPO, X86_ISAS

SSSE3, OSXSAVE, AVX = 1 << 9, 1 << 27, 1 << 28  # CPUID 1, ecx
AVX2, BMI2, AVX512F, AVX512BW, AVX512VL = 1 << 5, 1 << 8, 1 << 16, 1 << 30, 1 << 31  # 7, ebx
GFNI = 1 << 8  # 7, ecx
X87, XMM, YMM, OPMASK, ZMM_HI, HI16 = (1 << n for n in (0, 1, 2, 5, 6, 7))  # XCR0

LEAF1 = SSSE3 | OSXSAVE | AVX
LEAF7 = AVX2 | BMI2 | AVX512F | AVX512BW | AVX512VL
SAVES_YMM = X87 | XMM | YMM
SAVES_ZMM = SAVES_YMM | OPMASK | ZMM_HI | HI16

NO_STATE = {"SSSE3", "BMI2", "GFNI"}
ON_YMM = NO_STATE | {"AVX", "AVX2"}
EVERYTHING = ON_YMM | {"AVX512F", "AVX512BW", "AVX512VL"}

DECODED = {
    "everything": ((13, LEAF1, LEAF7, GFNI, SAVES_ZMM), EVERYTHING),
    "os saves no zmm": ((13, LEAF1, LEAF7, GFNI, SAVES_YMM), ON_YMM),
    "os saves no opmask": ((13, LEAF1, LEAF7, GFNI, SAVES_ZMM & ~OPMASK), ON_YMM),
    "os saves no upper halves": ((13, LEAF1, LEAF7, GFNI, SAVES_ZMM & ~ZMM_HI), ON_YMM),
    "os saves no zmm16": ((13, LEAF1, LEAF7, GFNI, SAVES_ZMM & ~HI16), ON_YMM),
    "os saves no ymm": ((13, LEAF1, LEAF7, GFNI, X87 | XMM), NO_STATE),
    "os saves zmm, not ymm": ((13, LEAF1, LEAF7, GFNI, SAVES_ZMM & ~YMM), NO_STATE),
    "os saves nothing": ((13, LEAF1, LEAF7, GFNI, 0), NO_STATE),
    "no osxsave": ((13, LEAF1 & ~OSXSAVE, LEAF7, GFNI, SAVES_ZMM), NO_STATE),
    "no avx": ((13, LEAF1 & ~AVX, LEAF7, GFNI, SAVES_ZMM), NO_STATE),
    "no avx2": ((13, LEAF1, LEAF7 & ~AVX2, GFNI, SAVES_ZMM), NO_STATE | {"AVX"}),
    "no avx512f": ((13, LEAF1, LEAF7 & ~AVX512F, GFNI, SAVES_ZMM), ON_YMM),
    "no avx512bw": ((13, LEAF1, LEAF7 & ~AVX512BW, GFNI, SAVES_ZMM), EVERYTHING - {"AVX512BW"}),
    "no avx512vl": ((13, LEAF1, LEAF7 & ~AVX512VL, GFNI, SAVES_ZMM), EVERYTHING - {"AVX512VL"}),
    "no bmi2": ((13, LEAF1, LEAF7 & ~BMI2, GFNI, SAVES_ZMM), EVERYTHING - {"BMI2"}),
    "no gfni": ((13, LEAF1, LEAF7, 0, SAVES_ZMM), EVERYTHING - {"GFNI"}),
    "no ssse3": ((13, LEAF1 & ~SSSE3, LEAF7, GFNI, SAVES_ZMM), EVERYTHING - {"SSSE3"}),
    "no leaf 7": ((6, LEAF1, LEAF7, GFNI, SAVES_ZMM), {"SSSE3", "AVX"}),
    "no leaf 1": ((0, LEAF1, LEAF7, GFNI, SAVES_ZMM), set()),
    "gfni without avx": ((13, SSSE3, 0, GFNI, 0), {"SSSE3", "GFNI"}),
    "nothing": ((13, 0, 0, 0, 0), set()),
    "unrelated bits": (
        (13, ~LEAF1 & 2**32 - 1, ~LEAF7 & 2**32 - 1, ~GFNI & 2**32 - 1, ~SAVES_ZMM & 2**64 - 1),
        set(),
    ),
}

# CPU model of qemu-user: what must be chosen there, and what else there is. (qemu 7.2 emulates
# AVX2, but neither AVX-512 nor GFNI.)
MODELS = {
    "max": ("avx2", {"scalar", "sse", "avx2"}),
    "Haswell": ("avx2", {"scalar", "sse", "avx2"}),
    "EPYC-Rome": ("avx2", {"scalar", "sse", "avx2"}),
    "Skylake-Server": ("avx2", {"scalar", "sse", "avx2"}),  # AVX-512 in name, not under qemu
    "Haswell,-avx2": ("sse", {"scalar", "sse"}),
    "Haswell,-avx": ("sse", {"scalar", "sse"}),
    "Haswell,-xsave": ("sse", {"scalar", "sse"}),  # the OS cannot save ymm
    "SandyBridge": ("sse", {"scalar", "sse"}),
    "Nehalem": ("sse", {"scalar", "sse"}),
    # Without SSSE3, CPUs that existed: glibc's own SSE4.2 functions use it unasked.
    "Opteron_G1": ("scalar", {"scalar"}),
    "Opteron_G3": ("scalar", {"scalar"}),
    "qemu64,-ssse3": ("scalar", {"scalar"}),
}


@pytest.fixture(scope="module")
def programs(build: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    compiler = Compiler(build, tmp_path_factory.mktemp("dispatch"))
    return {
        "decode": compiler.link("decode"),
        "probe": compiler.link("probe", "-static"),
    }


def run_probe(command: list[str | Path], isa: str | None = None) -> tuple[str, dict[str, str], list[str]]:
    """What probe chose, the status of choosing each set, and its lines on stderr."""
    environment = {name: value for name, value in os.environ.items() if name != "GFSMITH_ISA"}
    if isa is not None:
        environment["GFSMITH_ISA"] = isa
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, *rest = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    # What qemu says of features it lacks is not ours.
    errors = [line for line in done.stderr.splitlines() if "TCG doesn't support" not in line]
    return first[1], dict(rest), errors


@pytest.mark.parametrize("case", DECODED)
def test_decode(programs: dict[str, Path], case: str) -> None:
    raw, expected = DECODED[case]
    command = [str(programs["decode"]), *(f"{value:x}" for value in raw)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == expected


@pytest.mark.parametrize("model", MODELS)
def test_cpus_that_this_machine_is_not(programs: dict[str, Path], model: str) -> None:
    """The probe encodes, repairs and checks with what was chosen, and with all else there is."""
    expected, available = MODELS[model]
    command: list[str | Path] = ["qemu-x86_64-static", "-cpu", model, programs["probe"]]
    chosen, statuses, errors = run_probe(command)
    assert chosen == expected
    assert {name for name, status in statuses.items() if status == "success"} == available
    refused = {status for name, status in statuses.items() if name not in available}
    assert refused <= {"not supported by this CPU or this build"}
    assert set(statuses) == set(X86_ISAS)
    assert errors == []


def preference() -> list[str]:
    """The instruction sets of the build, best first."""
    return re.findall(r"^GFSMITH_ISA\((\w+)", (REPO / "gen_out/isas.inc").read_text(), re.M)


def test_automatic_choice_is_the_best_supported(programs: dict[str, Path]) -> None:
    chosen, statuses, errors = run_probe([programs["probe"]])
    supported = [name for name in preference() if statuses[name] == "success"]
    assert chosen == supported[0]
    assert errors == []
    assert run_probe([programs["probe"]], isa="")[::2] == (chosen, [])


def test_environment_overrides(programs: dict[str, Path]) -> None:
    _, statuses, _ = run_probe([programs["probe"]])
    for name in (name for name, status in statuses.items() if status == "success"):
        assert run_probe([programs["probe"]], isa=name)[::2] == (name, [])


@pytest.mark.parametrize("bad", ["nonsense", "AVX2", " scalar", "x" * 5000])
def test_environment_unknown(programs: dict[str, Path], bad: str) -> None:
    """One line that names what is allowed, then the automatic choice."""
    automatic, statuses, _ = run_probe([programs["probe"]])
    chosen, _, errors = run_probe([programs["probe"]], isa=bad)
    assert chosen == automatic
    (line,) = errors
    assert line.startswith(f"gfsmith: GFSMITH_ISA={bad[:64]} is unknown; allowed here: ")
    allowed = [name for name in preference() if statuses[name] == "success"]
    assert line.endswith(f"allowed here: {' '.join(allowed)}; choosing automatically")


def test_environment_unsupported(programs: dict[str, Path]) -> None:
    command: list[str | Path] = ["qemu-x86_64-static", "-cpu", "Nehalem", programs["probe"]]
    chosen, _, errors = run_probe(command, isa="gfni_avx512")
    assert chosen == "sse"
    assert errors == [
        "gfsmith: GFSMITH_ISA=gfni_avx512 is not supported by this CPU; "
        "allowed here: sse scalar; choosing automatically"
    ]
