/* crc.h: the routines and tables of gfsmith_checksum.h, generated from the polynomials. */
#ifndef GFS_CRC_H
#define GFS_CRC_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"
#include "gfsmith_checksum.h"

/* The order of the bits of a byte in the message, and of a register's coefficients. Registers have
 * 64 bits. */
typedef enum gfs_crc_order {
  GFS_CRC_NORMAL, /* the highest bit first; coefficients of short registers in the highest bits */
  GFS_CRC_REFLECTED, /* the lowest bit first; coefficients of short registers in the lowest bits */
  GFS_CRC_ORDERS
} gfs_crc_order;

enum { GFS_CRC_KINDS = GFSMITH_CRC16_T10 + 1 }; /* numbers of gfsmith_checksum */

enum { GFS_CRC_GROUP = 16, GFS_CRC_LINE = 64, GFS_CRC_LENGTH_BITS = 64 };

/* The check that a crc32 instruction of some CPU computes. */
typedef enum gfs_crc_instruction {
  GFS_CRC_NONE,
  GFS_CRC_CRC32C,
  GFS_CRC_CRC32,
  GFS_CRC_INSTRUCTIONS
} gfs_crc_instruction;

/* A check: its first register and final XOR (`ones`), and its polynomial. ir/folding.py describes
 * the tables. */
typedef struct gfs_crc {
  uint64_t ones;
  uint64_t modulus; /* the polynomial without its highest term, as a register */
  unsigned bits;
  gfs_crc_order order;
  gfs_crc_instruction instruction;
  uint64_t reduction[2];
  uint64_t folds[6][2];
  alignas(64) uint64_t lanes[4][2];
  uint64_t slices[16][16];
  uint64_t powers[GFS_CRC_LENGTH_BITS]; /* x^(8 2^i) mod P, bit j the coefficient of x^j */
} gfs_crc;

/* The register after a block of data and `blocks` more. */
typedef uint64_t gfs_crc_reduce(const gfs_crc *crc, uint64_t state, size_t blocks,
                                const uint8_t *data);

/* The register after the group of two words, in the order of carry-less multiplications, and the
 * data behind it: groups and `lines` lines. The register `state` is added to the first data. */
typedef uint64_t gfs_crc_reduce_line(const gfs_crc *crc, uint64_t low, uint64_t high,
                                     uint64_t state, size_t lines, const uint8_t *data);

/* The register after the group of two words. */
typedef uint64_t gfs_crc_group(const gfs_crc *crc, uint64_t low, uint64_t high);

/* Replace a message of GFS_CRC_LINE bytes, then as many lines of data, by such a message with the
 * same remainder, for each of `shards` consecutive messages. The lines at from[n] + ahead, as many,
 * are prefetched into the second-level cache. */
typedef void gfs_crc_fold_line(const gfs_crc *crc, uint8_t *messages, unsigned shards, size_t lines,
                               const uint8_t *const *from, size_t ahead);

/* The same without prefetching. The lines are also copied by stores around the cache
 * (gfs_stream_fence), to multiples of GFS_CRC_LINE. */
typedef void gfs_crc_fold_copy(const gfs_crc *crc, uint8_t *messages, unsigned shards, size_t lines,
                               const uint8_t *const *from, uint8_t *const *to);

/* Encode, and replace the message of each shard by one with the same remainder as that message,
 * then the shard. len: bytes of a shard, a multiple of GFS_CRC_STEP. coeffs: as for a kernel, of
 * the format affine. shards: k that are read, then those that are written. messages: as many. The
 * lines at shards[n] + ahead of those that are read, as many, are prefetched into the second-level
 * cache. streamed: 1 if the others, which are multiples of GFS_CRC_LINE then, are written by stores
 * around the cache (gfs_stream_fence), else 0. */
typedef void gfs_crc_encode(size_t len, size_t k, const uint8_t *coeffs, uint8_t *const *shards,
                            const gfs_crc *crc, uint8_t *messages, size_t ahead, size_t streamed);

