"""Simulator of memory that we could not measure: address streams, prefetchers, a device. docs/memory.md."""
