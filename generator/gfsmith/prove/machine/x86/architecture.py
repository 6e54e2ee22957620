"""x86-64 as the prover's core sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from iced_x86 import Code, ConditionCode, CpuidFeature, Decoder, FlowControl, Mnemonic
from iced_x86 import Instruction as Raw

from gfsmith.prove.machine.arch import Abi, Flow, Instruction, Start, move_stack
from gfsmith.prove.machine.branch import Condition
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.image import Function, Image
from gfsmith.prove.machine.linear import add
from gfsmith.prove.machine.state import Flags, Opaque, State
from gfsmith.prove.machine.x86.filling import MACHINE
from gfsmith.prove.machine.x86.registers import ABIS, GENERAL, MASKS, VECTOR_BYTES, VECTORS
from gfsmith.prove.machine.x86.semantics import step
from gfsmith.prove.machine.x86.semantics.operands import general_name
from gfsmith.prove.machine.x86.stackmap import check_unwind

_CONDITIONS = {
    ConditionCode.B: Condition.BELOW,
    ConditionCode.AE: Condition.NOT_BELOW,
    ConditionCode.BE: Condition.NOT_ABOVE,
    ConditionCode.A: Condition.ABOVE,
    ConditionCode.E: Condition.EQUAL,
    ConditionCode.NE: Condition.NOT_EQUAL,
    ConditionCode.L: Condition.LESS,
    ConditionCode.GE: Condition.NOT_LESS,
    ConditionCode.LE: Condition.NOT_GREATER,
    ConditionCode.G: Condition.GREATER,
    ConditionCode.S: Condition.NEGATIVE,
    ConditionCode.NS: Condition.NOT_NEGATIVE,
}
#: What every x86-64 CPU has, or takes for a no-op.
_PLAIN = frozenset(
    {"X64", "CPUID", "CMOV", "FPU", "SSE", "SSE2", "MULTIBYTENOP", "CET_IBT", "PREFETCHW", "PAUSE"}
)
#: What a CPU with a feature has besides (Intel SDM, volume 1, 13.2, 14.3 and 15.2).
_IMPLIED = (
    ("AVX512F", frozenset({"AVX", "AVX2"})),
    ("AVX", frozenset({"SSE3", "SSSE3", "SSE4_1", "SSE4_2"})),
    ("SSSE3", frozenset({"SSE3"})),
)


@lru_cache(maxsize=1)
def _feature_names() -> dict[int, str]:
    return {getattr(CpuidFeature, n): n for n in dir(CpuidFeature) if n.isupper()}


def _flow(raw: Raw) -> Flow:
    match raw.flow_control:
        case FlowControl.NEXT:
            return Flow.NEXT
        case FlowControl.UNCONDITIONAL_BRANCH:
            return Flow.JUMP
        case FlowControl.CONDITIONAL_BRANCH if raw.is_jcc_short_or_near:
            return Flow.BRANCH
    return Flow.RETURN if raw.code == Code.RETNQ else Flow.OTHER


def _push_or_pop(state: State, raw: Raw) -> None:
    rsp = state.word("rsp")
    name = general_name(raw.op0_register)
    if raw.mnemonic == Mnemonic.PUSH:
        value = state.gpr[name]
        if isinstance(value, Opaque):
            raise Unsupported(f"{value} is pushed")
        state.gpr["rsp"] = add(rsp, -8)
        move_stack(state, "rsp")
        state.memory.store_word(add(rsp, -8), value, 8)
    else:
        state.gpr[name] = state.memory.load_word(rsp, 8)
        state.gpr["rsp"] = add(rsp, 8)


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
    longest = 15
    abis: Mapping[str, Abi] = ABIS

    def decode(self, code: bytes, ip: int) -> Instruction | None:
        raw = Decoder(64, code, ip=ip).decode()
        if raw.is_invalid:
            return None
        flow = _flow(raw)
        target = raw.near_branch_target if flow in (Flow.JUMP, Flow.BRANCH) else 0
        filling = raw.mnemonic in (Mnemonic.NOP, Mnemonic.INT3)
        return Instruction(ip, raw.next_ip, flow, raw, target, filling)

    def features(self, cpu_flags: Iterable[str]) -> tuple[str, ...]:
        features = set(cpu_flags)
        for feature, implied in _IMPLIED:
            if feature in features:
                features |= implied
        return tuple(sorted(features))

    def lacks(self, instruction: Instruction, features: tuple[str, ...]) -> str | None:
        for number in instruction.raw.cpuid_features():
            name = _feature_names()[number]
            if not name.startswith("INTEL") and name not in _PLAIN and name not in features:
                return name
        return None

    def starts(self, image: Image, function: Function) -> tuple[Start, ...]:
        return (Start(function.address, {}, {}),)

    def execute(self, state: State, instruction: Instruction) -> None:
        raw = instruction.raw
        if instruction.flow is not Flow.NEXT:
            return
        if raw.mnemonic in (Mnemonic.PUSH, Mnemonic.POP):
            _push_or_pop(state, raw)
        elif raw.mnemonic != Mnemonic.ENDBR64:
            step(state, raw)

    def test(self, state: State, instruction: Instruction) -> tuple[Flags, Condition]:
        code = instruction.raw.condition_code
        if code not in _CONDITIONS:
            raise Unsupported(f"a branch of condition {code}")
        return state.flags, _CONDITIONS[code]

    def check_unwind(
        self, image: Image, name: str, abi: Abi, reached: Mapping[int, tuple[Instruction, State]]
    ) -> None:
        check_unwind(image, name, abi, reached)
