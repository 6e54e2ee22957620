"""s390x: registers, decoding, meaning."""
