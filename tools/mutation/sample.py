"""The kernels of the mutation campaign: small ones of every x86 instruction set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gfsmith.build.generate import generate_one
from gfsmith.codes import parity_matrix
from gfsmith.emit.x86.frame import Abi
from gfsmith.field import Field
from gfsmith.kernel.isa import ISAS, Encoding, Isa
from gfsmith.kernel.spec import (
    MULB_POLYNOMIAL,
    Baked,
    KernelSpec,
    Operation,
    Store,
    Technique,
    default_technique,
)


@dataclass(frozen=True, slots=True)
class Shape:
    """A kernel without its instruction set. inputs None: any number. code: known matrix, all of its
    parities."""

    operation: Operation
    inputs: int | None
    outputs: int
    abi: Abi
    unroll: int = 1
    prefetch: int = 0
    store: Store = Store.TEMPORAL
    technique: Technique | None = None
    code: str | None = None

    @property
    def baked(self) -> Baked | None:
        if self.code is None or self.inputs is None:
            return None
        return Baked(self.code, self.outputs, 0, parity_matrix(self.code, self.inputs, self.outputs))


@dataclass(frozen=True, slots=True)
class Target:
    """One function: a kernel under one calling convention."""

    spec: KernelSpec
    abi: Abi

    @property
    def name(self) -> str:
        return f"{self.spec.symbol} {self.abi.value}"

    @property
    def code(self) -> bytes:
        return _code(self)


#: The shapes cover every operation, loops over sources, streaming, prefetch, constants in the code, several
#: vectors and outputs, and both ABIs.
SHAPES: tuple[Shape, ...] = (
    Shape(Operation.MAD, 1, 1, Abi.MS),
    Shape(Operation.DOT, None, 1, Abi.SYSV),
    Shape(Operation.DOT, 2, 1, Abi.SYSV, prefetch=256, store=Store.STREAMING),
    Shape(Operation.DOT, 3, 2, Abi.MS, code="cauchy"),
    Shape(Operation.DOT, 2, 2, Abi.MS),
    Shape(Operation.XOR, None, 1, Abi.MS, unroll=2),
    Shape(Operation.MUL, None, 1, Abi.SYSV),
    Shape(Operation.MAD, 1, 1, Abi.SYSV, technique=Technique.MULB),
    Shape(Operation.DOT, None, 3, Abi.SYSV, technique=Technique.ISAL),
    Shape(Operation.MAD, 1, 2, Abi.SYSV, technique=Technique.ISAL),
)

X86_ISAS: tuple[Isa, ...] = tuple(isa for isa in ISAS if isa.encoding is not Encoding.C)


def targets(isa: Isa, count: int) -> list[Target]:
    """Return the first `count` shapes that the instruction set has."""
    out = []
    for shape in SHAPES[:count]:
        technique = shape.technique or default_technique(shape.operation, isa)
        if shape.technique is not None and default_technique(shape.operation, isa) is Technique.NIBBLE:
            continue
        field = Field(MULB_POLYNOMIAL) if technique is Technique.MULB else Field()
        spec = KernelSpec(
            operation=shape.operation,
            isa=isa,
            inputs=shape.inputs,
            outputs=shape.outputs,
            technique=technique,
            unroll=shape.unroll,
            prefetch=shape.prefetch,
            store=shape.store,
            field=field,
            baked=shape.baked,
        )
        out.append(Target(spec, shape.abi))
    return out


@lru_cache(maxsize=256)
def _code(target: Target) -> bytes:
    return generate_one(target.spec).code[target.abi]
