/** @file
 * Cyclic redundancy checks.
 *
 * The state of a check starts at 0 and always equals the checksum of the bytes so far as the
 * standard defines it, so a state needs no end. It has 16, 32 or 64 bits, according to the check;
 * higher bits are 0 (docs/checksums.md).
 *
 * The functions use the carry-less multiplication of the CPU if it has one and the current
 * instruction set (gfsmith_isa(), gfsmith_set_isa()) is a set of vectors; a library for a single
 * instruction set, and every other machine, use tables, whose addresses depend on data. Nothing is
 * allocated. Bytes need no alignment and no padding.
 *
 * Every function returns GFSMITH_OK, or GFSMITH_EINVAL with nothing written: an unknown check, a
 * state beyond its bits, or a pointer that is NULL though it is needed. */
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

#ifdef __cplusplus
}
#endif

#endif /* GFSMITH_CHECKSUM_H */
