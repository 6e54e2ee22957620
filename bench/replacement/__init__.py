"""The Go module that replaces klauspost/reedsolomon, measured next to the original."""
