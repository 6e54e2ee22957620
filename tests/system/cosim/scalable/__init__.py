"""Co-simulation of SVE with qemu-user at a given length of vectors."""
