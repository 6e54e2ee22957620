"""x86-64, decoded with iced-x86."""
