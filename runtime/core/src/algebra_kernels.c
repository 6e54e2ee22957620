/* The generated routines of gfsmith_algebra.h, and their assignment to instruction sets. */
#include <string.h>

#include "algebra.h"

#if (defined(__x86_64__) || defined(_M_X64)) && defined(__GNUC__)
#include <immintrin.h>
#endif

#define GFS_ONES UINT64_C(0x0101010101010101)

/* Load eight bytes as a little-endian number on every machine. */
static inline uint64_t gfs_load_word(const uint8_t *from) {
  uint64_t word = 0;
  for (unsigned n = 0; n < sizeof word; n++)
    word |= (uint64_t)from[n] << 8 * n;
  return word;
}

static inline void gfs_store_word(uint8_t *to, uint64_t word) {
  for (unsigned n = 0; n < sizeof word; n++)
    to[n] = (uint8_t)(word >> 8 * n);
}

/* Load a row of a 64 x 64 matrix: a number in the machine's byte order. */
static inline uint64_t gfs_load_row(const uint8_t *from) {
  uint64_t row;
  memcpy(&row, from, sizeof row);
  return row;
}

static inline void gfs_store_row(uint8_t *to, uint64_t row) { memcpy(to, &row, sizeof row); }

#include "algebra_kernels.inc"

typedef struct set_row {
  int isa; /* a gfs_isa_id; -1: every other */
  const gfs_algebra *routines;
} set_row;

static const set_row sets[] = {
#define GFSMITH_ALGEBRA(isa, set) {GFS_ISA_##isa, &gfs_algebra_##set},
#include "algebra.inc"
#undef GFSMITH_ALGEBRA
    {-1, &gfs_algebra_words},
};

const gfs_algebra *gfs_algebra_of(const gfs_isa *isa) {
  const set_row *row = sets;
  while (row->isa >= 0 && (isa == NULL || row->isa != (int)isa->id))
    row++;
  return row->routines;
}
