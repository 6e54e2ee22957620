"""The number of elements and the policies of the vector instructions (Vector Extension 1.0, 3.4, 3.5 and 6).

Elements have 8 bits, and a group is one register; other types have no semantics. So VLMAX is the number of
bytes of a vector.
"""

from __future__ import annotations

from gfsmith.prove.machine.branch import Choice
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.linear import Word, subtract
from gfsmith.prove.machine.operands import general, immediate
from gfsmith.prove.machine.riscv.decode import Decoded
from gfsmith.prove.machine.riscv.registers import VL, VTYPE, ZERO
from gfsmith.prove.machine.riscv.semantics.operands import Semantics, vector_bytes, word, write
from gfsmith.prove.machine.state import State


def _elements(state: State, wanted: Word) -> Word:
    """Return vl for an application vector length.

    Above VLMAX the processor may choose any number from half of the length on, below 2 * VLMAX (6.3): no
    choice is assumed.
    """
    most = vector_bytes(state)
    low, high = state.facts.range(wanted)
    if low < 0:
        raise Unsupported(f"{wanted} elements")
    if high <= most:
        return wanted
    if low >= 2 * most:
        return most
    left = subtract(most, wanted)
    if isinstance(left, int) or low > most:
        raise Unsupported(f"the processor chooses the number of elements, for {wanted} of at most {most}")
    raise Choice(left)


def _set_length(state: State, instr: Decoded) -> None:
    """vsetvli: x0 as the source means VLMAX, and as the source and the target that vl does not change."""
    target, source, kind = instr.operands
    names = general(target), general(source)
    if names == (ZERO, ZERO):
        if not isinstance(state.gpr[VTYPE], int):
            raise Unsupported(f"{instr} where VLMAX may change")
        elements = state.word(VL)
    else:
        elements = vector_bytes(state) if names[1] == ZERO else _elements(state, word(state, source))
    state.gpr[VL] = elements
    state.gpr[VTYPE] = immediate(kind)
    write(state, target, elements)


def _set_known_length(state: State, instr: Decoded) -> None:
    """vsetivli."""
    target, wanted, kind = instr.operands
    state.gpr[VL] = elements = _elements(state, immediate(wanted))
    state.gpr[VTYPE] = immediate(kind)
    write(state, target, elements)


def _read_bytes(state: State, instr: Decoded) -> None:
    """csrrs of vlenb, which sets no bit: the number of bytes of a vector."""
    target, source = instr.operands
    if general(source) != ZERO:
        raise Unsupported(f"{instr} writes vlenb")
    write(state, target, vector_bytes(state))


TABLE: dict[str, Semantics] = {
    "vsetvli r r type": _set_length,
    "vsetivli r # type": _set_known_length,
    "csrrs r vlenb r": _read_bytes,
}
