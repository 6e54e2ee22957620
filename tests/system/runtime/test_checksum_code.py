"""The compiled checksum routines of the library: proved, the tables that it passes to them, and mutants."""

from __future__ import annotations

import json
import platform
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from iced_x86 import Code, Encoder, FlowControl, Instruction, Mnemonic, OpKind, Register, RegisterExt

from gfsmith.field.checksum import CHECKSUMS, ISAL_CHECKSUMS, Checksum
from gfsmith.ir.folding import GROUP, LINE, WORD
from gfsmith.lower.checksum.tables import tables
from gfsmith.prove.checksum import layout
from gfsmith.prove.checksum.machine import functions, prove_machine
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import load, members_with
from gfsmith.prove.machine.prove import Report
from gfsmith.prove.verdict import Status
from tests.support import checksum_routines
from tests.support.folders import once, product
from tests.support.levels import sample, share
from tests.support.paths import ROOT
from tools.mutation.classify import EQUIVALENT, classify, difference
from tools.mutation.mutants import ORIGIN, decode, mutants, without

X86 = ("vpclmulqdq_avx512", "vpclmulqdq_avx2", "pclmulqdq", "sse42")
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the library has no code for x86-64")

ROUTINES = functions(routine for routine in checksum_routines.ROUTINES if routine.set in X86)
ABI = "sysv"
MUTANTS = 8  #: of each routine, in PARTS, of which one stays in `make test`
PARTS = 4


def place() -> tuple[Path, str]:
    """Return the library, and the member that has the routines."""
    path = product("libgfsmith.a", "lib")
    ((member, _),) = members_with(path, frozenset(ROUTINES)).items()
    assert member is not None
    return path, member


@cache
def library() -> Image:
    """Return the object of the library that has the routines."""
    return load(*place())


def library_tables(archive: Path, member: str, name: str = "gfs_crcs") -> list[bytes]:
    """Return the bytes of each table of an array in a library, by the number of the check."""
    data = subprocess.run(["ar", "p", archive, member], capture_output=True, check=True).stdout
    file = ELFFile(BytesIO(data))
    symbols = file.get_section_by_name(".symtab")
    assert isinstance(symbols, SymbolTableSection)
    (symbol,) = symbols.get_symbol_by_name(name)
    section, start = file.get_section(symbol["st_shndx"]), symbol["st_value"]
    table = section.data()[start : start + symbol["st_size"]]
    return [table[n : n + layout.SIZE] for n in range(0, len(table), layout.SIZE)]


def patched(image: Image, address: int, data: bytes) -> Image:
    """Return the image with other bytes at an address."""
    segment = image.segment_at(address)
    assert segment is not None
    at = address - segment.address
    content = segment.data[:at] + data + segment.data[at + len(data) :]
    changed = replace(segment, data=content)
    return replace(image, segments=tuple(changed if s is segment else s for s in image.segments))


def code(symbol: str) -> bytes:
    function = library().functions[symbol]
    found = library().read(function.address, function.size)
    assert found is not None
    return found


def prove(symbol: str, new: bytes) -> Report:
    """Return the verdict on a function with other code of the same length."""
    image = patched(library(), library().functions[symbol].address, new)
    return prove_machine(symbol, ROUTINES[symbol], image, ABI)


def verify(*paths: Path) -> tuple[int, str]:
    """Return the exit status and the output of `gfsmith verify --checksums`."""
    objects = [word for path in paths for word in ("--objects", str(path))]
    command = [sys.executable, "-m", "gfsmith", "verify", "--checksums", "--json", *objects]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout or done.stderr


def verified(path: Path) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the exit status of the command, and its records by symbol."""
    status, said = verify(path)
    return status, {each["symbol"]: each for each in json.loads(said)["kernels"]}


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The records of the command about the library, by symbol; it runs once for all processes."""

    def make(folder: Path) -> None:
        status, found = verified(place()[0])
        assert status == 0
        (folder / "records.json").write_text(json.dumps(found))

    folder = once(tmp_path_factory, "checksum_records", make)
    found: dict[str, dict[str, Any]] = json.loads((folder / "records.json").read_text())
    return found


def test_the_command_proves_a_library(records: dict[str, dict[str, Any]]) -> None:
    assert {symbol: each["status"] for symbol, each in records.items()} == dict.fromkeys(ROUTINES, "proved")


@pytest.mark.parametrize("symbol", ROUTINES)
def test_instructions_are_covered(records: dict[str, dict[str, Any]], symbol: str) -> None:
    report, padding = records[symbol], sum("nop" in str(instr) for instr in decode(code(symbol)))
    assert report["instructions"] - padding <= report["covered"] <= report["instructions"]


def test_the_library_has_the_proved_tables() -> None:
    assert proved(library_tables(*place()), CHECKSUMS)


