/* The shard file: format, validation and geometry.
 *
 * A shard file is a header of 8192 bytes and a payload. All integers are little-endian; all
 * checksums are XXH3-128 in xxHash's canonical form (the 16 bytes in the order in which xxhsum
 * prints them).
 *
 *   offset  bytes  field
 *        0      8  magic 89 47 46 53 0d 0a 1a 0a ("\x89GFS\r\n\x1a\n": text mode damages it)
 *        8      4  format version, 1
 *       12      4  header length, 8192
 *       16     16  stripe-set id: checksum of bytes 64..8175
 *       32      4  index of this shard: 0..k-1 data, k..k+m-1 parity
 *       36     28  zero
 *       64      4  field polynomial, 0x11d
 *       68      4  k, data shards, at least 1
 *       72      4  m, parity shards, at least 1; k + m <= 255
 *       76      4  block size B in bytes: a multiple of 64, at most 1 MiB
 *       80      8  length of the original in bytes, at most 2^62
 *       88     16  checksum of the original
 *      104     32  name of the code, padded with zeros
 *      136    256  file name of the original: 1..247 bytes, no '/', not "." or ".."; then zeros
 *      392   3704  zero
 *     4096   4080  checksums of the payloads of shards 0..k+m-1, 16 bytes each, then zeros
 *     8176     16  checksum of bytes 0..8175
 *
 * Bytes 64..8175 are equal in every shard of a set, so two shards belong together exactly when
 * these are equal. Every shard stores the checksums of all shards, so a rebuilt shard can be
 * compared with the checksum stored in the others. 8192 is fixed so that the payload starts on a
 * page and no length has to be trusted.
 *
 * Payload: the original is cut into stripes of k * B bytes; block j of each goes to data shard j.
 * In the last stripe, if it is short, each block is b = ceil(rest / k) bytes, padded with zeros at
 * the end: a shard is never more than one byte longer than its share of the file.
 */
#ifndef STRIPE_SHARDFILE_H
#define STRIPE_SHARDFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

enum {
  SHARD_HEADER_BYTES = 8192,
  SHARD_SHARED_BEGIN = 64, /* bytes [begin, end) of the header are the same in the whole set */
  SHARD_SHARED_END = 8176,
  SHARD_MAX_SHARDS = 255,    /* the limit of gfsmith for k + m */
  SHARD_MAX_BLOCK = 1 << 20, /* limits the memory of every command to 255 blocks */
  SHARD_BLOCK_UNIT = 64,     /* aligns every block of a stripe to vectors */
  SHARD_CODE_BYTES = 32,
  SHARD_NAME_BYTES = 256,
  SHARD_NAME_MAX = 247, /* NAME_MAX minus ".NNN.gfs" */
  SHARD_WHY_BYTES = 128,
  SHARD_POLYNOMIAL = 0x11d
};

#define SHARD_MAX_LENGTH (UINT64_C(1) << 62)

typedef struct shard_sum {
  uint8_t bytes[16];
} shard_sum;

typedef struct shard_header {
  uint32_t index;
  uint32_t polynomial;
  uint32_t k;
  uint32_t m;
  uint32_t block;
  uint64_t length;
  shard_sum original;
  char code[SHARD_CODE_BYTES];
  char name[SHARD_NAME_BYTES];
  shard_sum payload[SHARD_MAX_SHARDS];
  shard_sum set_id; /* set by shard_header_read and shard_header_write */
} shard_header;

typedef enum shard_verdict { SHARD_GOOD, SHARD_BAD, SHARD_FOREIGN } shard_verdict;

/* Encode the header; sets header->set_id. */
void shard_header_write(shard_header *header, uint8_t raw[SHARD_HEADER_BYTES]);

/* Decode bytes [0, size) of a file. SHARD_FOREIGN: no magic. SHARD_BAD: a shard with an unusable
 * header; `why` is the reason in one line. SHARD_GOOD: every field is in the range given above. */
shard_verdict shard_header_read(shard_header *header, const uint8_t *raw, size_t size,
                                char why[SHARD_WHY_BYTES]);

/* Are k, m, block, length, code and name in the ranges given above? `why` is the reason if not. */
bool shard_header_valid(const shard_header *header, char why[SHARD_WHY_BYTES]);

/* Number of stripes: ceil(length / (k * block)). */
uint64_t shard_stripes(const shard_header *header);

/* Bytes of stripe s that each shard holds: block, or ceil(rest / k) in a short last stripe. */
size_t shard_stripe_bytes(const shard_header *header, uint64_t stripe);

/* Bytes of the payload of each shard: the sum of shard_stripe_bytes over all stripes. */
uint64_t shard_payload_bytes(const shard_header *header);

/* Offset of stripe s in a shard file. */
uint64_t shard_stripe_offset(const shard_header *header, uint64_t stripe);

/* A new XXH3-128 state, freed by XXH3_freeState; ends the process if there is no memory. */
XXH3_state_t *hash_create(void);
shard_sum shard_sum_of(const void *bytes, size_t size);
shard_sum shard_sum_digest(const XXH3_state_t *state);
bool shard_sum_equal(const shard_sum *a, const shard_sum *b);
/* 32 hexadecimal digits and a NUL. */
void shard_sum_text(const shard_sum *sum, char text[33]);

#endif
