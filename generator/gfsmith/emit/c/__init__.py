"""Program -> C11: portable words, or the intrinsics of an instruction set."""
