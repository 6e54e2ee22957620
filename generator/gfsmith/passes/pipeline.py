"""The passes in the order in which they run, top to bottom."""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.ir import Program
from gfsmith.kernel.spec import KernelSpec
from gfsmith.passes.check_frame import check_frame
from gfsmith.passes.check_pressure import check_pressure
from gfsmith.passes.eliminate_common import eliminate_common
from gfsmith.passes.fold_loads import fold_loads
from gfsmith.passes.fuse_xor3 import fuse_xor3
from gfsmith.passes.hoist_tables import hoist_tables
from gfsmith.passes.interleave import interleave
from gfsmith.passes.prefetch import prefetch
from gfsmith.passes.prefetch_pointers import prefetch_pointers
from gfsmith.passes.spill import spill
from gfsmith.passes.stream_stores import stream_stores
from gfsmith.passes.unmask import unmask

Pass = Callable[[Program, KernelSpec], Program]

PIPELINE: tuple[Pass, ...] = (
    interleave,
    eliminate_common,
    unmask,
    fuse_xor3,
    prefetch,
    prefetch_pointers,
    hoist_tables,
    fold_loads,
    spill,
    check_frame,
    stream_stores,
    check_pressure,
)


def run(program: Program, spec: KernelSpec) -> Program:
    """Return the Program after every pass of the pipeline."""
    for step in PIPELINE:
        program = step(program, spec)
    return program
