"""Proof of an algebra Routine, for all data.

Products, inverses and polynomials are proved over bytes as unknowns of any ring (ring.py): the instructions
move bytes, add and multiply them, and the result must be the same polynomial in them. The proof records the
field of each byte: AFFINE by `forth` maps a byte from the requested field to the field of 0x11b, where
gf2p8mulb multiplies, AFFINE by `back` maps it back, and the proof refuses a byte of the wrong field. Both
maps are ring isomorphisms (prove.py proves it for every pair), so the polynomial is the same in both fields.

An inverse is the 254th power: x^255 = 1 for every x but 0, and 0^254 = 0.

The product of polynomials is a loop over the coefficients of A. Each step is shown to take any T to
x T + a_i B modulo P, and the first one 0; by induction T is A B mod P after the last. Bit matrices and the
product on words are proved bit by bit (prove.py).
"""

from __future__ import annotations

from typing import Any, Protocol

from gfsmith.ir.algebra import SELECTIONS, Act, Instr, Routine, Step, Value
from gfsmith.prove.algebra.ring import ZERO, Element
from gfsmith.prove.verdict import PROVED, Refutation, Status, Verdict

Lane = Any
Vector = list[Lane]

MODULUS_BYTES = 64  #: the runtime repeats a modulus of d bytes so often
_INVERSE = 254
_READS = frozenset({Act.LOAD, Act.COEFFICIENT, Act.ROW})


class Arithmetic(Protocol):
    """The type of the lanes, and the effect of the instructions that do more than move lanes."""

    zero: Lane

    def load(self, array: str, index: int) -> Lane: ...
    def xor(self, left: Lane, right: Lane) -> Lane: ...
    def act(self, instr: Instr, args: list[Vector], width: int, index: int | None) -> Vector: ...


class Execution:
    """Runs sections of a routine: this class moves bytes, and `arithmetic` executes all other instructions.

    Raises Refutation for an instruction that no section may contain.
    """

    def __init__(self, routine: Routine, arithmetic: Arithmetic) -> None:
        self.routine, self.arithmetic = routine, arithmetic
        self.values: dict[Value, Vector] = {}
        self.stored: dict[int, Lane] = {}

    def run(self, code: tuple[Instr, ...], index: int | None = None) -> None:
        for instr in code:
            if any(arg not in self.values for arg in instr.args):
                raise Refutation(f"{instr.act.name} reads a value before it is defined")
            if instr.act is Act.STORE:
                self._store(instr)
                continue
            if instr.result is None or instr.result in self.values:
                raise Refutation(f"{instr.act.name} does not define one new value")
            self.values[instr.result] = self._evaluate(instr, [self.values[arg] for arg in instr.args], index)

    def _evaluate(self, instr: Instr, args: list[Vector], index: int | None) -> Vector:
        width = self.routine.width
        if instr.act in _READS and instr.text != "modulus":
            whole = range(self.routine.block)
            read = range(instr.offset, instr.offset + width) if instr.act is Act.LOAD else whole
            if any(n in self.stored for n in read):
                raise Refutation(f"{instr.text} is read after a store that may have replaced it")
        match instr.act:
            case Act.ZERO:
                return [self.arithmetic.zero] * width
            case Act.XOR:
                return [self.arithmetic.xor(x, y) for x, y in zip(*args, strict=True)]
            case Act.LOAD:
                size = MODULUS_BYTES if instr.text == "modulus" else self.routine.block
                if not 0 <= instr.offset <= size - width:
                    raise Refutation(f"{instr.text} + {instr.offset} is outside the block of {size} bytes")
                return [self.arithmetic.load(instr.text, instr.offset + n) for n in range(width)]
            case Act.PERMUTE:
                selection = SELECTIONS[instr.text](width, instr)
                both = [lane for arg in args for lane in arg]
                return [self.arithmetic.zero if n is None else both[n] for n in selection]
            case _:
                return self.arithmetic.act(instr, args, width, index)

    def _store(self, instr: Instr) -> None:
        for n, lane in enumerate(self.values[instr.args[0]]):
            at = instr.offset + n
            if at in self.stored or not 0 <= at < self.routine.block:
                raise Refutation(f"out + {at} is stored twice or outside the block")
            self.stored[at] = lane

    def results(self) -> list[Lane]:
        """Return the bytes of the result's block. Raises Refutation if a byte is missing."""
        if sorted(self.stored) != list(range(self.routine.block)):
            raise Refutation("not every byte of the block is stored")
        return [self.stored[n] for n in range(self.routine.block)]


#: A byte: the field whose element it is (ASKED, AES; None: 0, of every field), and which.
ASKED, AES = "asked", "0x11b"
_MAPS = {"forth": (ASKED, AES), "back": (AES, ASKED)}
Sorted = tuple[str | None, Element]


