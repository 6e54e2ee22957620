"""Comparison of the stack pointer and the saved registers at each instruction with the unwind tables."""

from __future__ import annotations

from collections.abc import Mapping

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.abi import Abi
from gfsmith.prove.machine.architecture import Instruction
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.linear import Address, subtract, symbol
from gfsmith.prove.machine.memory import Memory
from gfsmith.prove.machine.stack import callers_slots
from gfsmith.prove.machine.state import State
from gfsmith.prove.machine.x86.encoding import POPS, RETURNS
from gfsmith.prove.machine.x86.unwind import Step, check
from gfsmith.prove.verdict import Refutation


def _saved(state: State, abi: Abi) -> dict[str, int]:
    """Return the stack slot, relative to the entry rsp, of each preserved register that has changed."""
    memory = state.memory
    assert isinstance(memory, Memory)
    slots = {str(c): place for place, c in callers_slots(memory.stack) if isinstance(place, int)}
    found = {}
    for name in abi.preserved:
        entry = symbol(f"entry_{name}")
        if state.gpr[name] != entry and str(entry) in slots:
            found[name] = slots[str(entry)]
    for number in abi.preserved_vectors:
        kept = ((16, domain.variable(domain.ENTRY, number, 0)),)
        if domain.cut(state.vectors[number], 0, 16) != kept and str(kept) in slots:
            found[f"xmm{number}"] = slots[str(kept)]
    return found


def check_unwind(
    image: Image, name: str, abi: Abi, reached: Mapping[int, tuple[Instruction, list[State]]]
) -> None:
    """Check that the unwind tables of the file describe every reached instruction.

    Raises Refutation for a wrong description, Unsupported for an unsupported kind of table.
    """
    if image.format == "raw":
        return  # plain bytes come without tables
    places = sorted(reached)
    leaving = set()
    for ip in reversed(places):
        if reached[ip][0].raw.code not in POPS | RETURNS:
            break
        leaving.add(ip)
    steps = []
    for ip in places:
        for state in reached[ip][1]:
            depth = subtract(symbol(Address("stack")), state.word("rsp"))
            assert isinstance(depth, int)
            saved = _saved(state, abi)
            steps.append(Step(ip - image.functions[name].address, depth, saved, ip in leaving))
    wrong = check(image, name, steps)
    if wrong and wrong[0].startswith("unsupported"):
        raise Unsupported(wrong[0])
    if wrong:
        raise Refutation(f"unwind information: {wrong[0]}")
