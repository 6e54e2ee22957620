"""Places of a Program, and input bytes for which the Program is wrong, in words."""

from __future__ import annotations

from gfsmith.ir import Ref, Space, source_name
from gfsmith.prove.polynomial import Polynomial
from gfsmith.prove.program.model import Coefficient, Data

_SPACES = {
    Space.SOURCE: "src",
    Space.DESTINATION: "dst",
    Space.COEFFICIENT: "table",
    Space.CONSTANT: "constant",
    Space.SCRATCH: "slot",
    Space.AHEAD: "ahead",
}


def name(ref: Ref) -> str:
    space = _SPACES[ref.space]
    return f"{space}[{source_name(ref.index)}] + {ref.offset}"


def counterexample(difference: Polynomial) -> str:
    """Return the bytes and coefficients to choose, all others 0, so that the output bit is wrong.

    A coefficient is an element, or a bit matrix with row r in bits 8 r to 8 r + 7."""
    chosen: dict[str, int] = {}
    for variable in difference.witness():
        assert isinstance(variable, tuple)
        name, bit = variable
        match name:
            case Coefficient(source, output, row):
                key = f"c[{output}][{source_name(source)}]"
                bit += 8 * (row or 0)
            case Data(space, index, offset):
                key = f"{space}[{source_name(index)}][{offset}]"
            case _:
                key = str(name)
        chosen[key] = chosen.get(key, 0) | 1 << bit
    if not chosen:
        return "all bytes 0"
    return ", ".join(f"{key} = {value:#04x}" for key, value in sorted(chosen.items()))
