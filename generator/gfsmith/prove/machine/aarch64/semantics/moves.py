"""Bytes that change their place in vectors and between register files, after the Arm ARM, C7.2."""

from __future__ import annotations

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.aarch64.decode import Decoded, General
from gfsmith.prove.machine.aarch64.semantics.operands import (
    Semantics,
    as_bytes,
    general,
    immediate,
    read,
    read_vector,
    vector,
    write,
    write_vector,
)
from gfsmith.prove.machine.domain import Run, Runs
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.state import State

_ARRANGEMENTS = {"16b": "b", "8h": "h", "4s": "s", "2d": "d"}


def _source(state: State, instr: Decoded, size: int) -> Runs:
    """Operand 1, a general register or (part of) a vector, as bytes."""
    operand = instr.operands[1]
    if isinstance(operand, General):
        return as_bytes(read(state, operand), size)
    return domain.cut(read_vector(state, operand), 0, size)


def _to_vector(state: State, instr: Decoded) -> None:
    """mov, fmov, ins to a vector or one of its elements."""
    target = vector(instr.operands[0])
    size = target.size if target.lane is None else target.element
    write_vector(state, target, _source(state, instr, size))


def _to_general(state: State, instr: Decoded) -> None:
    """fmov, umov and mov to a general register."""
    write(state, general(instr.operands[0]), read_vector(state, instr.operands[1]))


def _all_over(state: State, instr: Decoded) -> None:
    """dup: one element, everywhere."""
    target = vector(instr.operands[0])
    one = _source(state, instr, target.element)
    write_vector(state, target, domain.merge([*one] * (target.size // target.element)))


def _immediate(state: State, instr: Decoded) -> None:
    """movi: the same element everywhere."""
    target = vector(instr.operands[0])
    value = immediate(instr.operands[1]) % (1 << 8 * target.element)
    element = value.to_bytes(target.element, "little")
    write_vector(state, target, domain.constant_runs(element * (target.size // target.element)))


def _extract(state: State, instr: Decoded) -> None:
    """ext: 16 bytes out of two vectors."""
    target, first, second, at = instr.operands
    size, low = vector(target).size, immediate(at)
    both = domain.merge([*read_vector(state, first), *read_vector(state, second)])
    write_vector(state, target, domain.cut(both, low, low + size))


def _interleave(odd: int, step: int) -> Semantics:
    """zip1, zip2 (step 1: the lower or upper half of both) and uzp, trn of two elements."""

    def run(state: State, instr: Decoded) -> None:
        target, *sources = instr.operands
        element = vector(target).element
        elements = [list(domain.split(read_vector(state, source), element)) for source in sources]
        half = len(elements[0]) // 2
        out: list[Run] = []
        for number in range(half):
            at = odd * half + number if step == 1 else 2 * number + odd
            out += [*elements[0][at], *elements[1][at]]
        write_vector(state, target, domain.merge(out))

    return run


def _by_shape(name: str, meaning: Semantics) -> dict[str, Semantics]:
    return forms(meaning, *(f"{name} {shape} {shape} {shape}" for shape in _ARRANGEMENTS))


TABLE: dict[str, Semantics] = {
    **forms(_to_vector, "mov 16b 16b", "mov 8b 8b", "fmov d d", "fmov d x", "fmov s w", "fmov s s"),
    **forms(_to_vector, *(f"mov {e}[] {e}[]" for e in "bhsd"), *(f"mov {e}[] w" for e in "bhs")),
    **forms(_to_vector, "mov d[] x", *(f"mov {e} {e}[]" for e in "bhsd")),
    **forms(
        _to_general,
        "fmov x d",
        "fmov w s",
        "fmov x d[]",
        "mov x d[]",
        "mov w s[]",
        "umov w b[]",
        "umov w h[]",
    ),
    **forms(_all_over, *(f"dup {shape} {'x' if shape == '2d' else 'w'}" for shape in _ARRANGEMENTS)),
    **forms(_all_over, *(f"dup {shape} {element}[]" for shape, element in _ARRANGEMENTS.items())),
    **forms(_immediate, "movi 16b #", "movi 8b #", "movi 8h #", "movi 4s #", "movi 2d #", "movi d #"),
    **forms(_extract, "ext 16b 16b 16b #", "ext 8b 8b 8b #"),
    **_by_shape("zip1", _interleave(0, 1)),
    **_by_shape("zip2", _interleave(1, 1)),
    **_by_shape("trn1", _interleave(0, 2)),
    **_by_shape("trn2", _interleave(1, 2)),
}
