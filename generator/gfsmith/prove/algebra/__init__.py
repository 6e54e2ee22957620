"""The proof of a Routine of gfsmith_algebra.h."""
