"""Effects of instructions, after the Intel SDM, volume 2.

An effect is made once per instruction and executed on states: readers of the operands, a rule that combines
their values, and a writer of the result. A form that no rule covers is rejected.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from judge import decode, forms, memory
from judge.decode import General, Instruction, Mask, Memory, only
from judge.forms import TABLE, ZERO, Body, Repeated, Run, Runs, Vector, cut, expand, merge, run_of, zeros
from judge.integers import SPAN, Linear, Pointer, Region, Rejected, add, require, scale, subtract, unknown
from judge.memory import Compared, Data, Joined, LowBits, Register, State, Tested, Value
from judge.spec import FORMATS, times

Effect = Callable[[State], None]
Reader = Callable[[State], Any]
Rule = Callable[..., Any]
Maker = Callable[[Instruction], Effect]
_SIGN = sum(0x80 << 8 * row for row in range(8))


# Operands


def _address(op: Memory) -> Callable[[State], Pointer]:
    """Return a function that computes the address of a memory operand, which is in some region."""
    base, index, factor, displacement = op[:4]
    if base == "rip":
        require(not index, "an index with rip")
        return lambda s: Pointer(Region("code"), s.next_ip + displacement)

    def address(s: State) -> Pointer:
        first: Value = s.gpr[base] if base else 0
        if index:
            second = s.gpr[index]
            require(factor == 1 or not isinstance(second, Pointer), "a multiple of an address")
            first = plus(first, scale(second, factor) if isinstance(second, int | Linear) else second)
        if not isinstance(first, Pointer):
            raise Rejected(f"an address {first} that is in no region")
        return Pointer(first.region, add(first.offset, displacement)) if displacement else first

    return address


def _aligned(s: State, place: Pointer, size: int) -> None:
    """Raise Rejected unless an address is a multiple of `size`. The entry rsp is 8 modulo 16."""
    known: dict[Pointer, int] = {Pointer(Region("stack"), -8): 16} | s.multiples
    for other, multiple in known.items():
        if other.region == place.region and multiple % size == 0:
            gap = subtract(place.offset, other.offset)
            parts = [gap] if isinstance(gap, int) else [gap.constant, *(factor for _, factor in gap.terms)]
            if all(part % size == 0 for part in parts):
                return
    raise Rejected(f"an access at {place} that must be aligned to {size} bytes")


def _reader(op: decode.Operand, size: int, low: int = 0, aligned: bool = False, mask: int = 0) -> Reader:
    """Return a function that reads bytes low to low + size - 1 of an operand."""
    if isinstance(op, decode.Vector):
        number = op.number

        def register(s: State) -> Vector:
            found = s.vectors[number]
            if isinstance(found.vector, Repeated) and found.width >= low + size:
                return found.vector if not low else cut(expand(found.vector, low + size), low, low + size)
            return cut(found.read(low + size), low, low + size)

        return register
    if isinstance(op, General):
        name = only(op, General, max(size, 4)).name
        return lambda s: memory.as_bytes(s.gpr[name], size)
    place, length = _address(only(op, Memory)), size // only(op, Memory).copies

    def load(s: State) -> Vector:
        where = place(s)
        if aligned:
            _aligned(s, where, size)
        if mask:
            return memory.load_end(s, where, _count(s, mask), size)
        found = memory.load(s, where, length)
        return repeated(found) if length < size else found

    return load


def _count(s: State, number: int) -> Any:
    mask = s.masks[number]
    if not isinstance(mask, LowBits):
        raise Rejected("a mask that is not the first bits")
    return mask.bits


def repeated(element: Runs) -> Vector:
    if len(element) == 1 and element[0][1] is None:
        return ((64, None, element[0][2]),)
    return Repeated(forms.size(element), element)


def _writer(ins: Instruction, size: int, aligned: bool = False) -> Callable[[State, Any], None]:
    """Return a function that writes the first operand. VEX and EVEX clear the bytes above the result of a
    vector register; legacy forms leave them, and the judge then treats them as unknown."""
    op, vex, mask = ins.operands[0], ins.vex, ins.mask
    if isinstance(op, decode.Vector):
        number, width = op.number, op.size

        def register(s: State, vector: Vector) -> None:
            s.vectors[number] = Register(vector, width, vex)
            s.dirty = s.dirty or width > 16

        return register
    if isinstance(op, General):
        name = only(op, General, max(size, 4)).name
        return lambda s, runs: _set(s, name, Data(merge([*runs, *zeros(8 - size)])))
    place = _address(only(op, Memory))

    def store(s: State, vector: Vector) -> None:
        where, runs = place(s), expand(vector, size)
        if aligned:
            _aligned(s, where, size)
        if mask:
            memory.store_end(s, where, runs, _count(s, mask))
        else:
            memory.store(s, where, runs)

    return store


def _immediate(ins: Instruction) -> int:
    return only(ins.operands[-1], int) & 0xFF


# Vectors


def _vectors(rule: Callable[[Instruction, int], Rule], *sizes: int) -> Maker:
    """Return the maker of an instruction with a vector result. rule: (instruction, width) -> the combination
    of the operands. sizes: bytes of each source, 0 for the width of the result."""

    def make(ins: Instruction) -> Effect:
        operands = [op for op in ins.operands if not isinstance(op, int)]
        result, count = only(operands[0], decode.Vector), len(sizes)
        require(len(operands) == count + (count == 1 or (ins.vex and count == 2)), "other operands")
        folded = [op for op, size in zip(operands[-count:], sizes, strict=True) if not size]
        require(ins.vex or not any(isinstance(op, Memory) for op in folded), "an aligned operand in memory")
        require(not ins.mask, "a masked result")
        read = [_reader(op, n or result.size) for op, n in zip(operands[-count:], sizes, strict=True)]
        write, combine = _writer(ins, result.size), rule(ins, result.size)
        return lambda s: write(s, combine(s, *(each(s) for each in read)))

    return make


def _xor(ins: Instruction) -> Effect:
    """XOR; of a register with itself, it is 0 for every value of the register."""

    def rule(ins: Instruction, size: int) -> Rule:
        return lambda s, a, b: forms.xor_runs(expand(a, size), expand(b, size))

    if ins.operands[-1] != ins.operands[-2] or ins.mask:
        return _vectors(rule, 0, 0)(ins)
    size = only(ins.operands[0], decode.Vector).size
    write = _writer(ins, size)
    return lambda s: write(s, zeros(size))


def _ternary(ins: Instruction, size: int) -> Rule:
    require(_immediate(ins) == 0x96, "vpternlog other than the XOR of all three")

    def rule(s: State, a: Vector, b: Vector, c: Vector) -> Runs:
        return forms.xor_runs(forms.xor_runs(expand(a, size), expand(b, size)), expand(c, size))

    return rule


def _pairwise(combine: Callable[[Run, Run], Run]) -> Maker:
    """Return the maker of an instruction that combines bytes at the same place."""

    def rule(ins: Instruction, size: int) -> Rule:
        return lambda s, a, b: merge(
            [combine(one, other) for one, other in forms.pieces(expand(a, size), expand(b, size))]
        )

    return _vectors(rule, 0, 0)


def _constant(run: Run) -> bool:
    return not run[2].atoms and run[2] is not TABLE


def _and(one: Run, other: Run) -> Run:
    if not _constant(one):
        one, other = other, one
    require(_constant(one), "AND of two unknown bytes")
    return run_of(one[0], other[1], forms.mask(other[2], one[2].constant))


def _add_bytes(one: Run, other: Run) -> Run:
    """Return sums modulo 256 of bytes and themselves, which are shifted by one bit."""
    require(one == other, "a sum of different bytes")
    return run_of(one[0], one[1], forms.multiply(shifted(-1), one[2]))


def _greater(one: Run, other: Run) -> Run:
    """Return 0 > x: bit 7 of x in all bits."""
    require(one[2] is ZERO, "a comparison with other bytes than 0")
    return run_of(one[0], other[1], forms.multiply(_SIGN, other[2]))


@lru_cache(maxsize=16)
def shifted(by: int) -> int:
    """Return the matrix of a shift of a byte by `by` bits towards bit 0 (negative: away)."""
    return sum(1 << 8 * r + r + by for r in range(8) if 0 <= r + by < 8)


def _shift_right(ins: Instruction, size: int) -> Rule:
    """psrlq. The bits that come from the next byte are independent unknowns, the same for the same operand in
    whole elements."""
    count = _immediate(ins)
    require(0 < count < 8, "a shift by whole bytes")
    top = forms.keeping(0xFF << 8 - count & 0xFF)

    def rule(s: State, vector: Vector) -> Runs:
        out: list[Run] = []
        place = 0
        for length, start, one in expand(vector, size):
            whole = place % 8 == length % 8 == 0
            place += length
            if whole and one is ZERO:
                out.append((length, None, ZERO))
                continue
            name = f"crossing {count}" if whole else f"crossing {forms.fresh()}"
            moved = forms.xor(forms.multiply(shifted(count), one), forms.variable(name, one.number, top))
            out.append((length, 0 if start is None else start, moved))
        return tuple(out)

    return rule


def _entry(s: State, element: Runs, width: int) -> tuple[str, Any, int] | None:
    """Return part, source and output if an element is a part of a coefficient's entry in the table."""
    if len(element) != 1 or element[0][2] is not TABLE or element[0][1] is None:
        return None
    source, output, within = s.spec.place(element[0][1])
    for part, first, length, _ in FORMATS[s.spec.table][1]:
        if (within, width) == (first, length):
            return part, source, output
    raise Rejected(f"byte {within} of a table entry")


