"""Tables and keys of gfsmith.toml.

[generator]
polynomial = 0x11d               # of the field: for proofs and mulb kernels
prefix = "gfs"                   # of every symbol
output = "gen_out"               # folder, relative to the file
isas = ["avx2", "scalar"]        # or groups of sets: all, c, intrinsics, avx, gfni, x86_64, aarch64, ...
tuned = ["tuned/znver4.toml"]    # files of `gfsmith tune`, relative to this one

[[kernels]]
operation = "dot"                # dot, mad, mul, xor, horner
shapes = ["nx4", "10x4"]         # inputs x outputs; n: any number of inputs
unroll = "auto"                  # or 1..8 vectors per iteration
prefetch = 0                     # prefetch distance in bytes
hint = "t0"                      # t0, t1, t2, nta
store = "temporal"               # or streaming
width = "auto"                   # or 256 or 512: bits of a vector (avx512, gfni_avx512)
order = "auto"                   # or sums, steps, copies: order of the vectors of an iteration
circuit = "auto"                 # with code: or dense, factored1 .. factored4
placement = "registers"          # or memory: place of table entries during a call
technique = "auto"               # or nibble, permxor, affine, mulb, bitplane, shift
code = "cauchy"                  # or minio, ...: kernels for the parity matrix of this code (dot only)
local = 2                        # with code = "lrc": number of groups, each with one local parity
packets = false                  # with code: true for kernels for packet layout
outputs = "auto"                 # with code: greatest number of parities per kernel
isas = ["avx2"]                  # a subset of [generator] isas; default: all that can
polynomial = 0x11b               # if different from [generator]
walk = "together"                # or rows: one cache line of every source, then the next (dot, nxM)
shuffled = false                 # true: lines in an order that prefetchers do not follow
pipelined = false                # true: prefetch from addresses in a second pointer array

[adaptive]                       # kernels for the coordinator (docs/adaptive.md)
isas = ["avx2"]                  # a subset of [generator] isas; default: all that can
outputs = [1, 2, 4]              # default: 1 to 8
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from gfsmith.codes import shape as code_shape
from gfsmith.kernel.isa import BY_NAME, named
from gfsmith.kernel.operation import Operation
from gfsmith.kernel.technique import Technique
from gfsmith.kernel.tuning_parameters import Circuit, Hint, Order, Placement, Store, Walk

#: inputs x outputs; n: any number of inputs.
SHAPE = re.compile(r"(n|[1-9][0-9]{0,8})x([1-9][0-9]{0,8})")


def _one_of(words: type[Enum], *others: str, without: Enum | None = None) -> AfterValidator:
    """Return a validator for a key whose allowed values are those of an enumeration and `others`."""
    allowed = (*others, *(word.value for word in words if word is not without))

    def check(given: str) -> str:
        if given not in allowed:
            raise ValueError(f"'{given}'; allowed: {', '.join(allowed)}")
        return given

    return AfterValidator(check)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class KernelGroup(_Strict):
    """One [[kernels]] table."""

    operation: Annotated[str, _one_of(Operation)]
    shapes: Annotated[list[str], Field(min_length=1)]
    unroll: Annotated[int, Field(ge=1)] | Literal["auto"] = "auto"
    prefetch: int = 0
    hint: Annotated[str, _one_of(Hint)] = "t0"
    store: Annotated[str, _one_of(Store)] = "temporal"
    width: Literal["auto", 256, 512] = "auto"
    order: Annotated[str, _one_of(Order, "auto")] = "auto"
    placement: Annotated[str, _one_of(Placement)] = "registers"
    circuit: Annotated[str, _one_of(Circuit)] = "auto"
    technique: Annotated[str, _one_of(Technique, "auto", without=Technique.PLAIN)] = "auto"
    isas: list[str] | None = None
    polynomial: int | None = None
    code: str | None = None
    local: int | None = None
    packets: bool = False
    walk: Annotated[str, _one_of(Walk)] = "together"
    shuffled: bool = False
    pipelined: bool = False
    outputs: Annotated[int, Field(ge=1, le=32)] | Literal["auto"] = "auto"

    @field_validator("code")
    @classmethod
    def _code(cls, name: str | None) -> str | None:
        return None if name is None else code_shape.known(name)

    @field_validator("shapes")
    @classmethod
    def _shapes(cls, shapes: list[str]) -> list[str]:
        for shape in shapes:
            if not SHAPE.fullmatch(shape):
                raise ValueError(f"'{shape}' is not a shape; allowed: 10x4 or nx4 (n: any inputs)")
        return shapes

    @field_validator("isas")
    @classmethod
    def _isas(cls, names: list[str] | None) -> list[str] | None:
        return names if names is None else named(names)


class Generator(_Strict):
    """The [generator] table."""

    polynomial: int = 0x11D
    prefix: str = "gfs"
    output: str = "gen_out"
    isas: list[str] = list(BY_NAME)
    tuned: list[str] = []

    @field_validator("isas")
    @classmethod
    def _isas(cls, names: list[str]) -> list[str]:
        return named(names)

    @field_validator("output", "tuned")
    @classmethod
    def _paths(cls, paths: str | list[str]) -> str | list[str]:
        if any("\0" in path for path in paths):
            raise ValueError("a path contains the character 0")
        return paths


class Adaptive(_Strict):
    """The [adaptive] table, which adds the kernels of adaptive_kernels.py."""

    isas: list[str] | None = None
    outputs: Annotated[list[int], Field(min_length=1)] = list(range(1, 9))

    @field_validator("isas")
    @classmethod
    def _isas(cls, names: list[str] | None) -> list[str] | None:
        return names if names is None else named(names)


class Config(_Strict):
    """The whole file."""

    generator: Generator = Generator()
    kernels: Annotated[list[KernelGroup], Field(min_length=1)]
    adaptive: Adaptive | None = None
