/** @file
 * Cyclic redundancy checks, of bytes and of the shards of a codec in the pass that computes them;
 * and sketches, from which a codec computes the sketches of parities.
 *
 * The state of a check starts at 0 and always equals the checksum of the bytes so far as the
 * standard defines it, so a state needs no end. It has 16, 32 or 64 bits, according to the check;
 * higher bits are 0 (docs/checksums.md).
 *
 * The functions use the carry-less multiplication of the CPU if it has one and the current
 * instruction set (gfsmith_isa(), gfsmith_set_isa()) is a set of vectors. That of RISC-V (Zbc)
 * needs no vectors, so they use it with "scalar", too. A library for a single instruction set, and
 * every other machine, use tables, whose addresses depend on data. Nothing is allocated, except by
 * gfsmith_sketch_create. Bytes need no alignment and no padding.
 *
 * Every function of checks returns GFSMITH_OK, or GFSMITH_EINVAL with nothing written: an unknown
 * check, a state beyond its bits, or a pointer that is NULL though it is needed. */
#ifndef GFSMITH_CHECKSUM_H
#define GFSMITH_CHECKSUM_H

#include <gfsmith.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The checks. In brackets: polynomial without its highest term, and the checksum of "123456789".
 */
typedef enum gfsmith_checksum {
  GFSMITH_CRC32C,     /**< iSCSI, ext4, Ceph, HDFS [0x1edc6f41, 0xe3069283] */
  GFSMITH_CRC32,      /**< IEEE 802.3, gzip, zlib [0x04c11db7, 0xcbf43926] */
  GFSMITH_CRC64_NVME, /**< NVMe, S3 [0xad93d23594c93659, 0xae8b14860a799888] */
  GFSMITH_CRC64_ECMA, /**< ECMA-182, reflected: xz [0x42f0e1eba9ea3693, 0x995dc9bbdf1939fa] */
  GFSMITH_CRC64_ISO,  /**< ISO 3309, reflected: Go [0x1b, 0xb90956c775a41001] */
  GFSMITH_CRC16_T10   /**< T10 DIF [0x8bb7, 0xd0db] */
} gfsmith_checksum;

/** Continue a checksum.
 *
 * @param kind the check
 * @param state 0, or the checksum of the bytes before; replaced by that of all bytes
 * @param len number of bytes
 * @param data the bytes, read
 * @return GFSMITH_OK or GFSMITH_EINVAL, as above */
GFSMITH_API gfsmith_status gfsmith_checksum_update(gfsmith_checksum kind, uint64_t *state,
                                                   size_t len, const uint8_t *data);

/** Compute the checksum of every sector of some bytes, each from state 0: the guard tags of T10's
 * protection information, or the checksums of HDFS's chunks.
 *
 * @param kind the check
 * @param sector bytes of a sector; for GFSMITH_CRC16_T10 512 or 4096
 * @param len number of bytes, a multiple of `sector`
 * @param data the bytes, read
 * @param checksums len / sector checksums, written
 * @return GFSMITH_OK or GFSMITH_EINVAL, as above, and for another sector or length */
GFSMITH_API gfsmith_status gfsmith_checksum_sectors(gfsmith_checksum kind, size_t sector,
                                                    size_t len, const uint8_t *data,
                                                    uint64_t *checksums);

/** Combine the checksums of two consecutive pieces, in time that grows with the logarithm of the
 * second length. Both must be of the same check.
 *
 * @param kind the check
 * @param state the checksum of the first piece; replaced by that of both
 * @param second the checksum of the second piece, computed from state 0
 * @param second_len bytes of the second piece
 * @return GFSMITH_OK or GFSMITH_EINVAL, as above */
GFSMITH_API gfsmith_status gfsmith_checksum_combine(gfsmith_checksum kind, uint64_t *state,
                                                    uint64_t second, size_t second_len);

