"""Machine-code proof: x86-64 bytes are decoded and executed over GF(2), for all data and all lengths."""
