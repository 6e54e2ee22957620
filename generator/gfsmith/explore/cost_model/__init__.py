"""The predicted cost of a kernel, without running it."""
