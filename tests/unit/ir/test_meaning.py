"""The effects of Ops on concrete and on symbolic bytes."""

from __future__ import annotations

import random

import pytest

from gfsmith.ir import Op
from gfsmith.ir.meaning import MEANING, Undefined
from gfsmith.prove.polynomial import constant_byte, variable_byte

RANDOM = random.Random(16)


def bits(value: int) -> tuple[int, ...]:
    return tuple(value >> bit & 1 for bit in range(8))


def value(byte: tuple[int, ...]) -> int:
    return sum(bit << number for number, bit in enumerate(byte))


TABLES = {"random": RANDOM.randbytes(16), "zero": bytes(16), "same": bytes(range(16))}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_lookup_returns_the_entry_of_its_index(table: bytes) -> None:
    look_up = MEANING[Op.LOOKUP].lane
    assert look_up is not None
    entries = [bits(entry) for entry in table]
    assert [value(look_up(entries, bits(index))) for index in range(16)] == list(table)
    with pytest.raises(Undefined):
        look_up(entries, bits(16))


def test_a_symbolic_lookup_has_the_value_of_the_entry_for_every_index() -> None:
    table = RANDOM.randbytes(16)
    entries = [constant_byte(entry) for entry in table]
    index = (*variable_byte("index")[:4], *constant_byte(0)[4:])
    look_up = MEANING[Op.LOOKUP].lane
    assert look_up is not None
    found = look_up(entries, index)
    for number in range(16):
        ones = {("index", bit) for bit in range(4) if number >> bit & 1}
        assert value(tuple(bit.value(ones) for bit in found)) == table[number]
