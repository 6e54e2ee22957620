"""Emission of checksum routines as C: intrinsics with a target attribute, or numbers of 64 bits. Layouts are
templates/crc_kernels.inc.j2 and crc_tables.inc.j2."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from gfsmith.emit.c.x86 import NARROW, PREFIX, REPEAT
from gfsmith.emit.template import render
from gfsmith.ir.folding import (
    DISTANCES,
    FIRSTS,
    GROUP,
    LEADS,
    LINE,
    STEPS,
    UPDATES,
    WIDE,
    WORD,
    WORDS,
    Act,
    Instr,
    Routine,
    Tables,
)
from gfsmith.kernel import architecture
from gfsmith.kernel.architecture import Arch


@dataclass(frozen=True, slots=True)
class _Set:
    """Compilation and choice of a set. condition: the compilers that have it. features: those that
    the current instruction set must have. carryless: multiplications of the CPU."""

    width: int
    arch: Arch
    condition: str
    target: str
    features: str
    carryless: str


_GNU = "defined(__GNUC__)"
_WIDE = f"{_GNU} && !({NARROW})"
#: Older versions of clang have the intrinsics only if the whole file is compiled for them.
_PMULL = "defined(__AARCH64EL__) && defined(__GNUC__) && (!defined(__clang__) || __clang_major__ >= 16)"
#: No proof reads machine code of big-endian POWER, which therefore uses tables.
_LITTLE_POWER = f"{_GNU} && defined(__LITTLE_ENDIAN__)"

_SETS = {
    "vpclmulqdq_avx512": _Set(
        64,
        Arch.X86_64,
        _WIDE,
        "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi2,pclmul,vpclmulqdq",
        "GFSMITH_CPU_AVX512F | GFSMITH_CPU_AVX512BW | GFSMITH_CPU_AVX512VL | GFSMITH_CPU_BMI2",
        "GFS_CARRYLESS_GROUP | GFS_CARRYLESS_VECTOR | GFS_CARRYLESS_EXPAND",
    ),
    "vpclmulqdq_avx2": _Set(
        32,
        Arch.X86_64,
        _WIDE,
        "avx2,pclmul,vpclmulqdq",
        "GFSMITH_CPU_AVX2",
        "GFS_CARRYLESS_GROUP | GFS_CARRYLESS_VECTOR",
    ),
    "pclmulqdq": _Set(16, Arch.X86_64, _GNU, "ssse3,pclmul", "GFSMITH_CPU_SSSE3", "GFS_CARRYLESS_GROUP"),
    "pmull": _Set(16, Arch.AARCH64, _PMULL, "", "0", "GFS_CARRYLESS_GROUP"),
    "vpmsumd": _Set(16, Arch.POWER, _LITTLE_POWER, "", "0", "GFS_CARRYLESS_GROUP"),
    "zbc": _Set(16, Arch.RISCV, _GNU, "", "0", "GFS_CARRYLESS_GROUP"),
}


@dataclass(frozen=True, slots=True)
class _Instructions:
    """A set of crc32 instructions: its names in gcc and clang, and (check, bytes) -> the start of a call."""

    arch: Arch
    gcc: str
    clang: str
    calls: dict[tuple[str, int], str]


_INSTRUCTIONS = {
    "sse42": _Instructions(
        Arch.X86_64,
        "sse4.2",
        "sse4.2,crc32",  # without it, a target that excludes crc32 (as zig's do) refuses the functions
        {("CRC32C", size): f"_mm_crc32_u{8 * size}({'' if size == WORD else '(uint32_t)'}" for size in STEPS},
    ),
    "crc": _Instructions(
        Arch.AARCH64,
        "+crc",
        "crc",
        {
            (check, size): f"GFS_CRC_CALL({check.lower()}{letter})((uint32_t)"
            for check in ("CRC32C", "CRC32")
            for size, letter in zip(STEPS, "dwhb", strict=True)
        },
    ),
}
_ROW = 4
_REGISTER_BITS = 64

#: Expressions for a vector that is 0 but for its first group.
_INSERT = {
    64: "_mm512_inserti32x4({zero}, {group}, 0)",
    32: "_mm256_inserti128_si256({zero}, {group}, 0)",
    16: "{group}",
}
#: The first halves of two vectors.
_JOIN = {64: "_mm512_shuffle_i64x2({}, 0x44)", 32: "_mm256_permute2x128_si256({}, 0x20)"}
_EXTRACT = {32: "_mm512_extracti64x4_epi64", 16: "_mm256_extracti128_si256"}


class _Vectors(ABC):
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


class _X86(_Vectors):
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


class _Neon(_Vectors):
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


class _Power(_Vectors):
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


class _RiscV(_Vectors):
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


class _Words:
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


_Spelling = _Vectors | _Words


def _lines(code: Sequence[Instr], spelling: _Spelling, variables: Collection[int] = ()) -> list[str]:
    """Return statements. variables: values that a loop changes."""
    lines = []
    for instr in code:
        args = [f"v{arg}" for arg in instr.args]
        match instr.act:
            case Act.STORE | Act.STREAM:
                lines.append(f"{spelling.store(instr, args[0])};")
            case Act.PREFETCH:
                lines.append("GFS_PREFETCH_SECOND(data + ahead);")
            case Act.RESULT:
                lines.append(f"state = {args[0]};")
            case _:
                kind = "" if instr.result in variables else "const "
                text = spelling.expression(instr, args)
                lines.append(f"{kind}{spelling.vector(instr.width)} v{instr.result} = {text};")
    return lines


#: The routines that fold several shards, and the last parameter of each.
_MORE = {"fold_line": "size_t ahead", "fold_copy": "uint8_t *const *to"}


def _behind_first(routine: Routine, code: Sequence[Instr], lines: int) -> list[Instr]:
    """Return instructions of a head with the place of data behind the first bytes and some lines, as the
    function has it."""
    start = routine.first + LINE * lines
    return [
        replace(instr, text="data", offset=instr.offset - start) if instr.act is Act.LOAD else instr
        for instr in code
    ]


def _lined(routine: Routine, spelling: _Spelling) -> dict[str, object]:
    """Return the part of the template context of a routine that reads a line at least before its loop.
    Another loop has the lines between the first block and that loop: `routine` has one of these, or no
    block."""
    if routine.operation not in UPDATES or routine.lead <= LINE:
        return {"lined": False, "between": []}
    window, lines = routine.window or routine.before, max(len(routine.window) - 1, 1)
    first = _behind_first(routine, routine.head[: routine.between or None], 0)
    lined = {
        "lined": True,
        "between": [],
        "head": [*_lines(first, spelling, window), f"data += {LINE * lines};"],
    }
    if not routine.window:
        return lined
    line = _behind_first(routine, routine.head[routine.between :], lines)
    names = dict(zip(routine.before, window, strict=True))
    body, close = (
        [replace(instr, args=tuple(names.get(arg, arg) for arg in instr.args)) for instr in code]
        for code in (routine.body, routine.close)
    )
    return lined | {
        "between": [*_lines(line, spelling), *_moves(window, routine.before)],
        "body": _lines(body, spelling),
        "next": _moves(window, routine.after),
        "close": _lines(close, spelling),
    }


def _moves(variables: Sequence[int], values: Sequence[int]) -> list[str]:
    """Return the statements that give variables new values, one after the other."""
    return [f"v{v} = v{n};" for v, n in zip(variables, values, strict=True)]


#: Bytes of the vector that has all data of an update without a loop.
_WHOLE = {"update_group": GROUP, "update_half": LINE // 2}


def _function(routine: Routine, spelling: _Spelling) -> dict[str, object]:
    """Return the template context of a routine."""
    return {
        "routine": routine,
        "first": routine.operation in FIRSTS,
        "leading": routine.operation in LEADS or routine.operation in UPDATES,
        "vector": _WHOLE.get(routine.member, 0),
        "instruction": any(instr.act is Act.CRC for instr in routine.close),
        "more": _MORE.get(routine.operation),
        "head": _lines(routine.head, spelling, routine.before),
        "body": _lines(routine.body, spelling),
        "next": _moves(routine.before, routine.after),
        "close": _lines(routine.close, spelling),
        **_lined(routine, spelling),
    }


def _words(order: str, routines: Sequence[Routine]) -> dict[str, object]:
    """Return the template context of the function for bytes in one order: words, then single bytes."""
    word, byte = (next(r for r in routines if r.operation == name) for name in ("word", "byte"))
    spelling = _Words(order)
    return {"order": order, "word": _lines(word.head, spelling), "byte": _lines(byte.head, spelling)}


def _steps(name: str, routines: Sequence[Routine]) -> dict[str, object]:
    """Return the template context of a set of crc32 instructions: a function for each check."""
    kept = _INSTRUCTIONS[name]
    spelling = _Words("reflected", kept.calls)
    checks = dict.fromkeys(routine.check for routine in routines)
    return {
        "set": name,
        "condition": f"({architecture.condition(kept.arch)}) && {_GNU}",
        "gcc": kept.gcc,
        "clang": kept.clang,
        "checks": {
            check: {r.block: _lines(r.head, spelling) for r in routines if r.check == check}
            for check in checks
        },
    }


def _family(routine: Routine) -> str:
    """Return the operation of the function that has a routine."""
    return "bytes" if routine.operation in LEADS else routine.member


def _members(operations: Iterable[str]) -> dict[str, str]:
    """Return the members of gfs_crc_set -> the operation of their functions for each order. A set whose
    blocks are lines has one function for both kinds of reduction."""
    members = {f"reduce_line[{FIRSTS.index(op)}]" if op in FIRSTS else op: op for op in operations}
    members.setdefault("reduce_lines", "reduce")
    return members


def _updated(routines: Sequence[Routine], checks: Mapping[str, Tables]) -> list[dict[str, object]]:
    """Return, for each check, the bits that no checksum has, and the functions that update it by member."""
    found: list[dict[str, object]] = []
    for name, tables in checks.items():
        own = [routine for routine in routines if routine.updates and routine.check == name]
        shared = [r for r in routines if r.updates and r.check == "" and r.reflected == tables.reflected]
        members = {routine.member.removeprefix("update_"): routine.function for routine in own or shared}
        beyond = (1 << _REGISTER_BITS) - (1 << tables.bits)
        if members:
            found.append({"check": name, "beyond": _numbers((beyond,)), "members": members})
    return found


def _functions(routines: Sequence[Routine], spelling: _Spelling) -> list[dict[str, object]]:
    """Return the template contexts of the functions. Routines that one function has are written alike, and
    those with lines behind their first block as the one with one such line."""
    found: dict[str, dict[str, object]] = {}
    for routine in routines:
        if routine.member == "update_wide" and (routine.lead - 1) // LINE != WIDE:
            continue
        context = _function(routine, spelling)
        first = found.setdefault(routine.function, context)
        assert first | {"routine": routine} == context
    return list(found.values())


#: The spelling of the sets of an architecture, by the bytes of a vector.
_SPELLINGS: dict[Arch, type[_Vectors]] = {
    Arch.X86_64: _X86,
    Arch.AARCH64: _Neon,
    Arch.POWER: _Power,
    Arch.RISCV: _RiscV,
}


def _group(name: str, routines: Sequence[Routine], checks: Mapping[str, Tables]) -> dict[str, object]:
    """Return the template context of a set."""
    kept = _SETS[name]
    spelling = _SPELLINGS[kept.arch](kept.width)
    return {
        "set": name,
        "arch": kept.arch.value,
        "condition": f"({architecture.condition(kept.arch)}) && {kept.condition}",
        "target": kept.target,
        "features": kept.features,
        "carryless": kept.carryless,
        "wide": kept.width == 64,
        "block": routines[0].block,
        "members": _members(dict.fromkeys(_family(r) for r in routines if not r.updates)),
        "updates": _updated(routines, checks),
        "stepped": next((each for each in _INSTRUCTIONS.values() if each.arch is kept.arch), None),
        "instructions": next((n for n, kept_ in _INSTRUCTIONS.items() if kept_.arch is kept.arch), None),
        "functions": _functions(routines, spelling),
    }


def _entry(tables: Tables) -> dict[str, object]:
    """Return the template context of a check's row."""
    return {
        "tables": tables,
        "folds": [_numbers(pair) for pair in tables.folds],
        "lanes": [_numbers(pair) for pair in tables.lanes],
        "reduction": _numbers(tables.reduction),
        "slices": [[_numbers(row[n : n + _ROW]) for n in range(0, len(row), _ROW)] for row in tables.slices],
        "powers": [_numbers(tables.powers[n : n + _ROW]) for n in range(0, len(tables.powers), _ROW)],
    }


