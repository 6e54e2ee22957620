"""WebAssembly in text form: assembled by WABT, executed by Node."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import load
from tests.system.bindings.wasm.support import node

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function: the types and values of its arguments, and the first bytes of the memory."""

    name: str
    types: tuple[str, ...]
    values: tuple[int, ...]
    memory: bytes


def assemble(text: str, path: Path) -> Image:
    """Write a module with the names of its functions, and return its image."""
    source = path.with_suffix(".wat")
    source.write_text(text, encoding="utf-8")
    command: list[str | Path] = ["wat2wasm", "--debug-names", "--enable-relaxed-simd", source, "-o", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return load(path)


def call(module: Path, calls: Sequence[Call]) -> list[bytes | None]:
    """Return the memory after each call; None for a trap."""
    listed = [
        {
            "name": each.name,
            "arguments": [
                {"type": kind, "value": str(value)}
                for kind, value in zip(each.types, each.values, strict=True)
            ],
            "memory": base64.b64encode(each.memory).decode(),
        }
        for each in calls
    ]
    job = module.with_suffix(".json")
    job.write_text(json.dumps({"module": str(module), "calls": listed}), encoding="utf-8")
    results: list[str | None] = node(HERE / "run.mjs", job)
    return [None if result is None else base64.b64decode(result) for result in results]
