"""The spelling of checksum routines in C: intrinsics of each architecture, and numbers of 64 bits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from gfsmith.emit.c.x86 import PREFIX, REPEAT
from gfsmith.ir.folding import DISTANCES, GROUP, LINE, WORD, Act, Instr
from gfsmith.kernel.architecture import Arch

#: Expressions for a vector that is 0 but for its first group.
_INSERT = {
    64: "_mm512_inserti32x4({zero}, {group}, 0)",
    32: "_mm256_inserti128_si256({zero}, {group}, 0)",
    16: "{group}",
}
#: The first halves of two vectors.
_JOIN = {64: "_mm512_shuffle_i64x2({}, 0x44)", 32: "_mm256_permute2x128_si256({}, 0x20)"}
_EXTRACT = {32: "_mm512_extracti64x4_epi64", 16: "_mm256_extracti128_si256"}


class Vectors(ABC):
    """The spelling of vectors on one architecture, and of words, which all spell alike. width: bytes of its
    vectors."""

    _store: ClassVar[str]  #: the function for ordinary stores

    def __init__(self, width: int) -> None:
        self.width = width

    def vector(self, width: int) -> str:
        """Return the type of a value of `width` bytes."""
        return _REGISTER if width == WORD else self._type(width)

    def expression(self, instr: Instr, args: Sequence[str]) -> str:
        """Return the value of an instruction."""
        if instr.width != WORD:
            return self._vector(instr, args)
        return self._extracted(args[0], instr.offset) if instr.act is Act.EXTRACT else _register(instr, args)

    def store(self, instr: Instr, value: str) -> str:
        """Return the store of a vector."""
        if instr.act is Act.STREAM:
            raise AssertionError(f"{self._store} does not store around the cache")
        return f"{self._store}({_place(instr)}, {value})"

    @abstractmethod
    def _type(self, width: int) -> str:
        """Return the type of a vector."""

    @abstractmethod
    def _vector(self, instr: Instr, args: Sequence[str]) -> str:
        """Return the value of an instruction with a vector as result."""

    @abstractmethod
    def _extracted(self, group: str, word: int) -> str:
        """Return a word of a group."""


class _X86(Vectors):
    """Intrinsics on vectors of any width of x86."""

    def _type(self, width: int) -> str:
        return f"__m{8 * width}i"

    def _extracted(self, group: str, word: int) -> str:
        group = f"_mm_unpackhi_epi64({group}, {group})" if word else group
        return f"(uint64_t)_mm_cvtsi128_si64({group})"

    def _vector(self, instr: Instr, args: Sequence[str]) -> str:
        prefix, bits = PREFIX[instr.width], 8 * instr.width
        match instr.act:
            case Act.LOAD:
                return f"{prefix}_loadu_si{bits}({self._pointer('const ', instr.width, _place(instr))})"
            case Act.CONSTANTS | Act.REDUCTION:
                pair = f"_mm_loadu_si128({self._pointer('const ', GROUP, _constants(instr))})"
                return f"{REPEAT[instr.width]}({pair})"
            case Act.LEADING | Act.BEHIND | Act.AHEAD:
                return self._masked(instr, args)
            case Act.LANES:
                place = f"crc->lanes[{(LINE - instr.width) // GROUP}]"
                return f"{prefix}_loadu_si{bits}({self._pointer('const ', instr.width, place)})"
            case Act.CLMUL:
                kind = "si128" if instr.width == GROUP else "epi128"
                return f"{prefix}_clmulepi64_{kind}({', '.join(args)}, {0x11 * instr.offset:#04x})"
            case Act.CROSS:
                words = instr.offset | (1 - instr.offset) << 4
                return f"_mm_clmulepi64_si128({', '.join(args)}, {words:#04x})"
            case Act.SLIDE:
                return f"_mm_{'slli' if instr.offset else 'srli'}_si128({args[0]}, {WORD})"
            case Act.START:
                return self._placed(instr, args)
            case Act.XOR:
                return self._sum(prefix, bits, args)
            case Act.REVERSE:
                order = f"_mm_set_epi8({', '.join(map(str, range(GROUP)))})"
                return f"{prefix}_shuffle_epi8({args[0]}, {REPEAT[instr.width]}({order}))"
            case Act.FIRST:
                word = f"(long long){instr.text}"
                return f"_mm_set_epi64x({f'{word}, 0' if instr.offset else f'0, {word}'})"
            case Act.ZERO:
                return f"{prefix}_setzero_si{bits}()"
            case Act.JOIN:
                halves = ", ".join(f"{prefix}_castsi{bits // 2}_si{bits}({arg})" for arg in args)
                return _JOIN[instr.width].format(halves)
            case Act.HALF:
                return self._half(instr, bits, args[0])
        raise AssertionError(f"{instr.act.name} is not for vectors")

    def store(self, instr: Instr, value: str) -> str:
        place = self._pointer("", instr.width, _place(instr))
        kind = "stream" if instr.act is Act.STREAM else "storeu"
        return f"{PREFIX[instr.width]}_{kind}_si{8 * instr.width}({place}, {value})"

    @staticmethod
    def _masked(instr: Instr, args: Sequence[str]) -> str:
        prefix, kind = PREFIX[instr.width], f"(__mmask{instr.width})"
        if instr.act is Act.LEADING:
            return f"{prefix}_maskz_loadu_epi8({kind}lowest, {instr.text})"
        if instr.act is Act.AHEAD:
            return f"{prefix}_maskz_compress_epi8({kind}beyond, {args[0]})"
        return f"{prefix}_maskz_expand_epi8({kind}highest, {args[0]})"

    @staticmethod
    def _half(instr: Instr, bits: int, value: str) -> str:
        if instr.offset:
            return f"{_EXTRACT[instr.width]}({value}, 1)"
        return f"{PREFIX[2 * instr.width]}_castsi{2 * bits}_si{bits}({value})"

    def _pointer(self, qualifier: str, width: int, place: str) -> str:
        return f"({qualifier}{self.vector(width)} *)({qualifier}void *)({place})"

    def _placed(self, instr: Instr, args: Sequence[str]) -> str:
        word = f"(long long){args[0] if args else 'state'}"
        words = f"0, {word}" if instr.offset == 0 else f"{word}, 0"
        zero = f"{PREFIX[instr.width]}_setzero_si{8 * instr.width}()"
        return _INSERT[instr.width].format(zero=zero, group=f"_mm_set_epi64x({words})")

    def _sum(self, prefix: str, bits: int, args: Sequence[str]) -> str:
        if len(args) == 3 and self.width == 64:
            return f"{prefix}_ternarylogic_epi64({', '.join(args)}, 0x96)"
        return _nested(f"{prefix}_xor_si{bits}", args)


class _Neon(Vectors):
    """Intrinsics of AArch64."""

    _store = "vst1q_u8"

    def _type(self, width: int) -> str:
        return "uint8x16_t"

    def _extracted(self, group: str, word: int) -> str:
        return f"vgetq_lane_u64(vreinterpretq_u64_u8({group}), {word})"

    def _vector(self, instr: Instr, args: Sequence[str]) -> str:
        match instr.act:
            case Act.LOAD:
                return f"vld1q_u8({_place(instr)})"
            case Act.CONSTANTS | Act.REDUCTION:
                return f"vreinterpretq_u8_u64(vld1q_u64({_constants(instr)}))"
            case Act.CLMUL:
                return f"vreinterpretq_u8_p128({self._product(instr.offset, args)})"
            case Act.CROSS:
                places = zip(args, (instr.offset, 1 - instr.offset), strict=True)
                lanes = ", ".join(self._lane(arg, word) for arg, word in places)
                return f"vreinterpretq_u8_p128(vmull_p64({lanes}))"
            case Act.SLIDE:
                pair = ("vdupq_n_u8(0)", args[0]) if instr.offset else (args[0], "vdupq_n_u8(0)")
                return f"vextq_u8({', '.join(pair)}, {WORD})"
            case Act.START:
                word = f"vsetq_lane_u64(state, vdupq_n_u64(0), {instr.offset})"
                return f"vreinterpretq_u8_u64({word})"
            case Act.FIRST:
                return f"vreinterpretq_u8_u64(vsetq_lane_u64({instr.text}, vdupq_n_u64(0), {instr.offset}))"
            case Act.ZERO:
                return "vdupq_n_u8(0)"
            case Act.XOR:
                return _nested("veorq_u8", args)
            case Act.REVERSE:
                words = f"vrev64q_u8({args[0]})"
                return f"vextq_u8({words}, {words}, {WORD})"
        raise AssertionError(f"{instr.act.name} is not for AArch64")

    @staticmethod
    def _lane(group: str, word: int) -> str:
        return f"(poly64_t)vgetq_lane_u64(vreinterpretq_u64_u8({group}), {word})"

    def _product(self, word: int, args: Sequence[str]) -> str:
        if word == 1:
            return f"vmull_high_p64({', '.join(f'vreinterpretq_p64_u8({arg})' for arg in args)})"
        return f"vmull_p64({', '.join(self._lane(arg, 0) for arg in args)})"


class _Power(Vectors):
    """The functions of crc_power.h."""

    _store = "gfs_vpmsumd_store"

    def _type(self, width: int) -> str:
        return "gfs_vpmsumd_group"

    def _extracted(self, group: str, word: int) -> str:
        return f"{group}[{word}]"

    def _vector(self, instr: Instr, args: Sequence[str]) -> str:
        at = instr.offset
        match instr.act:
            case Act.LOAD:
                return f"gfs_vpmsumd_load({_place(instr)})"
            case Act.CONSTANTS | Act.REDUCTION:
                return f"gfs_vpmsumd_load((const uint8_t *){_constants(instr)})"
            case Act.CLMUL_SUM:
                return f"GFS_VPMSUMD({', '.join(args)})"
            case Act.CLMUL:
                return f"GFS_VPMSUMD({args[0]}, {self._moved(args[1], at, at)})"
            case Act.CROSS:
                return f"GFS_VPMSUMD({args[0]}, {self._moved(args[1], 1 - at, at)})"
            case Act.SLIDE:
                return self._moved(args[0], 1 - at, at)
            case Act.START | Act.FIRST:
                word = instr.text or "state"
                return f"(gfs_vpmsumd_group){{{f'0, {word}' if at else f'{word}, 0'}}}"
            case Act.ZERO:
                return "(gfs_vpmsumd_group){0, 0}"
            case Act.XOR:
                return " ^ ".join(args)
            case Act.REVERSE:
                return f"gfs_vpmsumd_reversed({args[0]})"
        raise AssertionError(f"{instr.act.name} is not for POWER")

    @staticmethod
    def _moved(group: str, word: int, to: int) -> str:
        """Return an expression for a group that is 0 but for its word `to`, word `word` of another group."""
        return f"GFS_VPMSUMD_MOVED({group}, {word}, {to})"


class _RiscV(Vectors):
    """The functions of crc_riscv.h."""

    _store = "gfs_zbc_store"

    def _type(self, width: int) -> str:
        return "gfs_zbc_group"

    def _extracted(self, group: str, word: int) -> str:
        return f"{group}.{_HALVES[word]}"

    def _vector(self, instr: Instr, args: Sequence[str]) -> str:
        at = instr.offset
        match instr.act:
            case Act.LOAD:
                return f"gfs_zbc_load({_place(instr)})"
            case Act.CONSTANTS | Act.REDUCTION:
                return f"{{{_constants(instr)}[0], {_constants(instr)}[1]}}"
            case Act.CLMUL:
                return f"gfs_zbc_product({args[0]}.{_HALVES[at]}, {args[1]}.{_HALVES[at]})"
            case Act.CROSS:
                return f"gfs_zbc_product({args[0]}.{_HALVES[at]}, {args[1]}.{_HALVES[1 - at]})"
            case Act.SLIDE:
                return self._placed(f"{args[0]}.{_HALVES[1 - at]}", at)
            case Act.START | Act.FIRST:
                return self._placed(instr.text or "state", at)
            case Act.ZERO:
                return "{0, 0}"
            case Act.XOR:
                return _nested("gfs_zbc_sum", args)
            case Act.REVERSE:
                return f"gfs_zbc_reversed({args[0]})"
        raise AssertionError(f"{instr.act.name} is not for RISC-V")

    @staticmethod
    def _placed(word: str, at: int) -> str:
        """Return an initializer of a group that is 0 but for one word."""
        return f"{{0, {word}}}" if at else f"{{{word}, 0}}"


#: The members of gfs_zbc_group.
_HALVES = ("low", "high")
_REGISTER = "uint64_t"


def _register(instr: Instr, args: Sequence[str]) -> str:
    """Return an expression for numbers of 64 bits on every machine."""
    match instr.act:
        case Act.STATE:
            return "state"
        case Act.ONES:
            return "crc->ones"
        case Act.ZERO:
            return "0"
        case Act.CRC:
            return f"_mm_crc32_u64({args[0]}, {args[1]})"
        case Act.XOR:
            return " ^ ".join(args)
        case Act.SHIFT:
            return f"{args[0]} {'>>' if instr.offset < 0 else '<<'} {abs(instr.offset)}"
        case Act.LOOKUP:
            index = f"{args[0]} >> {4 * instr.offset} & 15" if instr.offset else f"{args[0]} & 15"
            return f"crc->slices[{instr.text}][{index}]"
    raise AssertionError(f"{instr.act.name} is not for words")


class Words:
    """Numbers of 64 bits on every machine, and crc32 instructions: (check, bytes) -> the start of a call."""

    def __init__(self, order: str, calls: Mapping[tuple[str, int], str] | None = None) -> None:
        self.order, self._calls = order, calls or {}

    def vector(self, width: int) -> str:
        return _REGISTER

    def expression(self, instr: Instr, args: Sequence[str]) -> str:
        match instr.act:
            case Act.WORD:
                whole = instr.width == WORD
                return f"gfs_crc_word_{self.order}(data)" if whole else _number(instr.width)
            case Act.BYTE:
                return "data[0]"
            case Act.CRC:
                state, data = args
                cast = "" if instr.offset == WORD else f"(uint{8 * instr.offset}_t)"
                return f"{self._calls[instr.text, instr.offset]}{state}, {cast}{data})"
        return _register(instr, args)

    def store(self, instr: Instr, value: str) -> str:
        raise AssertionError("words change no message")


def _number(width: int) -> str:
    """Return an expression for the next bytes as a number, the first byte the lowest."""
    parts = (f"(uint64_t)data[{n}]" + (f" << {8 * n}" if n else "") for n in range(width))
    return " | ".join(parts)


def _nested(function: str, args: Sequence[str]) -> str:
    """Return the calls of a function of two arguments that combine all of them."""
    total = args[-1]
    for arg in reversed(args[:-1]):
        total = f"{function}({arg}, {total})"
    return total


def _place(instr: Instr) -> str:
    return f"{instr.text} + {instr.offset}" if instr.offset else instr.text


def _constants(instr: Instr) -> str:
    if instr.act is Act.REDUCTION:
        return "crc->reduction"
    return f"crc->folds[{DISTANCES.index(instr.offset)}]"


Spelling = Vectors | Words


#: The spelling of the sets of an architecture, by the bytes of a vector.
SPELLINGS: dict[Arch, type[Vectors]] = {
    Arch.X86_64: _X86,
    Arch.AARCH64: _Neon,
    Arch.POWER: _Power,
    Arch.RISCV: _RiscV,
}