enum { GFS_CRC_STEP = 2 * GFS_CRC_LINE, GFS_CRC_ENCODED_MAX = 4, GFS_CRC_ENCODED_GROUP = 8 };

/* Does a function of encode_words advance this shard of a whole GFS_CRC_ENCODED_GROUP, of those
 * that are read, by words? Then the first word of its message is a register instead. */
static inline bool gfs_crc_encode_steps(unsigned shard) { return shard % 4 == 1; }

/* The register after len bytes, by the crc32 instruction for a check. */
typedef uint64_t gfs_crc_steps(uint64_t state, size_t len, const uint8_t *data);

/* The register after len bytes. Their number modulo a line must be 0, or such that the register
 * fits into them. */
typedef uint64_t gfs_crc_bytes(const gfs_crc *crc, uint64_t state, size_t len, const uint8_t *data);

/* Change a checksum that is valid to that after len bytes more. */
typedef gfsmith_status gfs_crc_update(const gfs_crc *crc, uint64_t *checksum, size_t len,
                                      const uint8_t *data);

/* The functions of a check for short updates, without a search for the way of each. */
typedef struct gfs_crc_updates {
  alignas(GFS_CRC_LINE) const gfs_crc *crc;
  uint64_t beyond;        /* the bits that no checksum has */
  gfs_crc_update *group;  /* 8 to 16 bytes */
  gfs_crc_update *half;   /* 8 to 32 */
  gfs_crc_update *bytes;  /* as gfs_crc_bytes */
  gfs_crc_update *few;    /* a line at least, and 1 to 7 bytes before whole lines */
  gfs_crc_update *wide;   /* more than three lines */
  gfs_crc_update *lines;  /* whole lines, one at least */
  gfs_crc_update *blocks; /* whole GFS_CRC_UPDATED_BLOCK, one at least */
} gfs_crc_updates;

enum { GFS_CRC_UPDATED_BLOCK = 256 };

/* Routines with one kind of carry-less multiplication, and one kind of crc32 instructions. block:
 * bytes of a block; 0: there is no carry-less multiplication. */
typedef struct gfs_crc_set {
  uint32_t features;  /* of the instruction set, GFSMITH_CPU_* */
  uint32_t carryless; /* of the CPU, GFS_CARRYLESS_* */
  size_t block;       /* a power of two */
  gfs_crc_reduce *reduce[GFS_CRC_ORDERS];
  gfs_crc_reduce *reduce_lines[GFS_CRC_ORDERS]; /* with blocks of GFS_CRC_LINE bytes */
  /* By the number of groups before whole lines; none: there is a line before `lines`. */
  gfs_crc_reduce_line *reduce_line[GFS_CRC_LINE / GFS_CRC_GROUP][GFS_CRC_ORDERS];
  gfs_crc_bytes *bytes[GFS_CRC_ORDERS]; /* NULL: the set has no loads of any number of bytes */
  gfs_crc_fold_line *fold_line[GFS_CRC_ORDERS];
  gfs_crc_fold_copy *fold_copy[GFS_CRC_ORDERS]; /* NULL: the set has no stores around the cache */
  /* By the number of shards that are written, less 1; for reflected checks. NULL: there is none. */
  gfs_crc_encode *encode[GFS_CRC_ENCODED_MAX];
  gfs_crc_encode *encode_words[GFS_CRC_ENCODED_MAX]; /* for checks with a crc32 instruction */
  gfs_crc_group *group[GFS_CRC_ORDERS];
  gfs_crc_steps *steps[GFS_CRC_INSTRUCTIONS]; /* NULL: there is no such instruction */
  const gfs_crc_updates *updates;             /* by check; NULL: the set has none */
} gfs_crc_set;

/* The best routines for an instruction set on this CPU, found at the first use; NULL: no
 * instruction set. */
