"""Architectures for LLVM: the triple, the cores with models, and the syntax of control flow."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from gfsmith.explore.cost_model.tools import MCA, ModelError, Unavailable, run
from gfsmith.kernel.architecture import BY_ARCH, Arch


@dataclass(frozen=True, slots=True)
class Target:
    """cpus: cores that are predicted by default. attributes: extensions that the assembler accepts for every
    core; `features` lists the cores that have them. flags: compiler options. lookups: mnemonics that look up
    a vector of indices in a table; loads: mnemonics of vector loads -> number of vectors loaded.
    unconditional: jumps without a condition; returns: instructions that end a function. named: the
    disassembler names the targets of branches. vector_bytes: cores whose scalable vectors are longer than 16
    bytes. models: cores without a model in LLVM 19, which uses the model of another core.
    """

    arch: Arch
    cpus: tuple[str, ...]
    attributes: str = ""
    flags: tuple[str, ...] = ()
    lookups: frozenset[str] = frozenset()
    loads: Mapping[str, int] = field(default_factory=dict)
    unconditional: frozenset[str] = frozenset()
    returns: frozenset[str] = frozenset()
    named: bool = True
    vector_bytes: Mapping[str, int] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)

    @property
    def triple(self) -> str:
        return BY_ARCH[self.arch].triple

    def lanes(self, cpu: str) -> int:
        """Return the bytes of a scalable vector of a core."""
        return self.vector_bytes.get(cpu, 16)


_ALL = (
    Target(
        Arch.X86_64,
        ("sapphirerapids", "icelake-server", "alderlake", "znver5", "znver4", "znver3"),
        models={"znver5": "znver4"},
    ),
    Target(
        Arch.AARCH64,
        ("neoverse-v2", "neoverse-v1", "neoverse-n2", "neoverse-n1", "cortex-a76"),
        attributes="+sve2,+sha3",
        lookups=frozenset({"tbl"}),
        loads={"ldr": 1, "ldur": 1, "ldp": 2, "ld1": 1, "ld1b": 1, "ld1rqb": 1},
        unconditional=frozenset({"b"}),
        returns=frozenset({"ret", "br"}),
        vector_bytes={"neoverse-v1": 32, "a64fx": 64},
        models={"cortex-a76": "cortex-a57"},
    ),
    Target(
        Arch.POWER,
        ("pwr10", "pwr9"),
        lookups=frozenset({"vpermxor", "vperm", "xxperm", "xxpermr"}),
        loads={"lxv": 1, "lxvx": 1, "lxvd2x": 1, "lxvb16x": 1, "lvx": 1, "lxvp": 2, "lxvpx": 2},
        unconditional=frozenset({"b"}),
        returns=frozenset({"blr", "bctr"}),
    ),
    Target(
        Arch.S390X,
        ("z16", "z15", "z14"),
        attributes="+vector,+distinct-ops",
        lookups=frozenset({"vperm"}),
        loads={"vl": 1},
        unconditional=frozenset({"j", "jg"}),
        returns=frozenset({"br"}),
        named=False,
    ),
    Target(
        Arch.RISCV,
        ("sifive-p670", "sifive-x280"),
        attributes="+v",
        flags=("-mno-relax",),
        lookups=frozenset({"vrgather.vv"}),
        loads={"vle8.v": 1, "vl1r.v": 1, "vl1re8.v": 1},
        unconditional=frozenset({"j"}),
        returns=frozenset({"ret", "jr"}),
        vector_bytes={"sifive-x280": 64},
    ),
)

TARGETS: dict[Arch, Target] = {target.arch: target for target in _ALL}


def target_of(arch: Arch, name: str) -> Target:
    """Return LLVM's target for a kernel, called `name` in errors. Raises Unavailable if LLVM has no model."""
    if arch is Arch.PORTABLE:
        raise Unavailable(f"{name} is portable C: its instructions are the compiler's")
    if arch not in TARGETS:
        raise Unavailable(f"{name} is for {arch.value}, and {MCA} has no model of such a core")
    return TARGETS[arch]


@lru_cache(maxsize=8)
def known_cpus(triple: str) -> tuple[str, ...]:
    """Return the cores that this llvm-mca supports. Raises ToolMissing."""
    lines = run(MCA, [f"-mtriple={triple}", "-mcpu=help"]).stderr.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("Available CPUs"))
    end = next(n for n, line in enumerate(lines) if line.startswith("Available features"))
    return tuple(line.split()[0] for line in lines[start + 1 : end] if " - " in line)


def check_cpus(arch: Arch, name: str, cpus: Sequence[str]) -> None:
    """Raise ModelError for the first of `cpus` that is not a core for the kernel `name`."""
    target = target_of(arch, name)
    if not cpus:
        raise ModelError(f"no cpu is named; allowed: one or more, such as {','.join(target.cpus)}")
    known = known_cpus(target.triple)
    for cpu in cpus:
        if cpu in known:
            continue
        others = [a.value for a, t in TARGETS.items() if a is not arch and cpu in known_cpus(t.triple)]
        if others:
            raise ModelError(
                f"cpu '{cpu}' is a core of {others[0]}, and {name} is for {arch.value}; "
                f"allowed: {', '.join(target.cpus)} and others"
            )
        near = difflib.get_close_matches(cpu, known, n=3) or target.cpus
        raise ModelError(
            f"cpu '{cpu}' is not known to {MCA}; allowed: {', '.join(near)} and others, "
            f"see `{MCA} -mtriple={target.triple} -mcpu=help`"
        )