class _Ring:
    """Bytes as elements of any ring."""

    zero: Sorted = (None, ZERO)

    def __init__(self, routine: Routine) -> None:
        self.degree = routine.count
        self.asked = ASKED if routine.mapped or routine.set == "words" else AES

    def load(self, array: str, index: int) -> Sorted:
        if array == "modulus":
            index %= self.degree
        return self.asked, Element.unknown(array, index)

    def xor(self, left: Sorted, right: Sorted) -> Sorted:
        if left[0] != right[0] and left[0] and right[0]:
            raise Refutation(f"an element of {left[0]} is added to one of {right[0]}")
        return left[0] or right[0], left[1] ^ right[1]

    def act(self, instr: Instr, args: list[Vector], width: int, index: int | None) -> Vector:
        match instr.act:
            case Act.ARGUMENT if instr.text in _MAPS:
                return [instr.text] * width
            case Act.COEFFICIENT if index is not None and 0 <= index < self.degree:
                return [self.load(instr.text, index)] * width
            case Act.MULB | Act.PRODUCT:
                field = AES if instr.act is Act.MULB else ASKED
                return [self._product(field, x, y) for x, y in zip(*args, strict=True)]
            case Act.AFFINE | Act.AFFINE_INVERSE:
                return [self._mapped(instr.act, x, text) for x, text in zip(*args, strict=True)]
        raise Refutation(f"{instr.act.name} has no meaning for elements of a field")

    @staticmethod
    def _product(field: str, left: Sorted, right: Sorted) -> Sorted:
        if any(lane[0] not in (field, None) for lane in (left, right)):
            raise Refutation(f"a product in the field {field} of elements of {left[0]} and {right[0]}")
        return field, left[1] * right[1]

    def _mapped(self, act: Act, lane: Sorted, text: Lane) -> Sorted:
        if text not in _MAPS:
            raise Refutation("AFFINE by a matrix that is no isomorphism")
        source, target = _MAPS[text] if self.asked == ASKED else (AES, AES)
        if lane[0] not in (source, None):
            raise Refutation(f"`{text}` is applied to an element of {lane[0]}")
        return target, lane[1] ** _INVERSE if act is Act.AFFINE_INVERSE else lane[1]


def same(got: list[Lane], want: list[Lane], what: str) -> None:
    for n, (g, w) in enumerate(zip(got, want, strict=True)):
        if g != w:
            raise Refutation(f"byte {n} of {what} is {_text(g)} instead of {_text(w)}")


def _text(lane: Lane) -> str:
    if isinstance(lane, tuple) and isinstance(lane[1], Element):
        return f"{lane[1]} (in {lane[0]})"
    return "another function"


def _elementwise(routine: Routine) -> None:
    ring = _Ring(routine)
    execution = Execution(routine, ring)
    execution.run((*routine.preload, *routine.head, *routine.close))
    a, b = ([Element.unknown(array, n) for n in range(routine.block)] for array in "ab")
    products = [x * y for x, y in zip(a, b, strict=True)]
    want = products if routine.operation == "multiply" else [x**_INVERSE for x in a]
    same(execution.results(), [(ring.asked, element) for element in want], "the result")


def step(routine: Routine, execution: Execution, part: Step, index: int, state: list[Lane]) -> list[Lane]:
    """Return the bytes after a step that starts from `state`."""
    width = routine.width
    inner = Execution(routine, execution.arithmetic)
    inner.values = dict(execution.values)
    for n, value in enumerate(part.before):
        inner.values[value] = state[n * width : (n + 1) * width]
    inner.run(part.code, index)
    return [lane for value in part.after for lane in inner.values[value]]


def check_order(routine: Routine, execution: Execution) -> None:
    """Check that the steps use every index once, from the highest, and that each step starts from the result
    of the previous one, the first from 0."""
    if routine.rolled:
        (part,) = routine.steps
        if any(lane != execution.arithmetic.zero for v in routine.initial for lane in execution.values[v]):
            raise Refutation("the loop does not start from 0")
        if not len(routine.initial) == len(part.before) == len(part.after):
            raise Refutation("the loop does not carry all of its values on")
        return
    if [part.index for part in routine.steps] != list(reversed(range(routine.count))):
        raise Refutation("the steps do not take every index once, from the highest")
    ends = [(), *(part.after for part in routine.steps)]
    if any(part.before != end for part, end in zip(routine.steps, ends, strict=False)):
        raise Refutation("a step does not start where the one before it ended")


def parts(routine: Routine) -> list[tuple[Step, int]]:
    """Return every step with its index; the code of a loop once for each of its indices."""
    indices = reversed(range(routine.count))
    if routine.rolled:
        return [(routine.steps[0], index) for index in indices]
    return list(zip(routine.steps, indices, strict=True))


def _polynomials(routine: Routine) -> None:
    degree, ring = routine.count, _Ring(routine)
    if routine.operation != f"polynomials{degree}" or routine.block % degree:
        raise Refutation("a block is not a whole number of polynomials")
    execution = Execution(routine, ring)
    execution.run((*routine.preload, *routine.head))
    check_order(routine, execution)
    field = AES if routine.mapped else ring.asked
    size = range(routine.block)
    unknowns = [Element.unknown("t", n) for n in size]
    p, a, b = ([ring.load(array, n)[1] for n in size] for array in ("modulus", "a", "b"))
    for part, index in parts(routine):
        old = unknowns if part.before else [ZERO] * len(unknowns)
        got = step(routine, execution, part, index, [(field, e) if e.terms else ring.zero for e in old])
        want = []
        for n in size:
            first = n // degree * degree
            below = ZERO if n == first else old[n - 1]
            want.append((field, below ^ old[first + degree - 1] * p[n] ^ a[first + index] * b[n]))
        same(got, want, f"x T + a[{index}] B mod P")
    last = routine.steps[-1]
    final = last.before if routine.rolled else last.after
    for n, value in enumerate(final):
        lanes = unknowns[n * routine.width : (n + 1) * routine.width]
        execution.values[value] = [(field, element) for element in lanes]
    execution.run(routine.close)
    same(execution.results(), [(ring.asked, element) for element in unknowns], "the result")


def prove(routine: Routine) -> Verdict:
    """Return whether a routine over elements of a field computes the result that its operation defines."""
    try:
        if routine.operation in ("multiply", "invert"):
            _elementwise(routine)
        else:
            _polynomials(routine)
    except Refutation as found:
        return Verdict(Status.REFUTED, f"{routine.symbol}: {found}")
    return PROVED
