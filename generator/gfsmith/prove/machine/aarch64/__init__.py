"""AArch64 with Advanced SIMD, decoded with capstone."""