def _elements(vector: Vector, width: int, size: int) -> list[tuple[int, int, Runs]]:
    """Return an operand in elements: first byte, end, content; equal neighbours together."""
    if isinstance(vector, Repeated) and vector.width == width:
        return [(0, size, vector.element)]
    runs = expand(vector, size)
    if len(runs) == 1 and runs[0][1] is None:
        return [(0, size, cut(runs, 0, width))]
    return [(low, low + width, cut(runs, low, low + width)) for low in range(0, size, width)]


def _mapped(
    width: int, first: bool, name: str, known: Callable[[bytes, Body], Body], index: int = 0xFF
) -> Maker:
    """Return the maker of an instruction that applies maps, in elements of one operand (the first or the
    second), to the bytes of the other. known: the map of an element of known bytes. index: the bits that the
    bytes may have."""

    def one(s: State, element: Runs, data: Body) -> Body:
        found = _entry(s, element, width)
        if found is None:
            return known(forms.known(element), data)
        require(s.spec.table == name and forms.mask(data, index) is data, f"a table entry as {name}")
        return forms.look_up(*found, data)

    def rule(ins: Instruction, size: int) -> Rule:
        require(name != "affine" or _immediate(ins) == 0, "an affine map with a constant")

        def run(s: State, table: Vector, data: Vector) -> Runs:
            if not first and not (name == "mulb" and _is_map(table)):
                table, data = data, table
            runs, out = expand(data, size), []
            for low, high, element in _elements(table, width, size):
                for length, start, each in cut(runs, low, high):
                    out.append(run_of(length, start, one(s, element, each)))
            return merge(out)

        return run

    return _vectors(rule, 0, 0)


