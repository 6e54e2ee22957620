/* raid.c: ISA-L's raid.h, implemented with the functions of gfsmith_raid.h. Plain C handles the
 * cases that those refuse: too many vectors, and a CPU without kernels. */
#include "isa-l/raid.h"

#include <string.h>

#include "ending.h"
#include "gfsmith_raid.h"
#include "inlining.h"
#include "raid.h"

enum { FAIL = 1 };

static size_t bytes(int len) { return len > 0 ? (size_t)len : 0; }

static unsigned char at(void *const *array, int vector, size_t byte) {
  return ((const unsigned char *)array[vector])[byte];
}

/* The XOR of the first n vectors at one byte. */
static unsigned char sum(void *const *array, int n, size_t byte) {
  unsigned char p = 0;
  for (int j = 0; j < n; j++)
    p ^= at(array, j, byte);
  return p;
}

/* The sum of 2^j times vector j, of the first n, at one byte, by Horner's rule. */
static unsigned char weighted(void *const *array, int n, size_t byte) {
  unsigned q = 0;
  for (int j = n - 1; j >= 0; j--)
    q = (q << 1 ^ (q >> 7) * 0x11d) ^ at(array, j, byte);
  return (unsigned char)q;
}

int xor_gen_base(int vects, int len, void **array) {
  if (vects < 3)
    return FAIL;
  unsigned char *parity = array[vects - 1];
  for (size_t n = 0; n < bytes(len); n++)
    parity[n] = sum(array, vects - 1, n);
  return 0;
}

int xor_check_base(int vects, int len, void **array) {
  if (vects < 2)
    return FAIL;
  for (size_t n = 0; n < bytes(len); n++)
    if (sum(array, vects, n) != 0)
      return FAIL;
  return 0;
}

int pq_gen_base(int vects, int len, void **array) {
  if (vects < 4)
    return FAIL;
  unsigned char *p = array[vects - 2], *q = array[vects - 1];
  for (size_t n = 0; n < bytes(len); n++) {
    unsigned char both[] = {sum(array, vects - 2, n), weighted(array, vects - 2, n)};
    p[n] = both[0];
    q[n] = both[1];
  }
  return 0;
}

/* As ISA-L, return the position of the error: the first byte that differs, with bit 0 set for P and
 * bit 1 for Q. */
int pq_check_base(int vects, int len, void **array) {
  if (vects < 4)
    return FAIL;
  for (size_t n = 0; n < bytes(len); n++) {
    if (at(array, vects - 2, n) != sum(array, vects - 2, n))
      return (int)n | 1;
    if (at(array, vects - 1, n) != weighted(array, vects - 2, n))
      return (int)n | 2;
  }
  return 0;
}

/* Run the kernel of a short call, with at least two data vectors, that an earlier call has found;
 * any other call: `rest`. The vectors are not compared with NULL: for the plain C above they must
 * not be NULL either. */
static GFS_INLINED int generate_short(int vects, unsigned m, int len, void **array,
                                      int (*rest)(int, int, void **)) {
  unsigned k = (unsigned)vects - m, beyond = k - 2;
  if (GFS_UNLIKELY(beyond > GFSMITH_RAID_MAX_DATA - 2))
    return rest(vects, len, array);
  const gfs_short_sums *sums = &gfs_dispatch_sums[m - 1];
  if (GFS_UNLIKELY(!gfs_raid_is_short(sums, k, (unsigned)len))) /* a negative length is too large */
    return rest(vects, len, array);
  return (int)gfs_end_with(gfs_raid_kernel(sums, k), (unsigned)len, k, NULL,
                           (const uint8_t *const *)array, (uint8_t *const *)array + k);
}

static GFS_NOT_INLINED int generate_xor(int vects, int len, void **array) {
  if (vects < 3)
    return FAIL;
  unsigned k = (unsigned)vects - 1;
  if (gfsmith_xor_gen(k, bytes(len), (uint8_t *const *)array) != GFSMITH_OK)
    return xor_gen_base(vects, len, array);
  return 0;
}

int xor_gen(int vects, int len, void **array) {
  return generate_short(vects, 1, len, array, generate_xor);
}

int xor_check(int vects, int len, void **array) {
  if (vects < 2)
    return FAIL;
  bool ok;
  const uint8_t *const *shards = (const uint8_t *const *)array;
  if (gfsmith_xor_check((unsigned)vects - 1, bytes(len), shards, &ok) == GFSMITH_OK)
    return ok ? 0 : FAIL;
  return xor_check_base(vects, len, array);
}

static GFS_NOT_INLINED int generate_pq(int vects, int len, void **array) {
  if (vects < 4)
    return FAIL;
  unsigned k = (unsigned)vects - 2;
  if (gfsmith_pq_gen(k, bytes(len), (uint8_t *const *)array) != GFSMITH_OK)
    return pq_gen_base(vects, len, array);
  return 0;
}

int pq_gen(int vects, int len, void **array) {
  return generate_short(vects, 2, len, array, generate_pq);
}

int pq_check(int vects, int len, void **array) {
  if (vects < 4)
    return FAIL;
  bool ok;
  const uint8_t *const *shards = (const uint8_t *const *)array;
  if (gfsmith_pq_check((unsigned)vects - 2, bytes(len), shards, &ok) == GFSMITH_OK)
    return ok ? 0 : FAIL;
  return pq_check_base(vects, len, array) != 0 ? FAIL : 0;
}
