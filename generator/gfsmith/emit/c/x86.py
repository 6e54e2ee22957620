"""Intrinsics of x86 by the bytes of a vector, for routines that are C: algebra.py and checksum.py."""

from __future__ import annotations

PREFIX = {16: "_mm", 32: "_mm256", 64: "_mm512"}
#: Intrinsics that repeat 16 bytes in all groups of a vector.
REPEAT = {16: "", 32: "_mm256_broadcastsi128_si256", 64: "_mm512_broadcast_i32x4"}
#: GCC on Windows aligns vectors on the stack to 16 bytes but uses aligned moves for longer ones.
NARROW = "defined(_WIN32) && !defined(__clang__)"