def _numbers(values: Sequence[int]) -> str:
    return ", ".join(f"UINT64_C({value:#018x})" for value in values)


def build(
    routines: Iterable[Routine], checks: Mapping[str, Tables], isal_entries: Iterable[Tables]
) -> dict[str, str]:
    """Return path -> text of the files that the runtime includes: the routines with their list, the tables of
    gfsmith_checksum.h, and those that only the drop-in for ISA-L needs. checks: the first tables by
    name."""
    known = list(routines)
    orders = dict.fromkeys(routine.order for routine in known)
    words = [_words(order, [r for r in known if (r.order, r.set) == (order, WORDS)]) for order in orders]
    groups = [_group(name, [r for r in known if r.set == name], checks) for name in _SETS]
    steps = [_steps(name, [r for r in known if r.set == name]) for name in _INSTRUCTIONS]
    kernels = render(
        "crc_kernels.inc.j2", groups=groups, steps=steps, words=words, orders=list(orders), line=LINE
    )
    return {
        "crc_kernels.inc": kernels,
        "crc_tables.inc": _tables("each value of enum gfsmith_checksum, in its order", checks.values()),
        "crc_isal_tables.inc": _tables("each other check of ISA-L: docs/isal.md", isal_entries),
    }


def _tables(what: str, entries: Iterable[Tables]) -> str:
    return render("crc_tables.inc.j2", what=what, entries=[_entry(entry) for entry in entries])
