"""Emission of algebra routines as C: intrinsics with a target attribute, or words. The layout is
templates/algebra_kernels.inc.j2."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gfsmith.emit.c.x86 import NARROW, PREFIX, REPEAT
from gfsmith.emit.template import render
from gfsmith.ir.algebra import GROUP, WORD, Act, Instr, Isomorphism, Routine
from gfsmith.kernel import architecture
from gfsmith.kernel.architecture import Arch

#: Compiler targets for each vector length in bytes, in addition to gfni.
_TARGETS = {16: "ssse3", 32: "avx2", 64: "avx512f,avx512bw,avx512vl"}
_ARGUMENTS = {"forth": "field->forth", "back": "field->back"}
_ROW = 16


class _Gfni:
    """x86 intrinsics on vectors of one width."""

    def __init__(self, routine: Routine) -> None:
        self.width = routine.width
        self.prefix = PREFIX[self.width]
        self.bits = 8 * self.width
        self.vector = f"__m{self.bits}i"
        self.constants: dict[bytes, str] = {}

    def setup(self, routine: Routine) -> list[str]:
        return []

    def statement(self, instr: Instr) -> str:
        if instr.act is Act.STORE:
            return f"gfs_store{self.bits}({_place(instr)}, v{instr.args[0]});"
        return f"const {self.vector} v{instr.result} = {self._expression(instr)};"

    def _expression(self, instr: Instr) -> str:
        args = ", ".join(f"v{arg}" for arg in instr.args)
        match instr.act:
            case Act.ZERO:
                return f"{self.prefix}_setzero_si{self.bits}()"
            case Act.CONST:
                return self._constant(instr.data)
            case Act.ARGUMENT:
                return f"gfs_matrix{self.bits}({_ARGUMENTS[instr.text]})"
            case Act.LOAD:
                return f"gfs_load{self.bits}({_place(instr)})"
            case Act.XOR:
                return f"{self.prefix}_xor_si{self.bits}({args})"
            case Act.MULB:
                return f"{self.prefix}_gf2p8mul_epi8({args})"
            case Act.AFFINE:
                return f"{self.prefix}_gf2p8affine_epi64_epi8({args}, 0)"
            case Act.AFFINE_INVERSE:
                return f"{self.prefix}_gf2p8affineinv_epi64_epi8({args}, 0)"
            case Act.PERMUTE:
                return self._permutation(instr, args)
        raise AssertionError(f"{instr.act.name} is not for vectors")

    def _permutation(self, instr: Instr, args: str) -> str:
        prefix, count = self.prefix, instr.immediate
        match instr.text:
            case "shuffle":
                return f"{prefix}_shuffle_epi8({args}, {self._constant(instr.data)})"
            case "next_in_words":
                return f"{prefix}_slli_epi64({args}, {8 * count})"
            case "next_in_groups":
                kind = "si128" if self.width == GROUP else "epi128"
                return f"{prefix}_bslli_{kind}({args}, {count})"
            case "align":
                return f"{prefix}_alignr_epi8({args}, {count})"
            case "two_groups" if self.width == 32:
                return f"_mm256_permute2x128_si256({args}, {count:#04x})"
            case "four_groups" if self.width == 64:
                mask, places = count >> 8, count & 0xFF
                if mask == 0xFF:
                    return f"_mm512_shuffle_i64x2({args}, {places:#04x})"
                return f"_mm512_maskz_shuffle_i64x2({mask:#04x}, {args}, {places:#04x})"
            case "unpack":
                half = "hi" if count < 0 else "lo"
                return f"{prefix}_unpack{half}_epi{8 * abs(count)}({args})"
            case "units":
                return self._units(instr, args)
        raise AssertionError(f"{instr.text} is not for vectors of {self.width} bytes")

    def _units(self, instr: Instr, args: str) -> str:
        indices = b"".join(place.to_bytes(instr.immediate, "little") for place in instr.data)
        match self.width, instr.immediate:
            case 64, 2:
                return f"_mm512_permutexvar_epi16({self._constant(indices)}, {args})"
            case 64, 8:
                return f"_mm512_permutexvar_epi64({self._constant(indices)}, {args})"
            case 32, 4:
                return f"_mm256_permutevar8x32_epi32({args}, {self._constant(indices)})"
            case 32, 8:
                places = sum(place << 2 * n for n, place in enumerate(instr.data))
                return f"_mm256_permute4x64_epi64({args}, {places:#04x})"
        raise AssertionError(f"units of {instr.immediate} bytes are not for vectors of {self.width}")

    def _constant(self, data: bytes) -> str:
        """Return an expression for a vector of known bytes. If all groups of 16 are equal, one is stored."""
        alike = data == data[:GROUP] * (len(data) // GROUP)
        kept = data[:GROUP] if alike else data
        name = self.constants.setdefault(kept, f"c{len(self.constants)}")
        return f"gfs_repeat{self.bits}({name})" if alike else f"gfs_load{self.bits}({name})"


class _Words:
    """Words of eight bytes. The first byte is the lowest on every machine, except in rows of 64 bits."""

    vector = "uint64_t"

    def __init__(self, routine: Routine) -> None:
        self.inside = routine.operation == "product"
        self.access = "row" if routine.operation == "matrices64" else "word"
        self.constants: dict[bytes, str] = {}

    def setup(self, routine: Routine) -> list[str]:
        if any(instr.act is Act.PRODUCT for instr in routine.instructions()):
            return ["const uint64_t low = GFS_ONES * field->low;"]
        return []

    def statement(self, instr: Instr) -> str:
        if instr.act is Act.STORE:
            if self.inside:
                return f"return v{instr.args[0]};"
            return f"gfs_store_{self.access}({_place(instr)}, v{instr.args[0]});"
        return f"const uint64_t v{instr.result} = {self._expression(instr)};"

    def _expression(self, instr: Instr) -> str:
        args = [f"v{arg}" for arg in instr.args]
        match instr.act:
            case Act.ZERO:
                return "0"
            case Act.CONST:
                return f"UINT64_C({int.from_bytes(instr.data, 'little'):#018x})"
            case Act.ARGUMENT:
                return "low"  # the function's parameter
            case Act.LOAD:
                return instr.text if self.inside else f"gfs_load_{self.access}({_place(instr)})"
            case Act.COEFFICIENT:
                return f"GFS_ONES * {instr.text}[i]"
            case Act.ROW:
                return f"gfs_load_row({instr.text} + {WORD} * i)"
            case Act.BIT:
                return f"0 - ({args[0]} >> i & 1)"
            case Act.XOR:
                return " ^ ".join(args)
            case Act.AND:
                return " & ".join(args)
            case Act.SHIFT:
                return f"{args[0]} {'>>' if instr.immediate < 0 else '<<'} {abs(instr.immediate)}"
            case Act.SCALE:
                return f"{args[0]} * ({args[1]} & 0xff)"
            case Act.PRODUCT:
                return f"gfs_product__words({', '.join(args)}, low)"
            case Act.PERMUTE:
                return self._permutation(instr, args[0])
        raise AssertionError(f"{instr.act.name} is not for words")

    @staticmethod
    def _permutation(instr: Instr, word: str) -> str:
        count = 8 * instr.immediate
        match instr.text:
            case "spread":
                return f"({word} >> {count} & 0xff) * GFS_ONES"
            case "next_in_words":
                return f"{word} << {count}"
            case "down_in_words":
                return f"{word} >> {count}"
        raise AssertionError(f"{instr.text} is not for words")


def _place(instr: Instr) -> str:
    base = "field->modulus" if instr.text == "modulus" else instr.text
    return f"{base} + {instr.offset}" if instr.offset else base


def _function(routine: Routine) -> dict[str, object]:
    """Return the template context of a routine."""
    spelling = _Words(routine) if routine.set == "words" else _Gfni(routine)

    def lines(code: Sequence[Instr]) -> list[str]:
        return [spelling.statement(instr) for instr in code]

    unit = {"matrices8": WORD, "matrices64": routine.block, "multiply": 1, "invert": 1}
    unrolled = [] if routine.rolled else [instr for step in routine.steps for instr in step.code]
    (loop,) = routine.steps if routine.rolled else (None,)
    content: dict[str, object] = {
        "routine": routine,
        "vector": spelling.vector,
        "setup": spelling.setup(routine),
        "preload": lines(routine.preload),
        "body": lines([*routine.head, *unrolled]),
        "close": lines(routine.close),
        "partial": routine.block > unit.get(routine.operation, routine.count),
        "row": routine.operation == "matrices64" and routine.set == "words",
        "loop": loop
        and {
            "start": [f"v{v} = v{i}" for v, i in zip(loop.before, routine.initial, strict=True)],
            "code": lines(loop.code),
            "next": [f"v{v} = v{n}" for v, n in zip(loop.before, loop.after, strict=True)],
        },
    }
    rows = {
        name: [", ".join(f"{byte:#04x}" for byte in data[n : n + _ROW]) for n in range(0, len(data), _ROW)]
        for data, name in spelling.constants.items()
    }
    return {**content, "constants": rows}


def build(
    words: Sequence[Routine],
    vectors: Sequence[Routine],
    isas: Collection[str],
    isomorphisms: Sequence[Isomorphism],
) -> dict[str, str]:
    """Return path -> text of the files that the runtime includes: routines on words, those of x86 sets, and
    their lists.

    isas: the sets of the build. `vectors` may have routines of further sets, for targets that need narrow
    vectors.
    """
    sets = list(dict.fromkeys(routine.set for routine in vectors))
    context = {
        "architecture": f"({architecture.condition(Arch.X86_64)}) && defined(__GNUC__)",
        "narrow": NARROW,
        "narrowest": next((routine.set for routine in vectors if routine.width == GROUP), ""),
        "groups": [_group(name, [r for r in vectors if r.set == name], name in isas) for name in sets],
        "words": [_function(routine) for routine in words],
    }
    return {
        "algebra_kernels.inc": render("algebra_kernels.inc.j2", **context),
        "algebra.inc": render("algebra.inc.j2", **context),
        "isomorphisms.inc": render("isomorphisms.inc.j2", entries=isomorphisms),
    }


def _group(name: str, routines: Sequence[Routine], present: bool) -> dict[str, object]:
    """Return the template context of a set. present: the build has the set."""
    width = routines[0].width
    conditions = [f"{'GFS_WIDE && ' if width > GROUP else ''}GFSMITH_BUILDS({name})"] if present else []
    if width == GROUP:
        conditions.insert(0, "!GFS_WIDE")
    return {
        "set": name,
        "present": present,
        "condition": " || ".join(conditions),
        "bits": 8 * width,
        "vector": f"__m{8 * width}i",
        "prefix": PREFIX[width],
        "repeat": REPEAT[width],
        "target": f"gfni,{_TARGETS[width]}",
        "functions": [_function(routine) for routine in routines],
    }
