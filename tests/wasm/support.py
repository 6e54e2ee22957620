"""What the WebAssembly tests share: where things are, and Node."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
EXAMPLE = REPO / "examples" / "wasm"
OBJECTS = REPO / "build" / "wasm"

POLYNOMIAL = 0x11D

#: Node 20 has relaxed SIMD behind a flag, newer ones without.
RELAXED = "--experimental-wasm-relaxed-simd"


@dataclass(frozen=True, slots=True)
class Variant:
    """One module of the package: its name, the kernel set that it runs, what Node must be told."""

    name: str
    isa: str
    node: tuple[str, ...] = ()


VARIANTS = (
    Variant("scalar", "scalar"),
    Variant("simd128", "wasm_simd128"),
    Variant("relaxed", "wasm_relaxed_simd", (RELAXED,)),
)


def call(*command: str | Path, cwd: Path = REPO) -> str:
    """The stdout of a command that must succeed."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def node(script: Path, *arguments: str | Path, flags: tuple[str, ...] = ()) -> Any:
    """What a script prints, as JSON."""
    return json.loads(call("node", *flags, script, *arguments))


def listed() -> list[dict[str, Any]]:
    """What `gfsmith list` says of the kernels of the default set."""
    rows = json.loads(call(sys.executable, "-m", "gfsmith.cli", "list", "--json"))["kernels"]
    return list(rows)


def products(polynomial: int) -> bytes:
    """Byte 256 c + x is c * x, as the sympy model has it."""
    from gfsmith.field import Field

    field = Field(polynomial)
    return bytes(field.multiply(c, x) for c in range(256) for x in range(256))


#: Low addresses and nothing else at both ends: buffers are put there.
LAYOUT = "-Wl,--no-entry,--export=__heap_base,--global-base=131072,--initial-memory=8388608,--max-memory=8388608"


def link(module: Path, inputs: list[Path], symbols: list[str], *flags: str) -> None:
    """A module of kernels and nothing else, for contract.mjs."""
    exports = [f"-Wl,--export={symbol}" for symbol in symbols]
    call("clang-19", "--target=wasm32-wasi", "-nostartfiles", LAYOUT, *flags, *exports, *inputs, "-o", module)


def contract(folder: Path, module: Path, kernels: list[dict[str, Any]], variant: Variant) -> dict[str, Any]:
    """Run contract.mjs: {symbol: {sweep: calls, or "failure": why}}."""
    table = folder / "products.bin"
    table.write_bytes(products(POLYNOMIAL))
    job = {"module": str(module), "products": {POLYNOMIAL: str(table)}, "kernels": kernels}
    (folder / "job.json").write_text(json.dumps(job))
    results: dict[str, Any] = node(HERE / "contract.mjs", folder / "job.json", flags=variant.node)
    return results
