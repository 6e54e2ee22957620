"""Research outside of the product: a simulator of memory, and the claims of papers reproduced with it."""
