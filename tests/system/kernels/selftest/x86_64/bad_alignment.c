/* bad_alignment.c: a kernel that requires an aligned destination. */
#include "../kernel.h"

void good_dot(PARAMETERS);

KERNEL(bad_wants_alignment) {
  good_dot(len, k, coeffs, src, dst);
  if (len >= 16) {
    __asm__ volatile("movdqa (%0), %%xmm0\n\tmovntdq %%xmm0, (%0)"
                     :
                     : "r"(dst[0])
                     : "xmm0", "memory");
  }
}
