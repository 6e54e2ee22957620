"""`gfsmith adapt`: the decisions of the runtime's coordinator and their reasons (docs/adaptive.md)."""
