"""The proof of the routines and tables of gfsmith_checksum.h."""
