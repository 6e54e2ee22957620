"""How an instruction set is written in C: one record each, a table from Op to expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gfsmith.ir import Op, Space


@dataclass(frozen=True, slots=True)
class Spelling:
    """The C of one instruction set; what is longer than an expression stands in its header.

    headers: templates/NAME.j2 with the helpers named below; a kernel includes the last of them, which
    includes the others and defines GFSMITH_TARGET_<name of the set>: the attribute that switches the
    instruction set on for one function, so that no compiler flag is needed. vector,
    table: C types of a value and of a table in a register (Op.TABLE). expressions: what an Op is, with
    {0}, {1}, {2} for its operands, {place} for the address of its memory reference, {immediate}, and
    {rest} for how many bytes remain. LOAD and STORE move a whole vector; partial_load and partial_store
    the {rest} bytes that are left, fewer than a vector. setup: declarations before the first statement;
    those of scalable vectors define `vl`, the bytes of a vector. compilers: the preprocessor's condition for
    compilers, and their settings, that can take the set, "" for all of its architecture; where it fails,
    kernels compile to nothing and dispatch does not know the set. rolled: what
    stands before a loop over the sources, for the compiler. partial_setup: declarations before the last
    bytes. hidden: where the tables lie whose address gfs_hide() makes new to the compiler at every source,
    in loops unrolled over the sources: it would keep more tables than registers can hold, or load many
    ahead, and move them to and from the stack.
    """

    headers: tuple[str, ...]
    vector: str
    table: str
    expressions: Mapping[Op, str]
    partial_load: str
    partial_store: str
    setup: tuple[str, ...] = ()
    compilers: str = ""
    rolled: str = ""
    partial_setup: tuple[str, ...] = ()
    hidden: frozenset[Space] = frozenset()
