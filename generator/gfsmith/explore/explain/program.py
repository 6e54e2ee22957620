"""A kernel's Program as text: its lines, its operation counts, and the circuits that were compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gfsmith.build import generate
from gfsmith.emit.template import meaning
from gfsmith.ir import Instr, Loop, Program, Ref, Space, source_name
from gfsmith.ir.liveness import pressure
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.verdict import METHOD_PROGRAM


def _ref(ref: Ref) -> str:
    index = source_name(ref.index)
    if ref.space is Space.COEFFICIENT:
        return f"c[{ref.output}][{index}]" + (f"+{ref.offset}" if ref.offset else "")
    if ref.space is Space.CONSTANT:
        return f"constant+{ref.offset}"
    if ref.space is Space.SCRATCH:
        return f"slot[{index}]"
    if ref.space is Space.AHEAD:
        return f"ahead[{index}]"
    name = "src" if ref.space is Space.SOURCE else "dst"
    return f"{name}[{index}]+{ref.offset}"


def line(instr: Instr) -> str:
    """Return one instruction as text, for example `v3 = affine v0, c[0][1]`."""
    operands = [f"v{a}" for a in instr.args]
    if instr.ref is not None:
        operands.append(_ref(instr.ref))
    if instr.immediate:
        operands.append(hex(instr.immediate))
    left = f"v{instr.result} = " if instr.result is not None else ""
    return f"{left}{instr.op.name.lower()} {', '.join(operands)}".rstrip()


def _loop(loop: Loop) -> list[str]:
    guard = ", destinations aligned" if loop.aligned else ""
    lines = [f"{loop.role.name.lower()} loop, {loop.step} bytes per iteration{guard}"]
    if loop.joined:
        lines = ["  in the same iteration"]
    lines += [f"  {line(i)}" for i in loop.head]
    if loop.rolled:
        lines += [f"  v{c.phi} = v{c.initial}" for c in loop.carries]
        sources = "source j" if loop.group == 1 else f"{loop.group} sources from j on"
        lines += [f"  for every {sources}", *(f"    {line(i)}" for i in loop.body)]
        lines += [f"    v{c.phi} = v{c.updated}" for c in loop.carries]
        if loop.rest:
            lines += ["  for every source j that is left", *(f"    {line(i)}" for i in loop.rest)]
            lines += [f"    v{c.phi} = v{c.rest}" for c in loop.carries]
    return lines + [f"  {line(i)}" for i in loop.close]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A way to apply a known matrix: its operations and its cost for one vector of each source.

    points: size of the subspace over which it is factored; 0 for a dense product.
    """

    method: str
    points: int
    products: int
    sums: int
    cycles: float
    taken: bool


def weighed(spec: KernelSpec) -> list[Weighed]:
    """Return the circuits for a known matrix, cheapest first; none for a matrix given at run time."""
    if spec.baked is None:
        return []
    costs = generate.costs(spec)
    chosen = generate.choose(spec)[0]
    return [
        Weighed(
            method=candidate.method,
            points=1 << candidate.dimension if candidate.dimension else 0,
            products=candidate.circuit.multiplications,
            sums=candidate.circuit.additions,
            cycles=candidate.cost(*costs),
            taken=candidate == chosen,
        )
        for candidate in generate.circuits(spec)
    ]


def circuits(spec: KernelSpec) -> list[str]:
    """Return the circuits for a known matrix, cheapest first, and the choice of the kernel."""
    if spec.baked is None:
        return []
    product, addition = generate.costs(spec)
    lines = [f"circuits of {spec.matrix_id}, at {product:g} cycles a product and {addition:g} a sum:"]
    found = weighed(spec)
    for each in found:
        over = f" over {each.points} points" if each.points else ""
        lines.append(
            f"  {each.method}{over}: {each.products} products, {each.sums} sums, "
            f"{each.cycles:g} cycles for {spec.isa.vector_bytes} bytes of each source"
            + (" <- taken" if each.taken else "")
        )
    if found[0].taken:
        return lines
    return [*lines, "  cheaper circuits keep more values in the frame than fit or than is fast"]


def counts(code: Iterable[Instr]) -> dict[str, int]:
    """Return the number of each operation, in the order of their first occurrence."""
    return dict(Counter(instr.op.name.lower() for instr in code))


def head(spec: KernelSpec, program: Program, proof: str) -> list[str]:
    """Return the kernel's function, its proof, the registers that its values need, and the circuits."""
    registers = "the compiler's" if spec.isa.registers is None else str(spec.isa.registers)
    return [
        f"{spec.symbol}: {meaning(spec)}",
        f"proof: {proof} ({METHOD_PROGRAM})",
        f"vector values live at once: {pressure(program)} of {registers} registers"
        + (f", and {program.slots} in the frame" if program.slots else ""),
        *circuits(spec),
    ]


def body(program: Program) -> list[str]:
    """Return the whole Program, with the operations of each loop counted."""
    lines = ["once: " + ("; ".join(line(i) for i in program.preload) or "nothing")]
    for loop in program.loops:
        tally = counts(i for section in loop.sections() for i in section)
        lines += ["", *_loop(loop)]
        lines.append("  operations: " + ", ".join(f"{n} {op}" for op, n in tally.items()))
    return lines
