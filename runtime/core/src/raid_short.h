/* raid_short.h: P and Q of short shards as a product with a dense matrix.
 *
 * Horner's rule needs the data shards in reverse order. So the call writes their pointers in that
 * order, and the kernel's loads wait for these stores, which takes as long as short shards do
 * (docs/performance.md). A dense product takes the shards in their order. */
#ifndef GFS_RAID_SHORT_H
#define GFS_RAID_SHORT_H

#include <stdatomic.h>
#include <stdint.h>

/* The most bytes, with vectors of 64 bytes and with shorter ones, and the most data shards for
 * which it is used: up to 1.3 times as fast on Zen 4. Beyond, the simpler products of Horner's rule
 * gain more. */
enum { GFS_RAID_SHORT_WIDE = 192, GFS_RAID_SHORT_BYTES = 64, GFS_RAID_SHORT_DATA = 32 };

/* The coefficients 1 and 2^j of P and Q for each data shard j, in the format affine. */
extern _Atomic uint64_t gfs_raid_short_entries[GFS_RAID_SHORT_DATA][2];

/* Fill them. Threads that do so at the same time write the same values. */
void gfs_raid_short_fill(void);

#endif
