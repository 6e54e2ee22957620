"""What is tuned: SPEC, which names an operation or a code, a shape and an instruction set.

    SPEC  = WHAT ":" SHAPE [ "@" ISA ]
    WHAT  = dot | mad | xor | CODE        CODE as in `gfsmith codes`: its matrix is baked into the kernel
    SHAPE = INPUTS "x" OUTPUTS            INPUTS: a number, or n (not with a code): any number

Without @ISA it is the best instruction set of this machine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from gfsmith import codes, config
from gfsmith.defaults import default_outputs
from gfsmith.isa import BY_NAME, ISAS, Encoding, Isa
from gfsmith.spec import (
    MAX_SHARDS,
    KernelSpec,
    Operation,
    SpecError,
    Store,
    default_technique,
)

_GRAMMAR = re.compile(r"(?P<what>[a-z_0-9-]+):(?P<inputs>n|[1-9]\d*)x(?P<outputs>[1-9]\d*)(@(?P<isa>\w+))?")
_OPERATIONS = ("dot", "mad", "xor")

ANY = 10  #: sources at which kernels for any number of them are timed

PATHS = ("cached", "nearby", "distant", "bulk")
STREAM_MIN = 1024  #: GFS_STREAM_MIN of dispatch.h: bytes of a shard from which on a call is `distant`
BULK_MIN = 16 << 10  #: GFS_BULK_MIN of dispatch.h: from which on it is `bulk`
_WIDEST = 8  #: PASS_MAX of map.c: outputs of one pass with tables
OWN_CACHE = 512 << 10  #: GFS_OWN_CACHE_BYTES: all shards of a call that is `cached`


#: Sets whose kernels are machine code, which can be loaded into this process.
TUNABLE = tuple(isa for isa in ISAS if isa.encoding is not Encoding.C)


class TargetError(ValueError):
    """A SPEC that cannot be: one line."""


@dataclass(frozen=True, slots=True)
class Target:
    """code: None for coefficients given at run time. inputs: None for any."""

    operation: Operation
    code: str | None
    inputs: int | None
    outputs: int
    isa: Isa

    @property
    def shape(self) -> str:
        return f"{self.inputs or 'n'}x{self.outputs}"

    @property
    def name(self) -> str:
        return f"{self.code or self.operation.value}:{self.shape}@{self.isa.name}"

    @property
    def sources(self) -> int:
        """How many there are when it is timed."""
        return self.inputs or ANY

    @property
    def shards(self) -> int:
        return self.sources + self.outputs


def best_isa(features: frozenset[str]) -> Isa:
    """The best set whose kernels a CPU with these features can run, or the least of them."""
    return next((isa for isa in TUNABLE if set(isa.cpu_flags) <= features), TUNABLE[-1])


def parse(text: str, best: Isa) -> Target:
    """Raises TargetError with one line that names what is allowed."""
    found = _GRAMMAR.fullmatch(text)
    if found is None:
        examples = "dot:10x4, dot:nx4, cauchy:10x4@avx2"
        raise TargetError(f"SPEC '{text}' cannot be read; allowed: such as {examples}")
    what, isa = found["what"], best if found["isa"] is None else BY_NAME.get(found["isa"])
    what = codes.ALIASES.get(what, what)
    if what not in (*_OPERATIONS, *codes.FAMILIES):
        allowed = f"{', '.join(_OPERATIONS)}, {codes.allowed()}"
        raise TargetError(f"SPEC '{text}': '{what}' is neither operation nor code; allowed: {allowed}")
    if isa is None or isa not in TUNABLE:
        allowed = ", ".join(i.name for i in TUNABLE)
        raise TargetError(f"SPEC '{text}': '{found['isa']}' has no machine code to tune; allowed: {allowed}")
    inputs = None if found["inputs"] == "n" else int(found["inputs"])
    code = None if what in _OPERATIONS else what
    if code is not None and inputs is None:
        raise TargetError(f"SPEC '{text}': a code needs a number of inputs, such as {what}:10x4")
    operation = Operation.DOT if code else Operation(what)
    target = Target(operation, code, inputs, int(found["outputs"]), isa)
    if target.shards > MAX_SHARDS:
        raise TargetError(f"SPEC '{text}': {target.shards} shards; allowed: up to {MAX_SHARDS}")
    return target


def path_of(target: Target, memory: bool, length: int) -> str | None:
    """The runtime's path of calls on shards of so many bytes; None: too much for the cached regime."""
    if memory:
        return "nearby" if length < STREAM_MIN else "distant" if length < BULK_MIN else "bulk"
    return "cached" if length * target.shards <= OWN_CACHE else None


