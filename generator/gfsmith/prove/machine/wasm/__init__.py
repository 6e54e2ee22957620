"""WebAssembly: the architecture of linked modules."""
