"""Leopard codes of gfsmith_wide.h next to klauspost/reedsolomon and reed-solomon-simd."""
