"""The description of s390x for the prover's core."""

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
from gfsmith.prove.machine.formats.image import Function, Image, Reference
from gfsmith.prove.machine.instruction_table import step
from gfsmith.prove.machine.linear import Word, add
from gfsmith.prove.machine.operands import Vector, immediate, word
from gfsmith.prove.machine.s390x.decode import LONGEST, Decoded, decode, width
from gfsmith.prove.machine.s390x.registers import (
    ABIS,
    GENERAL,
    MACHINE,
    STACK_ALIGNMENT,
    VECTOR_BYTES,
    VECTORS,
)
from gfsmith.prove.machine.s390x.semantics import TABLE
from gfsmith.prove.machine.s390x.semantics.conditions import comparison, test, test_code
from gfsmith.prove.machine.s390x.semantics.operands import low_word, write
from gfsmith.prove.machine.state import Condition, Difference, Flags, State

_ALWAYS, _NEVER = 15, 0  #: masks of branches
_VECTORS = "VX"
#: General instructions that are newer than the oldest supported processor, z10, and part of all with vectors.
_NEWER = frozenset({"agrk", "sgrk", "ahik", "aghik", "alghsik", "risbgn", "locghi"})
_LARL = "larl r #"


class S390x:
    """z13, with its vector facility."""

    name = MACHINE
    general: tuple[str, ...] = GENERAL
    stack_pointer = "r15"
    alignment = STACK_ALIGNMENT
    vectors = VECTORS
    vector_bytes = VECTOR_BYTES
    vector_name = "v"
    masks = 0
    abis: Mapping[str, Abi] = ABIS

    def decode(self, code: bytes, ip: int) -> Instruction | None:
        if len(code) < 2:
            return None
        size = width(code)
        found = decode(code[:size], ip)
        if found is None:
            return Instruction(ip, ip + 2, Flow.OTHER, f".short {code[:2].hex()}", filling=not any(code[:2]))
        if found.branch is None:
            filling = found.mnemonic == "bcr" and not code[1] >> 4
            return Instruction(ip, ip + size, Flow.NEXT, found, filling=filling)
        branch, flow = found.branch, Flow.BRANCH
        if branch.compared is None and not branch.counts and branch.mask == _ALWAYS:
            flow = Flow.RETURN if branch.returns else Flow.JUMP
        elif branch.compared is None and not branch.counts and branch.mask == _NEVER:
            flow = Flow.NEXT
        target = RETURN if branch.returns else branch.target
        return Instruction(ip, ip + size, flow, found, target, flow is Flow.NEXT)

    def decoder(self, image: Image, function: Function) -> Decode:
        return by_bytes(self.decode, LONGEST, image, function)

    def features(self, isa: Isa, granted: Iterable[str] = ()) -> tuple[str, ...]:
        return (*isa.cpu_flags, *granted)

    def lengthened(self, features: tuple[str, ...]) -> tuple[Architecture, ...]:
        return ()

    def lacks(self, instruction: Instruction, features: tuple[str, ...]) -> str | None:
        found = instruction.raw
        if not isinstance(found, Decoded) or _VECTORS in features:
            return None
        vectors = found.mnemonic.startswith("v") and any(isinstance(o, Vector) for o in found.operands)
        return _VECTORS if vectors or found.mnemonic in _NEWER else None

    def is_linked(self, instruction: Instruction, reference: Reference) -> bool:
        """Return True for larl with the distance of a symbol of the file."""
        found = instruction.raw
        linked = reference.part == "relative" and reference.place == instruction.ip + 2
        return isinstance(found, Decoded) and found.form == _LARL and linked

    def starts(self, image: Image, function: Function) -> tuple[Start, ...]:
        return (Start(function.address, {}, {}),)

    def execute(self, state: State, instruction: Instruction) -> None:
        found: Decoded = instruction.raw
        if instruction.flow is Flow.BRANCH:
            if found.branch is not None and found.branch.counts:
                state.gpr[found.branch.counts] = _decreased(state.word(found.branch.counts))
        elif found.form == _LARL:
            target = immediate(found.operands[1])
            address = state.memory.relative(instruction.ip, instruction.next_ip, target)
            write(state, found.operands[0], address)
        elif not instruction.filling:
            step(TABLE, state, found)

    def test(self, state: State, instruction: Instruction) -> tuple[Flags, Condition]:
        branch = instruction.raw.branch
        if branch.counts:
            return Difference(state.word(branch.counts), 0, 8), Condition.NOT_EQUAL
        if branch.compared is None:
            return test_code(state, branch.mask)
        read = word if branch.size == 8 else low_word
        left, right = (read(state, operand) for operand in branch.compared)
        return test(comparison(left, right, branch.size, branch.signed), branch.mask)

    def check_unwind(
        self, image: Image, name: str, abi: Abi, reached: Mapping[int, tuple[Instruction, list[State]]]
    ) -> None:
        """Check nothing: a compiler writes these tables."""


def _decreased(counter: Word) -> Word:
    return (counter - 1) % (1 << 64) if isinstance(counter, int) else add(counter, -1)
