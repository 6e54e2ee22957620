"""The description of x86-64 for the prover's core."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from iced_x86 import CpuidFeature, Decoder, FlowControl, OpKind, Register
from iced_x86 import Instruction as Raw

from gfsmith.kernel.isa import Isa
from gfsmith.prove.machine.abi import Abi
from gfsmith.prove.machine.architecture import (
    Architecture,
    Decode,
    Flow,
    Instruction,
    Start,
    by_bytes,
    move_stack,
)
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.formats.image import Function, Image, Reference
from gfsmith.prove.machine.linear import add
from gfsmith.prove.machine.state import Condition, Flags, Opaque, State
from gfsmith.prove.machine.x86 import encoding
from gfsmith.prove.machine.x86.padding import MACHINE
from gfsmith.prove.machine.x86.registers import ABIS, GENERAL, MASKS, VECTOR_BYTES, VECTORS
from gfsmith.prove.machine.x86.semantics import step
from gfsmith.prove.machine.x86.semantics.conditions import CONDITIONS
from gfsmith.prove.machine.x86.semantics.operands import general_name
from gfsmith.prove.machine.x86.stackmap import check_unwind

#: Immediates of other sizes than one byte, in no instruction that has a reference.
_IMMEDIATES = frozenset(
    getattr(OpKind, name) for name in dir(OpKind) if name.startswith("IMMEDIATE") and name != "IMMEDIATE8"
)
#: Features that every x86-64 CPU has, or whose instructions it executes as no-ops.
_PLAIN = frozenset(
    {"X64", "CPUID", "CMOV", "FPU", "SSE", "SSE2", "MULTIBYTENOP", "CET_IBT", "PREFETCHW", "PAUSE"}
)
#: Feature -> features that a CPU with it also has (Intel SDM, volume 1, 13.2, 14.3 and 15.2).
_IMPLIED = (
    ("AVX512F", frozenset({"AVX", "AVX2"})),
    ("AVX", frozenset({"SSE3", "SSSE3", "SSE4_1", "SSE4_2"})),
    ("SSSE3", frozenset({"SSE3"})),
)


def with_implied(features: Iterable[str]) -> tuple[str, ...]:
    """Return features with those that a CPU with them also has."""
    found = set(features)
    for feature, implied in _IMPLIED:
        if feature in found:
            found |= implied
    return tuple(sorted(found))


@lru_cache(maxsize=1)
def _feature_names() -> dict[int, str]:
    return {getattr(CpuidFeature, n): n for n in dir(CpuidFeature) if n.isupper()}


def _flow(raw: Raw) -> Flow:
    if raw.code in encoding.JUMPS:
        return Flow.JUMP
    if raw.code in encoding.BRANCHES:
        return Flow.BRANCH
    if raw.code in encoding.RETURNS:
        return Flow.RETURN
    return Flow.NEXT if raw.flow_control == FlowControl.NEXT else Flow.OTHER


def _push_or_pop(state: State, raw: Raw) -> None:
    """Execute push or pop of 64 bits. `pop rsp` is unsupported, because it does not leave a frame."""
    rsp = state.word("rsp")
    name = general_name(raw.op0_register)
    if raw.op0_register == Register.RSP:
        raise Unsupported(f"{raw}")
    if raw.code in encoding.PUSHES:
        value = state.gpr[name]
        if isinstance(value, Opaque):
            raise Unsupported(f"{value} is pushed")
        state.gpr["rsp"] = add(rsp, -8)
        move_stack(state, "rsp")
        state.memory.store_word(add(rsp, -8), value, 8)
    else:
        state.gpr[name] = state.memory.load_word(rsp, 8)
        state.gpr["rsp"] = add(rsp, 8)


def _leave(state: State) -> None:
    """Execute leave: rsp = rbp, then pop rbp."""
    place = state.word("rbp")
    state.gpr["rbp"] = state.memory.load_word(place, 8)
    state.gpr["rsp"] = add(place, 8)


_LONGEST = 15  #: bytes of an instruction


class X86:
    """x86-64 with up to AVX-512, gfni."""

    name = MACHINE
    general: tuple[str, ...] = GENERAL
    stack_pointer = "rsp"
    alignment = 1
    vectors = VECTORS
    vector_bytes = VECTOR_BYTES
    vector_name = "xmm"
    masks = MASKS
    abis: Mapping[str, Abi] = ABIS

    def decode(self, code: bytes, ip: int) -> Instruction | None:
        raw = Decoder(64, code, ip=ip).decode()
        if raw.is_invalid:
            return None
        filling = raw.code in encoding.FILLING
        if encoding.irregular(raw, code):
            text = f"{raw}, with prefixes that CPUs treat differently"
            return Instruction(ip, raw.next_ip, Flow.OTHER, text, filling=filling)
        flow = _flow(raw)
        target = raw.near_branch_target if flow in (Flow.JUMP, Flow.BRANCH) else 0
        return Instruction(ip, raw.next_ip, flow, raw, target, filling)

    def decoder(self, image: Image, function: Function) -> Decode:
        return by_bytes(self.decode, _LONGEST, image, function)

    def features(self, isa: Isa, granted: Iterable[str] = ()) -> tuple[str, ...]:
        return with_implied({*isa.cpu_flags, *granted})

    def lengthened(self, features: tuple[str, ...]) -> tuple[Architecture, ...]:
        return ()

    def lacks(self, instruction: Instruction, features: tuple[str, ...]) -> str | None:
        if isinstance(instruction.raw, str):
            return None
        for number in instruction.raw.cpuid_features():
            name = _feature_names()[number]
            if not name.startswith("INTEL") and name not in _PLAIN and name not in features:
                return name
        return None

    def is_linked(self, instruction: Instruction, reference: Reference) -> bool:
        """Return True for an operand relative to the instruction, whose field of four bytes the linker fills
        in."""
        raw = instruction.raw
        if isinstance(raw, str) or reference.part != "relative" or not raw.is_ip_rel_memory_operand:
            return False
        behind = 1 if OpKind.IMMEDIATE8 in map(raw.op_kind, range(raw.op_count)) else 0
        wide = any(raw.op_kind(n) in _IMMEDIATES for n in range(raw.op_count))
        return not wide and reference.place + 4 + behind == instruction.next_ip

    def starts(self, image: Image, function: Function) -> tuple[Start, ...]:
        return (Start(function.address, {}, {}),)

    def execute(self, state: State, instruction: Instruction) -> None:
        raw = instruction.raw
        if instruction.flow is not Flow.NEXT:
            return
        if raw.code in encoding.PUSHES or raw.code in encoding.POPS:
            _push_or_pop(state, raw)
        elif raw.code in encoding.LEAVES:
            _leave(state)
        elif raw.code not in encoding.LANDINGS:
            step(state, raw)

    def test(self, state: State, instruction: Instruction) -> tuple[Flags, Condition]:
        code = instruction.raw.condition_code
        if code not in CONDITIONS:
            raise Unsupported(f"a branch of condition {code}")
        return state.flags, CONDITIONS[code]

    def check_unwind(
        self, image: Image, name: str, abi: Abi, reached: Mapping[int, tuple[Instruction, list[State]]]
    ) -> None:
        check_unwind(image, name, abi, reached)
