"""`gfsmith adapt`: what the runtime's coordinator decides, and why (docs/adaptive.md)."""
