"""RISC-V instructions: the form and the operands, from objdump's text without aliases.

A form is the mnemonic and the shapes of the operands:

    r       a general register, x0 to x31
    v       a vector register
    #       a number; the target of a branch, as an offset in the function
    (r)     memory at register + displacement
    vlenb   that control register
    type    an element width of 8 bits, one register per group, and the policies
    m       the mask v0.t

as in "addi r r #", "c.ldsp r (r)", "vle8.v v (r) m", "vsetvli r r type". Compressed instructions have forms
of their own (c.addi). A form is "" if an operand has another shape.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gfsmith.prove.machine.linear import Word
from gfsmith.prove.machine.operands import General, Immediate, Vector

_PLACE = re.compile(r"(-?\d+)?\((x\d+)\)")
_NUMBER = re.compile(r"-?\d+|0x[0-9a-f]+")
_TYPE = re.compile(r"e8,m1,(ta|tu),(ma|mu)")
_COMMENT = re.compile(r"\s*[<#].*")
_SPAN = 1 << 64
AGNOSTIC_TAIL, AGNOSTIC_MASK = 1 << 6, 1 << 7  #: bits of vtype (Vector Extension 1.0, 3.4)


class Place(NamedTuple):
    """Memory at base + displacement."""

    base: str
    displacement: Word


Operand = General | Vector | Immediate | Place


class Decoded(NamedTuple):
    """An instruction: mnemonic, form, operands, and text."""

    mnemonic: str
    form: str
    operands: tuple[Operand, ...]
    text: str

    def __str__(self) -> str:
        return self.text


def parse(line: str) -> Decoded:
    """Return the parts of an instruction's text."""
    mnemonic, _, rest = line.partition("\t")
    text = f"{mnemonic} {rest}".rstrip()
    rest = _COMMENT.sub("", rest)
    shapes, operands = [mnemonic], []
    policy = _TYPE.search(rest)
    if policy is not None:
        rest = rest[: policy.start()].rstrip(",")
    for part in rest.split(",") if rest else []:
        shape, operand = _operand(part)
        if not shape:
            return Decoded(mnemonic, "", (), text)
        shapes.append(shape)
        operands += [] if operand is None else [operand]
    if policy is not None:
        shapes.append("type")
        bits = AGNOSTIC_TAIL * (policy[1] == "ta") + AGNOSTIC_MASK * (policy[2] == "ma")
        operands.append(Immediate(bits))
    return Decoded(mnemonic, " ".join(shapes), tuple(operands), text)


def _operand(text: str) -> tuple[str, Operand | None]:
    """Return the shape of an operand, "" if it is not known, and the operand; None for shapes without
    choice."""
    if text in ("vlenb", "v0.t"):
        return {"v0.t": "m"}.get(text, text), None
    if re.fullmatch(r"x\d+", text):
        return "r", General(text)
    if re.fullmatch(r"v\d+", text):
        return "v", Vector(int(text[1:]))
    if found := _PLACE.fullmatch(text):
        return "(r)", Place(found[2], int(found[1] or 0))
    if _NUMBER.fullmatch(text):
        value = int(text, 0)
        return "#", Immediate(value - _SPAN if value >= _SPAN // 2 else value)
    return "", None
