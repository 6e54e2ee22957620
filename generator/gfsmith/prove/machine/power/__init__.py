"""POWER, little endian: registers, decoding, meaning."""
