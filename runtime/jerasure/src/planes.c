#include "planes.h"

/* The build files have the compiler vectorize these loops, so the numbers of bytes are constants.
 */
static inline void split(const uint8_t *restrict words, unsigned bytes, size_t count,
                         uint8_t *restrict planes, size_t stride) {
  for (unsigned p = 0; p < bytes; p++)
    for (size_t n = 0; n < count; n++)
      planes[p * stride + n] = words[n * bytes + p];
}

void gfs_jerasure_split(const uint8_t *words, unsigned bytes, size_t count, uint8_t *planes,
                        size_t stride) {
  if (bytes == 2)
    split(words, 2, count, planes, stride);
  else
    split(words, 4, count, planes, stride);
}

void gfs_jerasure_join(const uint8_t *restrict planes, size_t stride, unsigned bytes, size_t count,
                       uint8_t *restrict words) {
  const uint8_t *second = planes + stride, *third = second + stride, *fourth = third + stride;
  for (size_t n = 0; bytes == 2 && n < count; n++) {
    words[2 * n] = planes[n];
    words[2 * n + 1] = second[n];
  }
  for (size_t n = 0; bytes == 4 && n < count; n++) {
    words[4 * n] = planes[n];
    words[4 * n + 1] = second[n];
    words[4 * n + 2] = third[n];
    words[4 * n + 3] = fourth[n];
  }
}