def proved(found: list[bytes], checks: Sequence[Checksum]) -> bool:
    """Return whether tables are those of the proof of the programs."""
    read = [layout.read(data, check.title) for data, check in zip(found, checks, strict=True)]
    return read == list(map(tables, checks))


def _of_each_kind() -> list[str]:
    """Return the first routines of each function of C, order of bits or checksum, and instruction set."""
    seen: set[str] = set()
    kept = []
    for symbol in ROUTINES:
        parts = re.fullmatch(r"gfs_(\w+)_(normal|reflected|crc32c|crc16_t10)__(\w+)", symbol)
        assert parts is not None, symbol
        if not seen.issuperset(parts.groups()):
            kept.append(symbol)
        seen.update(parts.groups())
    return kept


#: Code of other builds of the same source, and errors in code: of all routines, or of those of _of_each_kind.
each_build = pytest.mark.parametrize(
    "every", sample([False, True], False), ids=["each kind", "every routine"]
)


def test_routines_of_each_kind() -> None:
    kept = _of_each_kind()
    assert len(kept) < len(ROUTINES) / 2
    assert {ROUTINES[symbol][0].set for symbol in kept} == set(X86)
    names = {re.sub(r"_(normal|reflected|crc32c|crc16_t10)__.*", "", symbol) for symbol in ROUTINES}
    assert all(any(symbol.startswith(name) for symbol in kept) for name in names)


@each_build
def test_the_drop_in_for_isal_is_proved(every: bool) -> None:
    """Its functions, and the tables of the checks that only it has."""
    path = product("libisal_ec.a", "isal")
    ((member, symbols),) = members_with(path, frozenset(ROUTINES)).items()
    assert member is not None and symbols == set(ROUTINES)
    image = load(path, member)
    chosen = ROUTINES if every else _of_each_kind()
    assert all(prove_machine(symbol, ROUTINES[symbol], image, ABI) for symbol in chosen)
    assert proved(library_tables(path, member), CHECKSUMS)
    others = library_tables(path, member, "others")
    assert proved(others, ISAL_CHECKSUMS)
    wrong = [others[0][:-1] + bytes([others[0][-1] ^ 1]), *others[1:]]
    assert not proved(wrong, ISAL_CHECKSUMS)


def test_a_changed_table_is_seen() -> None:
    """A flipped bit of any kind of number of the table."""
    whole, data = tables(CHECKSUMS[0]), library_tables(*place())[0]
    numbers = (
        *(whole.ones, whole.modulus, whole.reduction[1]),
        *(whole.folds[3][1], whole.lanes[2][0], whole.slices[5][6], whole.powers[40]),
    )
    for number in numbers:
        at = data.index(number.to_bytes(8, "little"))
        changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        assert layout.read(changed, whole.title) != whole


#: Compilers whose code is proved besides that of the library's.
OTHERS = ("clang-19", "clang-14")