/** gfsmith_encode and the checksums of all shards, in one pass over memory: shards are encoded and
 * checked piece by piece while a piece is in cache. If all shards are in a core's own cache (as the
 * hint and their size tell), in packet layout, and if a coordinator is attached, the checksums take
 * a second pass.
 *
 * It allocates nothing and takes about 50 KiB of stack.
 *
 * @param codec the code
 * @param kind the check
 * @param len bytes of every shard; for GFSMITH_CRC16_T10 a multiple of 512
 * @param data k pointers to len bytes each, read
 * @param parity m pointers to len bytes each, overwritten; as in gfsmith_encode
 * @param states k + m states, of the data and then of the parities: each 0, or the checksum of the
 *     shard's bytes before; replaced by that of all of its bytes. Unchanged with len = 0
 * @return GFSMITH_EINVAL with nothing written: codec NULL, an unknown check, a length that is no
 *     multiple as above or as the packet layout needs; with len > 0, a state beyond its bits, an
 *     array or one of its pointers NULL */
GFSMITH_API gfsmith_status gfsmith_encode_checksums(const gfsmith_codec *codec,
                                                    gfsmith_checksum kind, size_t len,
                                                    const uint8_t *const *data,
                                                    uint8_t *const *parity, uint64_t *states);

/** gfsmith_encode_checksums for each of several stripes, of which the next one is prefetched, as in
 * gfsmith_encode_stripes.
 *
 * @param codec the code
 * @param kind the check
 * @param len bytes of every shard; for GFSMITH_CRC16_T10 a multiple of 512
 * @param count number of stripes
 * @param data count * k pointers to len bytes each, read: those of stripe s begin at data[s * k]
 * @param parity count * m pointers to len bytes each, overwritten
 * @param states count * (k + m) states, stripe by stripe, as above
 * @return GFSMITH_EINVAL with nothing written: codec NULL, an unknown check; with len > 0 and
 *     count > 0, as above */
GFSMITH_API gfsmith_status gfsmith_encode_stripes_checksums(
    const gfsmith_codec *codec, gfsmith_checksum kind, size_t len, size_t count,
    const uint8_t *const *data, uint8_t *const *parity, uint64_t *states);

/** gfsmith_reconstruct, with the checksums of the shards that the repair reads, which are compared,
 * and of those that it writes, in one pass over memory.
 *
 * Missing shards are computed from all shards that are read: if one of those is wrong, so are the
 * rebuilt shards and their states. Then repeat the call with this shard missing, and with the
 * states of before.
 *
 * In one pass as gfsmith_encode_checksums, unless the kernels of the encoder repair faster
 * (docs/repair.md). Takes up to 110 KiB of stack.
 *
 * @param codec the code
 * @param kind the check
 * @param len bytes of every shard; for GFSMITH_CRC16_T10 a multiple of 512
 * @param shards as in gfsmith_reconstruct
 * @param present as in gfsmith_reconstruct
 * @param wanted as in gfsmith_reconstruct
 * @param states k + m states: each 0, or the checksum of the shard's bytes before. Those of shards
 *     that the repair reads or writes are replaced by the checksum of all of their bytes; the
 *     others, and all with len = 0, are unchanged
 * @param expected k + m checksums that the states of the shards that are read must have after the
 *     call; those of other shards are ignored. NULL: nothing is compared, as before the last one of
 *     several calls for a shard
 * @param wrong k + m flags, written if expected is not NULL: whether shard i was read and its state
 *     is not expected[i]. May be NULL if expected is
 * @return errors in the order of their detection: GFSMITH_EINVAL (as gfsmith_encode_checksums;
 *     expected not NULL and states or wrong NULL), those of gfsmith_reconstruct. Nothing is written
 *     with any of them */
GFSMITH_API gfsmith_status gfsmith_reconstruct_checksums(const gfsmith_codec *codec,
                                                         gfsmith_checksum kind, size_t len,
                                                         uint8_t *const *shards,
                                                         const bool *present, const bool *wanted,
                                                         uint64_t *states, const uint64_t *expected,
                                                         bool *wrong);

