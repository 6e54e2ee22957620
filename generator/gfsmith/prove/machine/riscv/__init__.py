"""RISC-V of 64 bits with vectors: registers, decoding, meaning."""
