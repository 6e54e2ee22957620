"""Checksums: the definition against zlib and published values; routines and tables proved, and refuted."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from gfsmith.field.checksum import CHECKSUMS, ISAL_CHECKSUMS, Checksum, checksum
from gfsmith.ir.folding import DISTANCES, GROUP, LINE, Act, Instr, Routine, Tables
from gfsmith.lower.checksum.tables import tables
from gfsmith.prove.checksum.prove import prove, prove_tables
from gfsmith.prove.verdict import Status
from tests.support import checksum_routines
from tests.support.levels import sample
from tests.support.machines import GENERATED

#: The checksums of "123456789" in the catalogue of parametrised CRC algorithms (G. Cook).
CHECKS = {
    "CRC32C": 0xE3069283,
    "CRC32": 0xCBF43926,
    "CRC64_NVME": 0xAE8B14860A799888,
    "CRC64_ECMA": 0x995DC9BBDF1939FA,
    "CRC64_ISO": 0xB90956C775A41001,
    "CRC16_T10": 0xD0DB,
}
#: Two of the others are known by more names: CRC-32/BZIP2 and CRC-64/WE.
ISAL_CHECKS = {"CRC32_NORMAL": 0xFC891918, "CRC64_ECMA_NORMAL": 0x62EC59E3F1A4F00A}
BY_NAME = {check.name: check for check in (*CHECKSUMS, *ISAL_CHECKSUMS)}
BY_SYMBOL = {routine.symbol: routine for routine in checksum_routines.ROUTINES}
#: One check with each number of bits and each order.
SAMPLE = ("CRC32C", "CRC64_NVME", "CRC16_T10")


def _checks(routine: Routine) -> list[Checksum]:
    """Return the checks that use a routine; those of ISA-L have no updates."""
    known = CHECKSUMS if routine.updates else BY_NAME.values()
    return [check for check in known if routine.serves(check.name, check.reflected)]


def test_the_definition_gives_the_published_checksums() -> None:
    assert {check.name: checksum(check, b"123456789") for check in CHECKSUMS} == CHECKS
    assert {name: checksum(BY_NAME[name], b"123456789") for name in ISAL_CHECKS} == ISAL_CHECKS
    assert all(checksum(check, b"") == 0 for check in BY_NAME.values())


def test_the_definition_is_that_of_zlib() -> None:
    data = random.Random(1).randbytes(300)
    for size in (1, 2, 7, 8, 9, 64, 300):
        assert checksum(BY_NAME["CRC32"], data[:size]) == zlib.crc32(data[:size])


#: A routine of each function of C. `make gen` proves all, `make test-long` the others again.
ONCE = {routine.function: symbol for symbol, routine in BY_SYMBOL.items()}.values()


def test_make_gen_proves_every_routine() -> None:
    records = json.loads((GENERATED / "PROOFS.json").read_text(encoding="utf-8"))["routines"]
    proved = {each["symbol"] for each in records if each["status"] == Status.PROVED.value}
    assert set(BY_SYMBOL) <= proved


@pytest.mark.parametrize("symbol", sample(BY_SYMBOL, *ONCE))
def test_proved(symbol: str) -> None:
    routine = BY_SYMBOL[symbol]
    for check in _checks(routine):
        assert prove(routine, check, tables(check)).status is Status.PROVED


@pytest.mark.parametrize("name", BY_NAME)
def test_tables_are_proved(name: str) -> None:
    assert prove_tables(BY_NAME[name], tables(BY_NAME[name])).status is Status.PROVED


def _wrong(instr: Instr) -> Iterator[Instr]:
    """Yield instructions with another result."""
    match instr.act:
        case Act.XOR:
            yield replace(instr, args=instr.args[:1] * 2)
            yield replace(instr, args=instr.args[1:])
        case Act.CLMUL | Act.CROSS:
            yield replace(instr, offset=1 - instr.offset)
            yield replace(instr, act=Act.CROSS if instr.act is Act.CLMUL else Act.CLMUL)
        case Act.LEADING | Act.BEHIND | Act.AHEAD:
            yield replace(instr, offset=instr.offset - 1)
        case Act.CLMUL_SUM:
            yield replace(instr, act=Act.CLMUL)
            yield replace(instr, act=Act.CLMUL, offset=1)
        case Act.SLIDE | Act.EXTRACT:
            yield replace(instr, offset=1 - instr.offset)
        case Act.REDUCTION:
            yield replace(instr, act=Act.CONSTANTS, offset=GROUP)
        case Act.CRC:
            yield replace(instr, text={"CRC32C": "CRC32", "CRC32": "CRC32C"}[instr.text])
            yield replace(instr, offset=2 * instr.offset)
            yield replace(instr, args=instr.args[::-1])
            yield replace(instr, args=instr.args[:1] * 2)
        case Act.WORD:
            yield replace(instr, width=instr.width // 2)
            yield replace(instr, width=2 * instr.width)
        case Act.CONSTANTS:
            yield replace(instr, offset=DISTANCES[DISTANCES.index(instr.offset) - 1])
        case Act.LANES:
            yield replace(instr, act=Act.CONSTANTS, offset=GROUP)
            yield replace(instr, act=Act.REDUCTION)
        case Act.FIRST:
            yield replace(instr, text={"low": "high", "high": "low"}[instr.text])
            yield replace(instr, offset=1 - instr.offset)
        case Act.JOIN:
            yield replace(instr, args=instr.args[::-1])
            yield replace(instr, args=instr.args[1:] * 2)
        case Act.LOAD:
            yield replace(instr, text={"message": "data", "data": "message"}[instr.text])
            yield replace(instr, offset=instr.offset ^ instr.width)
        case Act.STORE:
            yield replace(instr, offset=instr.offset + 1)
            yield replace(instr, offset=instr.offset ^ instr.width)
        case Act.STREAM:
            yield replace(instr, offset=instr.offset + 1)
            yield replace(instr, act=Act.STORE)
            yield replace(instr, text="message")
        case Act.REVERSE:
            yield replace(instr, act=Act.XOR)
        case Act.START:
            yield replace(instr, offset=1 - instr.offset)
        case Act.ONES:
            yield replace(instr, act=Act.ZERO)
        case Act.STATE if instr.width:  # in updates
            yield replace(instr, act=Act.ONES)
        case Act.HALF:
            yield replace(instr, offset=1 - instr.offset)
        case Act.LOOKUP:
            yield replace(instr, offset=instr.offset ^ 1)
            yield replace(instr, text=str(int(instr.text) ^ 1))
        case Act.SHIFT:
            yield replace(instr, offset=-instr.offset)


def _mutants(routine: Routine) -> Iterator[Routine]:
    """Yield the wrong variants of every kind of instruction of each section, and of the loop."""
    for section in ("head", "body", "close", "words"):
        code: tuple[Instr, ...] = getattr(routine, section)
        for act in Act:
            places = [n for n, instr in enumerate(code) if instr.act is act]
            for n in sorted({*places[:1], *places[-1:]}):
                for wrong in _wrong(code[n]):
                    changed: dict[str, Any] = {section: (*code[:n], wrong, *code[n + 1 :])}
                    yield replace(routine, **changed)
    if routine.before:
        if routine.after[1:]:
            yield replace(routine, after=routine.after[::-1])
        yield replace(routine, after=(routine.before[0], *routine.after[1:]))
        yield replace(routine, after=routine.after[1:])
    if routine.window:
        yield replace(routine, window=routine.window[::-1])
        yield replace(routine, window=routine.window[1:])
    if routine.window and routine.window != routine.before:
        yield replace(routine, before=routine.window)


#: The routines of which mutants are proved: one with each length of a vector, and some of LEADS and UPDATES.
MUTATED = [s for s in BY_SYMBOL if not s.endswith(("avx512", "pmull"))]
MUTATED += [s for s in BY_SYMBOL if s.startswith(("gfs_bytes8_", "gfs_bytes37_", "gfs_bytes64_"))]
_UPDATES = ("group16", "half32", "bytes37", "few65", "wide193", "wide385", "lines", "blocks")
MUTATED += [s for s in BY_SYMBOL if s.startswith(tuple(f"gfs_update_{name}_" for name in _UPDATES))]
MUTATED += [s for s, routine in BY_SYMBOL.items() if routine.words]


@pytest.mark.parametrize("symbol", MUTATED)
def test_mutants_are_refuted(symbol: str) -> None:
    routine = BY_SYMBOL[symbol]
    names = (routine.check,) if routine.check else SAMPLE
    check = next(check for check in map(BY_NAME.get, names) if check and check in _checks(routine))
    mutants = list(_mutants(routine))
    assert len(mutants) > 5
    for mutant in mutants:
        verdict = prove(mutant, check, tables(check))
        assert verdict.status is Status.REFUTED, mutant
        assert verdict.reason.startswith(f"{symbol}, {check.name}: ")


def test_the_rest_of_a_routine_needs_only_its_window() -> None:
    """Its proof is that of any values, so others, the register and data before them are refused."""
    routine = BY_SYMBOL["gfs_update_wide385_reflected__vpclmulqdq_avx512"]
    start, check = routine.between, BY_NAME["CRC32"]
    load, first = routine.head[start], routine.head[0]
    changes = {
        "depends on the first data": replace(load, act=Act.XOR, args=(first.result or 0,) * 2),
        "STATE is behind the first values": replace(load, act=Act.STATE, text="", offset=0),
        "LOAD is behind the first values": replace(load, offset=0),
        "LEADING is behind the first values": replace(load, act=Act.LEADING),
        "bit 0 of the register before the loop": replace(load, offset=load.offset + LINE),
    }
    for reason, changed in changes.items():
        head = (*routine.head[:start], changed, *routine.head[start + 1 :])
        assert reason in prove(replace(routine, head=head), check, tables(check)).reason
    moved = replace(routine, window=routine.before)
    assert "values of the loop are missing" in prove(moved, check, tables(check)).reason


@pytest.mark.parametrize("order", ["reflected", "normal"])
def test_copies_are_proved(order: str) -> None:
    line, copy = (BY_SYMBOL[f"gfs_{name}_{order}__pclmulqdq"] for name in ("fold_line", "fold_copy"))
    check = _checks(copy)[0]
    for wrong in (replace(line, operation="fold_copy"), replace(copy, operation="fold_line")):
        assert "of the copy is" in prove(wrong, check, tables(check)).reason


def _flipped(table: Tables, name: str, *place: int, bit: int = 0) -> Tables:
    """Return the tables with one bit of one number changed."""

    def changed(value: object, at: tuple[int, ...]) -> object:
        if not at:
            assert isinstance(value, int)
            return value ^ 1 << bit
        assert isinstance(value, tuple)
        return (*value[: at[0]], changed(value[at[0]], at[1:]), *value[at[0] + 1 :])

    fields: dict[str, Any] = {name: changed(getattr(table, name), place)}
    return replace(table, **fields)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_changed_constant_is_refuted(name: str) -> None:
    check, table = BY_NAME[name], tables(BY_NAME[name])
    order = "reflected" if check.reflected else "normal"
    lines, word = BY_SYMBOL[f"gfs_reduce_lines_{order}__pclmulqdq"], BY_SYMBOL[f"gfs_word_{order}__words"]
    group = BY_SYMBOL[f"gfs_group_{order}__pclmulqdq"]
    for distance in range(DISTANCES.index(lines.block // 2) + 1):
        for half in (0, 1):
            wrong = _flipped(table, "folds", distance, half)
            assert prove(lines, check, wrong).status is Status.REFUTED
    line = BY_SYMBOL[f"gfs_reduce_lines_{order}__vpclmulqdq_avx512"]
    for lane, half in product(range(4), (0, 1)):
        assert prove(line, check, _flipped(table, "lanes", lane, half)).status is Status.REFUTED
        moved = replace(table, lanes=(*table.lanes[1:], table.lanes[0]))
        assert prove(line, check, moved).status is Status.REFUTED
    assert "entries" in prove_tables(check, replace(table, lanes=table.lanes[1:])).reason
    for half in (0, 1):
        wrong = _flipped(table, "reduction", half, bit=63)  # bit 0 of the quotient has no effect
        assert prove(group, check, wrong).status is Status.REFUTED
    for nibble in range(16):
        for entry in range(16):
            assert prove(word, check, _flipped(table, "slices", nibble, entry)).status is Status.REFUTED
    for name_ in ("bits", "reflected", "ones", "modulus"):
        wrong = replace(table, **{name_: getattr(table, name_) ^ 1})
        assert "parameters" in prove_tables(check, wrong).reason
    other = "CRC32" if name == "CRC32C" else "CRC32C"
    assert f"is that of {other}" in prove_tables(check, replace(table, instruction=other)).reason
    for power in (0, 1, 63):
        wrong = _flipped(table, "powers", power)
        assert f"power {power} is" in prove_tables(check, wrong).reason
    assert "64 bits" in prove(lines, check, replace(table, folds=((1 << 64, 0), *table.folds[1:]))).reason


def test_constants_of_another_check_are_refuted() -> None:
    routine = BY_SYMBOL["gfs_fold_line_reflected__pclmulqdq"]
    for check in _checks(routine):
        for other in _checks(routine):
            assert bool(prove(routine, check, tables(other))) == (check is other)
    step = BY_SYMBOL["gfs_word_crc32c__sse42"]
    assert "another check" in prove(step, BY_NAME["CRC32"], tables(BY_NAME["CRC32"])).reason
    for name in ("CRC32", "CRC64_NVME"):
        assert not prove(replace(step, check=name), BY_NAME[name], tables(BY_NAME[name]))
    assert "another order" in prove(routine, BY_NAME["CRC16_T10"], tables(BY_NAME["CRC16_T10"])).reason
