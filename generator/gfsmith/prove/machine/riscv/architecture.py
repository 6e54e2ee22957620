"""The description of RISC-V for the prover's core."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gfsmith.kernel.isa import Isa
from gfsmith.prove.machine.abi import Abi
from gfsmith.prove.machine.architecture import Architecture, Decode, Flow, Instruction, Start
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.formats.image import Function, Image, Reference
from gfsmith.prove.machine.instruction_table import step
from gfsmith.prove.machine.linear import Address, Word, add, subtract, symbol
from gfsmith.prove.machine.memory import Memory
from gfsmith.prove.machine.modular import signed, wrap
from gfsmith.prove.machine.operands import General, Vector, immediate
from gfsmith.prove.machine.riscv.decode import Decoded, parse
from gfsmith.prove.machine.riscv.disassembler import Line, disassemble
from gfsmith.prove.machine.riscv.registers import (
    ABIS,
    GENERAL,
    LINK,
    MACHINE,
    STACK_ALIGNMENT,
    STACK_POINTER,
    VECTOR_BYTES,
    VECTORS,
    ZERO,
)
from gfsmith.prove.machine.riscv.semantics import TABLE
from gfsmith.prove.machine.riscv.semantics.operands import word, write
from gfsmith.prove.machine.state import Condition, Difference, Flags, State

_VECTORS = "RVV"
#: Extensions with instructions on general registers.
_EXTENSIONS = {"clmul": "ZBC", "clmulh": "ZBC", "rev8": "ZBB"}
_ADDRESS, _DISPLACED = "auipc r #", "addi r r #"
_WORD = 4
_NO_OPS = frozenset({"addi x0,x0,0", "c.addi x0,0"})
_UPPER = 20  #: bits of the number of auipc
#: Branches -> the condition on the first operand less the second, or less 0.
CONDITIONS = {
    "beq r r #": Condition.EQUAL,
    "bne r r #": Condition.NOT_EQUAL,
    "blt r r #": Condition.LESS,
    "bge r r #": Condition.NOT_LESS,
    "bltu r r #": Condition.BELOW,
    "bgeu r r #": Condition.NOT_BELOW,
    "c.beqz r #": Condition.EQUAL,
    "c.bnez r #": Condition.NOT_EQUAL,
}


def _flow(found: Decoded) -> tuple[Flow, int]:
    """Return the control flow and the offset of the target. Calls, and jumps to an address in a register
    other than that of the return, are Flow.OTHER."""
    last = found.operands[-1] if found.operands else None
    if found.form in CONDITIONS:
        assert last is not None
        return Flow.BRANCH, immediate(last)
    if found.form == "c.j #" or (found.form == "jal r #" and found.operands[0] == General(ZERO)):
        assert last is not None
        return Flow.JUMP, immediate(last)
    if found.form == "c.jr r" and last == General(LINK):
        return Flow.RETURN, 0
    return (Flow.NEXT if found.form in TABLE or found.form == _ADDRESS else Flow.OTHER), 0


def instruction_at(line: Line, origin: int) -> Instruction:
    """Return the instruction of a line of the disassembly of a function at `origin`."""
    found = parse(line.text)
    flow, target = _flow(found)
    ip = origin + line.offset
    filling = found.text in _NO_OPS
    return Instruction(ip, ip + line.size, flow, found, origin + target, filling)


class RiscV:
    """RISC-V of 64 bits with compressed instructions, multiplication and vectors of `vector_bytes` bytes."""

    name = MACHINE
    general: tuple[str, ...] = GENERAL
    stack_pointer = STACK_POINTER
    alignment = STACK_ALIGNMENT
    vectors = VECTORS
    vector_name = "v"
    masks = 0
    abis: Mapping[str, Abi] = ABIS

    def __init__(self, vector_bytes: int = VECTOR_BYTES[0]) -> None:
        self.vector_bytes = vector_bytes

    def lengthened(self, features: tuple[str, ...]) -> tuple[Architecture, ...]:
        return tuple(map(RiscV, VECTOR_BYTES)) if _VECTORS in features else ()

    def decoder(self, image: Image, function: Function) -> Decode:
        code = image.read(function.address, function.size) or b""
        found = [instruction_at(line, function.address) for line in disassemble(code)]
        known = {instruction.ip: instruction for instruction in found}

        def at(ip: int) -> Instruction:
            return known.get(ip) or Instruction(ip, ip + 2, Flow.OTHER, "a jump into an instruction")

        return at

    def features(self, isa: Isa, granted: Iterable[str] = ()) -> tuple[str, ...]:
        return tuple(sorted({*isa.cpu_flags, *granted}))

    def lacks(self, instruction: Instruction, features: tuple[str, ...]) -> str | None:
        found = instruction.raw
        if not isinstance(found, Decoded):
            return None
        needed = _EXTENSIONS.get(found.mnemonic)
        if needed is not None:
            return None if needed in features else needed
        if _VECTORS in features:
            return None
        vectors = any(isinstance(operand, Vector) for operand in found.operands)
        return _VECTORS if vectors or found.mnemonic.startswith("vset") or "vlenb" in found.form else None

    def is_linked(self, instruction: Instruction, reference: Reference) -> bool:
        """Return True for auipc with the upper bits of a distance, and addi with the lower ones."""
        found = instruction.raw
        if not isinstance(found, Decoded) or reference.place != instruction.ip:
            return False
        return (found.form, reference.part) in ((_ADDRESS, "high"), (_DISPLACED, "low"))

    def starts(self, image: Image, function: Function) -> tuple[Start, ...]:
        return (Start(function.address, {}, {}),)

    def execute(self, state: State, instruction: Instruction) -> None:
        if instruction.flow is not Flow.NEXT:
            return
        found: Decoded = instruction.raw
        assert isinstance(state.memory, Memory)
        reference = state.memory.constants.reference(instruction.ip, _WORD)
        if found.form == _ADDRESS:
            write(state, found.operands[0], _upper(state.memory, instruction, reference))
        elif reference is not None:
            low = _lower(state.memory, reference)
            write(state, found.operands[0], wrap(add(word(state, found.operands[1]), low)))
        else:
            step(TABLE, state, found)

    def test(self, state: State, instruction: Instruction) -> tuple[Flags, Condition]:
        found: Decoded = instruction.raw
        left, *others = (word(state, operand) for operand in found.operands[:-1])
        return Difference(left, others[0] if others else 0, 8), CONDITIONS[found.form]

    def check_unwind(
        self, image: Image, name: str, abi: Abi, reached: Mapping[int, tuple[Instruction, list[State]]]
    ) -> None:
        """Check nothing: a compiler writes these tables."""


def _low_bits(memory: Memory, reference: Reference) -> Word:
    """Return the low 12 bits, with their sign, of the distance of a relocation of auipc."""
    return symbol(Address(f"low 12 bits of {memory.constants.value(reference)} - {reference.place:#x}"))


def _upper(memory: Memory, instruction: Instruction, reference: Reference | None) -> Word:
    """Return the result of auipc: the goal of its relocation, less the bits that another instruction adds; or
    an address in the file."""
    if reference is not None:
        return subtract(memory.constants.value(reference), _low_bits(memory, reference))
    upper = signed(immediate(instruction.raw.operands[1]) << 64 - _UPPER) >> 64 - _UPPER
    return memory.relative(instruction.ip, instruction.next_ip, instruction.ip + (upper << 12))


def _lower(memory: Memory, reference: Reference) -> Word:
    """Return the number of an instruction whose relocation names an auipc. Raises Unsupported if that has
    none."""
    high = memory.constants.reference(reference.goal, _WORD)
    if high is None or high.place != reference.goal or high.part != "high":
        raise Unsupported("a relocation that names no auipc")
    return _low_bits(memory, high)
