"""Mutants of machine code: one bit of one instruction is changed."""

from __future__ import annotations

from random import Random


def changed_bits(code: bytes, count: int) -> list[bytes]:
    """Return `count` mutants: at least one for every instruction, and random ones."""
    rng = Random(64)
    places = [(at, rng.randrange(32)) for at in range(len(code) // 4)]
    places += [(rng.randrange(len(code) // 4), rng.randrange(32)) for _ in range(count - len(places))]
    found = []
    for at, bit in places:
        word = int.from_bytes(code[4 * at : 4 * at + 4], "little") ^ 1 << bit
        found.append(code[: 4 * at] + word.to_bytes(4, "little") + code[4 * at + 4 :])
    return found
