"""KernelSpec, from which a kernel is generated, and the names of kernels.

The grammar of a symbol, of which KernelSpec.symbol is the only source:

    <prefix>_<operation>_<inputs>x<outputs>[_<code>]__<isa>[_v<bits>][_<technique>][_<circuit>]_u<unroll>
        [_<order>][_rows][_shuffled][_mem][_pipe][_p<bytes><hint>][_nt]

inputs: a number, or `n` for any, read from the argument k. code: of a baked kernel, with `_packets` if it
works on packets. v<bits>, technique: only if they differ from the instruction set's default. circuit: of a
baked kernel, unless it is the one with the lowest estimate. order: `steps` or `copies`, unless it is `sums`.
`_rows`, `_shuffled`: the traversal order of the lines of an iteration. `_mem`: every iteration reads the
table entries from memory. `_pipe` (with the hint if not t0): the kernel prefetches from addresses in a second
pointer array. `_p`: the prefetch distance in bytes with its hint. `_nt`: streaming stores.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gfsmith.field import POLYNOMIAL as POLYNOMIAL
from gfsmith.field import Field
from gfsmith.ir import Op, Space
from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.isa import BY_NAME, ISAS, Encoding, Isa
from gfsmith.kernel.operation import (
    BOTH,
    BUTTERFLIES,
    BUTTERFLY_PLANES,
    CHANGED,
    LINE_PART,
    MAX_SHARDS,
    ONE_PLANE,
    SCALED,
)
from gfsmith.kernel.operation import Baked as Baked
from gfsmith.kernel.operation import Operation as Operation
from gfsmith.kernel.technique import FORMAT, NEEDS
from gfsmith.kernel.technique import TableFormat as TableFormat
from gfsmith.kernel.technique import Technique as Technique
from gfsmith.kernel.tuning_parameters import LINE, fits, shuffled
from gfsmith.kernel.tuning_parameters import Circuit as Circuit
from gfsmith.kernel.tuning_parameters import Hint as Hint
from gfsmith.kernel.tuning_parameters import Order as Order
from gfsmith.kernel.tuning_parameters import Placement as Placement
from gfsmith.kernel.tuning_parameters import Store as Store
from gfsmith.kernel.tuning_parameters import Walk as Walk

MAX_UNROLL = 8
MAX_PREFETCH = 1 << 16
MULB_POLYNOMIAL = 0x11B


class SpecError(ValueError):
    """A kernel that cannot exist. The message names the field and the allowed values."""


def check_prefix(prefix: str) -> str:
    """Return a prefix of symbols. Raises SpecError if it is not a C identifier."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", prefix):
        raise SpecError(f"prefix {prefix!r} is not a C identifier, such as acme")
    return prefix


class DoesNotFit(SpecError):
    """A Program for which registers or frame do not suffice."""


class TooFewRegisters(DoesNotFit):
    """A Program with more live values than the instruction set has registers."""


class TooMuchStack(DoesNotFit):
    """A Program with a larger frame than is allowed."""


_BAKES = frozenset({Technique.NIBBLE, Technique.PERMXOR, Technique.AFFINE, Technique.PLAIN})
#: Techniques that double a byte, and the numbers of parities for Horner's rule: P and Q, or P, Q and R.
_DOUBLES = frozenset({Technique.AFFINE, Technique.SHIFT})
_PARITIES = (2, 3)

#: Techniques with one instruction per product.
_SINGLE = frozenset({Technique.AFFINE, Technique.ISAL, Technique.MULB, Technique.PERMXOR})

#: Most outputs of a kernel that reads entries row by row, for which there are enough registers.
_MOST_ROWS = 8


