"""Exported sources for builds of other projects: a tree, or one source and its header (docs/sources.md)."""
