"""The variants of a target: the values of each parameter, and the order of variants by complexity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from gfsmith.build import target as targets
from gfsmith.build.target import Target
from gfsmith.kernel.spec import Circuit, KernelSpec, Operation, Order, Placement, Store, Technique

Parameters = dict[str, int | str]

_UNROLL = (1, 2, 3, 4, 6, 8)
_DISTANCE = (0, 256, 512, 1024, 2048)  #: prefetch distances in bytes


@dataclass(frozen=True, slots=True)
class Plan:
    """One variant: a kernel for each pass."""

    specs: tuple[KernelSpec, ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(spec.symbol for spec in self.specs)

    @property
    def symbol(self) -> str:
        return "+".join(self.symbols)

    @property
    def parameters(self) -> Parameters:
        """Return the parameters as in a [[kernels]] table; outputs: those of the longest pass."""
        first = self.specs[0]
        return {
            "technique": "auto" if first.technique is Technique.PLAIN else first.technique.value,
            "circuit": first.circuit.value,
            "width": first.isa.width if first.isa.widths else "auto",
            "unroll": first.unroll,
            "order": first.order.value,
            "placement": first.placement.value,
            "prefetch": first.prefetch,
            "hint": first.hint.value,
            "store": first.store.value,
            "outputs": max(spec.outputs for spec in self.specs),
        }


def axes(target: Target, path: str) -> dict[str, tuple[int | str, ...]]:
    """Return the values of each parameter on a path. Data in cache is never stored around the cache, which
    would be slower, and a prefetch can bring it to one level only."""
    found: dict[str, tuple[int | str, ...]] = {"unroll": _UNROLL}
    if target.code is not None:
        able = [c.value for c in Circuit if c not in (Circuit.MATCHED, Circuit.DERIVED)]  # these: for packets
        found["circuit"] = tuple(name for name in able if name[-1] not in "345" or target.outputs > 4)
    if target.isa.widths:
        found["width"] = target.isa.widths
    found["order"] = tuple(order.value for order in Order)
    if target.operation is not Operation.XOR:
        found["placement"] = tuple(placement.value for placement in Placement)
    cached = path in targets.CACHED
    found["prefetch"] = _DISTANCE[:3] if cached else _DISTANCE
    if not cached:
        found["hint"] = ("t0", "t1", "nta")
    if path in ("distant", "bulk") and target.operation is not Operation.MAD:
        found["store"] = tuple(store.value for store in Store)
    limits = targets.pass_limits(target)
    if len(limits) > 1:
        found["outputs"] = tuple(limits)
    return found


def size(options: Mapping[str, Sequence[int | str]]) -> int:
    """Return the number of points, including equal ones."""
    return prod(len(values) for values in options.values())


def plan(target: Target, prefix: str, chosen: Mapping[str, int | str]) -> Plan:
    """Return the variant at a point of the space. A setting without effect gets its default, so that equal
    variants become one. Raises SpecError."""
    keys = dict(chosen)
    if keys.get("unroll") == 1:
        keys["order"] = Order.SUMS.value
    if keys.get("prefetch") == 0:
        keys.pop("hint", None)
    return Plan(targets.kernels(target, prefix, keys))


def coordinates(variant: Plan, options: Mapping[str, Sequence[int | str]]) -> Parameters | None:
    """Return the point of a variant; None if it lies outside of the space."""
    found = {name: variant.parameters[name] for name in options}
    inside = all(found[name] in options[name] for name in options)
    return found if inside else None


def complexity(variant: Plan, reference: Plan) -> tuple[int, ...]:
    """Return a sort key, less for simpler variants: the reference first, then variants that differ from it in
    fewer settings, with fewer kinds of stores and prefetches, and with the shorter loop."""
    if variant == reference:
        return (0,)
    mine, other = variant.parameters, reference.parameters
    differing = sum(mine[name] != other[name] for name in mine)
    streaming = int(mine["store"] == Store.STREAMING.value)
    return 1, differing, streaming, int(mine["prefetch"] != 0), int(mine["unroll"])
