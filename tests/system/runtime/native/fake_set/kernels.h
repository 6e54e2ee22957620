/* kernels.h: the declarations of gfsmith_kernels.h in a build with kernels for known matrices. */
#ifndef FAKE_SET_KERNELS_H
#define FAKE_SET_KERNELS_H

#include "gfsmith_kernels.h"

gfsmith_kernel known_short;
gfsmith_kernel known_long;
gfsmith_kernel known_long_nearby;
gfsmith_kernel known_long_distant;
gfsmith_kernel known_wide;
gfsmith_kernel known_elsewhere;

#endif
