"""Effects of instructions, after the Intel SDM, volume 2.

An effect is made once per instruction and executed on states: readers of the operands, a rule that combines
their values, and a writer of the result. MAKERS has every form that may occur; others are rejected.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial, reduce
from typing import Any

from judge import forms, memory
from judge.decode import General, Instruction, Memory, Operand, Vector
from judge.forms import SIGN, TABLE, ZERO, Body, Run, Runs, combine, cut, merge, run_of, size, xor, zeros
from judge.integers import SPAN, Pointer, Region, Word, add, number, pointer, require, subtract, unknown
from judge.memory import Compared, Data, Joined, LowBits, State, Tested, Value
from judge.spec import FORMATS, LEVELS, times

Effect = Callable[[State], None]
Maker = Callable[[Instruction], Effect]
Rule = Callable[..., Runs]


# Operands


def _address(op: Operand, multiple: int = 1) -> Callable[[State], Pointer]:
    """Return a function that computes the address of a memory operand, which is in some region and must be a
    multiple of some bytes."""
    base, other, factor, displacement = op[:4]  # type: ignore[index, misc]

    def address(s: State) -> Pointer:
        first = Pointer(Region("code"), s.next_ip) if base == "rip" else s.gpr[base]
        if other:
            second = s.gpr[other]
            first = plus(first, second if factor == 1 else add(0, number(second), factor))
        place = pointer(plus(first, displacement))
        known = (each % multiple == 0 and place.lies(multiple, other) for other, each in s.multiples.items())
        require(multiple == 1 or any(known), "{} must be aligned to {} bytes", place, multiple)
        return place

    return address


def _count(s: State, mask: str) -> Word | None:
    """Return the number of bytes that a write mask selects, all before others; None without a mask."""
    value = s.gpr[mask] if mask else None
    require(not mask or isinstance(value, LowBits), "a mask that is not the first bits")
    return value.bits if isinstance(value, LowBits) else None


def _reader(
    op: Operand, size: int, low: int = 0, aligned: bool = False, mask: str = ""
) -> Callable[[State], Runs]:
    """Return a function that reads bytes low to low + size - 1 of an operand; from memory, all its bytes."""
    if isinstance(op, Vector):
        register = op.number
        return lambda s: cut(s.vectors[register], low, low + size)
    assert not isinstance(op, int)
    length = min(op.size, size)
    if isinstance(op, General):
        name = op.name
        return lambda s: memory.as_bytes(s.gpr[name], length)
    place, copies = _address(op, length if aligned else 1), size // length if op.repeated else 1
    return lambda s: merge([*memory.load(s, place(s), length, _count(s, mask))] * copies)


def _writer(ins: Instruction, aligned: bool = False) -> Callable[[State, Runs], None]:
    """Return a function that writes the first operand, and zeros to the rest of a register. In a vector
    register, VEX and EVEX clear also the bytes above the operand, and legacy forms keep them."""
    op, vex, mask = ins.operands[0], "vex " in ins.form, ins.mask
    if isinstance(op, Vector):
        register, width = op

        def write(s: State, runs: Runs) -> None:
            above = zeros(64 - width) if vex else cut(s.vectors[register], width, 64)
            s.vectors[register] = merge([*runs, *zeros(width - size(runs)), *above])
            s.dirty = s.dirty or width > 16

        return write
    if isinstance(op, General):
        name = op.name
        return lambda s, runs: _set(s, name, Data(merge([*runs, *zeros(8 - size(runs))])))
    assert isinstance(op, Memory)
    place, length = _address(op, op.size if aligned else 1), op.size
    return lambda s, runs: memory.store(s, place(s), Data(runs), length, _count(s, mask))


def _immediate(ins: Instruction) -> int:
    last = ins.operands[-1]
    return last & 0xFF if isinstance(last, int) else 0


# Vectors


def _vector(count: int, rule: Callable[[Instruction, int], Rule]) -> Maker:
    """Return the maker of an instruction with a vector result. count: of the last operands, which are the
    sources. rule: (instruction, width) -> the combination of the state and the sources."""

    def make(ins: Instruction) -> Effect:
        operands = [op for op in ins.operands if not isinstance(op, int)]
        width = operands[0].size
        read = [_reader(op, width) for op in operands[-count:]]
        write, result = _writer(ins), rule(ins, width)
        return lambda s: write(s, result(s, *(each(s) for each in read)))

    return make


def _bytewise(rule: Callable[[Body, Body], Body], count: int = 2) -> Maker:
    """Return the maker of an instruction that combines the bytes at the same place."""
    return _vector(count, lambda ins, width: lambda s, *sources: reduce(partial(combine, rule), sources))


def _ternary(ins: Instruction) -> Effect:
    require(_immediate(ins) == 0x96, "vpternlog other than the XOR of all three")
    return _bytewise(xor, 3)(ins)


def _and(one: Body, other: Body) -> Body:
    if one.atoms or one is TABLE:
        one, other = other, one
    require(not one.atoms and one is not TABLE, "AND of two unknown bytes")
    return forms.mask(other, one.constant)


def _add_bytes(one: Body, other: Body) -> Body:
    """Return sums modulo 256 of bytes and themselves, which are shifted by one bit."""
    require(one is other, "a sum of different bytes")
    return forms.multiply(forms.shifted(-1), one)


def _greater(one: Body, other: Body) -> Body:
    """Return 0 > x: bit 7 of x in all bits."""
    require(one is ZERO, "a comparison with other bytes than 0")
    return forms.multiply(SIGN, other)


def _shift_right(ins: Instruction, width: int) -> Rule:
    """psrlq. The bits that come from the next byte are unknowns, the same for the same bytes from the same
    position on, if these are whole elements."""
    count = _immediate(ins)
    require(0 < count < 8, "a shift by whole bytes")
    top = forms.keeping(0xFF << 8 - count & 0xFF)

    def result(s: State, vector: Runs) -> Runs:
        out: list[Run] = []
        place = 0
        for length, start, one in vector:
            whole = place % 8 == length % 8 == 0
            place += length
            origin = 0 if start is None else start
            next_byte = f"crossing {count} {one.number if whole else next(forms.NUMBERS)}"
            crossing = ZERO if whole and one is ZERO else forms.variable(next_byte, origin, top)
            out.append(run_of(length, origin, xor(forms.multiply(forms.shifted(count), one), crossing)))
        return tuple(out)

    return result


def _entry(s: State, element: Runs) -> tuple[str, Any, Any] | None:
    """Return part, source and output if an element is a part of a coefficient's entry in the table."""
    width, start, one = element[0]
    if len(element) != 1 or one is not TABLE or start is None:
        return None
    source, output, within = s.spec.place(start, s.sources)
    parts = [p[0] for p in FORMATS[s.spec.table][1] if (within, width) == p[1:3]]
    require(parts != [], "byte {} of a table entry", within)
    return parts[0], source, output


