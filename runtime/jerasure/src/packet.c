#include "packet.h"

#include "regions.h"
#include "statistics.h"

void gfs_jerasure_packets_end(gfs_jerasure_packets *sum) {
  if (sum->count == 0)
    return;
  const uint64_t copied = sum->adds ? 0 : sum->size;
  gfs_jerasure_count(
      &(gfs_jerasure_work){.added = sum->count * sum->size - copied, .copied = copied});
  if (!sum->adds)
    gfs_jerasure_sum(sum->size, sum->count, sum->from, sum->to);
  for (unsigned n = 0; sum->adds && n < sum->count; n++)
    gfs_jerasure_add(sum->size, sum->from[n], sum->to);
  sum->adds = true;
  sum->count = 0;
}

void gfs_jerasure_packets_add(gfs_jerasure_packets *sum, const uint8_t *packet) {
  if (sum->count == GFS_JERASURE_SOURCES)
    gfs_jerasure_packets_end(sum);
  sum->from[sum->count++] = packet;
}
