"""An explanation as text for a terminal, and as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gfsmith.build.report import record
from gfsmith.explore.cost_model.compiled import CompiledLoop
from gfsmith.explore.cost_model.mca import Outcome, Prediction
from gfsmith.explore.cost_model.target import TARGETS
from gfsmith.explore.cost_model.tools import COMPILER
from gfsmith.explore.explain import program as words
from gfsmith.explore.explain.kernel import Explanation, Machine
from gfsmith.kernel.spec import KernelSpec, Operation, Walk

_CODE_WIDTH = 22  #: characters of eleven bytes in hexadecimal
_TEXT_WIDTH = 50


def _matrix(spec: KernelSpec) -> list[str]:
    if spec.baked is not None:
        rows = ["  " + " ".join(f"{c:02x}" for c in row) for row in spec.baked.rows]
        return [f"matrix {spec.matrix_id}, a row for each output, hexadecimal:", *rows]
    if spec.operation is Operation.HORNER:
        return [f"matrix: powers of 2^i in row i, by Horner's rule; {spec.technique.value} doubles"]
    if not spec.tables.entry_bytes:
        return ["matrix: all ones; no table is read"]
    shape = f"{spec.table_outputs} x {'k' if spec.table_inputs is None else spec.table_inputs}"
    return [
        f"matrix: {shape}, given at run time as {spec.tables.label} tables, "
        f"{spec.tables.entry_bytes} bytes a coefficient, {'row by row' if spec.by_rows else 'source-major'}"
    ]


def machine_proof(it: Explanation) -> str:
    """Return the status of the proofs of the machine code, one for each ABI."""
    if not it.certificates:
        return "machine code: not proved, since a compiler makes it; `gfsmith verify` proves an object file"
    proofs = "; ".join(
        f"{each.status.value} for {each.abi}, {each.covered} of {each.instructions} instructions reached"
        for each in it.certificates
    )
    return f"machine code: {proofs} (result, bounds, ABI and constant time, at every length)"


def _schedule(spec: KernelSpec) -> list[str]:
    ahead = f"prefetch {spec.prefetch} bytes ahead" if spec.prefetch else "no prefetch"
    if spec.pipelined:
        ahead = "prefetch of the addresses in the pointers after those of the sources, one for each line"
    walk = f"; {spec.lines} lines of every source by {spec.walk.value}" if spec.walk is Walk.ROWS else ""
    walk += "; shuffled" if spec.shuffled else ""
    needs = f" ({', '.join(spec.isa.cpu_flags)})" if spec.isa.cpu_flags else ""
    return [
        f"set: {spec.isa.name}{needs}; technique: {spec.technique.value}",
        f"an iteration of the main loop: {spec.unroll} x {spec.isa.vector_bytes} bytes of every shard; "
        f"{spec.store.value} stores; {ahead}{walk}",
    ]


def _listing(machine: Machine) -> list[str]:
    head = f"    {'offset':>6}  {'bytes':<{_CODE_WIDTH}}  {'instruction':<{_TEXT_WIDTH}}  Program"
    lines = [head]
    for row in machine.rows:
        if not row.code:
            lines.append(f"  {row.text}")
            continue
        mark = "|" if row.main else " "
        cells = f"{row.code.hex():<{_CODE_WIDTH}}  {row.text:<{_TEXT_WIDTH}}  {row.program}"
        lines.append(f"  {mark} {row.offset:>6}  {cells}".rstrip())
    return lines


def _operations(machine: Machine) -> Table:
    table = Table("operation", "in the Program", "instructions", title_justify="left")
    for each in machine.operations:
        became = ", ".join(f"{n} {name}" for name, n in each.instructions.items())
        table.add_row(each.name, str(each.program or "-"), became or "-")
    return table


def _predictions(outcomes: tuple[Outcome, ...], models: Mapping[str, str]) -> Table:
    table = Table("cpu", "cycles/iteration", "cycles per 64 B", "bottleneck", "busy", "instructions", "uops")
    for each in outcomes:
        name = f"{each.cpu} (model of {models[each.cpu]})" if each.cpu in models else each.cpu
        if not isinstance(each, Prediction):
            table.add_row(name, "-", "-", each.reason, "-", "-", "-")
            continue
        busy = max(each.pressure.values()) / each.cycles
        table.add_row(
            name, f"{each.cycles:.2f}", f"{each.cycles_per_64:.2f}", each.bottleneck, f"{busy:.0%}",
            str(each.instructions), f"{each.uops:g}",
        )  # fmt: skip
    return table


def show(console: Console, it: Explanation) -> None:
    """Print the whole explanation."""

    def heading(text: str) -> None:
        console.print(Text(f"\n{text}", style="bold"))

    def block(lines: list[str]) -> None:
        console.print("\n".join(lines), soft_wrap=True, highlight=False)

    block(words.head(it.spec, it.program, it.kernel.verdict.status.value))
    block([machine_proof(it), *_matrix(it.spec), *_schedule(it.spec)])
    heading("Program")
    block(words.body(it.program))
    if it.machine is None:
        heading(f"C source, {it.kernel.path}")
        block([it.kernel.text])
        if it.compiled is not None:
            _show_compiled(it.compiled, heading, block)
    else:
        _show_machine(console, it, it.machine, heading, block)
    _show_predictions(console, it, heading, block)


def _show_machine(console: Console, it: Explanation, machine: Machine, heading: Any, block: Any) -> None:
    heading(f"machine code, {it.kernel.path}")
    sizes = ", ".join(f"{len(code)} bytes ({abi})" for abi, code in it.kernel.code.items())
    block([
        f"with prologue and epilogue: {sizes}; the body, `|` marks the main loop:",
        *_listing(machine),
    ])  # fmt: skip
    block([
        f"vector registers used: {len(machine.vectors)}: {' '.join(machine.vectors)}",
        f"general registers used: {len(machine.general)}: {' '.join(machine.general)}",
    ])  # fmt: skip
    scope = "for every source" if it.program.loops[0].rolled else "per iteration"
    heading(f"main loop: operations {scope}, {machine.loop.source_bytes} bytes of source")
    console.print(_operations(machine))


def _show_compiled(loop: CompiledLoop, heading: Any, block: Any) -> None:
    heading(f"main loop, as {COMPILER} -O2 compiles it for {loop.target.triple}")
    lines = dict.fromkeys(sorted(loop.lines, key=lambda line: line.address))
    block([f"  {line.address:>6}  {line.text}" for line in lines])
    said = f"{loop.count} instructions are executed for {loop.source_bytes} bytes of source"
    if loop.sources:
        said += f", with the inner loop repeated for {loop.sources} sources"
    longer = [cpu for cpu in loop.target.vector_bytes if loop.scalable]
    said += "".join(
        f"; with vectors of {loop.target.lanes(c)} bytes ({c}) {loop.bytes_on(c)}" for c in longer
    )
    block([said])


def _show_predictions(console: Console, it: Explanation, heading: Any, block: Any) -> None:
    heading("main loop: cycles predicted by llvm-mca, all data in the first-level cache")
    if it.silence:
        block([f"no cycles predicted: {it.silence}"])
        return
    models = TARGETS[it.spec.isa.arch].models
    console.print(_predictions(it.predictions, models))
    if it.machine is not None and it.program.loops[0].rolled:
        block(["These are cycles of the loop over the sources, without the code that runs once per block"])


def _prediction(outcome: Outcome) -> dict[str, Any]:
    if not isinstance(outcome, Prediction):
        return {"cpu": outcome.cpu, "unmodelled": outcome.reason}
    return {
        "cpu": outcome.cpu,
        "cycles": outcome.cycles,
        "cycles_per_64_bytes": outcome.cycles_per_64,
        "bottleneck": outcome.bottleneck,
        "uops": outcome.uops,
        "dispatch_width": outcome.width,
        "pressure": outcome.pressure,
    }


def _machine(machine: Machine) -> dict[str, Any]:
    return {
        "vector_registers": list(machine.vectors),
        "general_registers": list(machine.general),
        "main_loop": {
            "source_bytes": machine.loop.source_bytes,
            "instructions": len(machine.loop.instructions),
            "operations": [asdict(operation) for operation in machine.operations],
        },
        "listing": [{**asdict(row), "code": row.code.hex()} for row in machine.rows],
    }


def _compiled(loop: CompiledLoop) -> dict[str, Any]:
    return {
        "compiler": f"{COMPILER} -O2, {loop.target.triple}",
        "source_bytes": loop.source_bytes,
        "sources": loop.sources or None,
        "instructions": [line.text for line in loop.lines],
    }


def to_json(it: Explanation) -> dict[str, Any]:
    """Return the data of `gfsmith explain --json`. machine: null for C; compiled: its main loop, with each
    instruction as many times as it is executed, null for machine code; silence: the reason for a missing
    prediction, or empty."""
    spec = it.spec
    return {
        **record(spec),
        "matrix": [list(row) for row in spec.baked.rows] if spec.baked is not None else None,
        "circuits": [asdict(circuit) for circuit in words.weighed(spec)],
        "proof": it.kernel.verdict.status.value,
        "machine_proofs": {
            each.abi: {
                "status": each.status.value,
                "instructions": each.instructions,
                "covered": each.covered,
            }
            for each in it.certificates
        },
        "program": words.body(it.program),
        "bytes": {abi: len(code) for abi, code in it.kernel.code.items()},
        "machine": _machine(it.machine) if it.machine is not None else None,
        "compiled": _compiled(it.compiled) if it.compiled is not None else None,
        "predictions": [_prediction(outcome) for outcome in it.predictions],
        "silence": it.silence,
    }
