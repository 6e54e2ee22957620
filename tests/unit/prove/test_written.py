"""The recorded written bytes of a destination, compared with the bytes themselves, for every value of an
unknown.
"""

from __future__ import annotations

from random import Random

from gfsmith.prove.machine.linear import Facts, Word, make, symbol
from gfsmith.prove.machine.memory import Written

Write = tuple[Word, int]


def number(word: Word, unknown: int) -> int:
    return word if isinstance(word, int) else word.constant + word.terms[0][1] * unknown


def recorded(low: int, high: int, writes: list[Write]) -> tuple[Written, Facts]:
    facts, written = Facts(), Written()
    facts.assume(symbol("n"), low, high)
    for start, size in writes:
        written.add(start, size, facts)
    return written, facts


def test_two_overlapping_pieces_are_all_bytes() -> None:
    for piece in (1, 2, 4, 8, 16):
        written, facts = recorded(piece, 2 * piece - 1, [(0, piece), (make(-piece, {"n": 1}), piece)])
        assert (written.prefix, written.pieces) == (symbol("n"), [])
        assert facts.range(written.prefix) == (piece, 2 * piece - 1)


def test_a_piece_that_was_stored_in_two_parts() -> None:
    """The second piece of four bytes, stored as two words."""
    writes: list[Write] = [(0, 4), (make(-4, {"n": 1}), 2), (make(-2, {"n": 1}), 2)]
    assert recorded(4, 7, writes)[0].prefix == symbol("n")
    assert recorded(4, 7, writes[:2])[0].prefix == 4  # n = 7 lacks byte 4 nowhere, n = 4 lacks 2 bytes


def test_a_gap_is_not_written() -> None:
    written, _ = recorded(4, 9, [(0, 4), (make(-4, {"n": 1}), 4)])
    assert written.prefix == 4 and written.pieces


def test_nothing_counts_that_was_not_written() -> None:
    """Random writes at places that depend on an unknown: prefix and pieces are the bytes written, and
    `overlaps` is false only for places without written bytes.
    """
    rng = Random(3)
    beyond = 0
    for _ in range(400):
        low = rng.randrange(12)
        high = low + rng.randrange(12)
        writes: list[Write] = [
            (make(rng.randrange(-8, 12), {"n": rng.choice((0, 0, 1))}), rng.randrange(1, 9)) for _ in range(5)
        ]
        writes = [(start, size) for start, size in writes if number(start, low) >= 0]
        written, facts = recorded(low, high, writes)
        asked: Word = make(rng.randrange(20), {"n": rng.choice((0, 1))})
        overlaps = written.overlaps(asked, 2, facts)
        for unknown in range(low, high + 1):
            real = {number(s, unknown) + byte for s, size in writes for byte in range(size)}
            prefix = number(written.prefix, unknown)
            counted = set(range(prefix))
            for start, size in written.pieces:
                counted |= {number(start, unknown) + byte for byte in range(size)}
            assert counted == real
            place = number(asked, unknown)
            assert overlaps or not real & {place, place + 1}
            beyond += prefix > 0 and not overlaps
    assert beyond > 50
