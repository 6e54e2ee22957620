/* coding.h: common parts of encoding and decoding with matrices of words and of bits. */
#ifndef GFS_JERASURE_CODING_H
#define GFS_JERASURE_CODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The shards of a call. Ids 0 to k - 1 are data, k to k + m - 1 coding. */
typedef struct gfs_jerasure_shards {
  int k;
  char **data, **coding;
} gfs_jerasure_shards;

static inline uint8_t *gfs_jerasure_shard(const gfs_jerasure_shards *s, int id) {
  return (uint8_t *)(id < s->k ? s->data[id] : s->coding[id - s->k]);
}

/* The id of source number n: from a list, or n if there is none. */
static inline int gfs_jerasure_source(const int *ids, int n) { return ids == NULL ? n : ids[n]; }

/* The sources from which the sum of all data (the first coding shard) gives the last one lost: all
 * other data, then coding shard 0. */
static inline int gfs_jerasure_other(int n, int last) { return n < last ? n : n + 1; }

/* The last data shard that is erased; k if there is none. */
int gfs_jerasure_last_lost(int k, const int *erased);

/* The number of erased data shards. */
int gfs_jerasure_lost(int k, const int *erased);

#endif
