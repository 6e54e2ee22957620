"""The proof of a Program against its KernelSpec."""
