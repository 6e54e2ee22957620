"""GF(2^8): elements (`gf256`), isomorphisms between its representations (`isomorphism`), linear algebra over
it (`matrix`) and the structure of Cauchy matrices (`cauchy`). `width` adds GF(2^4) and GF(2^16). This package
exports the names of `gf256`."""

from gfsmith.field.gf256 import (
    DEGREE,
    MASK,
    ORDER,
    POLYNOMIAL,
    BitMatrix,
    Field,
    FieldError,
    apply,
    check_polynomial,
    irreducible_polynomials,
)

__all__ = [
    "DEGREE",
    "MASK",
    "ORDER",
    "POLYNOMIAL",
    "BitMatrix",
    "Field",
    "FieldError",
    "apply",
    "check_polynomial",
    "irreducible_polynomials",
]
