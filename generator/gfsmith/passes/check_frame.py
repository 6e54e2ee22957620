"""The limit on the frame."""

from __future__ import annotations

from gfsmith.ir import Program
from gfsmith.kernel.defaults import default_outputs
from gfsmith.kernel.spec import KernelSpec, TooMuchStack

#: Largest frame in bytes: the sums of 254 outputs in vectors of 64 bytes, half of a first-level cache.
MAX_FRAME = 16384


def check_frame(program: Program, spec: KernelSpec) -> Program:
    """Refuse a kernel that needs a larger frame."""
    needed = program.slots * program.lanes
    if needed > MAX_FRAME:
        packets = spec.baked is not None and spec.baked.packets
        raise TooMuchStack(
            f"{spec.symbol} needs {needed} bytes of stack for spilled values; allowed: {MAX_FRAME}; "
            f"outputs = {default_outputs(spec.isa, packets)} needs no more"
        )
    return program