def _is_map(vector: Vector) -> bool:
    """Return whether a factor of a product, which commutes, is the coefficient."""
    runs = vector.element if isinstance(vector, Repeated) else vector
    return not runs[0][2].atoms


def _shuffle(table: bytes, index: Body) -> Body:
    if len(set(table)) == 1:  # this byte where bit 7 of the index is clear, else 0
        return forms.xor(forms.mask(forms.multiply(_SIGN, index), table[0]), forms.CONSTANTS[table[0]])
    require(forms.mask(index, 0x0F) is index, "a look-up by an index that may exceed 15")
    return forms.multiply(_linear_table(table), index)


@lru_cache(maxsize=4096)
def _linear_table(table: bytes) -> int:
    """Return the matrix of a table of 16 bytes. Raises Rejected unless it is linear."""
    matrix = sum((table[1 << bit] >> r & 1) << 8 * r + bit for bit in range(4) for r in range(8))
    require(all(forms.apply(matrix, n) == table[n] for n in range(16)), "a table that is not linear")
    return matrix


def _product(factor: bytes, data: Body) -> Body:
    require(len(set(factor)) == 1, "a product by bytes that differ")
    return forms.multiply(times(factor[0], 0x11B), data)


def _same(ins: Instruction, size: int) -> Rule:
    return lambda s, vector: vector


def _repeat(ins: Instruction, size: int) -> Rule:
    return lambda s, runs: repeated(runs)


