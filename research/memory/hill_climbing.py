"""Hill climbing on distances, as in the paper (4.1) and the coordinator: from a start, in a
neighbourhood of 16."""

from __future__ import annotations

from collections.abc import Callable

NEIGHBOURHOOD = 16
_LEAST = 4  #: the smallest step


def climb(speed: Callable[[int], float], start: int, most: int, least: int = 0) -> tuple[int, float]:
    """Return the distance in least .. most that no distance 16, 8 or 4 away beats, and its speed."""
    best = max(min(start, most), least)
    found = {best: speed(best)}
    step = NEIGHBOURHOOD
    while step >= _LEAST:
        around = [d for d in (best - step, best + step) if least <= d <= most]
        found.update({d: speed(d) for d in around if d not in found})
        better = max([best, *around], key=lambda d: found[d])
        if better == best:
            step //= 2
        best = better
    return best, found[best]
