"""The tables and keys of gfsmith.toml; docs/configuration.md describes them.

The allowed values of a key are the enumerations of gfsmith.kernel, or stand in the key's annotation.
`make facts` writes them into docs/configuration.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from gfsmith.codes import shape as code_shape
from gfsmith.field import POLYNOMIAL
from gfsmith.kernel.groups import named
from gfsmith.kernel.isa import BY_NAME
from gfsmith.kernel.operation import Operation
from gfsmith.kernel.spec import check_prefix
from gfsmith.kernel.technique import Technique
from gfsmith.kernel.tuning_parameters import Circuit, Hint, Order, Placement, Store, Walk

#: inputs x outputs; n: any number of inputs.
SHAPE = re.compile(r"(n|[1-9][0-9]{0,8})x([1-9][0-9]{0,8})")


def not_negative(polynomial: int | None) -> int | None:
    """Return the polynomial. Raises ValueError if its number is negative."""
    if polynomial is not None and polynomial < 0:
        raise ValueError(f"polynomial {polynomial:#x} is negative; allowed: a number such as {POLYNOMIAL:#x}")
    return polynomial


@dataclass(frozen=True, slots=True)
class OneOf:
    """The allowed words of a key, as a validator."""

    allowed: tuple[str, ...]

    def __call__(self, given: str) -> str:
        if given not in self.allowed:
            raise ValueError(f"'{given}'; allowed: {', '.join(self.allowed)}")
        return given


def _one_of(words: type[Enum], *others: str, without: Enum | None = None) -> AfterValidator:
    """Return a validator for a key whose allowed values are those of an enumeration and `others`."""
    return AfterValidator(OneOf((*others, *(word.value for word in words if word is not without))))


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
    polynomial: Annotated[int | None, AfterValidator(not_negative)] = None
    code: str | None = None
    local: int | None = None
    packets: bool = False
    walk: Annotated[str, _one_of(Walk)] = "together"
    shuffled: bool = False
    pipelined: bool = False
    outputs: Annotated[int, Field(ge=1, le=128)] | Literal["auto"] = "auto"

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

    polynomial: Annotated[int, AfterValidator(not_negative)] = POLYNOMIAL
    prefix: str = "gfs"
    output: str = "gen_out"
    isas: list[str] = list(BY_NAME)
    tuned: list[str] = []

    @field_validator("prefix")
    @classmethod
    def _prefix(cls, prefix: str) -> str:
        return check_prefix(prefix)

    @field_validator("output")
    @classmethod
    def _output(cls, path: str) -> str:
        if not path:
            raise ValueError("'' is empty; allowed: a folder, such as gen_out")
        return path

    @field_validator("isas")
    @classmethod
    def _isas(cls, names: list[str]) -> list[str]:
        if not names:
            raise ValueError("names no instruction set; allowed: one or more, such as all")
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
    known: bool = True

    @field_validator("isas")
    @classmethod
    def _isas(cls, names: list[str] | None) -> list[str] | None:
        return names if names is None else named(names)


class Config(_Strict):
    """The whole file."""

    generator: Generator = Generator()
    kernels: Annotated[list[KernelGroup], Field(min_length=1)]
    adaptive: Adaptive | None = None
