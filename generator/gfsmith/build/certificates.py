"""The certificates of machine-code proofs in the cache of proofs, for the second judge (judge/ at the top).

A record has the description of a kernel in plain data, the ABI, the digest of the code and the trees that the
proof found, compressed. The code is not in it: the judge reads the code that ships.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from gfsmith.kernel.spec import KernelSpec


def description(spec: KernelSpec) -> dict[str, Any]:
    """Return the description of a kernel, in the fields of judge/spec.py."""
    return {
        "symbol": spec.symbol,
        "operation": spec.operation.value,
        "inputs": spec.inputs,
        "outputs": spec.outputs,
        "table": spec.tables.label,
        "rows": spec.baked.rows if spec.baked is not None else None,
        "polynomial": spec.field.polynomial,
        "in_place": spec.in_place,
        "group": spec.group,
        "descending": spec.descending,
        "ahead": spec.lines if spec.pipelined else 0,
    }


def record(spec: KernelSpec, abi: str, code: bytes, trees: Sequence[Any]) -> dict[str, Any]:
    """Return the certificate of one function. trees: one for each case of the contract."""
    plain = json.dumps(trees, separators=(",", ":")).encode()
    return {
        "kernel": description(spec),
        "abi": abi,
        "sha256": sha256(code).hexdigest(),
        "trees": base64.b85encode(zlib.compress(plain)).decode(),
    }
