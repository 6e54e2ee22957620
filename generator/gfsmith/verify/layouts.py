"""Operations, and layouts of coefficient tables, by their names on the command line."""

from __future__ import annotations

from gfsmith.kernel.operation import BUTTERFLIES, Operation

#: No layout is that of a butterfly, whose table has entries for half of the sources.
OPERATIONS = [operation.value for operation in Operation if operation not in BUTTERFLIES]

#: Name -> format, bytes of an entry, output-major, period, part (contract.Layout).
LAYOUTS = {
    "nibble": ("nibble", 32, False, 0, 0),
    "affine": ("affine", 8, False, 0, 0),
    "mulb": ("mulb", 8, False, 8, 0),
    "klauspost-nibble": ("nibble", 64, False, 16, 32),
    "permxor": ("permxor", 32, False, 0, 0),
    "ones": ("ones", 0, False, 0, 0),
    "none": ("none", 0, False, 0, 0),
    "isal-nibble": ("nibble", 32, True, 0, 0),
    "isal-affine": ("affine", 32, True, 8, 0),
}
