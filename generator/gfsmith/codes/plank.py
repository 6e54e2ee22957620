"""The Vandermonde code of J. S. Plank's tutorial, which the GFNI paper calls the common choice."""

from __future__ import annotations

from gfsmith.codes import names
from gfsmith.codes.family import Family
from gfsmith.field import Field
from gfsmith.field.matrix import Matrix


def _vandermonde(field: Field, k: int, m: int) -> Matrix:
    """Return the m x k matrix P[i][j] = (j + 1)^i: rows 1, j, j^2, .. at the field's elements 1 .. k.

    With four rows, rows 0, 1 and 3 at points x, y, z have the determinant (x + y)(x + z)(y + z)(x + y + z),
    which is 0 at 1, 2, 3. So the code is MDS for m <= 3 (a conic) and for k <= 2 only, although both sources
    state it as MDS; the correction of 2005 replaces the matrix.

    Sources: J. S. Plank, "A tutorial on Reed-Solomon coding for fault-tolerance in RAID-like systems",
    Software: Practice and Experience 27 (1997); J. S. Plank, Y. Ding, "Note: Correction to the 1997
    tutorial", 35 (2005); N. Drucker, S. Gueron, V. Krasnov, "The comeback of Reed Solomon codes"."""
    return tuple(tuple(field.power(j + 1, i) for j in range(k)) for i in range(m))


FAMILIES = (Family(names.PLANK_VANDERMONDE, _vandermonde),)