extern _Atomic(const gfs_crc_set *) gfs_crc_chosen[GFS_ISAS];
const gfs_crc_set *gfs_crc_choose(const gfs_isa *isa);
static inline const gfs_crc_set *gfs_crc_set_of(const gfs_isa *isa) {
  const gfs_crc_set *set =
      isa != NULL ? atomic_load_explicit(&gfs_crc_chosen[isa->id], memory_order_relaxed) : NULL;
  return set != NULL ? set : gfs_crc_choose(isa);
}

/* Those of the current instruction set; NULL: they are not found yet. */
static inline const gfs_crc_set *gfs_crc_known_set(void) {
  const gfs_isa *isa = gfs_dispatch_known_isa();
  return isa != NULL ? atomic_load_explicit(&gfs_crc_chosen[isa->id], memory_order_relaxed) : NULL;
}

/* The same, found now. */
static inline const gfs_crc_set *gfs_crc_set_now(void) {
  const gfs_isa *isa = gfs_dispatch_known_isa();
  return gfs_crc_set_of(isa != NULL ? isa : gfs_dispatch_isa());
}

/* The tables of a check, by the number of gfsmith_checksum; NULL: unknown. */
extern const gfs_crc gfs_crcs[GFS_CRC_KINDS];
static inline const gfs_crc *gfs_crc_of(unsigned kind) {
  return kind < GFS_CRC_KINDS ? &gfs_crcs[kind] : NULL;
}

/* The register after bytes, by tables. */
uint64_t gfs_crc_words(const gfs_crc *crc, uint64_t state, size_t len, const uint8_t *data);

/* Write the sum of a register and the first bytes of data as the first bytes of a message. Data may
 * be the message; if they are not, no load waits for stores to it. */
void gfs_crc_start(const gfs_crc *crc, uint64_t state, const uint8_t *data, uint8_t *message);

/* Eight bytes as a number. Compilers make one load of each of these, but not of loops. */
static inline uint64_t gfs_crc_word_reflected(const uint8_t *from) {
  return (uint64_t)from[0] | (uint64_t)from[1] << 8 | (uint64_t)from[2] << 16 |
         (uint64_t)from[3] << 24 | (uint64_t)from[4] << 32 | (uint64_t)from[5] << 40 |
         (uint64_t)from[6] << 48 | (uint64_t)from[7] << 56;
}

static inline uint64_t gfs_crc_word_normal(const uint8_t *from) {
  return (uint64_t)from[0] << 56 | (uint64_t)from[1] << 48 | (uint64_t)from[2] << 40 |
         (uint64_t)from[3] << 32 | (uint64_t)from[4] << 24 | (uint64_t)from[5] << 16 |
         (uint64_t)from[6] << 8 | (uint64_t)from[7];
}

/* The fewest bytes of a shard whose lines are folded piece by piece. */
#define GFS_CRC_FOLDED_MIN 64u

/* T10's protection information is defined for sectors of these lengths (SBC-3, 4.22); the longer is
 * a multiple of the shorter. */
#define GFS_T10_SECTOR 512u
#define GFS_T10_LONG_SECTOR 4096u

/* Is a number a possible checksum? */
static inline bool gfs_crc_is_checksum(const gfs_crc *crc, uint64_t number) {
  return number >> (crc->bits - 1) <= 1;
}

static inline uint64_t gfs_crc_to_register(const gfs_crc *crc, uint64_t checksum) {
  return (checksum ^ crc->ones) << (crc->order == GFS_CRC_NORMAL ? 64 - crc->bits : 0);
}

static inline uint64_t gfs_crc_from_register(const gfs_crc *crc, uint64_t state) {
  return state >> (crc->order == GFS_CRC_NORMAL ? 64 - crc->bits : 0) ^ crc->ones;
}

/* The checksum after len bytes more. */
uint64_t gfs_crc_updated(const gfs_crc *crc, const gfs_crc_set *set, uint64_t checksum, size_t len,
                         const uint8_t *data);

#endif
