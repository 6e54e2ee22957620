"""Wrong WebAssembly functions are refused for the right reason, and so are modules that cannot be read."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from gfsmith.prove.machine.contract import Contract, Layout
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import LoadError, load, members_with
from gfsmith.prove.machine.prove import Report, prove_code
from gfsmith.prove.verdict import Status

TEXT = (Path(__file__).parent / "wasm" / "xor_2x1.wat").read_text(encoding="utf-8")
NAME = "kernel"
CONTRACT = Contract(
    operation="xor",
    inputs=2,
    outputs=1,
    layout=Layout("none", 0, 1),
    parameters=("len", "k", "coeffs", "src", "dst"),
    abi="wasm32",
    features=(),
    in_place=False,
    block=16,
    vector=16,
    unwind=False,
    reach_all=False,
)


def assemble(text: str, folder: Path) -> Path:
    source, module = folder / "kernel.wat", folder / "kernel.wasm"
    source.write_text(text, encoding="utf-8")
    command: list[str | Path] = ["wat2wasm", "--debug-names", "--enable-relaxed-simd", source, "-o", module]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return module


def prove(image: Image) -> Report:
    return prove_code(CONTRACT, image, NAME, exhaustive=False, max_steps=100_000)


def test_the_kernel_is_proved(tmp_path: Path) -> None:
    """The kernel from which the wrong ones below are made."""
    report = prove(load(assemble(TEXT, tmp_path)))
    assert report.status is Status.PROVED, report.reason
    assert report.covered == report.instructions


_VECTOR = "(local.set $v (v128.load (i32.add (local.get $a) (local.get $i))))"
_STORE = "(v128.store (i32.add (local.get $d) (local.get $i)) (local.get $v))"
_AGAIN = "(br_if $next (i32.gt_u (i32.sub (local.get $len) (local.get $i)) (i32.const 15)))"
_STEP = "(local.set $i (i32.add (local.get $i) (i32.const 16)))"
_TAIL = "(br_if 0 (i32.ge_u (local.get $i) (local.get $len)))"
_BYTE = "(br_if $byte (i32.lt_u (local.get $i) (local.get $len)))"
_BYTES = "(i32.load8_u (i32.add (local.get $a) (local.get $i)))"
_FIRST = "(local.set $a (i32.load (local.get $src)))"
_SECOND = "(local.set $b (i32.load offset=4 (local.get $src)))"
_LENGTH = "(br_if 0 (i32.eqz (local.get $len)))"

#: The same as _BYTE, unless the shard crosses the middle of the memory.
_END = "(i32.add (local.get $d) (local.get $len))"
_ADDRESSES = f"(br_if $byte (i32.lt_s (i32.add (local.get $d) (local.get $i)) {_END}))"

#: Error -> the replaced line, its replacement, and the reason of the refutation.
WRONG = {
    "one source twice": (_SECOND, "(local.set $b (i32.load (local.get $src)))", "is 0x00, must be"),
    "a third source": (_SECOND, "(local.set $b (i32.load offset=8 (local.get $src)))", "beyond its end"),
    "a source before the first": (
        _FIRST,
        "(local.set $a (i32.load (i32.sub (local.get $src) (i32.const 4))))",
        "before its first byte",
    ),
    "between two pointers": (_SECOND, "(local.set $b (i32.load offset=2 (local.get $src)))", "between two"),
    "the first source alone": (
        "(v128.xor (local.get $v) (v128.load (i32.add (local.get $b) (local.get $i))))",
        "(local.get $v)",
        "byte 0 is src",
    ),
    "shifted load": (_VECTOR, _VECTOR.replace("v128.load", "v128.load offset=1"), "beyond its end|must be"),
    "shifted store": (_STORE, _STORE.replace("v128.store", "v128.store offset=1"), "beyond its end|must be"),
    "a vector too many": (_AGAIN, _AGAIN.replace("15", "14"), "beyond its end"),
    "always again": (_AGAIN, "(br $next)", "beyond its end"),
    "no tail": (_TAIL, "(return)", "only"),
    "a byte too many": (_BYTE, _BYTE.replace("lt_u", "le_u"), "beyond its end"),
    "tail of an empty shard": (_TAIL, "(nop)", "beyond its end"),
    "tail from the other source": (_BYTES, _BYTES.replace("$a", "$b"), "is 0x00, must be"),
    "tail of two bytes": (_BYTES, _BYTES.replace("load8_u", "load16_u"), "beyond its end"),
    "store to a source": (_STORE, _STORE.replace("$d", "$a"), "not to a destination"),
    "store to an array": (
        _STORE,
        _STORE.replace("(i32.add (local.get $d) (local.get $i))", "(local.get $dst)"),
        "not to a destination",
    ),
    "store to a constant address": (
        _STORE,
        _STORE.replace("(i32.add (local.get $d) (local.get $i))", "(i32.const 4096)"),
        "writes at 4096",
    ),
    "constants in memory": (
        _VECTOR,
        "(local.set $v (v128.load (i32.const 1024)))",
        "outside of its constants",
    ),
    "branch on data": (_BYTE, f"(br_if 1 (i32.load8_u (local.get $a))) {_BYTE}", "depends on"),
    "address from data": (
        _BYTES,
        "(i32.load8_u (i32.add (local.get $a) (i32.load8_u (local.get $a))))",
        "depends on",
    ),
    "an uninitialised variable": (_FIRST, "(nop)", "outside of its constants"),
    "one length is wrong": (_LENGTH, "(br_if 0 (i32.le_u (local.get $len) (i32.const 1)))", "only"),
    "k is read": (_LENGTH, "(br_if 0 (i32.eqz (local.get $k)))", "depends on"),
    "relaxed SIMD": (
        _STEP,
        f"{_STEP} (local.set $v (i8x16.relaxed_swizzle (local.get $v) (local.get $v)))",
        "needs relaxed SIMD",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_kernels_are_refuted(name: str, tmp_path: Path) -> None:
    line, by, reason = WRONG[name]
    assert line in TEXT
    report = prove(load(assemble(TEXT.replace(line, by, 1), tmp_path)))
    assert report.status is Status.REFUTED, report.reason
    assert re.search(reason, report.reason), report.reason


_MOVED = "(i32.sub (i32.add (local.get $a) (local.get $i)) (i32.const 16))"
#: Code that is wrong, or that the prover has no model for -> the replaced line, its replacement, the reason.
UNSUPPORTED = {
    "a long step": (_STEP, _STEP.replace("16", "17"), "may wrap around"),
    "the address before an offset wraps": (
        _VECTOR,
        f"(local.set $v (v128.load offset=16 {_MOVED}))",
        "may wrap around",
    ),
    "the bound of the loop wraps": (
        _AGAIN,
        "(br_if $next (i32.le_u (i32.add (local.get $i) (i32.const 16)) (local.get $len)))",
        "may wrap around",
    ),
    "signed lengths": (_BYTE, _BYTE.replace("lt_u", "lt_s"), "may wrap around"),
    "a signed bound": (_TAIL, _TAIL.replace("ge_u", "ge_s"), "may wrap around"),
    "signed addresses": (_BYTE, _ADDRESSES, "may wrap around"),
    "half of the length": (
        _BYTE,
        "(br_if $byte (i32.lt_u (local.get $i) (i32.and (local.get $len) (i32.const 0xff00ff))))",
        "i32.and",
    ),
    "rotated length": (_LENGTH, "(br_if 0 (i32.eqz (i32.rotl (local.get $len) (i32.const 1))))", "i32.rotl"),
    "division": (_LENGTH, "(br_if 0 (i32.eqz (i32.div_u (local.get $len) (local.get $k))))", "i32.div_u"),
    "a call": (_LENGTH, f"(call $other (i32.const 1)) {_LENGTH}", "call"),
    "an indirect call": (_LENGTH, f"(drop (memory.size)) {_LENGTH}", "memory.size"),
    "memory.fill": (
        _LENGTH,
        f"(memory.fill (i32.load (local.get $dst)) (i32.const 0) (local.get $len)) {_LENGTH}",
        "memory.fill",
    ),
    "memory.copy": (
        _LENGTH,
        f"(memory.copy (local.get $dst) (local.get $src) (local.get $len)) {_LENGTH}",
        "memory.copy",
    ),
    "memory.grow": (_LENGTH, f"(drop (memory.grow (i32.const 1))) {_LENGTH}", "memory.grow"),
    "a global variable": (_LENGTH, f"(global.set $g (local.get $len)) {_LENGTH}", "global.set"),
    "a trap": (
        _TAIL,
        f"(if (i32.eq (local.get $len) (i32.const 5)) (then (unreachable))) {_TAIL}",
        "unreachable",
    ),
    "an address as 64 bits": (
        _FIRST,
        f"{_FIRST} (local.set $a (i32.wrap_i64 (i64.extend_i32_u (local.get $a))))",
        "may wrap around",
    ),
    "a sum as 64 bits": (
        _FIRST,
        f"{_FIRST} (local.set $w (i64.extend_i32_u (i32.add (local.get $len) (i32.const 1))))",
        "may wrap around",
    ),
    "a shifted sum": (
        _LENGTH,
        "(br_if 0 (i32.eqz (i32.shr_u (i32.add (local.get $len) (i32.const 15)) (i32.const 4))))",
        "may wrap around",
    ),
    "a product of unknowns": (
        _LENGTH,
        "(br_if 0 (i32.eqz (i32.mul (local.get $len) (local.get $src))))",
        "mult",
    ),
    "a branch on an address": (
        _TAIL,
        f"(br_if 0 (i32.and (local.get $a) (i32.const 15))) {_TAIL}",
        "i32.and",
    ),
    "floating point": (_LENGTH, f"(drop (f32.load (local.get $src))) {_LENGTH}", "f32.load"),
    "a branch with an operand": (
        _TAIL,
        f"(local.set $i (block (result i32) (br 0 (local.get $i)))) {_TAIL}",
        "a branch with operands",
    ),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_code_without_a_model_is_not_proved(name: str, tmp_path: Path) -> None:
    line, by, reason = UNSUPPORTED[name]
    assert line in TEXT
    report = prove(load(assemble(TEXT.replace(line, by, 1), tmp_path)))
    assert report.status is Status.UNSUPPORTED, report.reason
    assert re.search(reason, report.reason), report.reason


#: Equally right code -> the replaced line and its replacement.
RIGHT = {
    "a test of the length as 64 bits": (_LENGTH, "(br_if 0 (i64.eqz (i64.extend_i32_u (local.get $len))))"),
    "an if": (_TAIL, "(if (i32.ge_u (local.get $i) (local.get $len)) (then (return)))"),
    "an if with else": (
        _TAIL,
        "(if (i32.lt_u (local.get $i) (local.get $len)) (then (nop)) (else (return)))",
    ),
    "a rounded length": (
        _AGAIN,
        "(br_if $next (i32.ne (local.get $i) (i32.and (local.get $len) (i32.const -16))))",
    ),
    "dead code": (_TAIL, f"(block (br 0) (i32.store (i32.const 0) (i32.const 0))) {_TAIL}"),
    "an address after a wrap": (
        _VECTOR,
        "(local.set $v (v128.load (i32.sub (i32.add (i32.sub (local.get $a) (i32.const 64)) (local.get $i))"
        " (i32.const -64))))",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_equal_kernels_are_proved(name: str, tmp_path: Path) -> None:
    line, by = RIGHT[name]
    assert line in TEXT
    report = prove(load(assemble(TEXT.replace(line, by, 1), tmp_path)))
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize(
    ("old", "new"),
    [(" (param $k i32)", ""), ("$len i32", "$len i64"), ("(local i32)", "(result i32) (local i32)")],
)
def test_other_signatures_are_unsupported(old: str, new: str, tmp_path: Path) -> None:
    """With fewer parameters, a variable would have the number of a parameter of the contract."""
    parameters = " ".join(f"(param ${name} i32)" for name in ("len", "k", "coeffs", "src", "dst"))
    text = f"(module (memory 1) (func $kernel {parameters} (local i32) unreachable))".replace(old, new, 1)
    report = prove(load(assemble(text, tmp_path)))
    assert (report.status, "a function from" in report.reason) == (Status.UNSUPPORTED, True), report.reason


_BODY = "(param i32 i32 i32 i32 i32))"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'(module (import "env" "memory" (memory 1)) (func $kernel {_BODY})', "without imports"),
        (f'(module (import "env" "f" (func)) (memory 1) (func $kernel {_BODY})', "without imports"),
        (f"(module (func $kernel {_BODY})", "with a memory"),
    ],
)
def test_modules_that_are_not_loaded(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=message):
        load(assemble(text, tmp_path))


def test_objects_that_are_not_linked(tmp_path: Path) -> None:
    source, target = tmp_path / "f.c", tmp_path / "f.o"
    source.write_text("void kernel(void) {}\n")
    subprocess.run(["clang-19", "--target=wasm32", "-c", source, "-o", target], check=True)
    with pytest.raises(LoadError, match="not linked"):
        load(target)


def _section(kind: int, content: bytes) -> bytes:
    assert len(content) < 128
    return bytes([kind, len(content)]) + content


def _named(*names: bytes) -> bytes:
    """Return a section of names of the functions 0, 1, ..."""
    listed = b"".join(bytes([number, len(name)]) + name for number, name in enumerate(names))
    return _section(0, b"\x04name" + _section(1, bytes([len(names)]) + listed))


#: A module with a memory and two functions from five numbers that return at once.
_EMPTY = (
    b"\0asm\x01\0\0\0"
    + _section(1, b"\x01\x60\x05\x7f\x7f\x7f\x7f\x7f\x00")
    + _section(3, b"\x02\x00\x00")
    + _section(5, b"\x01\x00\x01")
)
_CODE = _section(10, b"\x02\x02\x00\x0b\x02\x00\x0b")


def test_damaged_modules(tmp_path: Path) -> None:
    """The loader refuses a module that is cut off, in one line."""
    path = tmp_path / "module.wasm"
    whole = _EMPTY + _CODE + _named(b"kernel", b"other")
    path.write_bytes(whole)
    assert set(load(path).functions) == {"kernel", "other"}
    refused = 0
    for end in range(8, len(whole)):
        path.write_bytes(whole[:end])
        try:
            load(path)
        except LoadError as error:
            refused += "\n" not in str(error)
    assert refused > len(whole) - 16
    for two in (_EMPTY + _CODE + _CODE, _EMPTY + _section(10, b"\x02\x02\x00\x0b\x03\x00\x0b")):
        path.write_bytes(two)
        with pytest.raises(LoadError):
            load(path)


def test_an_alignment_that_engines_refuse_is_unsupported(tmp_path: Path) -> None:
    """The alignment is only a hint, but a module is not valid if it exceeds the size of the access."""
    path = assemble(TEXT, tmp_path)
    whole = path.read_bytes()
    load8 = bytes.fromhex("2d0000")
    assert load8 in whole
    path.write_bytes(whole.replace(load8, bytes.fromhex("2d0100"), 1))
    report = prove(load(path))
    assert (report.status, "not valid" in report.reason) == (Status.UNSUPPORTED, True), report.reason


def test_a_name_of_two_functions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "module.wasm"
    path.write_bytes(_EMPTY + _CODE + _named(b"kernel", b"kernel"))
    image = load(path)
    assert "kernel" not in image.functions
    assert image.disputed == {"kernel"}
    assert prove(image).status is Status.UNSUPPORTED


def _exported(name: bytes, number: int) -> bytes:
    """Return a section that exports one function."""
    return _section(7, b"\x01" + bytes([len(name)]) + name + bytes([0, number]))


def test_an_export_of_another_function_than_the_named_one_is_refused(tmp_path: Path) -> None:
    """Callers follow the table of exports, and functions of the module the numbers: so both must agree."""
    path = tmp_path / "module.wasm"
    path.write_bytes(_EMPTY + _exported(b"kernel", 0) + _CODE + _named(b"kernel", b"other"))
    assert set(load(path).functions) == {"kernel", "other"}
    path.write_bytes(_EMPTY + _exported(b"kernel", 1) + _CODE + _named(b"kernel", b"other"))
    image = load(path)
    assert (set(image.functions), image.disputed) == ({"other"}, {"kernel"})
    assert prove(image).status is Status.UNSUPPORTED
    assert members_with(path, frozenset({NAME})) == {None: {NAME}}  # so `verify --objects` reports it


def test_a_function_without_a_name_is_found_by_its_export(tmp_path: Path) -> None:
    path = tmp_path / "module.wasm"
    path.write_bytes(_EMPTY + _exported(b"kernel", 1) + _CODE)
    image = load(path)
    assert image.functions[NAME].address == image.segments[0].end - 1


@pytest.mark.parametrize("text", ["end", "nop"])
def test_names_cannot_pass_for_instructions(text: str, tmp_path: Path) -> None:
    """The name of an export stands in the output of the disassembler, before the instructions."""
    place = len(_EMPTY) + 2 + 1 + 1 + 60 + 2 + len("\2\0\0\0\0")
    line = f"x>:\n {place:06x}: 0b                         | {text}"
    fake = line.encode().ljust(60)
    path = tmp_path / "module.wasm"
    path.write_bytes(_EMPTY + _exported(fake, 0) + _CODE + _named(b"other", b"kernel"))
    assert path.read_bytes()[place : place + 1] == b"\x0b"
    with pytest.raises(LoadError, match="decodes other bytes"):
        load(path)
