"""AArch64 as the prover's core sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gfsmith.prove.machine.aarch64.decode import Decoded, decode
from gfsmith.prove.machine.aarch64.registers import (
    ABIS,
    GENERAL,
    MACHINE,
    STACK_ALIGNMENT,
    VECTOR_BYTES,
    VECTORS,
)
from gfsmith.prove.machine.aarch64.semantics import TABLE
from gfsmith.prove.machine.aarch64.semantics.operands import CONDITIONS, general, immediate, word
from gfsmith.prove.machine.arch import Abi, Flow, Instruction, Start
from gfsmith.prove.machine.branch import Condition
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.forms import step
from gfsmith.prove.machine.image import Function, Image
from gfsmith.prove.machine.linear import Linear
from gfsmith.prove.machine.state import Difference, Flags, Known, State

_BRANCHES = frozenset({"cbz x #", "cbz w #", "cbnz x #", "cbnz w #"})
_BIT_BRANCHES = frozenset({"tbz x # #", "tbz w # #", "tbnz x # #", "tbnz w # #"})
_WORD = 4
#: What more than Advanced SIMD an instruction needs, as isa.py calls it.
_FEATURES = {"eor3": "SHA3"}


def _flow(found: Decoded) -> Flow:
    if found.form == "b #":
        return Flow.BRANCH if found.condition else Flow.JUMP
    if found.form in _BRANCHES or found.form in _BIT_BRANCHES:
        return Flow.BRANCH
    if found.form in ("ret", "ret x"):
        target = found.operands[0] if found.operands else None
        return Flow.RETURN if target is None or general(target).name == "x30" else Flow.OTHER
    return Flow.OTHER if found.mnemonic in ("bl", "br", "blr", "svc", "brk", "b") else Flow.NEXT


class AArch64:
    """AArch64, little endian, with Advanced SIMD and the SHA-3 extension's eor3."""

    name = MACHINE
    general: tuple[str, ...] = GENERAL
    stack_pointer = "sp"
    alignment = STACK_ALIGNMENT
    vectors = VECTORS
    vector_bytes = VECTOR_BYTES
    vector_name = "d"
    masks = 0
    longest = _WORD
    abis: Mapping[str, Abi] = ABIS

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

    def features(self, cpu_flags: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(cpu_flags))

    def lacks(self, instruction: Instruction, features: tuple[str, ...]) -> str | None:
        if not isinstance(instruction.raw, Decoded):
            return None
        needed = _FEATURES.get(instruction.raw.mnemonic)
        return None if needed in features else needed

    def starts(self, image: Image, function: Function) -> tuple[Start, ...]:
        return (Start(function.address, {}, {}),)

    def execute(self, state: State, instruction: Instruction) -> None:
        if instruction.flow is Flow.NEXT:
            step(TABLE, state, instruction.raw)

    def test(self, state: State, instruction: Instruction) -> tuple[Flags, Condition]:
        found: Decoded = instruction.raw
        if found.condition:
            if found.condition not in CONDITIONS:
                raise Unsupported(f"a branch of condition '{found.condition}'")
            return state.flags, CONDITIONS[found.condition]
        condition = Condition.NOT_EQUAL if "nz" in found.mnemonic else Condition.EQUAL
        value = word(state, found.operands[0], found)
        if found.form not in _BIT_BRANCHES:
            return Difference(value, 0, general(found.operands[0]).size), condition
        bit = immediate(found.operands[1])
        if isinstance(value, Linear):
            raise Unsupported(f"a branch on a bit of {value}")
        return Known(None, not value >> bit & 1, None, None), condition

    def check_unwind(
        self, image: Image, name: str, abi: Abi, reached: Mapping[int, tuple[Instruction, State]]
    ) -> None:
        """Compilers make these tables; they are not checked."""
