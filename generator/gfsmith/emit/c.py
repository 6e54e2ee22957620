"""Program -> portable C11, one statement an operation; the layout is templates/scalar_kernel.c.j2."""

from __future__ import annotations

from gfsmith.emit.template import render
from gfsmith.ir import CURRENT, STORES, Instr, Loop, Op, Program, Ref, Role, Space
from gfsmith.spec import KernelSpec

_LANES_OF_ONE = "UINT64_C(0x0101010101010101)"


def _shard(ref: Ref) -> str:
    array = "src" if ref.space is Space.SOURCE else "dst"
    index = "j" if ref.index == CURRENT else str(ref.index)
    offset = f" + {ref.offset}" if ref.offset else ""
    return f"{array}[{index}] + at{offset}"


def _entry(spec: KernelSpec, ref: Ref) -> str:
    if ref.index == CURRENT:
        return f"entry[{spec.entry_offset(0, ref.output) + ref.offset}]"
    return f"coeffs[{spec.entry_offset(ref.index, ref.output) + ref.offset}]"


def _expression(spec: KernelSpec, instr: Instr, partial: bool) -> str:
    args = [f"v{a}" for a in instr.args]
    match instr.op:
        case Op.ZERO:
            return "0"
        case Op.LOAD:
            assert instr.ref is not None
            place = _shard(instr.ref)
            return f"load_part({place}, rest)" if partial else f"load_word({place})"
        case Op.COLUMN:
            assert instr.ref is not None
            return _entry(spec, instr.ref)
        case Op.XOR:
            return " ^ ".join(args)
        case Op.BIT:
            return f"({args[0]} >> {instr.immediate}) & {_LANES_OF_ONE}"
        case Op.SCALE:
            return " * ".join(args)
        case _:
            raise AssertionError(f"{instr.op.name} has no spelling in C")


def _statement(spec: KernelSpec, instr: Instr, partial: bool) -> str:
    if instr.op in STORES:
        assert instr.ref is not None
        place = _shard(instr.ref)
        if partial:
            return f"store_part({place}, v{instr.args[0]}, rest);"
        return f"store_word({place}, v{instr.args[0]});"
    return f"const uint64_t v{instr.result} = {_expression(spec, instr, partial)};"


def _loop(spec: KernelSpec, loop: Loop) -> dict[str, object]:
    partial = loop.role is Role.TAIL

    def statements(code: tuple[Instr, ...]) -> list[str]:
        return [_statement(spec, instr, partial) for instr in code]

    return {
        "partial": partial,
        "step": loop.step,
        "rolled": loop.rolled,
        "head": statements(loop.head),
        "start": [f"uint64_t v{c.phi} = v{c.initial};" for c in loop.carries],
        "body": statements(loop.body),
        "next": [f"v{c.phi} = v{c.updated};" for c in loop.carries],
        "close": statements(loop.close),
    }


def build(spec: KernelSpec, program: Program) -> str:
    """The C source of a kernel for the instruction set `scalar`."""
    return render(
        "scalar_kernel.c.j2",
        spec=spec,
        count="k" if spec.inputs is None else str(spec.inputs),
        stride=spec.source_stride,
        loops=[_loop(spec, loop) for loop in program.loops],
    )
