"""Words of messages."""

from __future__ import annotations


def counted(count: int, what: str) -> str:
    """Return a number with its noun, such as "1 kernel" or "2 kernels"."""
    return f"{count} {what}{'s' * (count != 1)}"
