"""Object files, libraries and generated listings -> Image."""
