"""The last bytes of a shard in a vector, followed by zeros, as a write mask loads them.

How many there are need not be known: byte i of such a run is that of the shard if the shard has it, else
0. That is a variable of its own, and a map that is linear in the bytes of shards is linear in these.
"""

from __future__ import annotations

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Atom, Form, Piece, Runs
from gfsmith.prove.machine.linear import Word, subtract

_SUFFIX = " to its end"


def variable(kind: str, shard: Word, start: Word) -> Form:
    return domain.variable(kind + _SUFFIX, shard, start)


def is_end(atom: Atom) -> bool:
    return atom.kind.endswith(_SUFFIX)


def ended(form: Form) -> Form:
    """The same sum over the ends of its shards."""
    return Form(form.constant, {a._replace(kind=a.kind + _SUFFIX): m for a, m in form.atoms.items()})


def whole(runs: Runs, start: Word) -> Runs:
    """Runs in which the end of a shard, where it begins at `start`, is taken for the shard itself: equal in
    all bytes that the shard has."""
    return tuple((length, _whole(piece, start)) for length, piece in runs)


def _whole(piece: Piece, start: Word) -> Piece:
    if not isinstance(piece, Form):
        return piece
    atoms: dict[Atom, int] = {}
    for atom, matrix in piece.atoms.items():
        if is_end(atom) and subtract(atom.start, start) == 0:
            atom = atom._replace(kind=atom.kind.removesuffix(_SUFFIX))
        atoms[atom] = atoms.get(atom, 0) ^ matrix
    return Form(piece.constant, {atom: matrix for atom, matrix in atoms.items() if matrix})
