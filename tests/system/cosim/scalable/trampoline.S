/* The trampoline of scalar64 with this folder's vectors.S. */
#include "../scalar64/trampoline.S"
