"""Spelling of an instruction set in C: one record per set, with a table from Op to expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gfsmith.ir import Op, Space


@dataclass(frozen=True, slots=True)
class Spelling:
    """The C of one instruction set. Helper functions longer than an expression are in its header.

    isa: the name of the set. headers: templates/NAME.j2 with the helper functions. A kernel includes the last
    header, which includes the others and defines GFSMITH_TARGET_<isa>: the attribute that enables the
    instruction set for one function, so that no compiler flag is needed. vector, table: C types of a value
    and of a table in a register (Op.TABLE). expressions: the expression of each Op, with {0}, {1}, {2} for
    its operands, {place} for the address of its memory reference, {immediate}, and {rest} for the number of
    remaining bytes. LOAD and STORE move a whole vector; partial_load and partial_store move the {rest} bytes
    of the tail. setup: declarations before the first statement; those of scalable vectors define `vl`, the
    bytes of a vector. compilers: the preprocessor condition for compilers and settings that support the set,
    "" for all of its architecture; without support, kernels compile to nothing and dispatch excludes the set.
    rolled: a directive for the compiler before a loop over the sources. plain: one before every loop of a
    kernel that begins with the last source, so that the prover can follow the machine code. partial_setup:
    declarations before the tail. hidden: spaces of the tables whose address gfs_hide() makes opaque to the
    compiler at every source, in loops unrolled over the sources: otherwise the compiler would keep more
    tables than fit into registers, or load many ahead, and spill them. aligned: the expressions of LOAD,
    STORE and TABLE for an address that is a multiple of the vector's bytes. If there are any, a kernel tests
    all of its pointers at entry, and has its loops over whole vectors twice.
    """

    isa: str
    headers: tuple[str, ...]
    vector: str
    table: str
    expressions: Mapping[Op, str]
    partial_load: str
    partial_store: str
    setup: tuple[str, ...] = ()
    compilers: str = ""
    rolled: str = ""
    plain: str = ""
    partial_setup: tuple[str, ...] = ()
    hidden: frozenset[Space] = frozenset()
    aligned: Mapping[Op, str] = field(default_factory=dict)
