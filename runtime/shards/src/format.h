/* format.h: records of docs/shard-format.md, checksums and geometry. */
#ifndef GFS_SHARDS_FORMAT_H
#define GFS_SHARDS_FORMAT_H

#include "gfsmith_shards.h"

enum {
  GFS_SHARDS_PREFIX = 32,
  GFS_SHARDS_TRAILER = 24, /* bytes of its content */
  GFS_SHARDS_BLOCK_RECORD = 1,
  GFS_SHARDS_TRAILER_RECORD = 2
};

#define GFS_SHARDS_MAX_LENGTH (UINT64_C(1) << 62)

/* A decoded trailer. */
typedef struct gfs_shards_end {
  uint64_t stripes;
  uint64_t length;
  uint8_t original[16];
} gfs_shards_end;

/* The seed of a shard's records: a part of the checksum of its header. */
uint64_t gfs_shards_tag(const uint8_t raw[GFSMITH_SHARDS_HEADER]);

/* Write the prefix of a record whose content of b bytes follows in memory. */
void gfs_shards_seal(uint8_t *record, uint64_t tag, uint64_t number, uint32_t b, uint32_t kind);

/* Bytes of the content of the record of this number and kind, if it is good and complete in `size`
 * bytes; else 0. */
uint32_t gfs_shards_open(const uint8_t *record, size_t size, uint64_t tag, uint64_t number,
                         uint32_t kind, uint32_t most);

/* Write a whole trailer, GFS_SHARDS_PREFIX + GFS_SHARDS_TRAILER bytes. */
void gfs_shards_write_end(uint8_t *record, uint64_t tag, const gfs_shards_end *end);

/* Decode the trailer at `record` if it is good and its numbers match the shape of the set. */
bool gfs_shards_read_end(const gfsmith_shards_header *header, const uint8_t *record, size_t size,
                         uint64_t tag, gfs_shards_end *end);

/* Bytes of the blocks of a stripe of an original of this length. */
uint32_t gfs_shards_block_bytes(const gfsmith_shards_header *header, uint64_t length,
                                uint64_t stripe);

/* The codec of a set. */
gfsmith_status gfs_shards_codec(const gfsmith_shards_header *header, gfsmith_codec **codec);

#endif
