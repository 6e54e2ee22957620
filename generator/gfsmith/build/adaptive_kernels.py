"""The kernels of the table [adaptive], among which the runtime's coordinator chooses (docs/adaptive.md).

For an instruction set and a number of outputs, all of them pipelined and for any number of sources:

    row      one line of every source per iteration
    rows4    four rows, one after the other
    shuffled eight rows in an order in which a stream prefetcher detects no direction
    block    as many lines of a source at once as fit into registers, 256 or 128 bytes; no kernel if not two
    and the same with its lines shuffled

For a known matrix, those of row, rows4 and shuffled that have at most MOST_PRODUCTS in an iteration, because
their code is not rolled. Not block: the circuits of known matrices have so many values at once that two lines
of a source do not fit into registers.

Each has a variant with stores through the cache and, where the set has streaming stores, one around it. They
prefetch into the second-level cache, since the first level has few buffers for outstanding lines and a
prefetch occupies one (measured on Zen 4, from DRAM, 100+4 at 1 KiB: twice as fast as with t0).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from gfsmith.field import Field
from gfsmith.ir import Op
from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.defaults import default_order
from gfsmith.kernel.isa import Encoding, Isa
from gfsmith.kernel.spec import Baked, KernelSpec, Operation, SpecError, default_technique
from gfsmith.kernel.tuning_parameters import LINE, Hint, Order, Store, Walk, fits

#: Greatest size in bytes of the machine code of all variants of one instruction set and number of outputs.
MOST_CODE = 100_000

#: Most products in one iteration of a kernel for a known matrix. 256 products of avx2 are about 8,000 bytes
#: of machine code, a quarter of a first-level instruction cache. With more products arithmetic takes longer
#: than memory.
MOST_PRODUCTS = 256

_BLOCKS = (4, 2)  #: lines, the first that fits


def able(isa: Isa) -> bool:
    """Return True if a set has variants by default: it has PREFETCH, its vectors are lines or parts of lines,
    and its kernels are fast enough to be limited by memory. SSE is not where AVX2 exists. (SSE kernels would
    also be the largest and take by far the longest to prove.)"""
    fast = isa.arch is not Arch.PORTABLE and isa.encoding is not Encoding.LEGACY
    return Op.PREFETCH in isa.ops and not isa.scalable and fast


#: Walk, lines per iteration and the shuffled flag of the variants that read row by row.
_ROWS = ((Walk.ROWS, 1, False), (Walk.ROWS, 4, False), (Walk.ROWS, 8, True))


def _blocks(isa: Isa, outputs: int) -> Iterator[tuple[Walk, int, bool]]:
    """Yield the same of the variants that read source by source."""
    lines = next((n for n in _BLOCKS if fits(isa, n * LINE // isa.vector_bytes, outputs)), None)
    if lines is not None:
        yield Walk.TOGETHER, lines, False
        yield Walk.TOGETHER, lines, True


def variants(isa: Isa, outputs: int, field: Field, prefix: str) -> list[KernelSpec]:
    """Return the variants of one set and number of outputs. Raises SpecError if the set can have none."""
    base = _plain(isa, None, outputs, field, prefix, None)
    return list(_variants(base, (*_ROWS, *_blocks(isa, outputs))))


def known_variants(known: KernelSpec) -> list[KernelSpec]:
    """Return the variants for the known matrix of a kernel; they take no other parameter from it.

    Raises SpecError if the set can have none.
    """
    base = _plain(known.isa, known.inputs, known.outputs, known.field, known.prefix, known.baked)
    products = (base.inputs or 1) * base.outputs
    return [spec for spec in _variants(base, _ROWS) if products * spec.unroll <= MOST_PRODUCTS]


def _plain(
    isa: Isa, inputs: int | None, outputs: int, field: Field, prefix: str, baked: Baked | None
) -> KernelSpec:
    """Return the kernel of which the variants differ in order and prefetches only."""
    return KernelSpec(
        operation=Operation.DOT,
        isa=isa,
        inputs=inputs,
        outputs=outputs,
        technique=default_technique(Operation.DOT, isa),
        field=field,
        prefix=prefix,
        baked=baked,
    )


def _variants(base: KernelSpec, shapes: Iterable[tuple[Walk, int, bool]]) -> Iterator[KernelSpec]:
    isa = base.isa
    for walk, lines, shuffled in shapes:
        unroll = lines * LINE // isa.vector_bytes
        for store in Store if Op.STREAM in isa.ops else (Store.TEMPORAL,):
            order = Order.SUMS
            if walk is Walk.TOGETHER:
                order = default_order(isa, base.operation, base.outputs, unroll, False, store)
            yield replace(
                base,
                unroll=unroll,
                walk=walk,
                shuffled=shuffled,
                pipelined=True,
                hint=Hint.T1,
                store=store,
                order=order,
            )


def code(kernels: Iterable[tuple[KernelSpec, int]]) -> str:
    """Return a summary of the variants among these kernels, given with their bytes of machine code; "" if
    none.

    Raises SpecError if those of one set and number of outputs, or of one set and known matrix, take more than
    MOST_CODE.
    """
    sizes = [(spec, size) for spec, size in kernels if spec.pipelined]
    total: Counter[tuple[str, str]] = Counter()
    for spec, size in sizes:
        total[spec.isa.name, f"{spec.outputs} outputs" if spec.baked is None else spec.matrix_id] += size
    for (isa, purpose), size in total.most_common(1):
        if size > MOST_CODE:
            raise SpecError(
                f"pipelined: the kernels of {isa} for {purpose} are {size} bytes of machine code; "
                f"allowed: {MOST_CODE} bytes; reduce the outputs, or set known = false"
            )
        return (
            f"pipelined: {len(sizes)} kernels, {sum(total.values())} bytes of machine code; most, {size}, "
            f"for {purpose} on {isa}"
        )
    return ""
