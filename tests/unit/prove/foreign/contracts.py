"""Contracts for ISA-L's kernels: those of gfsmith's kernels without the guarantees that each ISA-L kernel
lacks.

A Shortfall is one guarantee that a kernel does not give: the concession that its contract must make, and
the reason with which the prover refutes the kernel if the contract demands this guarantee. A kernel that
is proved under `documented` therefore gives every guarantee of gfsmith's kernels that is not among its
shortfalls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from bench.peers.isal_sources import Kernel
from gfsmith.prove.machine.contract import Contract, Layout, Parameter

INT_MAX = (1 << 31) - 1
_SSE = ("SSE3", "SSSE3", "SSE4_1", "SSE4_2")
_AVX512 = (*_SSE, "AVX", "AVX2", "AVX512F", "AVX512VL", "AVX512BW", "AVX512CD", "AVX512DQ")

#: CPU features that ISA-L's dispatcher tests before it chooses a kernel, and the features that they imply.
FEATURES = {
    "sse": _SSE,
    "avx": (*_SSE, "AVX"),
    "avx2": (*_SSE, "AVX", "AVX2"),
    "avx512": _AVX512,
    "avx2_gfni": (*_SSE, "AVX", "AVX2", "GFNI"),
    "avx512_gfni": (*_AVX512, "GFNI"),
}
_VECTOR = {"sse": 16, "avx": 16, "avx2": 32, "avx512": 64, "avx2_gfni": 32, "avx512_gfni": 64}


@dataclass(frozen=True, slots=True)
class Shortfall:
    """promise: the name of the guarantee. concession, demand: fields of the contract without and with it.
    reason: a part of the refutation.
    """

    promise: str
    concession: dict[str, Any]
    demand: dict[str, Any]
    reason: str


def _parameters(kernel: Kernel) -> tuple[Parameter, ...]:
    dst: Parameter = "one_dst" if kernel.outputs == 1 else "dst"
    match kernel.operation:
        case "mul":
            return ("len", "coeffs", "one_src", dst)
        case "dot":
            return ("len", "k", "coeffs", "src", dst)
        case _:
            return ("len", "k", "index", "coeffs", "one_src", dst)


def _integers(kernel: Kernel) -> tuple[str, ...]:
    """The parameters of C's type int: the ABI leaves the upper halves of their registers undefined."""
    return tuple(name for name in _parameters(kernel) if name in ("len", "k", "index"))


def shortfalls(kernel: Kernel, abi: str = "sysv") -> Iterator[Shortfall]:
    """Yield the guarantees that the kernel does not give, each separately."""
    yield Shortfall("dirty upper halves of int", {"narrow": ()}, {"narrow": _integers(kernel)}, "junk")
    if kernel.operation == "mul":
        yield from _shortfalls_of_mul(kernel)
    elif kernel.minimum:
        # The exit for short lengths, `return 1`, is then unreachable.
        concession = {"minimum": kernel.minimum, "reach_all": False}
        yield Shortfall("short lengths", concession, {"minimum": 0}, "of dst[0] only 0 of ")
    if kernel.isa in ("avx2", "avx512") or kernel.symbol == "gf_vect_mul_avx2_gfni":
        yield Shortfall("clean upper halves", {"clean_upper": False}, {"clean_upper": True}, "upper halves")
    if kernel.isa == "avx2_gfni" and kernel.operation != "mul":
        yield Shortfall("no dead code", {"reach_all": False}, {"reach_all": True}, "never reached")
    if not kernel.leaf(abi):
        yield Shortfall("unwind tables", {"unwind": False}, {"unwind": True}, "unwind information")
    if kernel.masks_in_data:
        frozen = {"frozen_data": True}
        yield Shortfall("read-only constants", frozen, {"frozen_data": False}, "outside of its constants")
    if kernel.operation == "mad":
        yield from _shortfalls_of_mad(kernel)


def _shortfalls_of_mul(kernel: Kernel) -> Iterator[Shortfall]:
    yield Shortfall("len = 0", {"minimum": 32}, {"minimum": 0}, "beyond its end")
    yield Shortfall(
        "every length",
        {"granule": 32, "reach_all": False},
        {"granule": 1, "maximum": 33, "minimum": 33},
        "of dst[0] only 0 of 33 bytes",
    )
    yield Shortfall("any alignment", {"aligned": 32}, {"aligned": 1}, "must be aligned")
    yield Shortfall("fence", {"fence": False}, {"fence": True}, "not fenced")


def _shortfalls_of_mad(kernel: Kernel) -> Iterator[Shortfall]:
    features = FEATURES[kernel.isa]
    if kernel.isa == "avx512":
        wider = {"features": (*features, "BMI2")}
        yield Shortfall("encoding floor", wider, {"features": features}, "needs BMI2")
    if kernel.isa in ("sse", "avx", "avx2") and kernel.outputs <= 2:
        yield Shortfall("in place", {"in_place": False}, {"in_place": True}, "&dst[0] at ")


def strict(kernel: Kernel, k: int, abi: str = "sysv") -> Contract:
    """Return the contract of gfsmith's kernels, for ISA-L's parameters and tables of k sources."""
    mad, mul = kernel.operation == "mad", kernel.operation == "mul"
    layout = Layout("affine" if kernel.gfni else "nibble", 32, kernel.outputs, 1 if mul else k, 8)
    return Contract(
        operation="mad" if mad else "dot",
        inputs=1 if mad or mul else k,
        outputs=kernel.outputs,
        layout=layout if kernel.gfni else replace(layout, period=0),
        parameters=_parameters(kernel),
        abi=abi,
        features=FEATURES[kernel.isa],
        in_place=mad or mul,
        block=96 if kernel.isa == "avx2_gfni" else _VECTOR[kernel.isa],
        vector=_VECTOR[kernel.isa],
        indexed=mad,
        landing=abi == "sysv",
        maximum=INT_MAX,
        narrow=_integers(kernel),
    )


def documented(kernel: Kernel, k: int, abi: str = "sysv") -> Contract:
    """Return the kernel's own contract: the strict contract with all its concessions."""
    contract = strict(kernel, k, abi)
    for shortfall in shortfalls(kernel, abi):
        contract = replace(contract, **shortfall.concession)
    return contract
