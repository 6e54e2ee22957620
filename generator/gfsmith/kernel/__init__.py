"""Specification of kernels: instruction sets, operations, techniques, tuning parameters, KernelSpec."""
