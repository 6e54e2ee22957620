"""The build: from a configuration to kernels, proofs and files."""
