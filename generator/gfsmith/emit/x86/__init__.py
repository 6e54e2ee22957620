"""x86-64: Program -> instructions -> bytes -> a GNU-as source file."""
