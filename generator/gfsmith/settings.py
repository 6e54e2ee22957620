"""What gfsmith.toml may hold: its tables and keys.

[generator]
polynomial = 0x11d               # the field of the proofs (and of mulb kernels)
prefix = "gfs"                   # of every symbol
output = "gen_out"               # folder, relative to the file
isas = ["avx2", "scalar"]
tuned = ["tuned/znver4.toml"]    # files of `gfsmith tune`, relative to this one

[[kernels]]
operation = "dot"                # dot, mad, mul, xor, horner
shapes = ["nx4", "10x4"]         # inputs x outputs; n: any number of inputs
unroll = "auto"                  # or 1..8 vectors a turn
prefetch = 0                     # bytes ahead
hint = "t0"                      # t0, t1, t2, nta
store = "temporal"               # or streaming
width = "auto"                   # or 256 or 512: bits of a vector (avx512, gfni_avx512)
order = "auto"                   # or sums, steps, copies: how the vectors of a turn are woven
circuit = "auto"                 # with code: or dense, factored1 .. factored4
placement = "registers"          # or memory: where table entries are during a call
technique = "auto"               # or nibble, permxor, affine, mulb, bitplane, shift
code = "cauchy"                  # or minio, ...: bake the k x m parity matrix of this code in (dot only)
local = 2                        # with code = "lrc": groups, of the shape's parities so many are local
packets = false                  # with code: true for kernels that work on packets and only add
outputs = "auto"                 # with code: parities per kernel at most
isas = ["avx2"]                  # a part of the ones above; left out: all that can
polynomial = 0x11b               # if other than above
walk = "together"                # or rows: a cache line of every source, then the next line (dot, any inputs)
shuffled = false                 # true: the lines of a turn in an order that prefetchers do not follow
pipelined = false                # true: prefetch through pointers beside those of the sources

[adaptive]                       # kernels for docs/adaptive.md; none without this table
isas = ["avx2"]                  # a part of the ones above; left out: all that can
outputs = [1, 2, 4]              # left out: 1 to 8
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from gfsmith.codes import shape as code_shape
from gfsmith.isa import BY_NAME

#: inputs x outputs; n: any number of inputs.
SHAPE = re.compile(r"(n|[1-9][0-9]{0,8})x([1-9][0-9]{0,8})")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _check_isas(names: list[str]) -> list[str]:
    for name in names:
        if name not in BY_NAME:
            raise ValueError(f"'{name}' is not an instruction set; allowed: {', '.join(BY_NAME)}")
    if len(set(names)) != len(names):
        raise ValueError("an instruction set is named twice")
    return names


class KernelGroup(_Strict):
    """One [[kernels]] table."""

    operation: Literal["dot", "mad", "mul", "xor", "horner"]
    shapes: Annotated[list[str], Field(min_length=1)]
    unroll: Annotated[int, Field(ge=1)] | Literal["auto"] = "auto"
    prefetch: int = 0
    hint: Literal["t0", "t1", "t2", "nta"] = "t0"
    store: Literal["temporal", "streaming"] = "temporal"
    width: Literal["auto", 256, 512] = "auto"
    order: Literal["auto", "sums", "steps", "copies"] = "auto"
    placement: Literal["registers", "memory"] = "registers"
    circuit: Literal["auto", "dense", "factored1", "factored2", "factored3", "factored4", "factored5"] = (
        "auto"
    )
    technique: Literal["auto", "nibble", "permxor", "affine", "mulb", "bitplane", "shift"] = "auto"
    isas: list[str] | None = None
    polynomial: int | None = None
    code: str | None = None
    local: int | None = None
    packets: bool = False
    walk: Literal["together", "rows"] = "together"
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
        return names if names is None else _check_isas(names)


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
        return _check_isas(names)

    @field_validator("output", "tuned")
    @classmethod
    def _paths(cls, paths: str | list[str]) -> str | list[str]:
        if any("\0" in path for path in paths):
            raise ValueError("a path has no character 0")
        return paths


class Adaptive(_Strict):
    """The [adaptive] table: the kernels that variants.py names."""

    isas: list[str] | None = None
    outputs: Annotated[list[int], Field(min_length=1)] = list(range(1, 9))

    @field_validator("isas")
    @classmethod
    def _isas(cls, names: list[str] | None) -> list[str] | None:
        return names if names is None else _check_isas(names)


class Config(_Strict):
    """A whole file."""

    generator: Generator = Generator()
    kernels: Annotated[list[KernelGroup], Field(min_length=1)]
    adaptive: Adaptive | None = None
