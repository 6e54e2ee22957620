"""The limit on live registers."""

from __future__ import annotations

from gfsmith.ir import Program
from gfsmith.ir.liveness import pressure
from gfsmith.kernel.spec import KernelSpec, TooFewRegisters


def check_pressure(program: Program, spec: KernelSpec) -> Program:
    """Refuse a Program that needs more registers than there are. A C compiler spills by itself."""
    if spec.machine_code and spec.isa.registers is not None:
        needed = pressure(program)
        if needed > spec.isa.registers:
            raise TooFewRegisters(
                f"{spec.symbol} needs {needed} vector registers and {spec.isa.name} has {spec.isa.registers}"
            )
    return program
