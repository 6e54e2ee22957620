/** @file
 * Codes with more than 255 shards, by additive fast Fourier transforms (docs/wide.md).
 *
 * A code turns k data shards into m parity shards of the same length; any k of the k + m shards
 * determine all others. Work per byte grows with the logarithm of the number of shards. Parities
 * are byte for byte those of other libraries:
 *
 *     "leopard8"           GF(2^8), klauspost/reedsolomon 1.14, WithLeopardGF(true) with at most
 *                          256 shards
 *     "leopard16"          GF(2^16), klauspost/reedsolomon 1.14, WithLeopardGF16(true)
 *     "reed_solomon_simd"  GF(2^16), the crate reed-solomon-simd 3
 *     "lch16"              GF(2^16), the same code for words one after the other, as in JAM
 *
 * leopard8 and leopard16 exist if the least power of two >= m, plus k, is at most the number of
 * elements of the field; reed_solomon_simd and lch16 if the least power of two >= the smaller one
 * of k and m, plus the larger one, is at most 65,536. k + m is at most GFSMITH_WIDE_MAX_SHARDS.
 * gfsmith_wide_shapes returns these limits as text.
 *
 * The length of a shard is a multiple of gfsmith_wide_granule bytes: GFSMITH_WIDE_GRANULE in
 * leopard8 and leopard16, 2 in the others. The elements of leopard16 and reed_solomon_simd have
 * their low bytes in the first half of each 64 bytes, and of the rest, and their high bytes in the
 * second half. Those of lch16 are little-endian words. Shards need no alignment and no padding,
 * and output shards must not overlap other shards.
 *
 * An object is immutable, so threads may share it. Calls allocate memory for their work, which does
 * not grow with the length of the shards: for up to 8,192 shards less than 10 MiB, for 65,535 less
 * than 32 MiB. A parallel call allocates as much for each worker. Calls take up to 20 KiB of stack.
 * Time and addresses depend on lengths, shapes and losses, never on data. A call that does not
 * return GFSMITH_OK has written to no shard. */
#ifndef GFSMITH_WIDE_H
#define GFSMITH_WIDE_H

#include "gfsmith.h"
#include "gfsmith_parallel.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The most data and parity shards together. */
#define GFSMITH_WIDE_MAX_SHARDS 65535

/** In leopard8 and leopard16 the length of every shard is a multiple of so many bytes. A call may
 * be cut into parts at its multiples in every code. */
#define GFSMITH_WIDE_GRANULE 64

/** A code for a number of data and parity shards, with its tables. */
typedef struct gfsmith_wide gfsmith_wide;

/** The granule of a code.
 *
 * @param code one of the names above
 * @return the length of every shard is a multiple of so many bytes; 0 if the name is NULL or
 *     unknown */
GFSMITH_API size_t gfsmith_wide_granule(const char *code);

/** The shapes of a code, for messages.
 *
 * @param code one of the names above
 * @return the condition for k and m as a static text, "k >= 1, m >= 1, ..."; NULL if the name is
 *     NULL or unknown */
GFSMITH_API const char *gfsmith_wide_shapes(const char *code);

/** Tell whether a code has a shape.
 *
 * @param code one of the names above
 * @param k data shards
 * @param m parity shards
 * @return false if the name is NULL or unknown, too */
GFSMITH_API bool gfsmith_wide_has_shape(const char *code, unsigned k, unsigned m);

/** Make a code, for the current instruction set.
 *
 * @param out the object, written if the status is GFSMITH_OK
 * @param code one of the names above
 * @param k data shards, at least 1
 * @param m parity shards, at least 1
 * @return GFSMITH_EINVAL (a pointer is NULL, an unknown code, a shape that the code does not have),
 *     GFSMITH_ENOMEM, GFSMITH_EUNSUPPORTED (the build lacks the kernels) */
GFSMITH_API gfsmith_status gfsmith_wide_create(gfsmith_wide **out, const char *code, unsigned k,
                                               unsigned m);

/** Free an object.
 *
 * @param wide the object; NULL is allowed */
GFSMITH_API void gfsmith_wide_destroy(gfsmith_wide *wide);

/** Compute the parity shards.
 *
 * @param wide the code
 * @param len bytes of every shard
 * @param data k pointers to len bytes each, read
 * @param parity m pointers to len bytes each, overwritten
 * @return GFSMITH_EINVAL (wide NULL, a length that the code does not have; with len > 0, an
 *     array or one of its pointers NULL), GFSMITH_ENOMEM */
