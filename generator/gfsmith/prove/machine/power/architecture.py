"""The description of POWER for the prover's core."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gfsmith.kernel.isa import Isa
from gfsmith.prove.machine.abi import Abi
from gfsmith.prove.machine.architecture import (
    RETURN,
    Architecture,
    Decode,
    Flow,
    Instruction,
    Start,
    by_bytes,
)
from gfsmith.prove.machine.constants import TABLE_OF_CONTENTS, address_of
from gfsmith.prove.machine.formats.image import Function, Image, Reference
from gfsmith.prove.machine.instruction_table import step
from gfsmith.prove.machine.linear import Address, Linear, Word, add, base, subtract, symbol
from gfsmith.prove.machine.memory import Memory
from gfsmith.prove.machine.modular import total
from gfsmith.prove.machine.operands import Vector, word
from gfsmith.prove.machine.power.decode import PREFIXED, WORD, Decoded, Place, decode, width
from gfsmith.prove.machine.power.registers import (
    ABIS,
    GENERAL,
    MACHINE,
    STACK_ALIGNMENT,
    VECTOR_BYTES,
    VECTORS,
)
from gfsmith.prove.machine.power.semantics import TABLE
from gfsmith.prove.machine.power.semantics.conditions import test_bit
from gfsmith.prove.machine.power.semantics.operands import write
from gfsmith.prove.machine.state import Condition, Difference, Flags, State
from gfsmith.prove.verdict import Refutation

#: Versions of the instruction set by their vectors; each contains those before it.
_VERSIONS = ("ALTIVEC", "VSX207", "VSX300", "VSX310")
#: The first version of instructions with vectors that is not VSX207.
VERSION = {
    **dict.fromkeys(("lvx", "stvx", "vperm", "vnot", "vxor", "vand", "vmr"), "ALTIVEC"),
    **dict.fromkeys(("vaddubm", "vsububm", "vslb", "vsrb", "vsrab", "vspltisb", "vspltisw"), "ALTIVEC"),
    **dict.fromkeys(("lxv", "stxv", "lxvx", "stxvx", "lxvl", "stxvl", "xxspltib"), "VSX300"),
    "xxeval": "VSX310",
}
#: A prefixed instruction must not cross a multiple of this number of bytes (Power ISA 3.1, 1.6).
_BOUNDARY = 64


def _flow(found: Decoded) -> Flow:
    branch = found.branch
    if branch is None:
        return Flow.OTHER if found.mnemonic in _ELSEWHERE else Flow.NEXT
    if branch.links:
        return Flow.OTHER
    if branch.bit is not None or branch.counts:
        return Flow.BRANCH
    return Flow.RETURN if branch.returns else Flow.JUMP


_ELSEWHERE = frozenset({"bctr", "bctrl", "sc", "trap"})


#: Forms whose number may be the lower half of a relocated one.
_DISPLACED = frozenset({"addi r r #", "ld r [r]", "lwz r [r]", "lbz r [r]", "lfd v [r]"})


def _step(state: State, instruction: Instruction) -> None:
    """Execute an instruction; where the linker puts a number into it, with that."""
    found: Decoded = instruction.raw
    assert isinstance(state.memory, Memory)
    _check_boundary(state.memory, instruction)
    reference = state.memory.constants.reference(instruction.ip, instruction.next_ip - instruction.ip)
    if reference is None:
        step(TABLE, state, found)
        return
    value = state.memory.constants.value(reference)
    low = symbol(Address(f"low 16 bits of {value}"))
    number = {"high": subtract(value, low), "low": low}.get(reference.part, value)
    last = found.operands[-1]
    if isinstance(last, Place):
        step(
            TABLE, state, found._replace(operands=(*found.operands[:-1], last._replace(displacement=number)))
        )
    else:
        write(state, found.operands[0], total(word(state, found.operands[1]), number))


class Power:
    """POWER8 to POWER10, little endian, with the vector-scalar extension."""

    name = MACHINE
    general: tuple[str, ...] = GENERAL
    stack_pointer = "r1"
    alignment = STACK_ALIGNMENT
    vectors = VECTORS
    vector_bytes = VECTOR_BYTES
    vector_name = "vs"
    masks = 0
    abis: Mapping[str, Abi] = ABIS

    def decode(self, code: bytes, ip: int) -> Instruction | None:
        if len(code) < WORD:
            return None
        word, size = int.from_bytes(code[:WORD], "little"), width(code)
        found = decode(code[:size], ip) if word else None
        if found is None:  # zeros, the end of a traceback table, lie behind functions
            return Instruction(ip, ip + WORD, Flow.OTHER, f".long {word:#010x}", filling=not word)
        flow, target = _flow(found), 0
        if found.branch is not None:
            target = RETURN if found.branch.returns else found.branch.target
        return Instruction(ip, ip + size, flow, found, target, found.form == "nop")

    def decoder(self, image: Image, function: Function) -> Decode:
        return by_bytes(self.decode, PREFIXED, image, function)

    def features(self, isa: Isa, granted: Iterable[str] = ()) -> tuple[str, ...]:
        features = {*isa.cpu_flags, *granted}
        newest = max((_VERSIONS.index(flag) for flag in features if flag in _VERSIONS), default=-1)
        return tuple(sorted(features.union(_VERSIONS[: newest + 1])))

    def lengthened(self, features: tuple[str, ...]) -> tuple[Architecture, ...]:
        return ()

    def lacks(self, instruction: Instruction, features: tuple[str, ...]) -> str | None:
        found = instruction.raw
        if not isinstance(found, Decoded) or not any(isinstance(o, Vector) for o in found.operands):
            return None
        needed = VERSION.get(found.mnemonic, "VSX207")
        newer = _VERSIONS[_VERSIONS.index(needed) :]
        return None if any(version in features for version in newer) else needed

    def is_linked(self, instruction: Instruction, reference: Reference) -> bool:
        """Return True for addis with the upper half of a number, and for addi and loads with the lower half
        or the whole number."""
        found = instruction.raw
        if not isinstance(found, Decoded) or not instruction.ip <= reference.place < instruction.next_ip:
            return False
        if reference.part == "high":
            return found.form == "addis r r #"
        return reference.part in ("low", "whole") and found.form in _DISPLACED

    def starts(self, image: Image, function: Function) -> tuple[Start, ...]:
        """Return the entry points. If the function uses a table of contents there are two: calls through a
        pointer enter with the function's address in r12, calls from the same module with the address of the
        table of contents in r2. Otherwise there is one, which does not change r2."""
        if not function.local:
            unchanged: dict[str, Word] = {"r2": symbol("entry_r2")}
            return (Start(function.address, unchanged, unchanged),)
        table: dict[str, Word] = {"r2": TABLE_OF_CONTENTS}
        return (
            Start(function.address, {"r12": address_of(image, function.address)}, {}),
            Start(function.address + function.local, table, table),
        )

    def execute(self, state: State, instruction: Instruction) -> None:
        if instruction.flow is Flow.BRANCH:
            if instruction.raw.branch.counts:
                state.gpr["ctr"] = _decreased(state.word("ctr"))
        elif instruction.flow is Flow.NEXT:
            before = state.gpr["r1"]
            _step(state, instruction)
            if state.gpr["r1"] is not before:
                _check_back_chain(state)

    def test(self, state: State, instruction: Instruction) -> tuple[Flags, Condition]:
        branch = instruction.raw.branch
        if branch.bit is not None:
            return test_bit(state, branch.bit, branch.wanted)
        condition = Condition.EQUAL if branch.zero else Condition.NOT_EQUAL
        return Difference(state.word("ctr"), 0, 8), condition

    def check_unwind(
        self, image: Image, name: str, abi: Abi, reached: Mapping[int, tuple[Instruction, list[State]]]
    ) -> None:
        """Check nothing: a compiler writes these tables."""


def _decreased(counter: Word) -> Word:
    return (counter - 1) % (1 << 64) if isinstance(counter, int) else add(counter, -1)


def _check_boundary(memory: Memory, instruction: Instruction) -> None:
    """Check that a prefixed instruction does not cross a boundary, wherever the linker puts its section."""
    if instruction.next_ip - instruction.ip != PREFIXED:
        return
    place = address_of(memory.constants.image, instruction.ip)
    found = base(place)
    assert found is not None and isinstance(found[0].index, int) and isinstance(found[1], int)
    if found[1] % _BOUNDARY + PREFIXED > _BOUNDARY:
        raise Refutation(f"{instruction} crosses a multiple of {_BOUNDARY} bytes")
    if not memory.constants.is_aligned(found[0].index, 0, _BOUNDARY):
        raise Refutation(
            f"{instruction} may cross a multiple of {_BOUNDARY} bytes: its section is not aligned"
        )


def _check_back_chain(state: State) -> None:
    """Check that r1 always points to its previous value, up to the frame of the caller (2.2.2.1)."""
    pointer = state.gpr["r1"]
    place = base(pointer) if isinstance(pointer, Linear) else None
    if place is None or place[0] != Address("stack"):
        return  # move_stack refutes that
    assert isinstance(state.memory, Memory)
    if place[1] != 0 and state.memory.stack.slots.get(place[1]) != (symbol(Address("stack")), 8):
        raise Refutation("r1 moves, but not the back chain that it must point to")
