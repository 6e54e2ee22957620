/* gfsmith_raid.h: RAID parities P, Q and R, without a codec. The public interface; docs/raid.md
 * shows its use.
 *
 * k data shards d[0] .. d[k-1] and up to three parities of the same length, over GF(2^8) modulo
 * GFSMITH_POLYNOMIAL (0x11d), for every byte:
 *
 *     P = sum of d[j],    Q = sum of 2^j * d[j],    R = sum of 4^j * d[j]       for j = 0 .. k-1.
 *
 * Linux md, ISA-L and SnapRAID have the same P and Q. In OpenZFS' RAID-Z, whose third parity is
 * this R, the powers run the other way, 2^(k-1-j) and 4^(k-1-j): give its columns in reverse order,
 * which costs nothing. Any m of the k + m shards can be lost and recovered, for every k up to 255:
 * the powers of 2, and those of 4, are different for j < 255.
 *
 * In all calls `shards` is k data shards, then P, then Q, then R, as far as the call has them. Any
 * k from 1 to GFSMITH_RAID_MAX_DATA, any len, any alignment. The calls read exactly len bytes of
 * each shard that is input and write exactly len bytes of each that is output; outputs must not
 * overlap other shards. They keep no state between calls, may be used from any thread, and allocate
 * nothing; they take up to 32 KiB of stack. They use the instruction set that gfsmith_isa() names.
 * With len = 0 they succeed for every valid k (and m) and look at no array.
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

/* The most data shards: there are 255 different powers of 2. */
#define GFSMITH_RAID_MAX_DATA 255

/* Compute P; P and Q; P, Q and R. Their time depends on k and len only. */
GFSMITH_API gfsmith_status gfsmith_xor_gen(unsigned k, size_t len, uint8_t *const *shards);
GFSMITH_API gfsmith_status gfsmith_pq_gen(unsigned k, size_t len, uint8_t *const *shards);
GFSMITH_API gfsmith_status gfsmith_pqr_gen(unsigned k, size_t len, uint8_t *const *shards);

/* Do the parities match the data? *ok says so (ok must not be NULL if len > 0; with len = 0, *ok =
 * true). They stop at the first part that differs: their time tells where that is. */
GFSMITH_API gfsmith_status gfsmith_xor_check(unsigned k, size_t len, const uint8_t *const *shards,
                                             bool *ok);
GFSMITH_API gfsmith_status gfsmith_pq_check(unsigned k, size_t len, const uint8_t *const *shards,
                                            bool *ok);
GFSMITH_API gfsmith_status gfsmith_pqr_check(unsigned k, size_t len, const uint8_t *const *shards,
                                             bool *ok);

/* Recover every shard that is missing, data and parities alike.
 *
 * m: how many parities there are, 1 (P), 2 (P, Q) or 3 (P, Q, R). present: k + m flags, whether
 * shard i is intact. Of the parities only as many are read as data shards are missing, the first
 * ones that are present; a parity that is present and not read may be NULL. A single missing data
 * shard is the sum of the others and P, if P is there.
 * Errors besides those above: GFSMITH_EINVAL (m out of range, present NULL with len > 0),
 * GFSMITH_ETOOMANY (more than m shards are missing). */
GFSMITH_API gfsmith_status gfsmith_raid_recover(unsigned k, unsigned m, size_t len,
                                                uint8_t *const *shards, const bool *present);

#ifdef __cplusplus
}
#endif

#endif /* GFSMITH_RAID_H */
