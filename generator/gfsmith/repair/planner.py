"""The library's plan for a loss (gfsmith_plan.h), or the reason why there is none.

    target[t] = sum over n of matrix[t][n] * read[n],    byte by byte.

Among all plans it is the one that gfsmith_reconstruct runs (runtime/core/src/planner.c).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import gfsmith
from gfsmith import codes

if TYPE_CHECKING:
    from gfsmith.codec import Codec, Plan


class PlanError(ValueError):
    """A loss that cannot be repaired."""


def codec(name: str, k: int, m: int, local: int | None) -> Codec:
    """Return the library's codec of a code family, or of lrc with `local` groups, for a valid shape."""
    if local is not None:
        return gfsmith.Codec.lrc(k, local, m - local)
    if name in (code.name for code in codes.SEARCHED):
        return gfsmith.Codec.from_matrix([bytes(row) for row in codes.parity_matrix(name, k, m)])
    return gfsmith.Codec(name, k, m)


def _named(shards: Iterable[int]) -> str:
    listed = list(shards)
    return f"shard{'s' * (len(listed) != 1)} {', '.join(map(str, listed))}"


def plan(codec: Codec, missing: Iterable[int], wanted: Iterable[int] | None = None) -> Plan:
    """Return the plan that rebuilds the wanted shards among the missing ones (None: all).

    Raises PlanError for more than m missing shards, and for a wanted shard that is not determined.
    """
    lost = sorted(set(missing))
    present = codec.all_but(*lost)
    targets = lost if wanted is None else sorted(set(lost) & set(wanted))
    try:
        return codec.plan(present, codec.only(*targets))
    except gfsmith.TooManyLostError:
        raise PlanError(
            f"{len(lost)} shards are lost; with {codec.m} parities, at most {codec.m} can be rebuilt"
        ) from None
    except gfsmith.SingularError:
        determined = codec.determined(present)
        lacking = _named(target for target in targets if not determined[target])
        raise PlanError(
            f"{lacking} cannot be rebuilt: {_named(lost)} are lost, and "
            f"no combination of the {sum(present)} present shards gives them"
        ) from None
