"""The vector program: `program.py` says what it consists of, `meaning.py` what each Op does."""

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
