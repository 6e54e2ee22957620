"""Kernels, proofs and programs as people and machines read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from rich.table import Table

from gfsmith import generate
from gfsmith.certify import Certificate
from gfsmith.codes import Family
from gfsmith.emit.template import meaning
from gfsmith.ir import Instr, Loop, Ref, Space, source_name
from gfsmith.isa import ISAS
from gfsmith.liveness import pressure
from gfsmith.prove.machine.kernel import Report
from gfsmith.prove.verdict import Status
from gfsmith.spec import KernelSpec


def record(spec: KernelSpec) -> dict[str, Any]:
    """One kernel in `gfsmith list --json`. inputs null: any number; code null: run-time
    matrix, else rows first.. of the parity matrix of `parities` rows; packets: of its bit matrix."""
    return {
        "symbol": spec.symbol,
        "operation": spec.operation.value,
        "isa": spec.isa.name,
        "inputs": spec.inputs,
        "outputs": spec.outputs,
        "code": spec.baked.code if spec.baked is not None else None,
        "packets": spec.baked is not None and spec.baked.packets,
        "technique": spec.technique.value,
        "tables": spec.tables.label,
        "width": spec.isa.width,
        "unroll": spec.unroll,
        "prefetch": spec.prefetch,
        "store": spec.store.value,
        "polynomial": spec.field.polynomial,
        "in_place": spec.in_place,
        "parities": spec.baked.parities if spec.baked is not None else None,
        "first": spec.baked.first if spec.baked is not None else None,
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
        mine = [spec for spec in specs if spec.isa.name == isa.name]
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


def proof_table(specs: Sequence[KernelSpec], certificates: Mapping[tuple[str, str], Certificate]) -> Table:
    """Machine-code proofs per instruction set and ABI."""
    table = Table("isa", "abi", "functions", "proved", "instructions", "reached", "median s", "worst s")
    names = {spec.symbol: spec.isa.name for spec in specs}
    groups = Counter((names[c.symbol], c.abi) for c in certificates.values())
    for (isa, abi), count in groups.items():
        mine = [c for c in certificates.values() if (names[c.symbol], c.abi) == (isa, abi)]
        proved = sum(c.status is Status.PROVED for c in mine)
        instructions, covered = (
            sum(x) for x in zip(*((c.instructions, c.covered) for c in mine), strict=True)
        )
        seconds = [c.seconds for c in mine]
        times = f"{median(seconds):.2f}", f"{max(seconds):.2f}"
        table.add_row(isa, abi, str(count), str(proved), str(instructions), str(covered), *times)
    return table


def certificate(proof: Certificate) -> dict[str, Any]:
    """One machine-code proof in `gfsmith verify --json`."""
    return {
        "symbol": proof.symbol,
        "abi": proof.abi,
        "status": proof.status.value,
        "method": ["machine"],
        "instructions": proof.instructions,
        "covered": proof.covered,
        "seconds": proof.seconds,
    }


def outcome(proof: Report) -> dict[str, Any]:
    """The proof of a foreign function in `gfsmith verify OBJECT --json`."""
    return {
        "status": proof.status.value,
        "reason": proof.reason,
        "instructions": proof.instructions,
        "covered": proof.covered,
        "established": list(proof.checks),
    }


def established(proof: Report) -> str:
    return f"{', '.join(proof.checks)}; {proof.covered} of {proof.instructions} instructions reached"


def _ref(ref: Ref) -> str:
    index = source_name(ref.index)
    if ref.space is Space.COEFFICIENT:
        return f"c[{ref.output}][{index}]" + (f"+{ref.offset}" if ref.offset else "")
    if ref.space is Space.CONSTANT:
        return f"constant+{ref.offset}"
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
        sources = "source j" if loop.group == 1 else f"{loop.group} sources from j on"
        lines += [f"  for every {sources}", *(f"    {_instr(i)}" for i in loop.body)]
        lines += [f"    v{c.phi} = v{c.updated}" for c in loop.carries]
        if loop.rest:
            lines += ["  for every source j that is left", *(f"    {_instr(i)}" for i in loop.rest)]
            lines += [f"    v{c.phi} = v{c.rest}" for c in loop.carries]
    return lines + [f"  {_instr(i)}" for i in loop.close]


def _circuits(spec: KernelSpec) -> list[str]:
    """The ways to apply a known matrix, cheapest first, and which one the kernel takes."""
    if spec.baked is None:
        return []
    product, addition = generate.costs(spec)
    chosen = generate.choose(spec)[0]
    lines = [f"circuits of {spec.matrix_id}, at {product:g} cycles a product and {addition:g} a sum:"]
    for candidate in generate.circuits(spec):
        over = f" over {1 << candidate.dimension} points" if candidate.dimension else ""
        circuit = candidate.circuit
        lines.append(
            f"  {candidate.method}{over}: {circuit.multiplications} products, {circuit.additions} sums, "
            f"{candidate.cost(product, addition):g} cycles for {spec.isa.vector_bytes} bytes of each source"
            + (" <- taken" if candidate == chosen else "")
        )
    if lines[1].endswith("<- taken"):
        return lines
    return [*lines, "  cheaper ones need more registers than there are"]


def explain(spec: KernelSpec) -> str:
    """The formula, the Program with its operation counts, and the generated source."""
    program = generate.program(spec)
    kernel = generate.generate_one(spec)
    registers = "the compiler's" if spec.isa.registers is None else str(spec.isa.registers)
    lines = [
        f"{spec.symbol}: {meaning(spec)}",
        f"proof: {kernel.verdict.status.value} ({generate.METHOD_PROGRAM})",
        f"vector values live at once: {pressure(program)} of {registers} registers",
        *_circuits(spec),
        "",
        "once: " + ("; ".join(_instr(i) for i in program.preload) or "nothing"),
    ]
    for loop in program.loops:
        counts = Counter(i.op.name.lower() for section in loop.sections() for i in section)
        lines += ["", *_loop(loop)]
        lines.append("  operations: " + ", ".join(f"{n} {op}" for op, n in counts.items()))
    return "\n".join([*lines, "", kernel.text])
