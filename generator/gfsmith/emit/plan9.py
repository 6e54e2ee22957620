"""A kernel in Plan 9 assembly."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Listing:
    """The lines of a kernel, and the bytes of stack that it uses. frame: the frame of the function that Go
    calls, if the kernel lies inside it; 0 if it is a function of its own."""

    rows: tuple[str, ...]
    depth: int
    frame: int

    @property
    def inside(self) -> bool:
        """True if the kernel lies inside the function that Go calls, since it needs a part of its frame."""
        return self.frame > 0
