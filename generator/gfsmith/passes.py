"""Pure rewrites Program -> Program. PIPELINE reads top to bottom in the order in which they run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from gfsmith.ahead import insert_pipelined, insert_prefetch
from gfsmith.ir import CURRENT, STORES, Instr, Loop, Op, Program, Ref, Role, Space, Value
from gfsmith.liveness import pressure, uses
from gfsmith.spec import KernelSpec, Order, Placement, SpecError, Store
from gfsmith.spill import spill

Pass = Callable[[Program, KernelSpec], Program]
Section = tuple[Instr, ...]

#: Registers that a C compiler, which orders anew, is left beyond the Program's needs where vectors are
#: scalable and what it spills is dear (docs/predicted.md).
_SLACK = 3
_NEAR = 10  #: instructions between two uses of a constant that share one load


def _map_sections(program: Program, rewrite: Callable[[Section, Loop], Section]) -> Program:
    loops = tuple(
        replace(
            loop,
            head=rewrite(loop.head, loop),
            body=rewrite(loop.body, loop),
            rest=rewrite(loop.rest, loop),
            close=rewrite(loop.close, loop),
        )
        for loop in program.loops
    )
    return replace(program, loops=loops)


def _units(code: list[Instr], order: Order) -> Iterator[list[Instr]]:
    """Split one unrolled copy after each accumulation and store, so that few temporaries live; or after
    each instruction."""
    unit: list[Instr] = []
    for instr in code:
        unit.append(instr)
        if order is Order.STEPS or instr.op is Op.XOR or instr.op in STORES:
            yield unit
            unit = []
    if unit:
        yield unit


def interleave(program: Program, spec: KernelSpec) -> Program:
    """Alternate between the unrolled copies, so that independent chains of operations stand side by
    side and what the copies share (a table) is loaded once and used at once; but one after the other if
    there are not the registers for it, or the spec says so."""
    if spec.order is Order.COPIES:
        return program

    def rewrite(code: Section, loop: Loop) -> Section:
        copies = sorted({i.copy for i in code})
        streams = [list(_units([i for i in code if i.copy == c], spec.order)) for c in copies]
        merged: list[Instr] = []
        for turn in range(max((len(s) for s in streams), default=0)):
            for stream in streams:
                if turn < len(stream):
                    merged.extend(stream[turn])
        return tuple(merged)

    alternating = _map_sections(program, rewrite)
    refused = spec.isa.registers is not None and pressure(alternating) > spec.isa.registers
    if refused and spec.order is Order.SUMS:
        return program
    return alternating


def eliminate_common(program: Program, spec: KernelSpec) -> Program:
    """Compute equal expressions once, but nothing across a store unless the matrix is known: the next copy
    of the loop's body would find registers full of tables. A constant is cheap to load again and dear to
    keep: it is shared with what stands close by only."""
    renamed: dict[Value, Value] = {}

    def rewrite(code: Section, loop: Loop) -> Section:
        known: dict[tuple[object, ...], Value] = {}
        recent: dict[tuple[object, ...], int] = {}
        kept: list[Instr] = []
        for position, instr in enumerate(code):
            args = tuple(renamed.get(a, a) for a in instr.args)
            instr = replace(instr, args=args)
            key = (instr.op, args, instr.ref, instr.immediate)
            if instr.op in STORES and spec.baked is None:
                known.clear()
            if instr.ref is not None and instr.ref.space is Space.CONSTANT:
                if position - recent.get(key, -_NEAR) >= _NEAR:
                    known.pop(key, None)
                recent[key] = position
            if instr.result is None or instr.op is Op.ZERO:
                kept.append(instr)  # each ZERO starts an accumulator of its own
            elif key in known:
                renamed[instr.result] = known[key]
            else:
                known[key] = instr.result
                kept.append(instr)
        return tuple(kept)

    result = _map_sections(program, rewrite)
    loops = tuple(
        replace(loop, carries=tuple(c.map(lambda v: renamed.get(v, v)) for c in loop.carries))
        for loop in result.loops
    )
    return replace(result, loops=loops)


def unmask(program: Program, spec: KernelSpec) -> Program:
    """A lookup that takes no notice of the upper half of an index spares the mask of the lower one: what AND
    is for, without exception."""
    if Op.LOOKUP_LOW not in spec.isa.ops:
        return program

    def look(code: Section, loop: Loop) -> Section:
        whole = {i.result: i.args[0] for i in code if i.op is Op.AND}
        of = {i: whole[i.args[1]] for i in code if i.op is Op.LOOKUP and i.args[1] in whole}
        return tuple(replace(i, op=Op.LOOKUP_LOW, args=(i.args[0], of[i])) if i in of else i for i in code)

    looked = _map_sections(program, look)
    read = uses(looked)
    return _map_sections(
        looked, lambda code, loop: tuple(i for i in code if i.op is not Op.AND or read[i.result or 0])
    )


def fuse_xor3(program: Program, spec: KernelSpec) -> Program:
    """(a ^ b) ^ c becomes one three-input operation where the instruction set has it."""
    if Op.XOR3 not in spec.isa.ops:
        return program
    count = uses(program)

    def rewrite(code: Section, loop: Loop) -> Section:
        pairs: dict[Value, Instr] = {}
        kept: list[Instr] = []
        for instr in code:
            result = instr.result
            if instr.op is Op.XOR and result is not None:
                inner = next((a for a in instr.args if a in pairs and count[a] == 1), None)
                if inner is not None:
                    other = instr.args[1] if inner == instr.args[0] else instr.args[0]
                    first = pairs.pop(inner)
                    kept.remove(first)
                    instr = replace(instr, op=Op.XOR3, args=(*first.args, other))
                else:
                    pairs[result] = instr
            kept.append(instr)
        return tuple(kept)

    return _map_sections(program, rewrite)


def hoist_tables(program: Program, spec: KernelSpec) -> Program:
    """Keep table entries in registers for the whole call, as many as are left over."""
    if spec.isa.registers is None or spec.placement is Placement.MEMORY:
        return program
    spare = spec.isa.registers - pressure(program) - (1 if spec.isa.destructive else 0)
    spare -= _SLACK if spec.isa.scalable else 0
    candidates: dict[tuple[Op, Ref], Value] = {}
    reads: Counter[tuple[Op, Ref]] = Counter()
    count = uses(program)
    for loop in program.loops:
        for instr in loop.head:
            if _is_fixed_table(instr) and instr.ref is not None and instr.result is not None:
                candidates.setdefault((instr.op, instr.ref), instr.result)
                reads[instr.op, instr.ref] += count[instr.result]
    wanted = sorted(candidates.items(), key=lambda item: -reads[item[0]])
    chosen = dict(wanted[: max(spare, 0)])
    renamed: dict[Value, Value] = {}

    def rewrite(code: Section, loop: Loop) -> Section:
        kept: list[Instr] = []
        for instr in code:
            instr = replace(instr, args=tuple(renamed.get(a, a) for a in instr.args))
            key = (instr.op, instr.ref)
            if _is_fixed_table(instr) and instr.result is not None and key in chosen:
                renamed[instr.result] = chosen[key]
            else:
                kept.append(instr)
        return tuple(kept)

    result = _map_sections(program, rewrite)
    hoisted = tuple(Instr(op, value, (), ref) for (op, ref), value in chosen.items())
    return replace(result, preload=program.preload + hoisted)


def _is_fixed_table(instr: Instr) -> bool:
    return instr.op in (Op.TABLE, Op.MATRIX) and instr.ref is not None and instr.ref.index > CURRENT


def fold_loads(program: Program, spec: KernelSpec) -> Program:
    """Make a load that is read once the memory operand of the instruction that reads it."""
    if not spec.isa.folds_loads:
        return program
    count = uses(program)

    def rewrite(code: Section, loop: Loop) -> Section:
        loaded: dict[Value, Instr] = {}
        kept: list[Instr] = []
        for instr in code:
            if instr.result is not None and count[instr.result] == 1 and _folds(instr, spec, loop):
                loaded[instr.result] = instr
            folded = _fold(instr, loaded)
            if folded is not None:
                source, instr = folded
                kept.remove(source)
            kept.append(instr)
        return tuple(kept)

    return _map_sections(program, rewrite)


def _folds(instr: Instr, spec: KernelSpec, loop: Loop) -> bool:
    if instr.op is Op.MATRIX:
        return spec.isa.broadcasts
    return instr.op is Op.LOAD and loop.role is Role.BLOCK


def _fold(instr: Instr, loaded: dict[Value, Instr]) -> tuple[Instr, Instr] | None:
    """The load and the instruction that took it in as its last operand; None if there is none."""
    if instr.ref is not None:
        return None
    positions: range | tuple[int, ...]
    if instr.op in (Op.XOR, Op.XOR3):
        wanted, positions = Op.LOAD, range(len(instr.args) - 1, -1, -1)
    elif instr.op is Op.AFFINE:
        wanted, positions = Op.MATRIX, (1,)
    else:
        return None
    for position in positions:
        source = loaded.get(instr.args[position])
        if source is not None and source.op is wanted:
            args = instr.args[:position] + instr.args[position + 1 :]
            return source, replace(instr, args=args, ref=source.ref)
    return None


def stream_stores(program: Program, spec: KernelSpec) -> Program:
    """Put a copy of the main loop in front that stores around the cache, for aligned destinations."""
    if spec.store is not Store.STREAMING:
        return program
    main = program.turns()[0]
    shift = 1 + max(v for i in program.instructions() for v in (*i.args, i.result or 0))
    local = {i.result for loop in main for section in loop.sections() for i in section}
    local |= {c.phi for loop in main for c in loop.carries}

    def move(value: Value) -> Value:
        return value + shift if value in local else value

    def rewrite(code: Section) -> Section:
        return tuple(
            replace(
                i,
                op=Op.STREAM if i.op is Op.STORE else i.op,
                result=None if i.result is None else move(i.result),
                args=tuple(move(a) for a in i.args),
            )
            for i in code
        )

    streaming = (
        replace(
            loop,
            head=rewrite(loop.head),
            body=rewrite(loop.body),
            rest=rewrite(loop.rest),
            close=rewrite(loop.close),
            carries=tuple(c.map(move) for c in loop.carries),
            aligned=True,
        )
        for loop in main
    )
    return replace(program, loops=(*streaming, *program.loops))


def check_pressure(program: Program, spec: KernelSpec) -> Program:
    """Refuse a kernel that does not fit into the registers; a C compiler makes it fit."""
    if spec.machine_code and spec.isa.registers is not None:
        needed = pressure(program)
        if needed > spec.isa.registers:
            raise SpecError(
                f"{spec.symbol} needs {needed} vector registers and {spec.isa.name} has "
                f"{spec.isa.registers}; use fewer outputs ({spec.outputs}) or a smaller unroll "
                f"({spec.unroll})"
            )
    return program


PIPELINE: tuple[Pass, ...] = (
    interleave,
    eliminate_common,
    unmask,
    fuse_xor3,
    insert_prefetch,
    insert_pipelined,
    hoist_tables,
    fold_loads,
    spill,
    stream_stores,
    check_pressure,
)


def run(program: Program, spec: KernelSpec) -> Program:
    """The Program after every pass of the pipeline."""
    for step in PIPELINE:
        program = step(program, spec)
    return program
