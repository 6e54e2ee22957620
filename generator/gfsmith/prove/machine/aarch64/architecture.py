"""The description of AArch64 for the prover's core."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gfsmith.kernel.isa import Isa
from gfsmith.prove.machine.aarch64.decode import Decoded, Place
from gfsmith.prove.machine.aarch64.registers import (
    ABIS,
    GENERAL,
    MACHINE,
    PREDICATES,
    SCALABLE_BYTES,
    STACK_ALIGNMENT,
    VECTOR_BYTES,
    VECTORS,
)
from gfsmith.prove.machine.aarch64.scalable import PREFIX, decode, is_prefixed
from gfsmith.prove.machine.aarch64.semantics import TABLE, scalable
from gfsmith.prove.machine.aarch64.semantics.operands import (
    CONDITIONS,
    general,
    immediate,
    total,
    vector,
    word,
    write,
    write_vector,
)
from gfsmith.prove.machine.abi import Abi
from gfsmith.prove.machine.architecture import Architecture, Decode, Flow, Instruction, Start, by_bytes
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.formats.image import Function, Image, Reference
from gfsmith.prove.machine.instruction_table import step
from gfsmith.prove.machine.linear import Address, Word, subtract, symbol
from gfsmith.prove.machine.memory import Memory
from gfsmith.prove.machine.state import Condition, Difference, Flags, State
from gfsmith.prove.machine.substitution import field

_BRANCHES = frozenset({"cbz x #", "cbz w #", "cbnz x #", "cbnz w #"})
_BIT_BRANCHES = frozenset({"tbz x # #", "tbz w # #", "tbnz x # #", "tbnz w # #"})
_LITERALS = frozenset({"ldr q #", "ldr d #", "ldr s #"})  #: loads from a place in the code
_WORD = 4
#: Form -> the feature beyond Advanced SIMD that the instruction needs, by its name in isa.py.
_FEATURES = {
    "eor3 16b 16b 16b 16b": "SHA3",
    **dict.fromkeys(("pmull 1q 1d 1d", "pmull2 1q 2d 2d"), "PMULL"),
    **{form: "CRC32" for form in TABLE if form.startswith("crc32")},
    **dict.fromkeys(scalable.TABLE, "SVE"),
    **dict.fromkeys(scalable.SVE2, "SVE2"),
}


def _flow(found: Decoded) -> Flow:
    if found.form == "b #":
        return Flow.BRANCH if found.condition else Flow.JUMP
    if found.form in _BRANCHES or found.form in _BIT_BRANCHES:
        return Flow.BRANCH
    if found.form in ("ret", "ret x"):
        target = found.operands[0] if found.operands else None
        return Flow.RETURN if target is None or general(target).name == "x30" else Flow.OTHER
    return Flow.OTHER if found.mnemonic in ("bl", "br", "blr", "svc", "brk", "b") else Flow.NEXT


def _low_bits(value: Word) -> Word:
    """Return the low 12 bits of an address, which adrp clears."""
    return symbol(Address(f"low 12 bits of {value}"))


def _address(state: State, found: Decoded) -> Word:
    """Return the result of adr or the place of a literal, an address; or of adrp, the address of its page."""
    assert isinstance(state.memory, Memory)
    constants = state.memory.constants
    reference = constants.reference(found.address, _WORD)
    if reference is not None:
        goal = constants.value(reference)
        return subtract(goal, _low_bits(goal)) if found.mnemonic == "adrp" else goal
    if found.mnemonic == "adrp" and not constants.is_page_aligned(found.address):
        raise Unsupported(f"{found}: the page of code that may be anywhere")
    return constants.relative(found.address, found.address + _WORD, immediate(found.operands[1]))


class AArch64:
    """AArch64, little endian, with Advanced SIMD, the SHA-3 extension's eor3, and SVE with vectors of
    `vector_bytes`."""

    name = MACHINE
    general: tuple[str, ...] = GENERAL
    stack_pointer = "sp"
    alignment = STACK_ALIGNMENT
    vectors = VECTORS
    vector_name = "d"
    masks = PREDICATES
    abis: Mapping[str, Abi] = ABIS

    def __init__(self, vector_bytes: int = VECTOR_BYTES) -> None:
        self.vector_bytes = vector_bytes

    def decode(self, code: bytes, ip: int) -> Instruction | None:
        if len(code) < _WORD or not any(code[:_WORD]):
            return None
        found = decode(code[:_WORD], ip)
        if found is None:
            word = int.from_bytes(code[:_WORD], "little")
            return Instruction(ip, ip + _WORD, Flow.OTHER, f".inst {word:#010x}")
        flow = _flow(found)
        target = immediate(found.operands[-1]) if flow in (Flow.JUMP, Flow.BRANCH) else 0
        return Instruction(ip, ip + _WORD, flow, found, target, found.form == "nop")

    def decoder(self, image: Image, function: Function) -> Decode:
        plain = by_bytes(self.decode, _WORD, image, function)

        def at(ip: int) -> Instruction | None:
            found = plain(ip)
            if found is None or not isinstance(found.raw, Decoded) or found.raw.form != PREFIX:
                return found
            behind = plain(found.next_ip)
            if behind is not None and isinstance(behind.raw, Decoded) and is_prefixed(found.raw, behind.raw):
                return found
            return replace(found, flow=Flow.OTHER)

        return at

    def features(self, isa: Isa, granted: Iterable[str] = ()) -> tuple[str, ...]:
        found = {*isa.cpu_flags, *granted}
        return tuple(sorted(found | {"SVE"} if "SVE2" in found else found))

    def lengthened(self, features: tuple[str, ...]) -> tuple[Architecture, ...]:
        return tuple(map(AArch64, SCALABLE_BYTES)) if "SVE" in features else ()

    def lacks(self, instruction: Instruction, features: tuple[str, ...]) -> str | None:
        if not isinstance(instruction.raw, Decoded):
            return None
        needed = _FEATURES.get(instruction.raw.form)
        return None if needed in features else needed

    def is_linked(self, instruction: Instruction, reference: Reference) -> bool:
        """Return True for adrp and adr, and for an instruction that adds or displaces by the low bits of an
        address."""
        found = instruction.raw
        if not isinstance(found, Decoded) or reference.place != instruction.ip:
            return False
        if reference.part == "high":
            return found.form == "adrp x #"
        if reference.part == "whole":
            return found.form == "adr x #"
        displaced = found.form.endswith(" [x]") and found.mnemonic in ("ldr", "ldrb", "ldrh")
        return reference.part == "low" and (found.form == "add x x #" or displaced)

    def starts(self, image: Image, function: Function) -> tuple[Start, ...]:
        return (Start(function.address, {}, {}),)

    def execute(self, state: State, instruction: Instruction) -> None:
        if instruction.flow is not Flow.NEXT:
            return
        found: Decoded = instruction.raw
        if found.mnemonic in ("adr", "adrp"):
            write(state, general(found.operands[0]), _address(state, found))
            return
        assert isinstance(state.memory, Memory)
        if found.form in _LITERALS:
            target = vector(found.operands[0])
            write_vector(state, target, state.memory.load(_address(state, found), target.size))
            return
        reference = state.memory.constants.reference(instruction.ip, _WORD)
        if reference is None:
            step(TABLE, state, found)
            return
        low = _low_bits(state.memory.constants.value(reference))
        if found.form == "add x x #":
            write(state, general(found.operands[0]), total(word(state, found.operands[1], found), low, 8))
        else:
            where = found.operands[-1]
            assert isinstance(where, Place)
            moved = (*found.operands[:-1], where._replace(displacement=low))
            step(TABLE, state, found._replace(operands=moved))

    def test(self, state: State, instruction: Instruction) -> tuple[Flags, Condition]:
        found: Decoded = instruction.raw
        if found.condition:
            if found.condition not in CONDITIONS:
                raise Unsupported(f"a branch of condition '{found.condition}'")
            return state.flags, CONDITIONS[found.condition]
        condition = Condition.NOT_EQUAL if "nz" in found.mnemonic else Condition.EQUAL
        register = general(found.operands[0])
        if found.form not in _BIT_BRANCHES:
            return Difference(word(state, register, found), 0, register.size), condition
        value = word(state, register._replace(size=8), found)
        bit = field(state, value, immediate(found.operands[1]), 1)
        return Difference(bit, 0, 8, logical=True), condition

    def check_unwind(
        self, image: Image, name: str, abi: Abi, reached: Mapping[int, tuple[Instruction, list[State]]]
    ) -> None:
        """Check nothing: a compiler writes these tables."""
