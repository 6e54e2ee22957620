"""Composed primitives measured beside separate ones, and the stripe store under YCSB: docs/compose.md."""
