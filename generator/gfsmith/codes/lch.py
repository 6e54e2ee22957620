"""The code of Lin, Chung and Han's additive Fourier transform."""

from __future__ import annotations

from gfsmith.codes import names
from gfsmith.codes.family import Family
from gfsmith.field import Field
from gfsmith.field.matrix import Matrix


def _lch(field: Field, k: int, m: int) -> Matrix:
    """Return the m x k parity matrix of the transform: a Cauchy matrix with columns scaled such that it
    factors into butterflies without further constants."""
    size = 1 << (m - 1).bit_length()
    constant = 1
    for v in range(1, size):
        constant = field.multiply(constant, v)

    def scale(x: int) -> int:
        value = field.inverse(constant)
        for v in range(size):
            value = field.multiply(value, x ^ v)
        return value if x >= size else 1

    points = [*range(size, 256), *range(m, size)][:k]
    scales = [scale(x) for x in points]
    return tuple(
        tuple(field.multiply(s, field.inverse(x ^ i)) for x, s in zip(points, scales, strict=True))
        for i in range(m)
    )


FAMILIES = (Family(names.LCH, _lch),)
