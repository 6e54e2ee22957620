"""Kernels, proofs and programs as people and machines read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from gfsmith import generate
from gfsmith.codes import Family
from gfsmith.emit.template import meaning
from gfsmith.ir import CURRENT, Instr, Loop, Ref, Space
from gfsmith.isa import ISAS
from gfsmith.liveness import pressure
from gfsmith.spec import KernelSpec


def record(spec: KernelSpec) -> dict[str, Any]:
    """One kernel in `gfsmith list --json`. inputs null: any number; code null: run-time matrix."""
    return {
        "symbol": spec.symbol,
        "operation": spec.operation.value,
        "isa": spec.isa.name,
        "inputs": spec.inputs,
        "outputs": spec.outputs,
        "code": None,
        "technique": spec.technique.value,
        "tables": spec.tables.label,
        "unroll": spec.unroll,
        "prefetch": spec.prefetch,
        "store": spec.store.value,
        "polynomial": spec.field.polynomial,
        "in_place": spec.in_place,
    }


def family(entry: Family) -> dict[str, str]:
    """One code family in `gfsmith codes --json`."""
    return {
        "code": entry.name,
        "parity": entry.formula,
        "source": entry.source,
        "mds": entry.mds_when,
    }


def summary(specs: Sequence[KernelSpec], manifest: dict[str, Any]) -> str:
    """Kernels and bytes of machine code per instruction set, as a Markdown table."""
    sizes = {kernel["symbol"]: kernel["bytes"] for kernel in manifest.get("kernels", [])}
    operations = ("dot", "mad", "mul", "xor")
    rows = [
        f"| instruction set | {' | '.join(operations)} | kernels | bytes of code |",
        "|---|" + "---:|" * (len(operations) + 2),
    ]
    for isa in ISAS:
        mine = [spec for spec in specs if spec.isa is isa]
        if not mine:
            continue
        counts = Counter(spec.operation.value for spec in mine)
        size = sum(sizes.get(spec.symbol, 0) for spec in mine)
        text = f"{size:,}" if mine[0].machine_code else "C source"
        cells = " | ".join(str(counts[operation]) for operation in operations)
        rows.append(f"| `{isa.name}` | {cells} | {len(mine)} | {text} |")
    counts = Counter(spec.operation.value for spec in specs)
    cells = " | ".join(str(counts[operation]) for operation in operations)
    total = sum(sizes.get(spec.symbol, 0) for spec in specs)
    rows.append(f"| all | {cells} | {len(specs)} | {total:,} |")
    return "\n".join(rows)


def proof_table(kernels: Sequence[generate.Kernel]) -> Table:
    """Verdicts per instruction set."""
    table = Table("isa", "kernels", "proved", "method")
    for isa in ISAS:
        mine = [kernel for kernel in kernels if kernel.spec.isa is isa]
        if mine:
            proved = sum(1 for kernel in mine if kernel.verdict)
            table.add_row(isa.name, str(len(mine)), str(proved), generate.METHOD_PROGRAM)
    return table


def _ref(ref: Ref) -> str:
    index = "j" if ref.index == CURRENT else str(ref.index)
    if ref.space is Space.COEFFICIENT:
        return f"c[{ref.output}][{index}]" + (f"+{ref.offset}" if ref.offset else "")
    name = "src" if ref.space is Space.SOURCE else "dst"
    return f"{name}[{index}]+{ref.offset}"


def _instr(instr: Instr) -> str:
    operands = [f"v{a}" for a in instr.args]
    if instr.ref is not None:
        operands.append(_ref(instr.ref))
    if instr.immediate:
        operands.append(hex(instr.immediate))
    left = f"v{instr.result} = " if instr.result is not None else ""
    return f"{left}{instr.op.name.lower()} {', '.join(operands)}".rstrip()


def _loop(loop: Loop) -> list[str]:
    guard = ", destinations aligned" if loop.aligned else ""
    lines = [f"{loop.role.name.lower()} loop, {loop.step} bytes a turn{guard}"]
    lines += [f"  {_instr(i)}" for i in loop.head]
    if loop.rolled:
        lines += [f"  v{c.phi} = v{c.initial}" for c in loop.carries]
        lines += ["  for every source j", *(f"    {_instr(i)}" for i in loop.body)]
        lines += [f"    v{c.phi} = v{c.updated}" for c in loop.carries]
    return lines + [f"  {_instr(i)}" for i in loop.close]


def explain(spec: KernelSpec) -> str:
    """The formula, the Program with its operation counts, and the generated source."""
    program = generate.program(spec)
    kernel = generate.generate_one(spec)
    registers = "the compiler's" if spec.isa.registers is None else str(spec.isa.registers)
    lines = [
        f"{spec.symbol}: {meaning(spec)}",
        f"proof: {kernel.verdict.status.value} ({generate.METHOD_PROGRAM})",
        f"vector values live at once: {pressure(program)} of {registers} registers",
        "",
        "once: " + ("; ".join(_instr(i) for i in program.preload) or "nothing"),
    ]
    for loop in program.loops:
        counts = Counter(i.op.name.lower() for section in loop.sections() for i in section)
        lines += ["", *_loop(loop)]
        lines.append("  operations: " + ", ".join(f"{n} {op}" for op, n in counts.items()))
    return "\n".join([*lines, "", kernel.text])
