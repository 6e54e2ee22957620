"""A rewrite of the sections of all loops of a Program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gfsmith.ir import Instr, Loop, Program

Section = tuple[Instr, ...]


def map_sections(program: Program, rewrite: Callable[[Section, Loop], Section]) -> Program:
    """Return the Program with each section replaced by `rewrite(section, loop)`."""
    loops = tuple(
        replace(
            loop,
            head=rewrite(loop.head, loop),
            body=rewrite(loop.body, loop),
            rest=rewrite(loop.rest, loop),
            close=rewrite(loop.close, loop),
        )
        for loop in program.loops
    )
    return replace(program, loops=loops)
