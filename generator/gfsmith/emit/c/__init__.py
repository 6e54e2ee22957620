"""Emission of C11 from a Program: portable words, or the intrinsics of an instruction set."""
