"""Wrong semantics, one error each, that the comparison with the CPU must detect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from iced_x86 import Instruction, OpKind, Register, RegisterExt

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.state import Known, State
from tests.system.cosim.x86.compare import gpr_int
from tests.system.cosim.x86.cpu import Level

Meaning = Callable[[State, Instruction], None]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A form and a wrong meaning of it. symbolic: the error shows only with unknown data. level: the least
    vector state that shows it.
    """

    name: str
    form: str
    change: Callable[[Meaning], Meaning]
    symbolic: bool = False
    level: Level = Level.SSE


def another(edit: Callable[[Instruction], None]) -> Callable[[Meaning], Meaning]:
    """Return the meaning of an instruction with other operands."""

    def change(meaning: Meaning) -> Meaning:
        def wrong(state: State, instr: Instruction) -> None:
            other = instr.copy()
            edit(other)
            meaning(state, other)

        return wrong

    return change


def afterwards(edit: Callable[[State, State, Instruction], None]) -> Callable[[Meaning], Meaning]:
    """Return the meaning followed by `edit` of the state before, the state after and the instruction."""

    def change(meaning: Meaning) -> Meaning:
        def wrong(state: State, instr: Instruction) -> None:
            before = State(dict(state.gpr), list(state.vectors), list(state.masks), state.memory)
            before.flags = state.flags
            meaning(state, instr)
            edit(before, state, instr)

        return wrong

    return change


def _destination(instr: Instruction) -> int:
    return RegisterExt.number(instr.op0_register)


def _one_more(instr: Instruction) -> None:
    instr.immediate8 = instr.immediate8 + 1 & 0xFF


def _unscaled(instr: Instruction) -> None:
    """disp8 as if EVEX did not scale it."""
    if instr.len < 9 and instr.memory_base not in (Register.NONE, Register.RIP):
        signed = instr.memory_displacement - (instr.memory_displacement >> 63 << 64)
        instr.memory_displacement = signed // 64 % (1 << 64)


def _other_masking(instr: Instruction) -> None:
    instr.zeroing_masking = instr.has_op_mask and not instr.zeroing_masking


def _unmasked(instr: Instruction) -> None:
    instr.op_mask = Register.NONE


def _swapped(instr: Instruction) -> None:
    if instr.op1_kind == instr.op2_kind == OpKind.REGISTER:
        first, second = instr.op1_register, instr.op2_register
        instr.op1_register, instr.op2_register = second, first


def _keep_upper(first: int, end: int) -> Callable[[State, State, Instruction], None]:
    def edit(before: State, after: State, instr: Instruction) -> None:
        number = _destination(instr)
        old, new = before.vectors[number], after.vectors[number]
        kept = [*domain.cut(new, 0, first), *domain.cut(old, first, end), *domain.cut(new, end, 64)]
        after.vectors[number] = domain.merge(kept)

    return edit


def _clear_upper(before: State, after: State, instr: Instruction) -> None:
    low = domain.cut(after.vectors[_destination(instr)], 0, 16)
    after.vectors[_destination(instr)] = domain.merge([*low, *domain.zeros(48)])


def _keep_upper_word(before: State, after: State, instr: Instruction) -> None:
    if instr.op0_kind == OpKind.REGISTER:
        name = f"{RegisterExt.full_register(instr.op0_register)}"
        for register in after.gpr:
            if getattr(Register, register.upper()) == int(name):
                after.gpr[register] = gpr_int(before, register) >> 32 << 32 | gpr_int(after, register)


def _flags(**changes: bool) -> Callable[[State, State, Instruction], None]:
    """Fixed values for some flags."""

    def edit(before: State, after: State, instr: Instruction) -> None:
        known = {name: after.flag(name) for name in ("cf", "zf", "sf", "of")}
        after.flags = Known(**{**known, **changes})

    return edit


def _keep_flags(before: State, after: State, instr: Instruction) -> None:
    after.flags = before.flags


def _ignore_bit_7(before: State, after: State, instr: Instruction) -> None:
    """pshufb as if only the low four bits of the index mattered."""
    if instr.op1_kind == OpKind.REGISTER:
        number, index = _destination(instr), before.vector_bytes(RegisterExt.number(instr.op1_register))
        table = before.vector_bytes(number)
        low = bytes(table[byte & 15] for byte in index[:16])
        after.vectors[number] = domain.constant_runs(low + table[16:])


def _clean(before: State, after: State, instr: Instruction) -> None:
    after.dirty = False


def _one_shard(before: State, after: State, instr: Instruction) -> None:
    """Data as if the run began one byte later in its shard."""
    number = _destination(instr)
    after.vectors[number] = tuple((length, domain.shift(piece, 1)) for length, piece in after.vectors[number])


_VEX_XOR_YMM = "VEX_VPXOR_YMM_YMM_YMMM256"
_XORQ = "EVEX_VPXORQ_ZMM_K1Z_ZMM_ZMMM512B64"
_XORD_YMM = "EVEX_VPXORD_YMM_K1Z_YMM_YMMM256B32"
_LOAD_YMM = "EVEX_VMOVDQU8_YMM_K1Z_YMMM256"
_LOAD = "EVEX_VMOVDQU8_ZMM_K1Z_ZMMM512"
_STORE = "EVEX_VMOVDQU8_ZMMM512_K1Z_ZMM"

