"""Benchmarks of composed primitives and of the stripe store under YCSB: docs/compose/measurements.md."""
