"""Isomorphisms between fields of 256 elements, as bit matrices."""

from __future__ import annotations

from gfsmith.field.gf256 import DEGREE, ORDER, BitMatrix, Field, FieldError, apply


def isomorphism(source: Field, target: Field) -> BitMatrix:
    """Return the matrix of a ring isomorphism f: GF(2)[a]/p -> GF(2)[a]/q, for source's p and target's q.

    f is linear over GF(2) and f(a) = r, the least root of p in the target, so column i is r^i. The function
    checks that f preserves products on all pairs of powers of a. Both sides are bilinear, so this covers all
    products. Raises FieldError if f does not preserve them.
    """
    root = next(r for r in range(2, ORDER) if _evaluate(target, source.polynomial, r) == 0)
    columns = [target.power(root, i) for i in range(DEGREE)]
    matrix = tuple(sum((column >> k & 1) << i for i, column in enumerate(columns)) for k in range(DEGREE))
    check_isomorphism(source, target, matrix)
    return matrix


def check_isomorphism(source: Field, target: Field, matrix: BitMatrix) -> None:
    """Raise FieldError unless the linear map is a ring isomorphism from source to target."""
    powers = [1 << i for i in range(DEGREE)]
    images = {x: apply(matrix, x) for x in range(ORDER)}
    if images[1] != 1 or any(
        images[source.multiply(x, y)] != target.multiply(images[x], images[y]) for x in powers for y in powers
    ):
        raise FieldError(f"no isomorphism from {source.polynomial:#x} to {target.polynomial:#x}: {matrix}")


def _evaluate(field: Field, polynomial: int, point: int) -> int:
    """Return the value of a polynomial over GF(2) at an element, by Horner's rule."""
    value = 0
    for digit in f"{polynomial:b}":
        value = field.multiply(value, point) ^ int(digit)
    return value


def inverse_matrix(matrix: BitMatrix) -> BitMatrix:
    """Return the inverse of an invertible bit matrix."""
    preimages = {apply(matrix, x): x for x in range(ORDER)}
    columns = [preimages[1 << i] for i in range(DEGREE)]
    return tuple(sum((column >> k & 1) << i for i, column in enumerate(columns)) for k in range(DEGREE))