/** gfsmith_check and the checksums of all shards: a scrub that reads every byte once. In packet
 * layout, and in a core's own cache, the checksums take a second pass.
 *
 * Unlike gfsmith_check it does not stop at a difference, since the checksums cover all bytes. If
 * the parities match and all states are the expected ones, the stripe is intact. If not, the shards
 * with unexpected states are wrong. If the parities do not match and all states are the expected
 * ones, the stripe was encoded wrongly.
 *
 * It allocates nothing and takes about 50 KiB of stack, with packet layout 67 KiB.
 *
 * @param codec the code
 * @param kind the check
 * @param len bytes of every shard; for GFSMITH_CRC16_T10 a multiple of 512
 * @param shards k + m pointers to len bytes each, read
 * @param states k + m states: each 0, or the checksum of the shard's bytes before; replaced by that
 *     of all of its bytes. Unchanged with len = 0
 * @param ok as in gfsmith_check
 * @return GFSMITH_EINVAL with nothing written: as gfsmith_encode_checksums; with len > 0, ok NULL
 */
GFSMITH_API gfsmith_status gfsmith_check_checksums(const gfsmith_codec *codec,
                                                   gfsmith_checksum kind, size_t len,
                                                   const uint8_t *const *shards, uint64_t *states,
                                                   bool *ok);

/** Bytes of a sketch. */
#define GFSMITH_SKETCH_BYTES 8

/** The tables of sketches over one field. Immutable: threads may share it. */
typedef struct gfsmith_sketch gfsmith_sketch;

/** Create the tables of sketches: 6 KiB, and the tables of a codec with 36 + 4 shards.
 *
 * A sketch is a checksum of 8 bytes that is linear over GF(2^8): the sum of weights times the bytes
 * of a shard, where the weights depend on the polynomial and on the place of a byte
 * (docs/checksums.md). So a codec over the same polynomial, in ordinary layout, computes the
 * sketches of parities from the sketches of data, as shards of GFSMITH_SKETCH_BYTES bytes:
 * gfsmith_encode computes them, gfsmith_check compares them, gfsmith_locate names the shard whose
 * sketch differs, gfsmith_update and gfsmith_reconstruct work as well. So a scrub verifies all
 * parities though every shard is read once, where it is stored.
 *
 * A sketch finds accidental damage, not forgery. docs/checksums.md tells which errors it always
 * finds. Zeros at the end of a shard do not change its sketch.
 *
 * @param out where the tables go; on failure *out = NULL
 * @param polynomial that of the codec: GFSMITH_POLYNOMIAL for the codes known by name
 * @return GFSMITH_EINVAL (out NULL; a polynomial that is reducible or not of degree 8),
 *     GFSMITH_ENOMEM, GFSMITH_EUNSUPPORTED as gfsmith_codec_create */
GFSMITH_API gfsmith_status gfsmith_sketch_create(gfsmith_sketch **out, unsigned polynomial);

/** Free the tables.
 *
 * @param sketch may be NULL, and nothing is done */
GFSMITH_API void gfsmith_sketch_destroy(gfsmith_sketch *sketch);

/** Add the sketch of a piece of a shard to a sketch.
 *
 * The sketch of a shard is the sum of those of its pieces, in any order: XOR adds sketches that
 * were computed apart. After a change, add the sketch of old data ^ new data at its offset.
 *
 * @param sketch the tables
 * @param sum GFSMITH_SKETCH_BYTES bytes: zeros, or the sum of the pieces so far; replaced by the
 * sum with this piece
 * @param offset the place of the first byte in the shard
 * @param len number of bytes
 * @param data the bytes, read
 * @return GFSMITH_EINVAL with nothing written: sketch NULL, offset + len exceeds 2^64 - 1; with
 *     len > 0, sum or data NULL */
GFSMITH_API gfsmith_status gfsmith_sketch_add(const gfsmith_sketch *sketch, uint8_t *sum,
                                              uint64_t offset, size_t len, const uint8_t *data);

#ifdef __cplusplus
}
#endif

#endif /* GFSMITH_CHECKSUM_H */