def _insert(size: int, at: int | None = None) -> Callable[[Instruction, int], Rule]:
    """Return the rule that replaces `size` bytes: at `at`, or at the place in the immediate."""

    def rule(ins: Instruction, width: int) -> Rule:
        low = _immediate(ins) % (width // size) * size if at is None else at
        return lambda s, old, new: merge(
            [*cut(expand(old, width), 0, low), *new, *cut(expand(old, width), low + size, width)]
        )

    return rule


def _permute(ins: Instruction, size: int) -> Rule:
    """pshufd xmm."""
    places = [4 * (_immediate(ins) >> 2 * n & 3) for n in range(4)]
    require(size == 16, "a wide pshufd")
    return lambda s, v: merge([run for at in places for run in cut(expand(v, 16), at, at + 4)])


def _move(size: int = 0, low: int = 0, aligned: bool = False, stream: bool = False) -> Maker:
    """Return the maker of a move of bytes low to low + size - 1, to and from anywhere; size 0: the whole
    vector. A vector register is filled with zeros."""

    def make(ins: Instruction) -> Effect:
        target, source = ins.operands[:2]
        loads = isinstance(target, decode.Vector)
        length = size or only(target if loads else source, decode.Vector).size
        at = low if low >= 0 else _immediate(ins) % (-low // length) * length
        require(not ins.mask or (ins.name == "vmovdqu8" and ins.zeroing == loads), "a masked move")
        in_memory = isinstance(source, Memory)
        require(not (ins.mask and loads) or in_memory, "a masked move between registers")
        at = at if isinstance(source, decode.Vector) else 0
        read = _reader(source, length, at, aligned and in_memory, ins.mask if loads else 0)
        write = _writer(ins, length, aligned)

        def run(s: State) -> None:
            found = read(s)
            if size:
                found = merge([*expand(found, length), *zeros(16 - length if loads else 0)])
            write(s, found)
            s.unfenced = s.unfenced or stream

        return run

    return make


def _move_or_insert(ins: Instruction) -> Effect:
    """movhps: bytes 8 to 15 to or from memory."""
    if isinstance(ins.operands[0], Memory):
        return _move(8, 8)(ins)
    require(isinstance(ins.operands[-1], Memory), "movhps between registers")
    return _vectors(_insert(8, 8), 16, 8)(ins)


def _insert_lane(ins: Instruction) -> Effect:
    """vinserti128. Of the old register, only the kept half is read."""
    require(_immediate(ins) == 1, "vinserti128 into the lower half")

    def rule(ins: Instruction, size: int) -> Rule:
        return lambda s, old, new: merge([*old, *new])

    return _vectors(rule, 16, 16)(ins)


def _clear_upper(ins: Instruction) -> Effect:
    def run(s: State) -> None:
        for number in range(16):
            s.vectors[number] = Register(s.vectors[number].read(16), 16, True)
        s.dirty = False

    return run


# General registers


def _set(s: State, name: str, value: Value) -> None:
    s.gpr[name] = value % SPAN if isinstance(value, int) else value
    if name == "rsp":
        if not isinstance(value, Pointer) or value.region != Region("stack"):
            raise Rejected("rsp leaves the stack")
        memory.move_stack(s, value.offset)


def _value(op: decode.Operand) -> Callable[[State], Value]:
    """Return a function that reads 64 bits of a general register, of memory or a number."""
    if isinstance(op, General):
        name = op.name
        return lambda s: s.gpr[name]
    if isinstance(op, int):
        return lambda s: op
    place = _address(only(op, Memory, 8))
    return lambda s: memory.load_word(s, place(s))


def plus(left: Value, right: Value) -> Value:
    if isinstance(right, Pointer):
        left, right = right, left
    if not isinstance(right, int | Linear) or not isinstance(left, int | Linear | Pointer):
        raise Rejected(f"arithmetic on {left} and {right}")
    return Pointer(left.region, add(left.offset, right)) if isinstance(left, Pointer) else add(left, right)


def _minus(left: Value, right: Value) -> Value:
    if isinstance(left, Pointer) and isinstance(right, Pointer) and left.region == right.region:
        return subtract(left.offset, right.offset)
    if not isinstance(right, int | Linear):
        raise Rejected(f"{right} is subtracted")
    return plus(left, scale(right, -1))


def _test(s: State, left: Value, right: Value) -> tuple[None, memory.Flags]:
    """test of a value with itself, or of the low bits of addresses of shards."""
    if left == right:
        return None, Compared(left, 0)
    addresses = _joined(left)
    public = all(pointer.region.kind in ("src", "dst") for pointer in addresses)
    if not public or not isinstance(right, int) or right <= 0 or right & right + 1:
        raise Rejected("a test of other bits")
    return None, Tested(addresses, right + 1)


def _joined(value: Value) -> frozenset[Pointer]:
    if isinstance(value, Pointer):
        return frozenset({value})
    if not isinstance(value, Joined):
        raise Rejected(f"{value} is no address")
    return value.addresses


def _exclusive(s: State, left: Value, right: Value) -> tuple[Value, None]:
    require(left == right, "xor of different values")
    return 0, None


def _align(s: State, value: Value, by: Value) -> tuple[Value, None]:
    """and of an address on the stack with -2^b: an unknown below 2^b is taken off, the same for the same
    address."""
    if not isinstance(value, Pointer) or value.region != Region("stack") or not isinstance(value.offset, int):
        raise Rejected("AND of no address on the stack")
    if not isinstance(by, int) or by >= 0 or -by & -by - 1:
        raise Rejected("AND with another number")
    rest = unknown(f"(&stack{value.offset:+d} mod {-by})")
    s.facts.assume(rest, 0, -by - 1)
    aligned = Pointer(value.region, subtract(value.offset, rest))
    s.multiples[aligned] = -by
    return aligned, None


def _shift_left(s: State, value: Value, by: Value) -> tuple[Value, None]:
    if not isinstance(value, int | Linear) or not isinstance(by, int) or not 0 < by < 64:
        raise Rejected("a shift of no number")
    return scale(value, 1 << by), None


def _subtract(s: State, left: Value, right: Value) -> tuple[Value, memory.Flags]:
    return _minus(left, right), Compared(left, right)


#: Mnemonic -> (state, value, value) -> new value of the first operand, and flags.
_RULES: dict[str, Callable[[State, Value, Value], tuple[Value | None, memory.Flags]]] = {
    "add": lambda s, left, right: (plus(left, right), None),
    "sub": _subtract,
    "cmp": lambda s, left, right: (None, Compared(left, right)),
    "test": _test,
    "xor": _exclusive,
    "or": lambda s, left, right: (Joined(_joined(left) | _joined(right)), None),
    "and": _align,
    "shl": _shift_left,
}


def _general(ins: Instruction) -> Effect:
    rule, (target, source) = _RULES[ins.name], ins.operands
    for op in ins.operands:
        cleared = ins.name == "xor" and target == source
        require(not isinstance(op, General) or op.size == 8 or (cleared and op.size == 4), "a part")
    name, read = only(target, General).name, _value(source)

    def run(s: State) -> None:
        value, s.flags = rule(s, s.gpr[name], read(s))
        if value is not None:
            _set(s, name, value)

    return run


def _move_word(ins: Instruction) -> Effect:
    """mov to a register of 64 bits, of a number to 32 bits, or of a register to memory; lea."""
    target, source = ins.operands
    if isinstance(target, Memory):
        return _store_word(target, source)
    if isinstance(source, int) and only(target, General).size == 4:
        name, value = only(target, General).name, source % (1 << 32)
        return lambda s: _set(s, name, value)
    name = only(target, General, 8).name
    if isinstance(source, General):
        only(source, General, 8)
    read = _address(only(source, Memory)) if ins.name == "lea" else _value(source)
    return lambda s: _set(s, name, read(s))


def _store_word(target: Memory, source: decode.Operand) -> Effect:
    place, (name, size) = _address(target), only(source, General)

    def run(s: State) -> None:
        where, value = place(s), s.gpr[name]
        if size == 8 and where.region.kind == "stack":
            memory.store_slot(s, where.offset, value, 8)
        else:
            require(isinstance(value, Data), "a number or an address is written as data")
            memory.store(s, where, memory.as_bytes(value, size))

    return run


def _zero_extended(ins: Instruction) -> Effect:
    """movzx r32, m8."""
    target, source = ins.operands
    only(target, General, 4)
    read, write = _reader(only(source, Memory, 1), 1), _writer(ins, 1)
    return lambda s: write(s, read(s))


def _low_ones(ins: Instruction) -> Effect:
    """bzhi of all ones by a number below 64."""
    target, source, index = (only(op, General, 8).name for op in ins.operands)

    def run(s: State) -> None:
        count = s.gpr[index]
        if s.gpr[source] != SPAN - 1 or not isinstance(count, int | Linear):
            raise Rejected("bzhi of other numbers than all ones")
        low, high = s.facts.range(count)
        require(low >= 0 and high < 64, f"bzhi by {count}")
        s.gpr[target], s.flags = LowBits(count), None

    return run


def _set_mask(ins: Instruction) -> Effect:
    number, name = only(ins.operands[0], Mask).number, only(ins.operands[1], General, 8).name

    def run(s: State) -> None:
        value = s.gpr[name]
        s.masks[number] = value if isinstance(value, LowBits) else None

    return run


def _push_or_pop(ins: Instruction) -> Effect:
    name = only(ins.operands[0], General, 8).name
    require(name != "rsp", "push or pop of rsp")

    def push(s: State) -> None:
        _set(s, "rsp", plus(s.gpr["rsp"], -8))
        memory.store_slot(s, s.gpr["rsp"].offset, s.gpr[name], 8)  # type: ignore[union-attr]

    def pop(s: State) -> None:
        s.gpr[name] = memory.load_word(s, s.gpr["rsp"])
        _set(s, "rsp", plus(s.gpr["rsp"], 8))

    return push if ins.name == "push" else pop


def _prefetch(ins: Instruction) -> Effect:
    """A prefetch never faults, but its address shows in the caches: it is an address of some region."""
    place = _address(only(ins.operands[0], Memory))
    return lambda s: require(place(s).region.kind != "stack", "a prefetch of the stack")


def _named(names: str, make: Maker) -> dict[str, Maker]:
    return dict.fromkeys(names.split(), make)


#: Mnemonic -> the maker of its effect. Jumps and ret are in replay.py.
MAKERS: dict[str, Maker] = {
    **_named("pxor vpxor vpxord", _xor),
    **_named("vpternlogd", _vectors(_ternary, 0, 0, 0)),
    **_named("pand vpand vpandd", _pairwise(_and)),
    **_named("paddb vpaddb", _pairwise(_add_bytes)),
    **_named("pcmpgtb vpcmpgtb", _pairwise(_greater)),
    **_named("psrlq", lambda ins: _vectors(_shift_right, 0)(_twice(ins))),
    **_named("vpsrlq", _vectors(_shift_right, 0)),
    **_named("pshufb vpshufb", _mapped(16, True, "nibble", _shuffle, 0x0F)),
    **_named(
        "gf2p8affineqb vgf2p8affineqb",
        _mapped(8, False, "affine", lambda known, x: forms.multiply(int.from_bytes(known, "big"), x)),
    ),
    **_named("gf2p8mulb vgf2p8mulb", _mapped(8, False, "mulb", _product)),
    **_named("movdqu vmovdqu vmovdqu8", _move()),
    **_named("movdqa movaps vmovdqa64", _move(aligned=True)),
    **_named("movntdq vmovntdq", _move(aligned=True, stream=True)),
    **_named("vbroadcasti128 vbroadcasti32x4", _vectors(_repeat, 16)),
    **_named("vpbroadcastq movddup", _vectors(_repeat, 8)),
    **_named("vpbroadcastd", _vectors(_repeat, 4)),
    **_named("movd vmovd", _move(4)),
    **_named("movq vmovq", _move(8)),
    **_named("movhps vmovhps", _move_or_insert),
    **_named("pinsrw vpinsrw", _vectors(_insert(2), 16, 2)),
    **_named("pextrw vpextrw", _move(2, -16)),
    **_named("vinserti128", _insert_lane),
    **_named("vextracti128", _move(16, -32)),
    **_named("pshufd", _vectors(_permute, 0)),
    **_named("vzeroupper", _clear_upper),
    **_named("mov lea", _move_word),
    **_named("movzx", _zero_extended),
    **_named("add sub cmp test xor or and shl", _general),
    **_named("bzhi", _low_ones),
    **_named("kmovq", _set_mask),
    **_named("push pop", _push_or_pop),
    **_named("prefetcht0 prefetcht1 prefetcht2 prefetchnta", _prefetch),
    **_named("nop endbr64", lambda ins: lambda s: None),
    **_named("sfence", lambda ins: lambda s: setattr(s, "unfenced", False)),
}


def _twice(ins: Instruction) -> Instruction:
    """Return a legacy instruction with its first operand as result and as source."""
    return ins._replace(operands=(ins.operands[0], *ins.operands))


def effect(ins: Instruction) -> Effect:
    """Return the effect of an instruction that is no jump. Raises Rejected."""
    make = MAKERS.get(ins.name)
    if make is None:
        raise Rejected(f"no effect of {ins.name}")
    return make(ins)
