"""The routines of checksums, made once for all modules of tests that need their list."""

from __future__ import annotations

from gfsmith.lower.checksum import routines

ROUTINES = tuple(routines.routines())
