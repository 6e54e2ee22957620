"""Measurement, prediction and explanation of kernels, and the decisions of running programs."""
