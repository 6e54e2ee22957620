"""Protections against exploits in objects and linked libraries, read from the files: docs/hardening.md."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.library import NATIVE
from tests.support.paths import ROOT
from tests.system.hardening.symbols import INCLUDE, call, sections


def without_notes(archive: Path) -> dict[str, set[str]]:
    """Return the missing notes by member of an archive."""
    lacking: dict[str, set[str]] = {}
    for member, text in sections(call("readelf", "-SW", archive)).items():
        stack = [line for line in text.splitlines() if ".note.GNU-stack" in line]
        if not stack or " X " in stack[0].replace("AX", " X "):
            lacking.setdefault(member, set()).add("stack")
    for member, text in sections(call("readelf", "-nW", archive)).items():
        if "x86 feature: IBT, SHSTK" not in text:
            lacking.setdefault(member, set()).add("branches")
    return lacking


def stack_flags(file: Path) -> str:
    """Return the flags of the stack's segment; RW is read, write and not execute."""
    (line,) = [line for line in call("readelf", "-lW", file).splitlines() if "GNU_STACK" in line]
    return line.split()[6]


def test_every_object_has_its_notes(build: Path) -> None:
    """No executable stack; endbr64 at the targets of indirect calls, and support of shadow stacks."""
    archive = build / "libgfsmith.a"
    assert {"avx2.o", "codec.o"} <= sections(call("readelf", "-nW", archive)).keys()
    assert without_notes(archive) == {}


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        ("f: ret\n", {"stack", "branches"}),
        ('f: ret\n.section .note.GNU-stack, "x", @progbits\n', {"stack", "branches"}),
        ('f: ret\n.section .note.GNU-stack, "", @progbits\n', {"branches"}),
    ],
)
def test_an_object_without_notes_is_found(tmp_path: Path, text: str, lacking: set[str]) -> None:
    (tmp_path / "bad.s").write_text(text)
    (tmp_path / "good.c").write_text("int g(void) { return 1; }\n")
    call("gcc", "-c", tmp_path / "bad.s", "-o", tmp_path / "bad.o")
    call("gcc", "-fcf-protection", "-c", tmp_path / "good.c", "-o", tmp_path / "good.o")
    call("ar", "rcs", tmp_path / "lib.a", tmp_path / "bad.o", tmp_path / "good.o")
    assert without_notes(tmp_path / "lib.a") == {"bad.o": lacking}


def test_the_shared_library(build: Path) -> None:
    """Shadow stacks and landing pads cover the whole library; no function pointers of the linker are
    writable.
    """
    library = build / "libgfsmith.so"
    assert "x86 feature: IBT, SHSTK" in call("readelf", "-nW", library)
    assert stack_flags(library) == "RW"
    assert "GNU_RELRO" in call("readelf", "-lW", library)
    dynamic = call("readelf", "-dW", library)
    assert "BIND_NOW" in dynamic
    assert "TEXTREL" not in dynamic and "INIT" not in dynamic
    checks = call("nm", "-D", "--undefined-only", library)
    assert "__memcpy_chk" in checks and "__stack_chk_fail" in checks


def test_a_program_of_the_static_library(build: Path, tmp_path: Path) -> None:
    for name, flags in (("dynamic", []), ("static", ["-static"])):
        program = tmp_path / name
        sources = [f"-I{INCLUDE}", NATIVE / "stripes.c", build / "libgfsmith.a"]
        call("gcc", *sources, *flags, "-o", program)
        assert stack_flags(program) == "RW"
    mutant = tmp_path / "mutant"
    call("gcc", *sources, "-Wl,-z,execstack", "-o", mutant)
    assert stack_flags(mutant) == "RWE"


KNOWN = ("-fcf-protection", "-fstack-clash-protection", "-D_FORTIFY_SOURCE=3", "-fstack-protector-strong")


@pytest.mark.parametrize("unknown", KNOWN)
def test_a_compiler_without_a_flag_builds(tmp_path: Path, unknown: str) -> None:
    """The Makefile tests each flag: it omits an unknown one and keeps the others."""
    old = tmp_path / "old-gcc"
    old.write_text(f'#!/bin/sh\ncase " $* " in *" {unknown} "*) exit 1 ;; esac\nexec gcc "$@"\n')
    old.chmod(0o755)
    target = tmp_path / "obj/runtime/core/src/tables.o"
    made = subprocess.run(
        ["make", f"CC={old}", f"BUILD={tmp_path}", str(target)], cwd=ROOT, capture_output=True, text=True
    )
    assert (made.returncode, made.stderr) == (0, "")
    assert target.exists()
    used = (tmp_path / "obj/flags").read_text().split()
    assert [flag for flag in KNOWN if flag not in used] == [unknown]
    assert ("-D_FORTIFY_SOURCE=2" in used) == (unknown == "-D_FORTIFY_SOURCE=3")
