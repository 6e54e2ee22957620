"""What a kernel should cost, without running it."""
