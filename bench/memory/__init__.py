"""A model of memory that is not here: streams of addresses, prefetchers, a device. docs/memory.md."""
