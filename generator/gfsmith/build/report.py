"""Reports about kernels and their proofs, as tables and as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from rich.table import Table

from gfsmith.kernel.isa import ISAS
from gfsmith.kernel.operation import Operation
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.verdict import METHOD_MACHINE, Status

if TYPE_CHECKING:
    from gfsmith.build.prove_kernels import Certificate


def record(spec: KernelSpec) -> dict[str, Any]:
    """Return the record of one kernel in `gfsmith list --json`. inputs null: any number. code null: run-time
    coefficients; otherwise rows first.. of the parity matrix, which has `parities` rows. packets: rows of its
    bit matrix."""
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


def _code(specs: Sequence[KernelSpec], sizes: Mapping[str, int]) -> str:
    """Return the bytes of machine code of some kernels, or the reason that they have no number."""
    symbols = [spec.symbol for spec in specs if spec.machine_code]
    if not symbols:
        return "C source"
    if any(symbol not in sizes for symbol in symbols):
        return "not generated"
    return f"{sum(sizes[symbol] for symbol in symbols):,}"


def summary(specs: Sequence[KernelSpec], manifest: dict[str, Any]) -> str:
    """Return kernels and bytes of machine code per instruction set, as a Markdown table."""
    sizes = {kernel["symbol"]: kernel["bytes"] for kernel in manifest.get("kernels", [])}
    operations = [operation.value for operation in Operation]
    rows = [
        f"| instruction set | {' | '.join(operations)} | kernels | bytes of code |",
        "|---|" + "---:|" * (len(operations) + 2),
    ]
    for isa in ISAS:
        mine = [spec for spec in specs if spec.isa.name == isa.name]
        if not mine:
            continue
        counts = Counter(spec.operation.value for spec in mine)
        cells = " | ".join(str(counts[operation]) for operation in operations)
        rows.append(f"| `{isa.name}` | {cells} | {len(mine)} | {_code(mine, sizes)} |")
    counts = Counter(spec.operation.value for spec in specs)
    cells = " | ".join(str(counts[operation]) for operation in operations)
    rows.append(f"| all | {cells} | {len(specs)} | {_code(specs, sizes)} |")
    return "\n".join(rows)


def kernel_table(specs: Sequence[KernelSpec]) -> Table:
    """Return the table of `gfsmith list`, with one row for each kernel."""
    table = Table("symbol", "operation", "isa", "inputs", "outputs", "tables", "unroll")
    for spec in specs:
        inputs = "any" if spec.inputs is None else str(spec.inputs)
        table.add_row(
            spec.symbol, spec.operation.value, spec.isa.name, inputs, str(spec.outputs),
            spec.tables.label, str(spec.unroll),
        )  # fmt: skip
    return table


def proof_table(specs: Sequence[KernelSpec], certificates: Mapping[tuple[str, str], Certificate]) -> Table:
    """Return the table of machine-code proofs per instruction set and ABI."""
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
    """Return the record of one machine-code proof in `gfsmith verify --json`."""
    return {
        "symbol": proof.symbol,
        "abi": proof.abi,
        "status": proof.status.value,
        "method": [METHOD_MACHINE],
        "instructions": proof.instructions,
        "covered": proof.covered,
        "seconds": proof.seconds,
    }
