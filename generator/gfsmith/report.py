"""Kernels and proofs as people and machines read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from rich.table import Table

from gfsmith.certify import Certificate
from gfsmith.compiled import Proof
from gfsmith.isa import ISAS
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
        "walk": spec.walk.value,
        "shuffled": spec.shuffled,
        "pipelined": spec.pipelined,
        "store": spec.store.value,
        "polynomial": spec.field.polynomial,
        "in_place": spec.in_place,
        "parities": spec.baked.parities if spec.baked is not None else None,
        "first": spec.baked.first if spec.baked is not None else None,
    }


def summary(specs: Sequence[KernelSpec], manifest: dict[str, Any]) -> str:
    """Kernels and bytes of machine code per instruction set, as a Markdown table."""
    sizes = {kernel["symbol"]: kernel["bytes"] for kernel in manifest.get("kernels", [])}
    operations = ("dot", "mad", "mul", "xor", "horner")
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


def compiled(proof: Proof) -> dict[str, Any]:
    """One function in `gfsmith verify --objects --json`."""
    return {
        "symbol": proof.symbol,
        "isa": proof.isa,
        "abi": proof.abi,
        "file": proof.file,
        "compiler": proof.compiler,
        "method": ["machine"],
        **outcome(proof.report),
        "seconds": round(proof.seconds, 3),
    }


def compiled_table(proofs: Sequence[Proof]) -> Table:
    """Proofs of objects per instruction set, ABI and compiler."""
    table = Table("isa", "abi", "compiler", "functions", "proved", "instructions", "reached")
    groups = Counter((proof.isa, proof.abi, proof.compiler) for proof in proofs)
    for group, count in groups.items():
        mine = [proof.report for proof in proofs if (proof.isa, proof.abi, proof.compiler) == group]
        proved = sum(bool(each) for each in mine)
        sums = sum(each.instructions for each in mine), sum(each.covered for each in mine)
        table.add_row(*group, *(str(figure) for figure in (count, proved, *sums)))
    return table


def established(proof: Report) -> str:
    return f"{', '.join(proof.checks)}; {proof.covered} of {proof.instructions} instructions reached"
