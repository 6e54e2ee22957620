"""Kernels with more values than registers: spilled values return unchanged, and stay in the frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from gfsmith.build.generate import circuits, generate_one, program
from gfsmith.codes import parity_matrix
from gfsmith.emit.x86.frame import Abi
from gfsmith.field import Field
from gfsmith.ir import Instr, Op, Program, Space
from gfsmith.ir.liveness import pressure
from gfsmith.kernel.spec import SpecError
from gfsmith.lower.baked import lower_baked
from gfsmith.lower.circuits.choice import candidates
from gfsmith.lower.circuits.order import scheduled
from gfsmith.passes import check_frame, pipeline
from gfsmith.prove.machine.formats import listing
from gfsmith.prove.machine.formats.load import raw
from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.prove.program.prove import prove
from gfsmith.prove.verdict import Status
from tests.support.paths import ROOT
from tests.support.specs import make_baked

SHAPES = [
    ("gfni_avx512", "cauchy", 32, 32),
    ("gfni_avx2", "cauchy", 16, 16),
    ("avx2", "backblaze", 16, 8),
    ("gfni_sse", "lch", 16, 16),
    ("sse", "lch", 16, 8),
]
NAME = "kernel"
SMALL = "avx2", "backblaze", 16, 8
PROBE, NOP = (
    bytes.fromhex("4881ecf00f000048890424"),
    bytes.fromhex("4881ecf00f00000f1f4000"),
)  # mov [rsp], rax
LEA, AND = bytes.fromhex("4c8d4c241f"), bytes.fromhex("4983e1e0")  # lea r9, [rsp+31]; and r9, -32


@cache
def code(isa: str, family: str, k: int, m: int) -> dict[Abi, bytes]:
    return generate_one(make_baked(isa, family, k, m)).code


@pytest.mark.parametrize(("isa", "family", "k", "m"), SHAPES)
def test_program_fits_and_is_proved(isa: str, family: str, k: int, m: int) -> None:
    wanted = make_baked(isa, family, k, m)
    made = program(wanted)
    assert made.slots > 0
    assert pressure(made) <= (wanted.isa.registers or 0)
    assert prove(wanted, made).status is Status.PROVED


@pytest.mark.parametrize("abi", [Abi.SYSV, Abi.MS])
@pytest.mark.parametrize(("isa", "family", "k", "m"), SHAPES)
def test_machine_code_is_proved(isa: str, family: str, k: int, m: int, abi: Abi) -> None:
    wanted = make_baked(isa, family, k, m)
    made = code(isa, family, k, m)[abi]
    contract = replace(contract_of(wanted, abi.value), unwind=False)
    report = prove_code(contract, raw(NAME, made), NAME, exhaustive=False)
    assert report.status is Status.PROVED, report.reason


def test_a_deleted_stack_probe_is_refuted() -> None:
    """The frame of the wide kernel exceeds a page, so a store touches the first page before the second."""
    path = ROOT / "gen_out" / "x86" / "gfs_dot_100x20_lch__avx512_u1.S"
    made = listing.read(path.read_text(), path.stem)["ms"]
    assert made.count(PROBE) == 1
    wanted = make_baked("avx512", "lch", 100, 20)
    contract = replace(contract_of(wanted, "ms"), unwind=False)
    for code, expected in ((made, Status.PROVED), (made.replace(PROBE, NOP), Status.REFUTED)):
        report = prove_code(contract, raw(NAME, code), NAME, exhaustive=False)
        assert report.status is expected, report.reason
    assert "page" in report.reason, report.reason


def test_frame_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = make_baked(*SMALL)
    cheapest = circuits(wanted)[0].circuit
    assert pipeline.run(lower_baked(wanted, cheapest), wanted).slots > 2
    monkeypatch.setattr(check_frame, "MAX_FRAME", 64)
    with pytest.raises(
        SpecError, match=r"needs \d+ bytes of stack .* allowed: 64; outputs = \d+ needs no more"
    ):
        pipeline.run(lower_baked(wanted, cheapest), wanted)


def _mutants(code: tuple[Instr, ...]) -> Iterator[tuple[str, tuple[Instr, ...]]]:
    for place, instr in enumerate(code):
        if instr.ref is None or instr.ref.space is not Space.SCRATCH:
            continue
        rest = code[:place], code[place + 1 :]
        moved = replace(instr, ref=replace(instr.ref, index=instr.ref.index + 1))
        yield f"{place}: other slot", (*rest[0], moved, *rest[1])
        inside = replace(instr, ref=replace(instr.ref, offset=1))
        yield f"{place}: within a slot", (*rest[0], inside, *rest[1])
        if instr.op is Op.SPILL:
            yield f"{place}: left out", rest[0] + rest[1]


def test_programs_with_a_wrong_slot_are_refuted() -> None:
    wanted = make_baked(*SMALL)
    made = program(wanted)
    main, *others = made.loops
    tried = 0
    for what, head in _mutants(main.head):
        wrong = Program(made.lanes, made.preload, (replace(main, head=head), *others), made.constants)
        assert prove(wanted, wrong).status is Status.REFUTED, what
        tried += 1
    assert tried > 10


def _changed(changes: list[tuple[bytes, bytes]]) -> Report:
    """Prove the small kernel for Microsoft's ABI with byte sequences replaced by others of equal length; each
    must occur.
    """
    made = code(*SMALL)[Abi.MS]
    for old, new in changes:
        assert made.count(old) == 1 and len(old) == len(new), old.hex()
        made = made.replace(old, new)
    contract = replace(contract_of(make_baked(*SMALL), "ms"), unwind=False)
    return prove_code(contract, raw(NAME, made), NAME, exhaustive=False)


def _rsp(opcode: str, size: int) -> bytes:
    return bytes.fromhex(opcode) + size.to_bytes(4, "little")


def test_a_frame_that_is_too_small_is_refuted() -> None:
    made = code(*SMALL)[Abi.MS]
    at = made.index(bytes.fromhex("4881ec"))
    room = int.from_bytes(made[at + 3 : at + 7], "little")
    assert _changed([]).status is Status.PROVED
    for less in (16, 32, 64):
        change = [(_rsp(opcode, room), _rsp(opcode, room - less)) for opcode in ("4881ec", "4881c4")]
        assert _changed(change).status is Status.REFUTED, less


def test_slots_below_the_stack_pointer_are_refuted() -> None:
    report = _changed([(LEA, LEA[:-1] + b"\x1e")])
    assert report.status is Status.REFUTED
    assert "where a signal handler may write too" in report.reason


@pytest.mark.parametrize("mask", [-33, -31, 31])
def test_other_masks_are_not_proved(mask: int) -> None:
    assert _changed([(AND, AND[:-1] + bytes([mask & 0xFF]))]).status is not Status.PROVED


def test_alignment_of_slots_is_for_speed_only() -> None:
    assert _changed([(AND, AND[:-1] + b"\xf0")]).status is Status.PROVED


def test_scheduling_keeps_the_matrix() -> None:
    field = Field(0x11D)
    for family, k, m in (("cauchy", 20, 6), ("vandermonde", 7, 3), ("lch", 17, 9)):
        matrix = parity_matrix(family, k, m)
        for candidate in candidates(field, matrix, 1.0, 0.25):
            assert scheduled(candidate.circuit).matrix(field, k) == matrix
