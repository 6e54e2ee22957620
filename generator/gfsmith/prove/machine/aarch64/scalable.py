"""Instructions of SVE and SVE2: their forms and operands, from capstone's text.

Shapes besides those of decode.py:

    z, z.b, z.d     a scalable vector register, whole or in elements (braces are left out)
    p.b, p, p/z     a predicate: its bits for bytes, as it selects bytes, and with zeros for the others
    [x vl]          memory at register + displacement, which counts vectors
    all, mul #      a pattern of elements; a factor

Every other text has the shape "?", so it has no meaning. Examples: "ld1b z.b p/z [x x]", "cnth x all mul #".
"""

from __future__ import annotations

import re

from gfsmith.prove.machine.aarch64 import decode as plain
from gfsmith.prove.machine.aarch64.decode import (
    ELEMENT,
    Decoded,
    General,
    Immediate,
    Operand,
    Place,
    Predicate,
    Scalable,
)

PREFIX = "movprfx z z"  #: the form that makes the next instruction write another register than its source
#: The forms that may follow it: their first two operands are one register.
_PREFIXED = frozenset({"eor3 z.d z.d z.d z.d", "and z.b z.b #", "eor z.b z.b #"})
#: Instructions that count the elements of a vector: their operands are general registers.
_COUNTING = re.compile(r"(rdvl|addvl|(cnt|inc|dec)[bhwd]) ")
_REGISTER = re.compile(r" .*\b[zp]\d+\b")
#: An operand: memory, registers in braces, or text without a comma.
_OPERAND = re.compile(r"\[[^]]*\]|\{[^}]*\}|[^\s,][^,]*")
_VECTOR = re.compile(r"z(\d+)(?:\.([bhsd]))?|\{z(\d+)\.([bhsd])\}")
_PREDICATE = re.compile(r"p(\d+)(\.b|/z)?")
_GENERAL = re.compile(r"x\d+|sp|xzr")
_NUMBER = re.compile(r"(mul )?#(-?\w+)")
_PLACE = re.compile(r"\[(x\d+|sp)(?:, (x\d+)|, #(-?\w+), mul vl)?\]")


def decode(code: bytes, address: int) -> Decoded | None:
    """Return the instruction in four bytes; None if capstone cannot decode it, or decodes other operands."""
    found = plain.decode(code, address)
    if found is None or not (_COUNTING.match(found.text) or _REGISTER.search(found.text)):
        return found
    mnemonic, _, text = found.text.partition(" ")
    read = [_operand(operand) for operand in _OPERAND.findall(text)]
    form = " ".join([mnemonic, *(shape for shape, _ in read)])
    operands = tuple(operand for _, operand in read if operand is not None)
    return found._replace(mnemonic=mnemonic, form=form, operands=operands, condition="")


def is_prefixed(prefix: Decoded, found: Decoded) -> bool:
    """Return whether an instruction may follow a prefix: it must write the prefix's register and not read it
    otherwise (Arm Architecture Reference Manual, C8.2, MOVPRFX). All others are unpredictable."""
    target, *others = (each.number for each in found.operands if isinstance(each, Scalable))
    moved, _ = prefix.operands
    assert isinstance(moved, Scalable)
    return found.form in _PREFIXED and target == moved.number and others.count(target) == 1


def _operand(text: str) -> tuple[str, Operand | None]:
    """Return shape and operand of a text; a pattern has no operand."""
    if found := _VECTOR.fullmatch(text):
        number, kind = found[1] or found[3], found[2] or found[4]
        return (f"z.{kind}" if kind else "z"), Scalable(int(number), ELEMENT.get(kind, 0))
    if found := _PREDICATE.fullmatch(text):
        return "p" + (found[2] or ""), Predicate(int(found[1]))
    if found := _NUMBER.fullmatch(text):
        return (found[1] or "") + "#", Immediate(_signed(found[2]))
    if found := _PLACE.fullmatch(text):
        return _place(found)
    if _GENERAL.fullmatch(text):
        return "x", _general(text)
    return ("all" if text == "all" else "?"), None


def _general(name: str) -> General:
    return General("zr" if name == "xzr" else name, 8)


def _place(found: re.Match[str]) -> tuple[str, Place]:
    base = _general(found[1])
    if found[2]:
        return "[x x]", Place(base, _general(found[2]), 0)
    if found[3]:
        return "[x vl]", Place(base, None, _signed(found[3]))
    return "[x]", Place(base, None, 0)


def _signed(text: str) -> int:
    """Return a number, which capstone prints as one of 64 bits if it is negative."""
    number = int(text, 0)
    return number - (1 << 64) if number >> 63 > 0 else number
