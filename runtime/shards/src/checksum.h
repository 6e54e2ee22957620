/* checksum.h: XXH3-128 of xxHash, compiled into the sources that include this header. */
#ifndef GFS_SHARDS_CHECKSUM_H
#define GFS_SHARDS_CHECKSUM_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string.h>

/* The canonical form: 16 bytes, in the order in which xxhsum prints them. */
static inline void gfs_shards_canonical(uint8_t to[16], XXH128_hash_t hash) {
  XXH128_canonical_t form;
  XXH128_canonicalFromHash(&form, hash);
  memcpy(to, form.digest, sizeof form.digest);
}

#endif