_INSERT_HALF = "EVEX_VINSERTI64X4_ZMM_K1Z_ZMM_YMMM256_IMM8"
_INSERT_GROUP = "EVEX_VINSERTI32X4_ZMM_K1Z_ZMM_XMMM128_IMM8"
_EXPAND = "EVEX_VPEXPANDB_ZMM_K1Z_ZMMM512"
_COMPRESS = "EVEX_VPCOMPRESSB_ZMMM512_K1Z_ZMM"
_EXTRACT_HALF = "EVEX_VEXTRACTI64X4_YMMM256_K1Z_ZMM_IMM8"
MUTANTS = (
    Mutant("pshufb ignores bit 7", "PSHUFB_XMM_XMMM128", afterwards(_ignore_bit_7)),
    Mutant("psrlq by one more", "VEX_VPSRLQ_YMM_YMM_IMM8", another(_one_more)),
    Mutant("pshufb swaps sources", "VEX_VPSHUFB_YMM_YMM_YMMM256", another(_swapped)),
    Mutant("affine adds another constant", "GF2P8AFFINEQB_XMM_XMMM128_IMM8", another(_one_more)),
    Mutant("pclmulqdq takes another word", "PCLMULQDQ_XMM_XMMM128_IMM8", another(_one_more)),
    Mutant(
        "vpclmulqdq multiplies unknown data by another word",
        "VEX_VPCLMULQDQ_YMM_YMM_YMMM256_IMM8",
        another(_one_more),
        symbolic=True,
    ),
    Mutant("vextracti64x4 of the other half", _EXTRACT_HALF, another(_one_more), level=Level.AVX512),
    Mutant("VEX.128 keeps ymm", "VEX_VPXOR_XMM_XMM_XMMM128", afterwards(_keep_upper(16, 32))),
    Mutant("VEX.256 keeps zmm", _VEX_XOR_YMM, afterwards(_keep_upper(32, 64)), level=Level.AVX512),
    Mutant("EVEX.256 keeps zmm", _XORD_YMM, afterwards(_keep_upper(32, 64))),
    Mutant("narrow load mask is ignored", _LOAD_YMM, another(_unmasked)),
    Mutant("SSE clears ymm", "PXOR_XMM_XMMM128", afterwards(_clear_upper)),
    Mutant("disp8 is not scaled", _XORQ, another(_unscaled)),
    Mutant("masking merges for zeroes", _XORQ, another(_other_masking)),
    Mutant("load mask is ignored", _LOAD, another(_unmasked)),
    Mutant("store mask is ignored", _STORE, another(_unmasked)),
    Mutant("ymm load leaves uppers clean", "VEX_VMOVDQU_YMM_YMMM256", afterwards(_clean)),
    Mutant("32 bits keep the upper half", "MOV_R32_IMM32", afterwards(_keep_upper_word)),
    Mutant("cmp never carries", "CMP_RM64_R64", afterwards(_flags(cf=False))),
    Mutant("cmp never overflows", "CMP_RM64_R64", afterwards(_flags(of=False))),
    Mutant("add keeps flags", "ADD_RM64_R64", afterwards(_keep_flags)),
    Mutant("lea sets flags", "LEA_R64_M", afterwards(_flags(zf=True))),
    Mutant("movddup of the wrong data", "MOVDDUP_XMM_XMMM64", afterwards(_one_shard), symbolic=True),
    Mutant("paddb of the wrong data", "PADDB_XMM_XMMM128", afterwards(_one_shard), symbolic=True),
    Mutant("compares the wrong data", "PCMPGTB_XMM_XMMM128", afterwards(_one_shard), symbolic=True),
    Mutant("xor of the wrong data", "PXOR_XMM_XMMM128", afterwards(_one_shard), symbolic=True),
    Mutant("crc32 keeps the upper half", "CRC32_R64_RM64", afterwards(_keep_upper_word)),
    Mutant("vinserti64x4 at the other half", _INSERT_HALF, another(_one_more), level=Level.AVX512),
    Mutant("vinserti32x4 at the next place", _INSERT_GROUP, another(_one_more), level=Level.AVX512),
    Mutant("vpexpandb without a mask", _EXPAND, another(_unmasked), level=Level.AVX512),
    Mutant("vpexpandb merges for zeroes", _EXPAND, another(_other_masking), level=Level.AVX512),
    Mutant("vpcompressb without a mask", _COMPRESS, another(_unmasked), level=Level.AVX512),
    Mutant("vpcompressb merges for zeroes", _COMPRESS, another(_other_masking), level=Level.AVX512),
    Mutant("shrd by one more", "SHRD_RM64_R64_IMM8", another(_one_more)),
    Mutant("shrx of the count", "VEX_SHRX_R64_RM64_R64", another(_swapped)),
    Mutant("shlx of the count", "VEX_SHLX_R64_RM64_R64", another(_swapped)),
    Mutant("xor of another byte", "XOR_RM8_IMM8", another(_one_more)),
    Mutant("shl of 32 bits keeps the upper half", "SHL_RM32_IMM8", afterwards(_keep_upper_word)),
    Mutant("pextrq of the other word", "PEXTRQ_RM64_XMM_IMM8", another(_one_more)),
    Mutant("shr of data by one more", "SHR_RM64_IMM8", another(_one_more), symbolic=True),
)
