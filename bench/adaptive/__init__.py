"""Measurement of adaptive prefetching on the memory of this machine: docs/memory.md."""
