"""The limit on the frame."""

from __future__ import annotations

from gfsmith.ir import Program
from gfsmith.kernel.spec import KernelSpec, SpecError

#: Largest frame in bytes: the sums of 254 outputs in vectors of 64 bytes, half of a first-level cache.
MAX_FRAME = 16384


def check_frame(program: Program, spec: KernelSpec) -> Program:
    """Refuse a kernel that needs a larger frame."""
    needed = program.slots * program.lanes
    if needed > MAX_FRAME:
        raise SpecError(
            f"{spec.symbol} needs {needed} bytes of stack for spilled values; allowed: {MAX_FRAME}; "
            f"use fewer outputs ({spec.outputs}) or a smaller unroll ({spec.unroll})"
        )
    return program
