"""The kernels of the table [adaptive], among which the runtime's coordinator chooses (docs/adaptive.md).

For an instruction set and a number of outputs, all of them pipelined and for any number of sources:

    row      one line of every source per iteration
    rows4    four rows, one after the other
    shuffled eight rows in an order in which a stream prefetcher detects no direction
    block    as many lines of a source at once as fit into registers, 256 or 128 bytes; no kernel if not two
    and the same with its lines shuffled

Each has a variant with stores through the cache and, where the set has streaming stores, one around it. They
prefetch into the second-level cache, since the first level has few buffers for outstanding lines and a
prefetch occupies one (measured on Zen 4, from DRAM, 100+4 at 1 KiB: twice as fast as with t0).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from gfsmith.field import Field
from gfsmith.ir import Op
from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.defaults import default_order
from gfsmith.kernel.isa import Encoding, Isa
from gfsmith.kernel.spec import KernelSpec, Operation, SpecError, default_technique
from gfsmith.kernel.tuning_parameters import LINE, Hint, Order, Store, Walk, fits

#: Greatest size in bytes of the machine code of all variants of one instruction set and number of outputs.
MOST_CODE = 100_000

_BLOCKS = (4, 2)  #: lines, the first that fits


def able(isa: Isa) -> bool:
    """Return True if a set has variants by default: it has PREFETCH, its vectors are lines or parts of lines,
    and its kernels are fast enough to be limited by memory. SSE is not where AVX2 exists. (SSE kernels would
    also be the largest and take by far the longest to prove.)"""
    fast = isa.arch is not Arch.PORTABLE and isa.encoding is not Encoding.LEGACY
    return Op.PREFETCH in isa.ops and not isa.scalable and fast


def _shapes(isa: Isa, outputs: int) -> Iterator[tuple[Walk, int, bool]]:
    """Yield walk, lines per iteration and the shuffled flag of each variant."""
    yield Walk.ROWS, 1, False
    yield Walk.ROWS, 4, False
    yield Walk.ROWS, 8, True
    lines = next((n for n in _BLOCKS if fits(isa, n * LINE // isa.vector_bytes, outputs)), None)
    if lines is not None:
        yield Walk.TOGETHER, lines, False
        yield Walk.TOGETHER, lines, True


def variants(isa: Isa, outputs: int, field: Field, prefix: str) -> list[KernelSpec]:
    """Return the variants of one set and number of outputs. Raises SpecError if the set can have none."""
    found = []
    for walk, lines, shuffled in _shapes(isa, outputs):
        unroll = lines * LINE // isa.vector_bytes
        for store in Store if Op.STREAM in isa.ops else (Store.TEMPORAL,):
            order = default_order(isa, unroll, False, store) if walk is Walk.TOGETHER else Order.SUMS
            spec = KernelSpec(
                operation=Operation.DOT,
                isa=isa,
                inputs=None,
                outputs=outputs,
                technique=default_technique(Operation.DOT, isa),
                unroll=unroll,
                walk=walk,
                shuffled=shuffled,
                pipelined=True,
                hint=Hint.T1,
                store=store,
                order=order,
                field=field,
                prefix=prefix,
            )
            found.append(spec)
    return found


def code(kernels: Iterable[tuple[KernelSpec, int]]) -> str:
    """Return a summary of the variants among these kernels, given with their bytes of machine code; "" if
    none.

    Raises SpecError if those of one set and number of outputs take more than MOST_CODE.
    """
    sizes = [(spec, size) for spec, size in kernels if spec.pipelined]
    total: Counter[tuple[str, int]] = Counter()
    for spec, size in sizes:
        total[spec.isa.name, spec.outputs] += size
    for (isa, outputs), size in total.most_common(1):
        if size > MOST_CODE:
            raise SpecError(
                f"adaptive: the kernels of {isa} for {outputs} outputs are {size} bytes of machine code; "
                f"allowed: {MOST_CODE} bytes; reduce the outputs"
            )
        return (
            f"adaptive: {len(sizes)} kernels, {sum(total.values())} bytes of machine code; most, {size}, for "
            f"{outputs} outputs on {isa}"
        )
    return ""
