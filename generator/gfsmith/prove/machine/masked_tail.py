"""The last bytes of a shard in a vector, followed by zeros, as a write mask loads them.

Their number may be unknown: byte i of such a run is the byte of the shard, or 0 beyond the end of the shard.
Each such byte is a separate variable, and a map that is linear in the bytes of shards is linear in these.
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
    """Return the same sum over the ends of its shards."""
    return Form(form.constant, {a._replace(kind=a.kind + _SUFFIX): m for a, m in form.atoms.items()})


def whole(runs: Runs, start: Word) -> Runs:
    """Return runs in which the end of a shard that begins at `start` is replaced by the shard itself. Both
    are equal in all bytes of the shard."""
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
