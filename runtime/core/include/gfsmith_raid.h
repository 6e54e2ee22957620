/** @file
 * RAID parities P, Q and R, without a codec; docs/raid.md shows their use.
 *
 * k data shards d[0] .. d[k-1] and up to three parities of the same length, over GF(2^8) modulo
 * GFSMITH_POLYNOMIAL (0x11d), for every byte:
 *
 *     P = sum of d[j],    Q = sum of 2^j * d[j],    R = sum of 4^j * d[j]       for j = 0 .. k-1.
 *
 * Linux md, ISA-L and SnapRAID have the same P and Q. OpenZFS' RAID-Z, whose third parity is this
 * R, has the powers in the opposite order, 2^(k-1-j) and 4^(k-1-j): pass its columns in reverse
 * order. Any m of the k + m shards can be lost and recovered, for every k up to 255: the powers of
 * 2, and those of 4, are different for j < 255.
 *
 * In all calls `shards` holds k data shards, then P, then Q, then R, as far as the call has them. k
 * is 1 to GFSMITH_RAID_MAX_DATA; any len, any alignment. The calls read exactly len bytes of each
 * shard that is input and write exactly len bytes of each that is output; outputs must not overlap
 * other shards. They keep no state between calls, may be used from any thread, and allocate
 * nothing; they take up to 32 KiB of stack. They use the instruction set that gfsmith_isa() names.
 * On x86-64, those that generate parities read the time stamp counter if all shards together have
 * more than 512 KiB, as calls of a codec without a hint (gfsmith_hint).
 * With len = 0 they read no array of shards and succeed for every valid k (and m), except
 * gfsmith_raid_recover, which fails for the same losses as with any other length.
 *
 * Errors, found before anything is written: GFSMITH_EINVAL (k out of range; with len > 0, shards or
 * a pointer that the call needs NULL), GFSMITH_EUNSUPPORTED (the build lacks the kernels; not so
 * with the default set). */
#ifndef GFSMITH_RAID_H
#define GFSMITH_RAID_H

#include "gfsmith.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The most data shards: there are 255 different powers of 2. */
#define GFSMITH_RAID_MAX_DATA 255

/** Compute P. Its time depends on k and len only.
 *
 * @param k data shards
 * @param len bytes of every shard
 * @param shards k data shards, read, and P, written
 * @return GFSMITH_OK or an error as above */
GFSMITH_API gfsmith_status gfsmith_xor_gen(unsigned k, size_t len, uint8_t *const *shards);

/** Compute P and Q. Its time depends on k and len only.
 *
 * @param k data shards
 * @param len bytes of every shard
 * @param shards k data shards, read, and P and Q, written
 * @return GFSMITH_OK or an error as above */
GFSMITH_API gfsmith_status gfsmith_pq_gen(unsigned k, size_t len, uint8_t *const *shards);

/** Compute P, Q and R. Its time depends on k and len only.
 *
 * @param k data shards
 * @param len bytes of every shard
 * @param shards k data shards, read, and P, Q and R, written
 * @return GFSMITH_OK or an error as above */
GFSMITH_API gfsmith_status gfsmith_pqr_gen(unsigned k, size_t len, uint8_t *const *shards);

/** Does P match the data? It stops at the first part that differs: its time depends on the position
 * of that part.
 *
 * @param k data shards
 * @param len bytes of every shard
 * @param shards k data shards and P, read
 * @param ok *ok = whether P matches; with len = 0 it is true, or not written if NULL
 * @return GFSMITH_OK or an error as above, and GFSMITH_EINVAL for a NULL ok if len > 0 */
GFSMITH_API gfsmith_status gfsmith_xor_check(unsigned k, size_t len, const uint8_t *const *shards,
                                             bool *ok);

/** Do P and Q match the data? It stops at the first part that differs.
 *
 * @param k data shards
 * @param len bytes of every shard
 * @param shards k data shards, P and Q, read
 * @param ok as gfsmith_xor_check
 * @return as gfsmith_xor_check */
GFSMITH_API gfsmith_status gfsmith_pq_check(unsigned k, size_t len, const uint8_t *const *shards,
                                            bool *ok);

/** Do P, Q and R match the data? It stops at the first part that differs.
 *
 * @param k data shards
 * @param len bytes of every shard
 * @param shards k data shards, P, Q and R, read
 * @param ok as gfsmith_xor_check
 * @return as gfsmith_xor_check */
GFSMITH_API gfsmith_status gfsmith_pqr_check(unsigned k, size_t len, const uint8_t *const *shards,
                                             bool *ok);

/** Recover every shard that is missing, data and parities alike.
 *
 * The call reads as many parities as data shards are missing, the first ones that are present; a
 * present parity that is not read may be NULL. A single missing data shard is the sum of the others
 * and P, if P is present.
 *
 * @param k data shards
 * @param m number of parities, 1 (P), 2 (P, Q) or 3 (P, Q, R)
 * @param len bytes of every shard
 * @param shards k + m shards: missing ones are written, those needed for the recovery are read
 * @param present k + m flags, whether shard i is intact
 * @return GFSMITH_OK or an error as above, and GFSMITH_EINVAL (m out of range, present NULL),
 *     GFSMITH_ETOOMANY (more than m shards are missing) */
GFSMITH_API gfsmith_status gfsmith_raid_recover(unsigned k, unsigned m, size_t len,
                                                uint8_t *const *shards, const bool *present);

#ifdef __cplusplus
}
#endif

#endif /* GFSMITH_RAID_H */