@each_build
@pytest.mark.parametrize("compiler", sample(OTHERS, "clang-19"))
def test_the_code_of_other_compilers_is_proved(compiler: str, every: bool, tmp_path: Path) -> None:
    """clang computes some numbers of lines modulo 2^32, and has instructions that gcc does not use."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    library()
    core = ROOT / "runtime" / "core"
    include = [f"-I{path}" for path in (core / "src", core / "include", ROOT / "gen_out")]
    source, target = core / "src" / "crc_kernels.c", tmp_path / "crc_kernels.o"
    subprocess.run(
        [compiler, "-O2", "-std=c11", "-fPIC", "-c", *include, str(source), "-o", str(target)], check=True
    )
    image = load(target, None)
    chosen = ROUTINES if every else _of_each_kind()
    reports = [prove_machine(symbol, ROUTINES[symbol], image, ABI) for symbol in chosen]
    assert not [report.reason for report in reports if not report]


def _another_word(instr: Instruction) -> None:
    instr.immediate8 ^= 0x01


def _moved(by: int) -> Callable[[Instruction], None]:
    """Move a memory operand."""

    def edit(instr: Instruction) -> None:
        instr.memory_displacement = (instr.memory_displacement + by) % (1 << 64)
        instr.memory_displ_size = instr.memory_displ_size or 1

    return edit


def _of_another_size(instr: Instruction) -> None:
    """crc32 of 4 bytes instead of 8, 2 or 1."""
    instr.code = Code.CRC32_R32_RM32
    instr.op0_register = RegisterExt.full_register32(instr.op0_register)
    if instr.op1_kind == OpKind.REGISTER:
        instr.op1_register = RegisterExt.full_register32(instr.op1_register)


def _halved(instr: Instruction) -> None:
    """A store of 4 bytes instead of 8."""
    instr.code = Code.MOV_RM32_R32
    instr.op1_register = RegisterExt.full_register32(instr.op1_register)


def _another_count(instr: Instruction) -> None:
    instr.immediate8 ^= 0x01


def _twice(instr: Instruction) -> None:
    instr.set_immediate_u64(1, 2 * instr.immediate(1) % (1 << 64))


def _steps(instr: Instruction) -> bool:
    """Return whether an instruction changes a register by a number."""
    return str(instr).startswith(("add ", "sub ", "shl ")) and instr.op1_kind != OpKind.REGISTER


def _is_vector(instr: Instruction) -> bool:
    registers = (instr.op_register(n) for n in range(instr.op_count) if instr.op_kind(n) == OpKind.REGISTER)
    return any(map(RegisterExt.is_vector_register, registers))


def _stores_word(instr: Instruction) -> bool:
    return str(instr).startswith("mov ") and instr.op0_kind == OpKind.MEMORY


def _loads(instr: Instruction, table: bool) -> bool:
    """Return whether an instruction loads a vector from the table, or from other data. gcc keeps the table's
    address in the register of the parameter."""
    if not _is_vector(instr) or instr.op0_kind == OpKind.MEMORY or instr.is_ip_rel_memory_operand:
        return False
    return instr.memory_base != Register.NONE and (instr.memory_base == Register.RDI) == table


#: Errors: the instructions in which one is made, and the change; None: the instruction is removed.
WRONG: dict[str, tuple[Callable[[Instruction], bool], Callable[[Instruction], None] | None]] = {
    "another word": (lambda i: "clmul" in str(i), _another_word),
    "constants of another distance": (lambda i: _loads(i, table=True), _moved(GROUP)),
    "half of another constant": (lambda i: _loads(i, table=True), _moved(WORD)),
    "a load a vector further": (lambda i: _loads(i, table=False), _moved(LINE)),
    "a load a byte further": (lambda i: _loads(i, table=False), _moved(1)),
    "a store a vector further": (lambda i: _is_vector(i) and i.op0_kind == OpKind.MEMORY, _moved(LINE)),
    "half of a checksum": (_stores_word, _halved),
    "a checksum that is not stored": (_stores_word, None),
    "another status": (lambda i: str(i) == "xor eax,eax", None),
    "a sum without a summand": (lambda i: "pxor" in str(i) or "ternlog" in str(i), None),
    "bytes in their order": (lambda i: "pshufb" in str(i), None),
    "a shift by another number of bits": (lambda i: str(i).startswith("shr "), _another_count),
    "crc32 of other bytes": (lambda i: str(i).startswith("crc32 "), _of_another_size),
    "bytes without crc32": (lambda i: str(i).startswith("crc32 "), None),
    "the other word": (lambda i: str(i).startswith("vpextrq "), _another_word),
    "a step twice as long": (_steps, _twice),
    "the other way of a branch": (
        lambda i: i.flow_control == FlowControl.CONDITIONAL_BRANCH,
        lambda i: i.negate_condition_code(),
    ),
}


#: Errors of few functions.
_FEW = ("a shift by another number of bits", "the other word")


def _edited(code: bytes, at: int, edit: Callable[[Instruction], None] | None) -> bytes | None:
    """Return the code with another instruction at an offset; None if that is longer."""
    if edit is None:
        return without(code, at)
    old = next(instr for instr in decode(code) if instr.ip == ORIGIN + at)
    new, encoder = old.copy(), Encoder(64)
    edit(new)
    encoder.encode(new, new.ip)
    data = encoder.take_buffer()
    if len(data) > old.len:
        return None
    return code[:at] + data + b"\x90" * (old.len - len(data)) + code[at + old.len :]


@each_build
@pytest.mark.parametrize("error", WRONG)
def test_errors_are_refuted(error: str, every: bool) -> None:
    """The error at the first and at the last place of the routines. Some errors make code that the prover
    cannot follow to its end."""
    chosen, edit = WRONG[error]
    found = Counter[Status]()
    for symbol in ROUTINES if every else _of_each_kind():
        places = [instr.ip - ORIGIN for instr in decode(code(symbol)) if chosen(instr)]
        for at in sorted({*places[:1], *places[-1:]}):
            new = _edited(code(symbol), at, edit)
            if new is None:
                continue
            report = prove(symbol, new)
            assert report.status is not Status.PROVED, f"{symbol} at {at}"
            found[report.status] += 1
    assert found[Status.REFUTED] > found[Status.UNSUPPORTED]
    assert found.total() >= (10 if every and "crc32" not in error and error not in _FEW else 2)


@pytest.mark.parametrize("symbol", [s for s in ROUTINES if "_normal_" in s and "_group_" not in s])
def test_another_order_of_bytes_is_refuted(symbol: str) -> None:
    """Two bytes exchanged in every copy of the constant by which the bytes of a group are reversed. The words
    of "group" are in order."""
    order = bytes(reversed(range(GROUP)))
    image = library()
    for segment in library().segments:
        for found in re.finditer(re.escape(order), segment.data):
            image = patched(image, segment.address + found.start(), bytes([order[1], order[0]]))
    assert prove_machine(symbol, ROUTINES[symbol], image, ABI).status is Status.REFUTED


def _same_sum(original: bytes, new: bytes) -> bool:
    """Return whether one summand is added to another partial sum: if that is right, the total is the same."""
    before, after = difference(original, new)
    return len(before) == len(after) == 1 and all("xor" in str(instr) for instr in (*before, *after))


def _cleared_twice(original: bytes, new: bytes) -> bool:
    """Return whether a move of a register to itself is removed. It clears the bytes above the low ones, which
    are 0 after vmovq."""
    before, after = difference(original, new)
    moved = len(before) == 1 and str(before[0]).startswith("vmovdqa xmm")
    removed = all(str(instr) == "nop" for instr in after)
    return moved and removed and before[0].op0_register == before[0].op1_register


def _keeps_other_zeros(original: bytes, new: bytes) -> bool:
    """Return whether another mask selects the rest of the register from its vector: all bytes but the first
    one, before a shift. Bytes behind the register are 0, kept or left out."""
    before, after = difference(original, new)
    if len(before) != 1 or len(after) != 1 or {before[0].code, after[0].code} != {Code.MOV_RM64_IMM32}:
        return False
    old, changed = (instr.immediate(1) % (1 << 64) for instr in (before[0], after[0]))
    same = before[0].op0_register == after[0].op0_register
    return same and old == (1 << 64) - 2 and (old ^ changed) % (1 << WORD) == 0


def _padding(code: bytes) -> frozenset[int]:
    """Return the places of no-ops behind a return or a jump, which no instruction reaches: compilers begin
    the target of another jump behind them."""
    found: set[int] = set()
    reached = True
    for instr in decode(code):
        reached = reached or instr.mnemonic != Mnemonic.NOP
        if not reached:
            start = instr.ip - ORIGIN
            found.update(range(start, start + instr.len))
        elif instr.flow_control in (FlowControl.RETURN, FlowControl.UNCONDITIONAL_BRANCH):
            reached = False
    return frozenset(found)


@pytest.mark.parametrize("part", share(range(PARTS), PARTS))
@pytest.mark.parametrize("symbol", ROUTINES)
def test_mutants_are_rejected_or_equivalent(symbol: str, part: int) -> None:
    """A sample of all changes of a bit, a byte or an operand, and of removed instructions."""
    (routine, *_), original = ROUTINES[symbol], code(symbol)
    every = mutants(original, routine.block // max(len(routine.before), 1))
    unreached = _padding(original)  # nor of the landing pad, which may be absent
    every = [mutant for mutant in every if mutant.at > 0 and mutant.at not in unreached]
    wrong = []
    for mutant in random.Random(symbol).sample(every, MUTANTS)[part::PARTS]:
        report = prove(symbol, mutant.code)
        equivalent = classify(original, mutant.code) in EQUIVALENT or any(
            known(original, mutant.code) for known in (_same_sum, _cleared_twice, _keeps_other_zeros)
        )
        if report and not equivalent:
            wrong.append(f"{mutant.kind} at {mutant.at}")
    assert not wrong


def test_the_command_refutes_a_wrong_library(tmp_path: Path) -> None:
    """A pclmulqdq that multiplies other words, next to two right functions; all others have other names."""
    data, symbol = place()[0].read_bytes(), "gfs_group_reflected__pclmulqdq"
    at = next(instr.next_ip - ORIGIN - 1 for instr in decode(code(symbol)) if "clmul" in str(instr))
    start = data.index(code(symbol)) + at
    data = data[:start] + bytes([data[start] ^ 1]) + data[start + 1 :]
    kept = {symbol, "gfs_group_normal__pclmulqdq", "gfs_reduce_lines_reflected__pclmulqdq"}
    assert kept < set(ROUTINES)
    for other in set(ROUTINES) - kept:
        data = data.replace(f"{other}\0".encode(), f"x{other[1:]}\0".encode())
    path = tmp_path / "wrong.a"
    path.write_bytes(data)
    status, found = verified(path)
    assert status == 1 and set(found) == kept
    assert [name for name, each in found.items() if each["status"] != "proved"] == [symbol]


def test_the_command_needs_functions_of_checksums() -> None:
    assert verify() == (2, "gfsmith: --checksums needs --objects\n")
    status, said = verify(product("libgfsmith-shards.a", "shards"))
    assert status == 2 and said.endswith("contains none of the 131 provable functions of checksums\n")