def _elements(runs: Runs, width: int) -> list[tuple[int, Runs]]:
    """Return a vector in elements, each with its number of bytes; equal elements as one."""
    length, first = size(runs), cut(runs, 0, width)
    if merge([*first] * (length // width)) == runs:
        return [(length, first)]
    return [(width, cut(runs, low, low + width)) for low in range(0, length, width)]


def _map(width: int, name: str, known: Callable[[bytes, Body], Body], place: int | None) -> Maker:
    """Return the maker of an instruction that applies maps, in elements of one operand, to the bytes of the
    other. name: the format of the table whose entries are such maps. known: the map of an element of known
    bytes. place: of the maps among the operands; None for either, since a product commutes."""

    def one(s: State, element: Runs, data: Body) -> Body:
        found = _entry(s, element)
        if found is None:
            return known(forms.known(element), data)
        short = name != "nibble" or forms.mask(data, 0x0F) is data
        require(FORMATS[s.spec.table][1] == FORMATS[name][1] and short, "a table entry as {}", name)
        return forms.look_up(*found, data)

    def rule(ins: Instruction, size: int) -> Rule:
        require(_immediate(ins) == 0, "an affine map with a constant")

        def result(s: State, *sources: Runs) -> Runs:
            which = place if place is not None else int(not sources[1][0][2].atoms)
            maps, data = sources[which], sources[1 - which]
            out: list[Run] = []
            low = 0
            for length, element in _elements(maps, width):
                parts = cut(data, low, low + length)
                out += [run_of(bytes_, start, one(s, element, each)) for bytes_, start, each in parts]
                low += length
            return merge(out)

        return result

    return _vector(2, rule)


def _shuffle(table: bytes, index: Body) -> Body:
    if len(set(table)) == 1:  # this byte where bit 7 of the index is clear, else 0
        return xor(forms.mask(forms.multiply(SIGN, index), table[0]), forms.CONSTANTS[table[0]])
    require(forms.mask(index, 0x0F) is index, "a look-up by an index that may exceed 15")
    return forms.multiply(_linear_table(table), index)


@lru_cache(maxsize=4096)
def _linear_table(table: bytes) -> int:
    """Return the matrix of a table of 16 bytes. Raises Rejected unless it is linear."""
    matrix = sum((table[1 << bit] >> r & 1) << 8 * r + bit for bit in range(4) for r in range(8))
    require(all(forms.apply(matrix, n) == table[n] for n in range(16)), "a table that is not linear")
    return matrix


def _affine(matrix: bytes, data: Body) -> Body:
    return forms.multiply(int.from_bytes(matrix, "big"), data)


def _product(factor: bytes, data: Body) -> Body:
    require(len(set(factor)) == 1, "a product by bytes that differ")
    return forms.multiply(times(factor[0], 0x11B), data)


def _repeat(unit: int) -> Maker:
    """Return the maker of a broadcast of `unit` bytes."""
    return _vector(1, lambda ins, width: lambda s, runs: merge([*cut(runs, 0, unit)] * (width // unit)))


def _insert(unit: int, at: int | None = None) -> Maker:
    """Return the maker of an instruction that replaces element `at`, or the one in the immediate."""

    def rule(ins: Instruction, width: int) -> Rule:
        low = (_immediate(ins) if at is None else at) % (width // unit) * unit
        return lambda s, old, new: merge([*cut(old, 0, low), *new, *cut(old, low + unit, width)])

    return _vector(2, rule)


def _permute(ins: Instruction, width: int) -> Rule:
    """pshufd xmm."""
    places = [4 * (_immediate(ins) >> 2 * n & 3) for n in range(4)]
    return lambda s, v: merge([run for at in places for run in cut(v, at, at + 4)])


def _move(unit: int = 0, at: int | None = None, aligned: bool = False, stream: bool = False) -> Maker:
    """Return the maker of a move of the bytes of the smaller operand. unit: or of an element of the source:
    of number `at`, or of the one in the immediate."""

    def make(ins: Instruction) -> Effect:
        target, source = ins.operands[:2]
        length = unit or min(target.size, source.size)  # type: ignore[union-attr]
        low = (_immediate(ins) if at is None else at) * unit % source.size  # type: ignore[union-attr]
        read, write = _reader(source, length, low, aligned, ins.mask), _writer(ins, aligned)

        def run(s: State) -> None:
            write(s, read(s))
            s.unfenced = s.unfenced or stream

        return run

    return make


def _clear_upper(ins: Instruction) -> Effect:
    def run(s: State) -> None:
        s.vectors[:16] = [merge([*cut(runs, 0, 16), *zeros(48)]) for runs in s.vectors[:16]]
        s.dirty = False

    return run


# General registers


def _set(s: State, name: str, value: Value) -> None:
    s.gpr[name] = value % SPAN if isinstance(value, int) else value
    if name == "rsp":
        memory.move_stack(s, value)


def _value(op: Operand) -> Callable[[State], Value]:
    """Return a function that reads 64 bits of a general register, of memory or a number."""
    if isinstance(op, General):
        return lambda s, name=op.name: s.gpr[name]  # type: ignore[misc]
    if isinstance(op, int):
        return lambda s: op
    place = _address(op)
    return lambda s: memory.load_word(s, place(s))


def plus(left: Value, right: Value) -> Value:
    if isinstance(right, Pointer):
        left, right = right, left
    if isinstance(left, Pointer):
        return Pointer(left.region, add(left.offset, number(right)))
    return add(number(left), number(right))


def _minus(left: Value, right: Value) -> Value:
    if isinstance(left, Pointer) and isinstance(right, Pointer) and left.region == right.region:
        return subtract(left.offset, right.offset)
    return plus(left, add(0, number(right), -1))


def _test(s: State, left: Value, right: Value) -> tuple[None, memory.Flags]:
    """test of a value with itself, or of the low bits of addresses of shards."""
    if left == right:
        return None, Compared(left, 0)
    addresses = _joined(left)
    public = all(each.region.kind in ("src", "dst") for each in addresses)
    low_bits = isinstance(right, int) and right > 0 and not right & right + 1
    require(public and low_bits, "a test of other bits")
    return None, Tested(addresses, number(right) + 1)  # type: ignore[operator]


def _joined(value: Value) -> frozenset[Pointer]:
    return value.addresses if isinstance(value, Joined) else frozenset({pointer(value)})


def _exclusive(s: State, left: Value, right: Value) -> tuple[Value, None]:
    require(left == right, "xor of different values")
    return 0, None


def _align(s: State, value: Value, by: Value) -> tuple[Value, None]:
    """and of an address on the stack with -2^b: an unknown below 2^b is taken off, the same for the same
    address."""
    region, offset = pointer(value)
    require(region.kind == "stack" and isinstance(offset, int), "AND of no address on the stack")
    assert isinstance(by, int)  # the form has a number
    require(by < 0 and not -by & -by - 1, "AND with another number")
    rest = unknown(f"(&stack{offset:+d} mod {-by})")
    s.facts.assume(rest, 0, -by - 1)
    aligned = Pointer(region, subtract(offset, rest))
    s.multiples[aligned] = -by
    return aligned, None


#: Mnemonic -> (state, value, value) -> new value of the first operand, and flags.
_RULES: dict[str, Callable[[State, Value, Value], tuple[Value | None, memory.Flags]]] = {
    **dict.fromkeys(("mov", "lea", "kmovq"), lambda s, left, right: (right, s.flags)),
    "add": lambda s, left, right: (plus(left, right), None),
    "sub": lambda s, left, right: (_minus(left, right), Compared(left, right)),
    "cmp": lambda s, left, right: (None, Compared(left, right)),
    "test": _test,
    "xor": _exclusive,
    "or": lambda s, left, right: (Joined(_joined(left) | _joined(right)), None),
    "and": _align,
    "shl": lambda s, left, right: (add(0, number(left), 1 << number(right) % 64), None),  # type: ignore[operator]
}


def _general(ins: Instruction) -> Effect:
    rule, (target, source) = _RULES[ins.name], ins.operands
    assert isinstance(target, General)
    name, read = target.name, _address(source) if ins.name == "lea" else _value(source)

    def run(s: State) -> None:
        value, s.flags = rule(s, s.gpr[name], read(s))
        if value is not None:
            _set(s, name, value)

    return run


def _store_word(ins: Instruction) -> Effect:
    """mov of a general register to memory."""
    place, name = _address(ins.operands[0]), ins.operands[1].name  # type: ignore[union-attr]
    return lambda s: memory.store(s, place(s), s.gpr[name], 8)


def _low_ones(ins: Instruction) -> Effect:
    """bzhi of all ones by a number below 64."""
    target, source, index = (op.name for op in ins.operands)  # type: ignore[union-attr]

    def run(s: State) -> None:
        count = number(s.gpr[index])
        ones = s.gpr[source] == SPAN - 1 and s.facts.low(count) >= 0 and s.facts.high(count) < 64
        require(ones, "bzhi of other numbers than all ones, or by {}", count)
        _set(s, target, LowBits(count))
        s.flags = None

    return run


def _push_or_pop(ins: Instruction) -> Effect:
    name = ins.operands[0].name  # type: ignore[union-attr]
    require(name != "rsp", "push or pop of rsp")

    def push(s: State) -> None:
        value = s.gpr[name]
        _set(s, "rsp", plus(s.gpr["rsp"], -8))
        memory.store(s, pointer(s.gpr["rsp"]), value, 8)

    def pop(s: State) -> None:
        _set(s, name, memory.load_word(s, pointer(s.gpr["rsp"])))
        _set(s, "rsp", plus(s.gpr["rsp"], 8))

    return push if ins.name == "push" else pop


def _prefetch(ins: Instruction) -> Effect:
    """A prefetch never faults, but its address shows in the caches: it is an address of some region."""
    place = _address(ins.operands[0])
    return lambda s: require(place(s).region.kind != "stack", "a prefetch of the stack")


#: Forms that have the same effect -> the maker of the effect; None for jumps and returns (replay.py).
_EFFECTS: dict[str, Maker | None] = {
    "je - i, jne - i, jb - i, jae - i, ja - i, jbe - i, jmp - i, ret -": None,
    "nop -, endbr64 F3": lambda ins: lambda s: None,
    "sfence -": lambda ins: lambda s: setattr(s, "unfenced", False),
    "mov - r8 r8, mov - r8 m8, mov - r8 i, mov - r4 i, lea - r8 m8, kmovq vex k8 r8": _general,
    "mov - m8 r8": _store_word,
    "mov - m1 r1, mov 66 m2 r2, movzx - r4 m1": _move(),
    "add - r8 r8, add - r8 i, sub - r8 r8, sub - r8 i, cmp - r8 r8, cmp - r8 i": _general,
    "test - r8 r8, test - r8 i, xor - r4 r4, or - r8 r8, or - r8 m8, and - r8 i, shl - r8 i": _general,
    "push - r8, pop - r8": _push_or_pop,
    "bzhi vex r8 r8 r8": _low_ones,
    "prefetcht0 - m1, prefetcht1 - m1, prefetcht2 - m1, prefetchnta - m1": _prefetch,
    "movaps - v16 m16, movaps - m16 v16, movdqa 66 v16 v16": _move(aligned=True),
    "movntdq 66 m16 v16, vmovntdq vex m32 v32, vmovntdq evex m64 v64": _move(aligned=True, stream=True),
    "movdqu F3 v16 m16, movdqu F3 m16 v16, vmovdqu vex v16 m16, vmovdqu vex m16 v16": _move(),
    "vmovdqu vex v32 m32, vmovdqu vex m32 v32, vmovdqa64 evex v64 v64, vmovdqu8 evex v64 m64": _move(),
    "vmovdqu8 evex m64 v64, vmovdqu8 evex v64 m64{k}{z}, vmovdqu8 evex m64 v64{k}": _move(),
    "movd 66 v16 m4, movd 66 m4 v16, movd 66 v16 r4, movd 66 r4 v16, movq F3 v16 m8": _move(),
    "movq 66 m8 v16, vmovd vex v16 m4, vmovd vex m4 v16, vmovd vex v16 r4, vmovd vex r4 v16": _move(),
    "vmovq vex v16 m8, vmovq vex m8 v16": _move(),
    "movhps - m8 v16, vmovhps vex m8 v16": _move(8, 1),
    "movhps - v16 m8, vmovhps vex v16 v16 m8": _insert(8, 1),
    "pextrw 66 r4 v16 i, vpextrw vex r4 v16 i": _move(2),
    "pinsrw 66 v16 m2 i, vpinsrw vex v16 v16 m2 i": _insert(2),
    "vextracti128 vex m16 v32 i": _move(16),
    "vinserti128 vex v32 v32 m16 i": _insert(16),
    "vbroadcasti128 vex v32 m16, vbroadcasti32x4 evex v64 m16": _repeat(16),
    "movddup F2 v16 m8, vpbroadcastq vex v32 m8, vpbroadcastq evex v64 m8": _repeat(8),
    "vpbroadcastd vex v32 v16, vpbroadcastd evex v64 r4": _repeat(4),
    "pshufd 66 v16 v16 i": _vector(1, _permute),
    "vzeroupper vex": _clear_upper,
    "pxor 66 v16 v16, vpxor vex v16 v16 v16, vpxor vex v32 v32 v32, vpxor vex v32 v32 m32": _bytewise(xor),
    "vpxord evex v64 v64 v64, vpxord evex v64 v64 m64": _bytewise(xor),
    "vpternlogd evex v64 v64 v64 i, vpternlogd evex v64 v64 m64 i": _ternary,
    "pand 66 v16 v16, vpand vex v32 v32 v32, vpandd evex v64 v64 v64": _bytewise(_and),
    "paddb 66 v16 v16, vpaddb vex v32 v32 v32, vpaddb evex v64 v64 v64": _bytewise(_add_bytes),
    "pcmpgtb 66 v16 v16, vpcmpgtb vex v32 v32 v32": _bytewise(_greater),
    "psrlq 66 v16 i, vpsrlq vex v32 v32 i, vpsrlq evex v64 v64 i": _vector(1, _shift_right),
    "pshufb 66 v16 v16, vpshufb vex v32 v32 v32, vpshufb evex v64 v64 v64": _map(16, "nibble", _shuffle, 0),
    "gf2p8affineqb 66 v16 v16 i, vgf2p8affineqb vex v32 v32 v32 i": _map(8, "affine", _affine, 1),
    "vgf2p8affineqb evex v64 v64 v64 i, vgf2p8affineqb evex v64 v64 m8b i": _map(8, "affine", _affine, 1),
    "gf2p8mulb 66 v16 v16, vgf2p8mulb vex v32 v32 v32": _map(8, "mulb", _product, None),
    "vgf2p8mulb evex v64 v64 v64": _map(8, "mulb", _product, None),
}
#: Form -> the maker of its effect. EVEX has each form of 64 bytes with 32, too.
MAKERS = {form: make for names, make in _EFFECTS.items() for form in names.split(", ")}
MAKERS |= {form.replace("v64", "v32").replace("m64", "m32"): make for form, make in MAKERS.items()}
MAKERS |= {"vinserti64x4 evex v64 v64 m32 i": _insert(32), "vextracti64x4 evex m32 v64 i": _move(32)}


def needs(ins: Instruction) -> frozenset[str]:
    """Return the instruction sets of a form in MAKERS: without VEX, SSE2, SSE3 and SSSE3; with VEX, AVX and
    AVX2; with EVEX, AVX512F, AVX512BW and AVX512VL. bzhi (BMI2) and kmovq (AVX512BW) are for AVX-512 only."""
    level = {"vex": 1, "evex": 2}.get("evex" if ins.name in ("bzhi", "kmovq") else ins.form.split()[1], 0)
    return frozenset({LEVELS[level], *(["gfni"] if "gf2p8" in ins.name else [])})


def effect(ins: Instruction) -> Effect | None:
    """Return the effect of an instruction, None of a jump or a return. Raises Rejected."""
    require(ins.form in MAKERS, "no semantics for {}", ins.form)
    make = MAKERS[ins.form]
    return None if make is None else make(ins)
