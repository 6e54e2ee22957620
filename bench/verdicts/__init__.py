"""Verdicts of the prover on the GF(2^8) kernels of other libraries: make verdicts."""
