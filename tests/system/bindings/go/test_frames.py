"""Kernels that need much stack and lie inside the function that Go calls: all of the default set."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from gfsmith.build.compiled import compile_all
from gfsmith.build.compiled import frames as frames_of
from gfsmith.build.generate import Kernel
from gfsmith.emit import golang, golang_amd64
from gfsmith.prove.verdict import PROVED
from tests.support.paths import ROOT
from tests.system.bindings.go.support import NATIVE, Project, default_set, default_specs

NEON = ("gfs_dot_8x4_backblaze__neon_u1", "gfs_dot_16x8_cauchy__neon_u1")
HEADER = "module frames\n\ngo 1.19\n"


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A package of these kernels alone, with the test in native/."""
    folder = tmp_path_factory.mktemp("frames")
    inside = [(spec, code) for spec, code in default_set() if golang_amd64.listing(code).inside]
    assert len(inside) > 5
    for name, text in {**golang.files(inside, "frames", golang.Frames(0, {})), "go.mod": HEADER}.items():
        (folder / name).write_text(text)
    shutil.copy(NATIVE / "frames_test.go", folder)
    return Project(folder)


def test_every_depth_of_the_stack(frames: Project) -> None:
    assert "functions compared" in frames.go("test", "-v", "-run", "TestEveryDepth|TestVerify")


def test_a_frame_that_is_too_small_is_detected(frames: Project, tmp_path: Path) -> None:
    wrong = frames.copy(tmp_path / "wrong")
    for source in wrong.folder.glob("*.s"):
        text = re.sub(r", 0, \$\d+-40", ", 0, $200-40", source.read_text())
        text = re.sub(r"ADJSP \$(-?)\d+( // the kernel's frame|\n\tRET)", r"ADJSP $\g<1>200\2", text)
        source.write_text(text)
    assert wrong.run("test", "-run", "TestEveryDepth").returncode != 0


def _stacks(frames: Project, name: str, *emulator: str, **variables: str) -> list[list[str]]:
    """Return the functions of every sample in a kernel, that of the kernel first."""
    profile = frames.folder / name
    options = ("-o", "program", "-run", "TestProfile")
    frames.go("test", *emulator, *options, ".", "-args", "-profile", profile, **variables)
    samples = frames.go("tool", "pprof", "-traces", "program", profile).split("-+-")[1:]
    stacks = [re.findall(r"frames\.(\S+)", sample) for sample in samples]
    return [stack for stack in stacks if stack and stack[0].startswith("gfs_")]


def _complete(stack: list[str]) -> bool:
    return "Run" in stack and stack[-1] == "TestProfile"


def test_a_profile_names_the_callers(frames: Project, tmp_path: Path) -> None:
    """Without PUSHQ and POPQ, the samples inside kernels end there."""
    stacks = _stacks(frames, "right")
    assert stacks and all(map(_complete, stacks))
    wrong = frames.copy(tmp_path / "wrong")
    for source in wrong.folder.glob("*.s"):
        text = source.read_text().replace("PUSHQ AX //", "BYTE $0x50 //")
        source.write_text(text.replace("POPQ AX //", "BYTE $0x58 //"))
    assert not all(map(_complete, _stacks(wrong, "wrong")))


#: Go's commands for arm64; its programs run under qemu.
ARM64 = {"GOARCH": "arm64", "CGO_ENABLED": "0"}
EMULATOR = ("-exec", "qemu-aarch64-static")


@pytest.fixture(scope="module")
def arm64(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A package of two kernels for neon with frames of different sizes, with the same test."""
    folder = tmp_path_factory.mktemp("arm64")
    specs = [spec for spec in default_specs() if spec.symbol in NEON]
    texts = {path.name: path.read_text() for path in (ROOT / "gen_out").glob("*.h")}
    kernels = [
        Kernel(spec, "", (ROOT / "gen_out" / "neon" / f"{spec.symbol}.c").read_text(), {}, PROVED)
        for spec in specs
    ]
    made = compile_all(kernels, texts, "go", 2, None, lambda done: None)
    assert sorted(frames_of(made).used.values()) == [512, 2048]
    proved = [(kernel.spec, code) for kernel in made for code in kernel.code.values()]
    for name, text in {**golang.files(proved, "frames", frames_of(made)), "go.mod": HEADER}.items():
        (folder / name).write_text(text)
    shutil.copy(NATIVE / "frames_test.go", folder)
    return Project(folder)


def test_every_depth_of_the_stack_on_arm64(arm64: Project) -> None:
    said = arm64.go("test", *EMULATOR, "-v", "-run", "TestEveryDepth|TestVerify", **ARM64)
    assert "2 functions compared" in said


def test_a_frame_that_is_too_small_is_detected_on_arm64(arm64: Project, tmp_path: Path) -> None:
    wrong = arm64.copy(tmp_path / "wrong")
    source = wrong.folder / "neon_arm64.s"
    source.write_text(re.sub(r", 0, \$\d+-40", ", 0, $16-40", source.read_text()))
    assert wrong.run("test", *EMULATOR, "-run", "TestEveryDepth", **ARM64).returncode != 0


def test_a_profile_names_the_callers_on_arm64(arm64: Project) -> None:
    stacks = _stacks(arm64, "right", *EMULATOR, **ARM64)
    assert stacks and all(map(_complete, stacks))
