#include "item.h"

#include <string.h>
#include <xxhash.h>

static const char magic[8] = "gfs-chnk";

/* Magic, version, length, shard, 8 bytes each; XXH3-64 of the chunk, seeded with the checksum of
 * these. */
void item_head(uint8_t *item, uint64_t version, unsigned shard, size_t length) {
  memset(item, 0, ITEM_HEADER);
  memcpy(item, magic, sizeof magic);
  put_le(item + 8, version, 8);
  put_le(item + 16, length, 8);
  put_le(item + ITEM_SHARD, shard, 8);
  put_le(item + 32, XXH3_64bits_withSeed(item + ITEM_HEADER, length, XXH3_64bits(item, 32)), 8);
}

bool item_chunk(const uint8_t *item, size_t bytes, uint64_t version) {
  return bytes >= ITEM_HEADER && memcmp(item, magic, sizeof magic) == 0 &&
         get_le(item + 8, 8) == version && get_le(item + 16, 8) == bytes - ITEM_HEADER &&
         get_le(item + 32, 8) ==
             XXH3_64bits_withSeed(item + ITEM_HEADER, bytes - ITEM_HEADER, XXH3_64bits(item, 32));
}

bool item_record(const uint8_t *item, size_t bytes, uint64_t version) {
  record r;
  return record_decode(&r, item, bytes) && r.version == version;
}