def with_width(isa: Isa, bits: int) -> Isa:
    """Return the instruction set with vectors of `bits` bits. Its name, and so dispatch, stays the same.

    Raises SpecError if the set has no vectors of this width to choose.
    """
    if bits not in isa.widths:
        able = [f"{' or '.join(map(str, i.widths))} on {i.name}" for i in ISAS if i.widths]
        raise SpecError(f"width = {bits}; {isa.name} has no such choice; allowed: {', '.join(able)}")
    return replace(isa, vector_bytes=bits // 8)


#: The spaces of shards as KernelSpec.in_lines names them.
_SIDES = {Space.SOURCE: "src", Space.DESTINATION: "dst"}


def default_technique(operation: Operation, isa: Isa) -> Technique:
    """Return the preferred technique of an instruction set for an operation. Raises SpecError if it has
    none."""
    if operation is Operation.XOR:
        return Technique.PLAIN
    if operation is Operation.HORNER:
        return Technique.AFFINE if Op.AFFINE in isa.ops else Technique.SHIFT
    for technique in (Technique.AFFINE, Technique.PERMXOR, Technique.NIBBLE, Technique.BITPLANE):
        if NEEDS[technique] in isa.ops:
            return technique
    raise SpecError(f"{isa.name}: no technique to multiply with")


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSpec:
    """One kernel. inputs None: any k, read from the argument. prefetch: distance in bytes, 0 for none.

    shuffled: the kernel visits the lines of an iteration in the order of tuning_parameters.shuffled.
    pipelined: src has k more pointers for each line of an iteration, in the order of visits; each visit
    prefetches from its pointer plus the iteration's position. A kernel with run-time coefficients serves
    every polynomial, because its table encodes the field; only MULB has a fixed field. Raises SpecError for a
    kernel that cannot exist.
    """

    operation: Operation
    isa: Isa
    inputs: int | None
    outputs: int
    technique: Technique
    unroll: int = 1
    prefetch: int = 0
    hint: Hint = Hint.T0
    store: Store = Store.TEMPORAL
    order: Order = Order.SUMS
    walk: Walk = Walk.TOGETHER
    shuffled: bool = False
    pipelined: bool = False
    placement: Placement = Placement.REGISTERS
    circuit: Circuit = Circuit.CHEAPEST
    field: Field = field(default_factory=Field)
    prefix: str = "gfs"
    baked: Baked | None = None

    def __post_init__(self) -> None:
        self._check_shape()
        self._check_technique()
        self._check_schedule()
        self._check_walk()
        self._check_baked()
        check_prefix(self.prefix)

    def _check_shape(self) -> None:
        if self.inputs is not None and not 1 <= self.inputs < MAX_SHARDS:
            raise SpecError(f"inputs = {self.inputs}; allowed: 1..{MAX_SHARDS - 1} or any")
        if not 1 <= self.outputs < MAX_SHARDS:
            raise SpecError(f"outputs = {self.outputs}; allowed: 1..{MAX_SHARDS - 1}")
        if self.operation in (Operation.MUL, Operation.XOR) and self.outputs != 1:
            raise SpecError(f"outputs = {self.outputs}; {self.operation.value} has exactly 1 output")
        horner = self.operation is Operation.HORNER
        if horner and (self.inputs is not None or self.outputs not in _PARITIES):
            raise SpecError(f"{self.inputs or 'n'}x{self.outputs}; horner is for shapes nx2 and nx3")
        if self.operation is Operation.MUL and self.inputs not in (None, 1):
            raise SpecError(f"inputs = {self.inputs}; mul takes 1 input or any")
        few = self.operation in CHANGED and self.operation not in SCALED
        many = 1 if self.operation in ONE_PLANE else None
        allowed = [planes * self.elements for planes in BUTTERFLY_PLANES[few:many]]
        if self.butterfly and (self.inputs not in allowed or self.outputs != self.inputs):
            shapes = " and ".join(f"{n}x{n}" for n in allowed)
            raise SpecError(
                f"{self.inputs or 'n'}x{self.outputs}; {self.operation.value} is for shapes {shapes}"
            )
        if self.in_lines and not (self.machine_code and self.isa.vector_bytes >= LINE_PART):
            raise SpecError(
                f"{self.isa.name} with {self.isa.width or 'any'} bits; {self.operation.value} is for machine "
                f"code with vectors of at least {8 * LINE_PART} bits"
            )

    def _check_technique(self) -> None:
        plain = self.technique is Technique.PLAIN
        adds = self.operation is Operation.XOR or (self.baked is not None and self.baked.packets)
        if plain != adds:
            raise SpecError(
                f"technique = {self.technique.value} does not fit operation "
                f"{self.operation.value}; plain is for xor and packets, which allow no other"
            )
        horner = self.operation is Operation.HORNER
        if (horner and self.technique not in _DOUBLES) or (not horner and self.technique is Technique.SHIFT):
            raise SpecError(
                f"technique = {self.technique.value} does not fit operation {self.operation.value}; shift is "
                "only for horner; horner allows affine and shift"
            )
        if self.butterfly and self.technique is Technique.MULB:
            raise SpecError(
                f"technique = mulb does not fit operation {self.operation.value}, which takes maps"
            )
        if self.elements > 2 and self.technique is not Technique.AFFINE:
            raise SpecError(
                f"technique = {self.technique.value} does not fit operation {self.operation.value}, which "
                "multiplies products; allowed: affine"
            )
        if NEEDS[self.technique] not in self.isa.ops:
            allowed = ", ".join(t.value for t, op in NEEDS.items() if op in self.isa.ops)
            raise SpecError(
                f"technique = {self.technique.value} is not possible on {self.isa.name}; allowed: {allowed}"
            )
        if horner and self.field.polynomial != POLYNOMIAL:
            raise SpecError(
                f"polynomial = {self.field.polynomial:#x}; horner is for RAID, modulo {POLYNOMIAL:#x}"
            )
        if FORMAT[self.technique].stands_by_rows:
            self._check_rows()
        if self.technique is Technique.MULB and self.field.polynomial != MULB_POLYNOMIAL:
            raise SpecError(
                f"technique = mulb multiplies modulo {MULB_POLYNOMIAL:#x} only, not modulo "
                f"{self.field.polynomial:#x}; use affine"
            )

    def _check_rows(self) -> None:
        shape = self.operation is Operation.DOT or (self.operation is Operation.MAD and self.inputs == 1)
        plain = self.baked is None and self.walk is Walk.TOGETHER and not self.pipelined
        if not shape or self.outputs > _MOST_ROWS or not plain or not self.machine_code:
            raise SpecError(
                f"technique = {self.technique.value}; allowed: dot, and mad of one source, of 1 to "
                f"{_MOST_ROWS} outputs with run-time coefficients, on x86_64, together and not pipelined"
            )

    def _check_schedule(self) -> None:
        limit = MAX_UNROLL * (max(1, LINE // self.isa.vector_bytes) if self._by_lines else 1)
        if not 1 <= self.unroll <= limit:
            raise SpecError(f"unroll = {self.unroll}; allowed: 1..{limit}")
        if self.abreast == 1 and self.order is not Order.SUMS:
            alone = "unroll = 1" if self.unroll == 1 else "one vector of each source"
            raise SpecError(f"order = {self.order.value}; allowed with {alone}: sums")
        if not 0 <= self.prefetch <= MAX_PREFETCH:
            raise SpecError(f"prefetch = {self.prefetch}; allowed: 0..{MAX_PREFETCH} bytes")
        if self.prefetch and Op.PREFETCH not in self.isa.ops:
            raise SpecError(f"prefetch = {self.prefetch}; {self.isa.name} has no prefetch")
        if self.store is Store.STREAMING and Op.STREAM not in self.isa.ops:
            raise SpecError(f"store = streaming; {self.isa.name} has no streaming stores")
        if self.store is Store.STREAMING and self.operation is Operation.MAD:
            raise SpecError("store = streaming; mad reads its destinations; allowed: temporal")
        if self.store is Store.STREAMING and self.butterfly:
            raise SpecError(f"store = streaming; {self.operation.value} is a butterfly; allowed: temporal")

    def _check_walk(self) -> None:
        if not (asked := self._by_lines):
            return
        if self.operation is not Operation.DOT or (self.baked is not None and self.baked.packets):
            raise SpecError(f"{asked}; allowed: dot without packets")
        if self.isa.scalable:
            raise SpecError(f"{asked}; {self.isa.name} has no fixed number of vectors in a cache line")
        if self.block % LINE:
            raise SpecError(f"unroll = {self.unroll}; {asked}; allowed: whole lines of {LINE} bytes")
        if self.shuffled and self.lines < 2:
            raise SpecError(f"unroll = {self.unroll}; shuffled needs at least 2 lines per iteration")
        if self.pipelined and self.prefetch:
            raise SpecError(
                f"prefetch = {self.prefetch}; allowed: 0; a pipelined kernel prefetches by its pointers"
            )
        if self.pipelined and Op.PREFETCH not in self.isa.ops:
            raise SpecError(f"pipelined = true; {self.isa.name} has no prefetch")

    def _check_baked(self) -> None:
        if self.baked is None:
            if self.circuit is not Circuit.CHEAPEST:
                raise SpecError(f"circuit = {self.circuit.value}; only kernels for a code have circuits")
            return
        if self.operation is not Operation.DOT:
            raise SpecError(f"code = {self.baked.code}; only dot has kernels for a code")
        if self.isa.arch is Arch.PORTABLE or self.technique not in _BAKES:
            raise SpecError(f"code = {self.baked.code}; {self.isa.name} has run-time coefficients only")
        if {len(row) for row in self.baked.rows} != {self.inputs} or len(self.baked.rows) != self.outputs:
            raise SpecError(f"code = {self.baked.code}; its matrix is not {self.outputs} x {self.inputs}")
        if self.baked.packets and not {e for row in self.baked.rows for e in row} <= {0, 1}:
            raise SpecError(f"code = {self.baked.code}; a matrix for packets holds 0 and 1 only")
        if any(not any(row) for row in self.baked.rows):
            raise SpecError(f"code = {self.baked.code}; a row of its matrix is 0")

    @property
    def tables(self) -> TableFormat:
        known = self.baked is not None or self.operation is Operation.HORNER
        return TableFormat.NONE if known else self.entries

    @property
    def entries(self) -> TableFormat:
        """The format of one coefficient, in the table argument or among the kernel's constants."""
        return FORMAT[self.technique]

    @property
    def block(self) -> int:
        """Bytes of every shard that one iteration of the main loop handles."""
        return self.unroll * self.isa.vector_bytes

    @property
    def pair_loop(self) -> bool:
        """True if a loop over two vectors follows the main loop. It saves a turn over the sources when the
        main loop leaves two or more vectors."""
        plain = self.walk is Walk.TOGETHER and not self.pipelined and self.store is Store.TEMPORAL
        return plain and self.machine_code and self.inputs is None and self.unroll > 2

    @property
    def lines(self) -> int:
        """Cache lines of every shard that one iteration of the main loop handles."""
        return self.block // LINE

    @property
    def _by_lines(self) -> str:
        """The setting because of which the kernel works on cache lines; "" if there is none."""
        if self.walk is Walk.ROWS:
            return "walk = rows"
        return "pipelined = true" if self.pipelined else "shuffled = true" if self.shuffled else ""

    @property
    def abreast(self) -> int:
        """Most vectors of a shard in one loop over the sources: with ROWS as many vectors of a line as sums
        fit into registers."""
        if self.walk is Walk.TOGETHER:
            return self.unroll
        vectors = LINE // self.isa.vector_bytes
        while vectors > 1 and not fits(self.isa, vectors, self.outputs):
            vectors //= 2
        return vectors

    def visited(self) -> tuple[int, ...]:
        """Return the lines of an iteration in the order of visits."""
        return shuffled(self.lines) if self.shuffled else tuple(range(self.lines))

    def visits(self, abreast: int) -> tuple[tuple[int, ...], ...]:
        """Return the vectors of an iteration that each loop over the sources takes, `abreast` at a time, in
        the order of visits."""
        order: Sequence[int] = range(self.unroll)
        if self._by_lines:
            vectors = LINE // self.isa.vector_bytes
            order = [line * vectors + n for line in self.visited() for n in range(vectors)]
        return tuple(tuple(order[n : n + abreast]) for n in range(0, self.unroll, abreast))

    @property
    def in_place(self) -> bool:
        """True if a destination may be one of the sources."""
        return self.operation in (Operation.MAD, Operation.MUL) or (self.butterfly and not self.in_lines)

    @property
    def butterfly(self) -> bool:
        """True if the kernel is a butterfly of the additive FFT or its inverse."""
        return self.operation in BUTTERFLIES

    @property
    def changed(self) -> str:
        """The side of a butterfly, src or dst, on which it changes the basis of elements, or multiplies them;
        "" if there is none."""
        return CHANGED.get(self.operation, "")

    @property
    def in_lines(self) -> str:
        """The side of a butterfly whose planes are in lines, src or dst; "" if there is none."""
        return self.changed if self.table_outputs == BUTTERFLY_PLANES[-1] else ""

    def has_lines(self, space: Space) -> bool:
        """True if the planes of these shards are in lines."""
        return bool(self.in_lines) and self.in_lines == _SIDES.get(space)

    def in_parts(self, space: Space) -> bool:
        """True if a vector of a plane of these shards is in several lines."""
        return self.has_lines(space) and self.isa.vector_bytes > LINE_PART

    @property
    def granule(self) -> int:
        """The number of bytes that divides every length."""
        return LINE_PART if self.in_lines else 1

    @property
    def elements(self) -> int:
        """The number of elements of a butterfly, whose planes are the sources; 1 for other operations."""
        return BUTTERFLIES.get(self.operation, 1)

    @property
    def table_inputs(self) -> int | None:
        """The number of columns of the table: of a butterfly those of its matrices, and of the change of the
        basis or of the products."""
        if not self.butterfly or self.inputs is None:
            return self.inputs
        passes = 2 if self.operation in BOTH else 1
        more = self.outputs if self.operation in SCALED else bool(self.in_lines)
        return self.table_outputs * (self.elements - 1) * passes + more

    @property
    def table_outputs(self) -> int:
        """The number of entries of a column of the table."""
        return self.outputs // self.elements

    @property
    def diagonal(self) -> bool:
        """True if the kernel handles its k shards one after the other, independently."""
        return self.operation is Operation.MUL and self.inputs is None

    @property
    def descending(self) -> bool:
        """True if the loops over the sources begin with the last source.

        Horner's rule begins with the highest power. A sum may take its sources in any order, and machine code
        that counts down to 0 has an instruction less for each source.
        """
        counts_down = self.operation is Operation.XOR and self.inputs is None and self.machine_code
        return self.operation is Operation.HORNER or counts_down

    @property
    def group(self) -> int:
        """Sources per iteration of the loops over whole vectors, for any number of sources.

        Two, if one three-input XOR then adds both products to a sum, and for three parities by Horner's
        rule with VEX, whose chain of products is then shorter. Measured on Zen 4, two at a time are no
        faster where a product is several instructions and for other sums of two-input XORs, and slower with
        30 sources and streaming stores, unless the kernel prefetches its sources. Single vectors take 0.65
        to 0.89 of the time of one source at a time with tables, 0.81 to 0.96 with Horner's rule. On POWER10
        llvm-mca predicts that the inner loop is 1.0 to 1.4 times as fast (docs/instruction-sets.md).
        """
        chains = self.operation is Operation.HORNER and self.outputs == _PARITIES[-1]
        adds = Op.XOR3 in self.isa.ops or (chains and self.isa.encoding is Encoding.VEX)
        stores = self.store is Store.TEMPORAL or self.prefetch > 0
        pays = adds and self.technique in _SINGLE and stores and not self._by_lines
        return 2 if pays and self.inputs is None and not self.diagonal else 1

    @property
    def by_rows(self) -> bool:
        """True if the entries of an output stand together; the argument k is their number."""
        return self.tables.stands_by_rows and not self._has_fixed_rows

    @property
    def _has_fixed_rows(self) -> bool:
        """True if the entries of an output stand together and their number is that of the sources."""
        return self.tables.stands_by_rows and self.operation is Operation.DOT and self.inputs is not None

    def entry_offset(self, source: int, output: int) -> int:
        """Return the byte offset of the coefficient of `source` in `output`: in the row of the output if
        the argument k is the number of its entries, otherwise in the table."""
        if self.by_rows:
            place = source
        elif self._has_fixed_rows:
            assert self.inputs is not None
            place = output * self.inputs + source
        else:
            place = source * self.table_outputs + output
        return place * self.tables.entry_bytes

    @property
    def source_stride(self) -> int:
        """Bytes from one source's entries to the next one's."""
        return self.entry_offset(1, 0)

    @property
    def machine_code(self) -> bool:
        """True if the kernel ships as machine code rather than as C."""
        return self.isa.encoding is not Encoding.C

    @property
    def identity(self) -> tuple[object, ...]:
        """Key that distinguishes this kernel from every other kernel."""
        return self.symbol, self.field.polynomial, self.baked

    @property
    def matrix_id(self) -> str:
        """The name of a baked kernel's matrix, as a C identifier."""
        assert self.baked is not None
        return f"{self.baked.label}_{self.inputs}x{self.outputs}_{self.field.polynomial:x}"

    @property
    def symbol(self) -> str:
        inputs = "n" if self.inputs is None else str(self.inputs)
        label = f"_{self.baked.label}" if self.baked is not None else ""
        parts = [f"{self.prefix}_{self.operation.value}_{inputs}x{self.outputs}{label}__{self.isa.name}"]
        if self.isa.width != BY_NAME[self.isa.name].width:
            parts.append(f"v{self.isa.width}")
        if self.technique is not default_technique(self.operation, self.isa):
            parts.append(self.technique.value)
        if self.circuit is not Circuit.CHEAPEST:
            parts.append(self.circuit.value)
        parts.append(f"u{self.unroll}")
        if self.order is not Order.SUMS:
            parts.append(self.order.value)
        parts += ["rows"] * (self.walk is Walk.ROWS) + ["shuffled"] * self.shuffled
        if self.placement is Placement.MEMORY:
            parts.append("mem")
        if self.pipelined:
            parts.append(f"pipe{'' if self.hint is Hint.T0 else self.hint.value}")
        if self.prefetch:
            parts.append(f"p{self.prefetch}{self.hint.value}")
        if self.store is Store.STREAMING:
            parts.append("nt")
        return "_".join(parts)
