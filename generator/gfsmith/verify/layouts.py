"""Layouts of coefficient tables by their names on the command line."""

from __future__ import annotations

#: Name -> format, bytes of an entry, output-major, period.
LAYOUTS = {
    "nibble": ("nibble", 32, False, 0),
    "affine": ("affine", 8, False, 0),
    "mulb": ("mulb", 8, False, 8),
    "none": ("none", 0, False, 0),
    "isal-nibble": ("nibble", 32, True, 0),
    "isal-affine": ("affine", 32, True, 8),
}
