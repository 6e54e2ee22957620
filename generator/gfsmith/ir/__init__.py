"""The vector program (intermediate representation): `program.py` has its classes, `meaning.py` the semantics
of each Op."""

from gfsmith.ir.meaning import MEANING, Bit, Byte, Kind, Lane, Meaning, Undefined
from gfsmith.ir.program import (
    CURRENT,
    LOADS,
    STORES,
    Carry,
    Instr,
    Loop,
    Op,
    Program,
    Ref,
    Role,
    Space,
    Value,
    pointers,
    source_name,
)

__all__ = [
    "CURRENT",
    "LOADS",
    "MEANING",
    "STORES",
    "Bit",
    "Byte",
    "Carry",
    "Instr",
    "Kind",
    "Lane",
    "Loop",
    "Meaning",
    "Op",
    "Program",
    "Ref",
    "Role",
    "Space",
    "Undefined",
    "Value",
    "pointers",
    "source_name",
]