GFSMITH_API gfsmith_status gfsmith_wide_encode(const gfsmith_wide *wide, size_t len,
                                               const uint8_t *const *data, uint8_t *const *parity);

/** Rebuild missing shards, data and parity alike, from those that are present.
 *
 * @param wide the code
 * @param len bytes of every shard
 * @param shards k + m pointers to len bytes each, data first. The pointer of a missing shard that
 *     is not wanted is ignored and may be NULL
 * @param present k + m flags, whether shard i is intact
 * @param wanted k + m flags, whether to rebuild shard i, or NULL for every missing one. Wanting a
 *     shard that is present does nothing
 * @return errors in the order of their detection: GFSMITH_EINVAL (wide or present NULL, a
 *     length that the code does not have; with len > 0, shards NULL), GFSMITH_ETOOMANY (more than m
 *     shards missing, wanted or not), GFSMITH_EINVAL (the pointer of a present or wanted shard is
 *     NULL), GFSMITH_ENOMEM */
GFSMITH_API gfsmith_status gfsmith_wide_reconstruct(const gfsmith_wide *wide, size_t len,
                                                    uint8_t *const *shards, const bool *present,
                                                    const bool *wanted);

/** gfsmith_wide_encode for each of several stripes. Stripes of short shards share the transforms
 * (docs/wide.md).
 *
 * @param wide the code
 * @param len bytes of every shard
 * @param count number of stripes
 * @param data count * k pointers to len bytes each, read: those of stripe s begin at data[s * k]
 * @param parity count * m pointers to len bytes each, overwritten
 * @return GFSMITH_EINVAL (wide NULL, a length that the code does not have; with len > 0 and count >
 *     0, an array or one of its pointers NULL, or len * count > SIZE_MAX), GFSMITH_ENOMEM */
GFSMITH_API gfsmith_status gfsmith_wide_encode_stripes(const gfsmith_wide *wide, size_t len,
                                                       size_t count, const uint8_t *const *data,
                                                       uint8_t *const *parity);

/** gfsmith_wide_reconstruct for each of several stripes, which miss the same shards.
 *
 * @param wide the code
 * @param len bytes of every shard
 * @param count number of stripes
 * @param shards count * (k + m) pointers to len bytes each, of which the same may be NULL as in
 *     gfsmith_wide_reconstruct
 * @param present k + m flags, whether shard i of every stripe is intact
 * @param wanted k + m flags, whether to rebuild shard i, or NULL for every missing one
 * @return as gfsmith_wide_reconstruct, with "len > 0 and count > 0" for "len > 0", and
 *     GFSMITH_EINVAL if len * count > SIZE_MAX and there are shards to rebuild */
GFSMITH_API gfsmith_status gfsmith_wide_reconstruct_stripes(const gfsmith_wide *wide, size_t len,
                                                            size_t count, uint8_t *const *shards,
                                                            const bool *present,
                                                            const bool *wanted);

/** gfsmith_wide_encode, shared by the threads of an executor.
 *
 * @param wide the code
 * @param executor as in gfsmith_encode_parallel. A call has at most one task for each worker, and
 *     memory for each task
 * @param len bytes of every shard
 * @param data k pointers to len bytes each, read
 * @param parity m pointers to len bytes each, overwritten
 * @return as gfsmith_wide_encode */
GFSMITH_API gfsmith_status gfsmith_wide_encode_parallel(const gfsmith_wide *wide,
                                                        const gfsmith_executor *executor,
                                                        size_t len, const uint8_t *const *data,
                                                        uint8_t *const *parity);

/** gfsmith_wide_reconstruct, shared by the threads of an executor.
 *
 * @param wide the code
 * @param executor as in gfsmith_wide_encode_parallel
 * @param len bytes of every shard
 * @param shards k + m pointers to len bytes each, as in gfsmith_wide_reconstruct
 * @param present k + m flags, whether shard i is intact
 * @param wanted k + m flags, whether to rebuild shard i, or NULL for every missing one
 * @return as gfsmith_wide_reconstruct */
GFSMITH_API gfsmith_status gfsmith_wide_reconstruct_parallel(const gfsmith_wide *wide,
                                                             const gfsmith_executor *executor,
                                                             size_t len, uint8_t *const *shards,
                                                             const bool *present,
                                                             const bool *wanted);

#ifdef __cplusplus
}
#endif

#endif
