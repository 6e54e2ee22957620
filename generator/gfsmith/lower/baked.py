"""Lowering of a circuit with known constants: straight-line code, and the tables of the constants."""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.ir import Loop, Op, Program, Ref, Role, Space, Value
from gfsmith.kernel.spec import KernelSpec, Technique
from gfsmith.kernel.tables import entry
from gfsmith.lower.builder import Builder, Numbers
from gfsmith.lower.circuits.network import Add, Circuit, Input, Scale


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
        values: list[Value] = []
        outputs: dict[int, list[int]] = {}
        for output, number in enumerate(self.circuit.outputs):
            outputs.setdefault(number, []).append(output)
        halves: dict[int, tuple[Value, Value]] = {}
        for number, node in enumerate(self.circuit.nodes):
            match node:
                case Input(source):
                    values.append(b.load(Space.SOURCE, source, offset))
                case Add(left, right):
                    values.append(b.emit(Op.XOR, values[left], values[right]))
                case Scale(constant, of):
                    values.append(self._product(b, constant, of, values, halves))
            for output in outputs.get(number, ()):
                b.store(values[number], output, offset)

    def _product(
        self, b: Builder, constant: int, of: int, values: list[Value], halves: dict[int, tuple[Value, Value]]
    ) -> Value:
        if self.spec.technique is Technique.PERMXOR:
            tables = self._entry(b, Op.TABLE, constant), self._entry(b, Op.TABLE, constant, 16)
            return b.emit(Op.LOOKUP2, *tables, values[of])
        if self.mask is None:
            return b.emit(Op.AFFINE, values[of], self._entry(b, Op.MATRIX, constant))
        if of not in halves:
            halves[of] = self._split(b, values[of], self.mask)
        return self._lookup(b, constant, halves[of])

    def _split(self, b: Builder, x: Value, mask: Value) -> tuple[Value, Value]:
        high = b.emit(Op.HIGH_NIBBLE, x, mask)
        return b.emit(Op.AND, x, mask), high

    def _lookup(self, b: Builder, constant: int, halves: tuple[Value, Value]) -> Value:
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
