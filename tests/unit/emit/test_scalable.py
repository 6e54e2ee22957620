"""Instruction sets whose vector length depends on the CPU: one text for all lengths, checked by the tests."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gfsmith.build import generate
from gfsmith.emit import lists
from gfsmith.emit.c.kernel import SPELLINGS, build
from gfsmith.ir import Op
from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.isa import ISAS, SCALABLE_BYTES, Encoding, Isa
from gfsmith.kernel.spec import KernelSpec
from tests.support.specs import make_spec

SCALABLE = [isa for isa in ISAS if isa.scalable]
SHAPES = [
    ("dot", 4, 2, 2),
    ("dot", None, 3, 2),
    ("mad", 2, 2, 1),
    ("mad", None, 1, 4),
    ("mul", None, 1, 2),
    ("xor", 3, 1, 4),
]
#: clang, and gcc where it has the intrinsics (RISC-V: from 14 on).
COMPILERS = {
    Arch.AARCH64: (("clang-19", "--target=aarch64-linux-gnu"), ("aarch64-linux-gnu-gcc",)),
    Arch.RISCV: (("clang-19", "--target=riscv64-linux-gnu"),),
}
STRICT = ("-std=c11", "-O2", "-fPIC", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def _spec(
    isa: Isa, operation: str = "dot", inputs: int | None = 4, outputs: int = 2, unroll: int = 2
) -> KernelSpec:
    return make_spec(operation, inputs, outputs, isa, unroll=unroll)


def _write(specs: list[KernelSpec], folder: Path) -> list[Path]:
    """Write the sources of kernels into a folder, with the files that they include."""
    for name, text in lists.build(specs).items():
        (folder / name).write_text(text)
    paths = [folder / f"{spec.symbol}.c" for spec in specs]
    for spec, path in zip(specs, paths, strict=True):
        path.write_text(generate.generate_one(spec).text)
    return paths


def test_which_they_are() -> None:
    assert [isa.name for isa in SCALABLE] == ["sve2", "sve", "rvv"]
    assert all(isa.lengths == SCALABLE_BYTES == (16, 32, 64) for isa in SCALABLE)


@pytest.mark.parametrize("isa", [isa for isa in ISAS if isa.encoding is Encoding.C], ids=lambda i: i.name)
def test_every_op_has_a_spelling(isa: Isa) -> None:
    """Each set spells exactly its Ops, since a kernel may only use Ops of its set. The prefetch has the same
    spelling in all.
    """
    assert set(SPELLINGS[isa.name].expressions) == isa.ops - {Op.PREFETCH}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("isa", SCALABLE, ids=lambda i: i.name)
def test_one_text_for_every_length(isa: Isa, shape: tuple[str, int | None, int, int]) -> None:
    """The text is the same also for lengths beyond those that are proved."""
    spec = _spec(isa, *shape)
    texts = {
        build(spec, generate.program(replace(spec, isa=replace(isa, vector_bytes=size))), "")
        for size in (16, 32, 48, 64, 128, 256)
    }
    assert len(texts) == 1
    assert ("vl" if spec.unroll == 1 else f"{spec.unroll} * vl") in texts.pop()


@pytest.mark.parametrize("isa", SCALABLE, ids=lambda i: i.name)
def test_a_text_that_knows_a_length_is_refuted(isa: Isa, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = _spec(isa)
    assert generate.generate_one(spec).verdict
    monkeypatch.setattr("gfsmith.emit.c.kernel._Writer.length", lambda _, bytes_: str(bytes_))
    with pytest.raises(generate.Refuted, match="depends on the vector length"):
        generate.generate_one(spec)


@pytest.mark.parametrize("isa", SCALABLE, ids=lambda i: i.name)
def test_all_lengths_are_proved(isa: Isa, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    proved = generate._proved

    def note(spec: KernelSpec) -> object:
        seen.append(spec.isa.vector_bytes)
        return proved(spec)

    monkeypatch.setattr(generate, "_proved", note)
    generate.generate_one(_spec(isa))
    assert tuple(seen) == SCALABLE_BYTES


@pytest.mark.parametrize("isa", SCALABLE, ids=lambda i: i.name)
def test_last_bytes_are_accessed_by_their_number(isa: Isa) -> None:
    """Every access to a shard after `rest` has rest bytes, every one before it a whole vector."""
    text = generate.generate_one(_spec(isa)).text
    whole, last = text.split("const size_t rest = len - at;")
    access = r"sv(?:ld|st)1_u8\((\w+),|_v[ls]e8_v_u8m1\(.*, (\w+)\)|v[ls]e8_v_u8m1\([^;]*, (\w+)\);"
    names = [next(filter(None, found)) for found in re.findall(access, whole)]
    assert names and set(names) <= {"all", "vl"}
    names = [next(filter(None, found)) for found in re.findall(access, last)]
    assert names and set(names) <= {"part", "rest"}


@pytest.mark.parametrize("isa", SCALABLE, ids=lambda i: i.name)
def test_sve2_alone_adds_three(isa: Isa) -> None:
    assert (Op.XOR3 in isa.ops) == (isa.name == "sve2")
    assert ("sveor3_u8" in generate.generate_one(_spec(isa)).text) == (isa.name == "sve2")


@pytest.mark.parametrize("isa", SCALABLE, ids=lambda i: i.name)
def test_compilers_take_them_without_flags(isa: Isa, tmp_path: Path) -> None:
    """Compilers need no flag for the set, and do not warn."""
    sources = _write([_spec(isa), _spec(isa, "mad", None, 2, 2), _spec(isa, "xor", 3, 1, 4)], tmp_path)
    every = tmp_path / "every.c"
    every.write_text("".join(f'#include "{source.name}"\n' for source in sources))
    for compiler in COMPILERS[isa.arch]:
        path = shutil.which(compiler[0])
        assert path is not None, f"{compiler[0]} is not installed"
        command = [path, *compiler[1:], *STRICT, f"-I{tmp_path}", "-S", "-o", "-", str(every)]
        assembly = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert re.search(r"\bz\d+\.b|\bvle8\.v", assembly)


def test_compilers_that_cannot_build_to_nothing(tmp_path: Path) -> None:
    """gcc 12 has no intrinsics for RISC-V: kernel, list entry and declaration are all omitted."""
    rvv = next(isa for isa in SCALABLE if isa.name == "rvv")
    (source,) = _write([_spec(rvv)], tmp_path)
    lists = tmp_path / "lists.c"
    lists.write_text(
        '#include "gfsmith_kernels.h"\n'
        "#define GFSMITH_ISA(name, tables, features) has_##name\n"
        "#define GFSMITH_KERNEL(symbol, ...) symbol,\n"
        'isas:\n#include "isas.inc"\nkernels:\n#include "kernels.inc"\n'
    )
    gcc = shutil.which("riscv64-linux-gnu-gcc")
    assert gcc is not None, "riscv64-linux-gnu-gcc is not installed"
    made = tmp_path / "kernel.o"
    subprocess.run([gcc, *STRICT, f"-I{tmp_path}", "-c", source, "-o", made], check=True)
    symbol = _spec(rvv).symbol
    assert symbol.encode() not in made.read_bytes().replace(f"{symbol}.c".encode(), b"")

    def listed(*compiler: str) -> str:
        command = [*compiler, f"-I{tmp_path}", "-E", "-P", str(lists)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert "rvv" not in listed(gcc)
    assert {"has_rvv", symbol} <= set(re.findall(r"\w+", listed("clang-19", "--target=riscv64-linux-gnu")))
