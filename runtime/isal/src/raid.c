/* raid.c: ISA-L's raid.h, implemented with the functions of gfsmith_raid.h. Plain C handles the
 * cases that those refuse: too many vectors, and a CPU without kernels. */
#include "isa-l/raid.h"

#include <stdatomic.h>
#include <string.h>

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

/* The kernels of calls in cache, by the number of parities and gfs_raid_few; NULL until a call has
 * found them. Unlike gfs_raid_generators for one instruction set, which shortens the calls. */
static _Atomic(gfsmith_kernel *) found[2][GFS_RAID_FEW + 1];

/* Is this a valid number of data shards, and more than one? */
static inline bool at_least_two(unsigned k) { return k - 2 < GFSMITH_RAID_MAX_DATA - 1; }

/* Run the kernel of a call in cache that an earlier call has found, with little other work, which
 * takes as long as the kernel if the vectors are short. The vectors are not compared with NULL: for
 * the plain C above they must not be NULL either. False: nothing is computed. */
static inline bool generated(unsigned k, unsigned m, int len, void **array) {
  gfsmith_kernel *kernel =
      atomic_load_explicit(&found[m - 1][gfs_raid_few(k)], memory_order_relaxed);
  uint64_t all = (uint64_t)(unsigned)len * (k + m); /* a negative length is too large */
  if (kernel == NULL || all - 1 >= GFS_OWN_CACHE_LEAST)
    return false;
  kernel((size_t)len, k, NULL, (const uint8_t *const *)array, (uint8_t *const *)array + k);
  return true;
}

/* Keep the kernel of the short calls like this one if the core has found it. */
static void keep(unsigned k, unsigned m) {
  atomic_store_explicit(&found[m - 1][gfs_raid_few(k)], gfs_raid_met(k, m, 1),
                        memory_order_relaxed);
}

static GFS_NOT_INLINED int generate_xor(int vects, int len, void **array) {
  if (vects < 3)
    return FAIL;
  unsigned k = (unsigned)vects - 1;
  if (gfsmith_xor_gen(k, bytes(len), (uint8_t *const *)array) != GFSMITH_OK)
    return xor_gen_base(vects, len, array);
  keep(k, 1);
  return 0;
}

int xor_gen(int vects, int len, void **array) {
  if (at_least_two((unsigned)vects - 1) && generated((unsigned)vects - 1, 1, len, array))
    return 0;
  return generate_xor(vects, len, array);
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
  keep(k, 2);
  return 0;
}

int pq_gen(int vects, int len, void **array) {
  if (at_least_two((unsigned)vects - 2) && generated((unsigned)vects - 2, 2, len, array))
    return 0;
  return generate_pq(vects, len, array);
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
