"""Kernels with their certificates, made once per process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gfsmith.build.certificates import description
from gfsmith.prove.machine.prove import contract_of, prove_bytes
from judge import spec
from judge.replay import replay
from tools.mutation.sample import Target


@dataclass(frozen=True, slots=True)
class Certified:
    """A function, its description and its certificate, as they are read from a file."""

    target: Target
    kernel: dict[str, Any]
    trees: list[Any]

    def judge(self, code: bytes | None = None, trees: Any = None, **changes: Any) -> int:
        """Replay the certificate, with changes. Raises Rejected."""
        found = spec.read(self.kernel | changes)
        trees = self.trees if trees is None else trees
        return replay(found, self.target.abi.value, self.target.code if code is None else code, trees)


@lru_cache(maxsize=64)
def certified(target: Target) -> Certified:
    report = prove_bytes(contract_of(target.spec, target.abi.value), target.code, target.spec.symbol, False)
    assert report, report.reason
    kernel, trees = json.loads(json.dumps((description(target.spec), report.certificate)))
    return Certified(target, kernel, trees)