def _passes(target: Target, limit: int) -> list[int]:
    """Outputs of each pass with tables, balanced as map.c does it: ten make 5 + 5, not 8 + 2."""
    left, lengths = target.outputs, []
    while left > 0:
        passes = -(-left // limit)
        lengths.append(-(-left // passes))
        left -= lengths[-1]
    return lengths


def kernels(target: Target, prefix: str, parameters: Mapping[str, Any]) -> tuple[KernelSpec, ...]:
    """The kernels that compute the target's outputs, one a pass. parameters: keys of a [[kernels]] table,
    and outputs: at most so many a pass. Raises SpecError."""
    keys = dict(parameters)
    shapes = [target.shape]
    if target.code is None:
        shapes = [f"{target.inputs or 'n'}x{n}" for n in _passes(target, int(keys.pop("outputs", _WIDEST)))]
    else:
        keys["code"] = target.code
    generator = config.Generator(isas=[target.isa.name], prefix=prefix)
    found: list[KernelSpec] = []
    for shape in shapes:
        try:
            group = config.KernelGroup(operation=target.operation.value, shapes=[shape], **keys)
            found += config.specs(config.Config(generator=generator, kernels=[group]), "SPEC")
        except ValidationError as error:
            first = error.errors()[0]
            raise SpecError(f"{first['loc'][0]} = {first['input']}: {first['msg']}") from None
        except config.ConfigError as error:
            raise SpecError(str(error).split("): ", 1)[-1]) from None
    return tuple(found)


def _rank(spec: KernelSpec, path: str) -> int:
    """gfs_dispatch_rank of dispatch.c, and fixed inputs before any number."""
    rank = 1
    if spec.store is Store.STREAMING:
        rank = 0 if path in ("cached", "nearby") else 4 if spec.prefetch else 3
    elif spec.prefetch:
        rank = 0 if path == "cached" else 2
    return 2 * rank + (spec.inputs is not None) if rank else 0


def reference(target: Target, path: str, specs: Sequence[KernelSpec], prefix: str) -> tuple[KernelSpec, ...]:
    """What a build of `specs` runs for the target without tuning, one kernel a pass; if it has nothing,
    the kernels of this shape with default settings."""
    parts = kernels(target, prefix, {})
    return tuple(best(part, path, specs) or part for part in parts)


def best(part: KernelSpec, path: str, specs: Sequence[KernelSpec]) -> KernelSpec | None:
    """The kernel that dispatch chooses for what `part` computes."""
    fit = [s for s in specs if serves(s, part)]
    ranked = [s for s in fit if _rank(s, path) > 0]
    return max(ranked, key=lambda s: _rank(s, path), default=None)


def serves(spec: KernelSpec, part: KernelSpec) -> bool:
    """Whether dispatch may take `spec` where `part` is meant."""
    same = (spec.operation, spec.isa.name, spec.outputs, spec.baked, spec.tables) == (
        part.operation, part.isa.name, part.outputs, part.baked, part.tables
    )  # fmt: skip
    return same and (spec.inputs in (None, part.inputs) if spec.baked is None else True)


def own_technique(target: Target) -> str:
    """The one whose tables the runtime makes for the instruction set."""
    return default_technique(target.operation, target.isa).value


def pass_limits(target: Target) -> list[int]:
    """Outputs per pass that are worth trying: as many as one kernel takes, and half of them."""
    whole = min(target.outputs, default_outputs(target.isa) if target.code else _WIDEST)
    return [whole] if whole < 6 else [whole, (whole + 1) // 2]
