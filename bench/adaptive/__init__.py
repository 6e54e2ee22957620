"""Adaptive prefetching, measured on the memory that is here: docs/memory.md."""
