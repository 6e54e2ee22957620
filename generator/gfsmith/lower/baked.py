"""Lowering of a circuit with known constants: straight-line code, and the tables of the constants."""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.ir import Loop, Op, Program, Ref, Role, Space, Value
from gfsmith.kernel.spec import KernelSpec, Technique
from gfsmith.kernel.tables import entry
from gfsmith.lower.builder import Builder, Numbers
from gfsmith.lower.circuits.network import Add, Circuit, Input, Scale

#: The lower and the upper halves of the bytes of a value.
Halves = tuple[Value, Value]


def _halved_sums(circuit: Circuit) -> frozenset[int]:
    """Return the sums that only products read and whose operands are split into halves anyway.

    Two additions give the halves of such a sum; the sum and its split take four operations."""
    factors = {node.of for node in circuit.nodes if isinstance(node, Scale)}
    whole = {n for node in circuit.nodes if isinstance(node, Add) for n in (node.left, node.right)}
    sums = factors - whole - set(circuit.outputs)
    return frozenset(
        n for n in sums if isinstance(node := circuit.nodes[n], Add) and factors >= {node.left, node.right}
    )


class _Baking:
    """The state of the lowering of one circuit."""

    def __init__(self, spec: KernelSpec, circuit: Circuit, abreast: int) -> None:
        self.spec = spec
        self.visits = spec.visits(abreast)
        self.circuit = circuit
        self.numbers = Numbers()
        self.places: dict[int, int] = {}
        self.constants = b""
        preload = Builder(self.numbers)
        halved = spec.technique is Technique.NIBBLE
        # Lookups that ignore the upper half of an index need no mask, so they read the sum itself.
        masked = halved and Op.LOOKUP_LOW not in spec.isa.ops
        self.halved_sums = _halved_sums(circuit) if masked else frozenset()
        self.mask = preload.emit(Op.CONST, immediate=0x0F) if halved else None
        self.preload = tuple(preload.code)

    def program(self) -> Program:
        lanes = self.spec.isa.vector_bytes
        loops = [self._loop(Role.BLOCK, self.spec.block, v, joined=n > 0) for n, v in enumerate(self.visits)]
        if self.spec.unroll > 1:
            loops.append(self._loop(Role.BLOCK, lanes, (0,)))
        loops.append(self._loop(Role.TAIL, lanes, (0,)))
        return Program(lanes, self.preload, tuple(loops), self.constants)

    def _loop(self, role: Role, step: int, vectors: Sequence[int], joined: bool = False) -> Loop:
        """Return the loop that applies the circuit to these vectors of its step."""
        b = Builder(self.numbers)
        for copy, vector in enumerate(vectors):
            b.copy = copy
            self._copy(b, vector * self.spec.isa.vector_bytes)
        return Loop(role, step, head=tuple(b.code), joined=joined)

    def _copy(self, b: Builder, offset: int) -> None:
        values: dict[int, Value] = {}
        outputs: dict[int, list[int]] = {}
        for output, number in enumerate(self.circuit.outputs):
            outputs.setdefault(number, []).append(output)
        halves: dict[int, Halves] = {}
        for number, node in enumerate(self.circuit.nodes):
            match node:
                case Input(source):
                    values[number] = b.load(Space.SOURCE, source, offset)
                case Add(left, right):
                    if number not in self.halved_sums:
                        values[number] = b.emit(Op.XOR, values[left], values[right])
                case Scale(constant, of):
                    values[number] = self._product(b, constant, of, values, halves)
            for output in outputs.get(number, ()):
                b.store(values[number], output, offset)

    def _product(
        self, b: Builder, constant: int, of: int, values: dict[int, Value], halves: dict[int, Halves]
    ) -> Value:
        if self.spec.technique is Technique.PERMXOR:
            tables = self._entry(b, Op.TABLE, constant), self._entry(b, Op.TABLE, constant, 16)
            return b.emit(Op.LOOKUP2, *tables, values[of])
        if self.mask is None:
            return b.emit(Op.AFFINE, values[of], self._entry(b, Op.MATRIX, constant))
        return self._lookup(b, constant, self._halves(b, of, values, halves, self.mask))

    def _halves(
        self, b: Builder, number: int, values: dict[int, Value], halves: dict[int, Halves], mask: Value
    ) -> Halves:
        """Return the lower and the upper halves of a node's bytes, computed once."""
        node = self.circuit.nodes[number]
        if number in halves:
            return halves[number]
        if number in self.halved_sums and isinstance(node, Add):
            left = self._halves(b, node.left, values, halves, mask)
            right = self._halves(b, node.right, values, halves, mask)
            halves[number] = b.emit(Op.XOR, left[0], right[0]), b.emit(Op.XOR, left[1], right[1])
        else:
            high = b.emit(Op.HIGH_NIBBLE, values[number], mask)
            halves[number] = b.emit(Op.AND, values[number], mask), high
        return halves[number]

    def _lookup(self, b: Builder, constant: int, halves: Halves) -> Value:
        low, high = halves
        first = b.emit(Op.LOOKUP, self._entry(b, Op.TABLE, constant), low)
        second = b.emit(Op.LOOKUP, self._entry(b, Op.TABLE, constant, 16), high)
        return b.emit(Op.XOR, first, second)

    def _entry(self, b: Builder, op: Op, constant: int, within: int = 0) -> Value:
        """Return the constant's table, which all its uses share."""
        if constant not in self.places:
            self.places[constant] = len(self.constants)
            self.constants += entry(self.spec.field, self.spec.entries, constant)
        return b.emit(op, ref=Ref(Space.CONSTANT, 0, self.places[constant] + within))


def lower_baked(spec: KernelSpec, circuit: Circuit, abreast: int | None = None) -> Program:
    """Return the Program of a kernel whose matrix the circuit applies, before any pass. abreast: vectors in
    one loop; default: the most."""
    return _Baking(spec, circuit, abreast or spec.abreast).program()
