"""The kernels of the table [adaptive]: what the runtime's coordinator switches among (docs/adaptive.md).

For an instruction set and a number of outputs, all of them pipelined and for any number of sources:

    row      one line of every source a turn
    rows4    four rows, one after the other
    shuffled eight rows in an order in which a stream prefetcher finds no direction
    block    as many lines of a source at once as there are registers for, 256 or 128 bytes; none if not two
    and the same with its lines shuffled

each with stores through the cache and, where the set has them, around it. They ask for lines into the
second-level cache: the first level can wait for few lines at a time, and a prefetch into it is one of them
(measured on Zen 4, from DRAM, 100+4 at 1 KiB: twice as fast as with t0).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from gfsmith.defaults import default_order
from gfsmith.field import Field
from gfsmith.ir import Op
from gfsmith.isa import Arch, Encoding, Isa
from gfsmith.schedule import LINE, Hint, Order, Store, Walk, fits
from gfsmith.spec import KernelSpec, Operation, SpecError, default_technique

#: Bytes of machine code that the variants of one instruction set and number of outputs may take together.
MOST_CODE = 100_000

_BLOCKS = (4, 2)  #: lines, the first that fits


def able(isa: Isa) -> bool:
    """Whether a set has variants without being asked for by name: it fetches ahead, its vectors are lines or
    parts of lines, and it is fast enough to wait for memory, which SSE is not where there is AVX2. (Its
    kernels would be the largest and by far the longest to prove, besides.)"""
    fast = isa.arch is not Arch.PORTABLE and isa.encoding is not Encoding.LEGACY
    return Op.PREFETCH in isa.ops and not isa.scalable and fast


def _shapes(isa: Isa, outputs: int) -> Iterator[tuple[Walk, int, bool]]:
    """Walk, lines a turn and whether they are shuffled, of each variant."""
    yield Walk.ROWS, 1, False
    yield Walk.ROWS, 4, False
    yield Walk.ROWS, 8, True
    lines = next((n for n in _BLOCKS if fits(isa, n * LINE // isa.vector_bytes, outputs)), None)
    if lines is not None:
        yield Walk.TOGETHER, lines, False
        yield Walk.TOGETHER, lines, True


def variants(isa: Isa, outputs: int, field: Field, prefix: str) -> list[KernelSpec]:
    """The variants of one set and number of outputs. Raises SpecError if the set can have none."""
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
    """What the variants among these kernels, each with its bytes of machine code, take; "" if there are none.

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
                f"allowed: {MOST_CODE} bytes, so fewer outputs"
            )
        return (
            f"adaptive: {len(sizes)} kernels, {sum(total.values())} bytes of machine code; most, {size}, for "
            f"{outputs} outputs on {isa}"
        )
    return ""
