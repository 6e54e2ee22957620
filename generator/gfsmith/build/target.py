"""Targets of `gfsmith tune`: an operation or a code, a shape and an instruction set.

    SPEC  = KIND ":" SHAPE [ "@" ISA ]
    KIND  = dot | mad | xor | CODE        CODE as in `gfsmith codes`: the kernel is for its known matrix
    SHAPE = INPUTS "x" OUTPUTS            INPUTS: a number, or n (not with a code): any number

Without @ISA the target is the best instruction set of this machine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from gfsmith import codes
from gfsmith.build import config
from gfsmith.kernel.defaults import PASS_MAX, default_outputs
from gfsmith.kernel.isa import BY_NAME, ISAS, Encoding, Isa
from gfsmith.kernel.limits import Limits
from gfsmith.kernel.operation import CHANGED, MAX_SHARDS
from gfsmith.kernel.spec import KernelSpec, Operation, SpecError, Store, default_technique

_GRAMMAR = re.compile(r"(?P<what>[a-z_0-9-]+):(?P<inputs>n|[1-9]\d*)x(?P<outputs>[1-9]\d*)(@(?P<isa>\w+))?")
_OPERATIONS = ("dot", "mad", "xor")

#: Operations that a tuned file may also name, and `gfsmith tune` does not measure: that of P and Q, and those
#: at the ends of the transforms of wide codes.
UNSEARCHED = tuple(operation.value for operation in (Operation.HORNER, *CHANGED))

ANY = 10  #: number of sources in measurements of kernels for any number

#: Least bytes of a shard for the path `bulk`: GFS_BULK_MIN of path.h; tests/unit/test_constants.py compares
#: them.
BULK_MIN = 16 << 10

#: The most outputs of the shapes in a survey of a build. Shapes with more would take half of its time, and
#: no file of tuned/ has a kernel for one.
MOST_OUTPUTS = 16

#: Paths of calls whose shards are in a core's own caches (path.h).
CACHED = ("cached", "second")

#: Sets whose kernels are machine code, which can be loaded into this process.
TUNABLE = tuple(isa for isa in ISAS if isa.encoding is not Encoding.C)


class TargetError(ValueError):
    """An invalid SPEC, with a message of one line."""


@dataclass(frozen=True, slots=True)
class Target:
    """One target. code: None for run-time coefficients. inputs: None for any number."""

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
        """Number of sources in measurements."""
        return self.inputs or ANY

    @property
    def shards(self) -> int:
        return self.sources + self.outputs


def best_isa(features: frozenset[str]) -> Isa:
    """Return the best set whose kernels a CPU with these features can run, or the lowest set."""
    return next((isa for isa in TUNABLE if set(isa.cpu_flags) <= features), TUNABLE[-1])


def parse(text: str, best: Isa, more: Sequence[str] = ()) -> Target:
    """Return the target of a SPEC. more: further operations. Raises TargetError with one line that names the
    allowed values."""
    operations = (*_OPERATIONS, *more)
    found = _GRAMMAR.fullmatch(text)
    if found is None:
        examples = "dot:10x4, dot:nx4, cauchy:10x4@avx2"
        raise TargetError(f"SPEC '{text}' cannot be read; allowed: {examples}, ...")
    what, isa = found["what"], best if found["isa"] is None else BY_NAME.get(found["isa"])
    what = codes.ALIASES.get(what, what)
    if what not in (*operations, *codes.FAMILIES, *(code.name for code in codes.SEARCHED)):
        allowed = f"{', '.join(operations)}, {codes.allowed()}"
        raise TargetError(f"SPEC '{text}': '{what}' is neither operation nor code; allowed: {allowed}")
    if isa is None or isa not in TUNABLE:
        allowed = ", ".join(i.name for i in TUNABLE)
        raise TargetError(f"SPEC '{text}': '{found['isa']}' has no machine code to tune; allowed: {allowed}")
    inputs = None if found["inputs"] == "n" else int(found["inputs"])
    code = None if what in operations else what
    if code is not None and inputs is None:
        raise TargetError(f"SPEC '{text}': a code needs a number of inputs, such as {what}:10x4")
    operation = Operation.DOT if code else Operation(what)
    target = Target(operation, code, inputs, int(found["outputs"]), isa)
    if target.shards > MAX_SHARDS:
        raise TargetError(f"SPEC '{text}': {target.shards} shards; allowed: up to {MAX_SHARDS}")
    return target


def every(specs: Sequence[KernelSpec], isa: Isa) -> list[Target]:
    """Return the targets of the kernels that a build has for a set, each once, in the order of the build.
    Kernels for packets, with other techniques than the set's or other pointers, with more than MOST_OUTPUTS
    outputs, and of operations that are not tuned have none."""
    found: list[Target] = []
    for spec in specs:
        baked, technique = spec.baked, default_technique(spec.operation, isa)
        named = baked is None or (not baked.packets and baked.code in codes.FAMILIES)
        if (
            spec.isa.name == isa.name
            and spec.operation.value in _OPERATIONS
            and spec.technique is technique
            and not spec.pipelined
            and named
        ):
            outputs, code = (spec.outputs, None) if baked is None else (baked.parities, baked.code)
            found.append(Target(spec.operation, code, spec.inputs, outputs, isa))
    return [target for target in dict.fromkeys(found) if target.outputs <= MOST_OUTPUTS]


def path_of(target: Target, memory: bool, length: int, limits: Limits) -> str | None:
    """Return the runtime's path of calls with shards of `length` bytes on a CPU with these limits; None if
    they are too large for the cached regime."""
    if memory:
        return "nearby" if length < limits.stream_min else "distant" if length < BULK_MIN else "bulk"
    size = length * target.shards
    if size > limits.own_cache:
        return None
    return "cached" if size <= limits.first_cache else "second"


def _passes(target: Target, limit: int) -> list[int]:
    """Return the outputs of each pass with tables, balanced like those of the library: ten are 5 + 5, not
    8 + 2."""
    left, lengths = target.outputs, []
    while left > 0:
        passes = -(-left // limit)
        lengths.append(-(-left // passes))
        left -= lengths[-1]
    return lengths


def kernels(target: Target, prefix: str, parameters: Mapping[str, Any]) -> tuple[KernelSpec, ...]:
    """Return the kernels that compute the target's outputs, one per pass. parameters: keys of a [[kernels]]
    table, and outputs: the greatest number per pass. Raises SpecError."""
    keys = dict(parameters)
    shapes = [target.shape]
    if target.code is None:
        shapes = [f"{target.inputs or 'n'}x{n}" for n in _passes(target, int(keys.pop("outputs", PASS_MAX)))]
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
    """Return the rank of gfs_dispatch_rank in dispatch.c, with fixed inputs before any number."""
    rank = 1
    if spec.store is Store.STREAMING:
        rank = 0 if path in (*CACHED, "nearby") else 4 if spec.prefetch else 3
    elif spec.prefetch:
        rank = 0 if path in CACHED else 2
    return 2 * rank + (spec.inputs is not None) if rank else 0


def reference(target: Target, path: str, specs: Sequence[KernelSpec], prefix: str) -> tuple[KernelSpec, ...]:
    """Return the kernels that a build of `specs` runs for the target without tuning, one per pass. A pass
    without such a kernel gets the kernel of its shape with default settings."""
    parts = kernels(target, prefix, {})
    return tuple(best(part, path, specs) or part for part in parts)


def best(part: KernelSpec, path: str, specs: Sequence[KernelSpec]) -> KernelSpec | None:
    """Return the kernel that dispatch chooses for the function of `part`, or None."""
    fit = [s for s in specs if serves(s, part)]
    ranked = [s for s in fit if _rank(s, path) > 0]
    return max(ranked, key=lambda s: _rank(s, path), default=None)


def serves(spec: KernelSpec, part: KernelSpec) -> bool:
    """Return True if dispatch may use `spec` for the function of `part`: not one with other pointers."""
    if spec.pipelined:
        return False
    same = (spec.operation, spec.isa.name, spec.outputs, spec.baked, spec.tables) == (
        part.operation, part.isa.name, part.outputs, part.baked, part.tables
    )  # fmt: skip
    return same and (spec.inputs in (None, part.inputs) if spec.baked is None else True)


def pass_limits(target: Target) -> list[int]:
    """Return the numbers of outputs per pass to try: as many as one kernel takes, and half of them."""
    whole = min(target.outputs, default_outputs(target.isa) if target.code else PASS_MAX)
    return [whole] if whole < 6 else [whole, (whole + 1) // 2]
