#include "lane.h"

#include <string.h>

size_t gfs_shards_lane_fill(gfs_shards_lane *lane, uint8_t *to, size_t size) {
  size_t done = 0;
  while (done < size && !lane->at_end) {
    ptrdiff_t n = lane->from->read(lane->from->context, to + done, size - done);
    if (n < 0 || (size_t)n > size - done)
      lane->unreadable = true;
    lane->at_end = n <= 0 || lane->unreadable;
    done += lane->at_end ? 0 : (size_t)n;
  }
  return done;
}

void gfs_shards_lane_skip(gfs_shards_lane *lane, const gfsmith_shards_header *header,
                          uint64_t stripe) {
  uint8_t unused[4096];
  uint64_t left = stripe * (GFS_SHARDS_PREFIX + header->block);
  lane->stripe = stripe;
  if (lane->from->skip != NULL) {
    lane->unreadable |= !lane->from->skip(lane->from->context, left);
    lane->at_end |= lane->unreadable;
    return;
  }
  while (left > 0 && !lane->at_end)
    left -= gfs_shards_lane_fill(lane, unused, left < sizeof unused ? (size_t)left : sizeof unused);
}

/* Is there a good trailer with this number at `at`? */
static bool end_at(gfs_shards_lane *lane, const gfsmith_shards_header *header, const uint8_t *bytes,
                   size_t at, uint64_t number) {
  enum { WHOLE = GFS_SHARDS_PREFIX + GFS_SHARDS_TRAILER };
  gfs_shards_end end;
  uint8_t more;
  if (lane->have < at ||
      !gfs_shards_read_end(header, bytes + at, lane->have - at, lane->tag, &end) ||
      end.stripes != number)
    return false;
  lane->has_end = true;
  lane->end = end;
  lane->too_long = lane->have > at + WHOLE || gfs_shards_lane_fill(lane, &more, 1) > 0;
  lane->at_end = true;
  return true;
}

static uint32_t read_slot(gfs_shards_lane *lane, const gfsmith_shards_header *header,
                          const uint8_t *bytes, size_t at) {
  if (lane->has_end || lane->have <= at || end_at(lane, header, bytes, at, lane->stripe))
    return 0;
  uint32_t b = gfs_shards_open(bytes + at, lane->have - at, lane->tag, lane->stripe,
                               GFS_SHARDS_BLOCK_RECORD, header->block);
  end_at(lane, header, bytes, at + GFS_SHARDS_PREFIX + (b > 0 ? b : header->block),
         lane->stripe + 1);
  return b;
}

/* If the last block is damaged, its length is unknown: the trailer is at the end of the stream. */
static void find_end(gfs_shards_lane *lane, const gfsmith_shards_header *header,
                     const uint8_t *bytes) {
  size_t whole = GFS_SHARDS_PREFIX + GFS_SHARDS_TRAILER;
  if (!lane->has_end && lane->at_end && lane->have >= whole)
    lane->has_end =
        gfs_shards_read_end(header, bytes + lane->have - whole, whole, lane->tag, &lane->end);
}

void gfs_shards_lane_read(gfs_shards_lane *lane, const gfsmith_shards_header *header,
                          uint8_t *bytes, const uint8_t *before, unsigned most, uint32_t *b) {
  size_t pitch = GFS_SHARDS_PREFIX + header->block, room = most * pitch;
  memcpy(bytes, before + room, lane->carry);
  lane->have = lane->carry;
  lane->have +=
      gfs_shards_lane_fill(lane, bytes + lane->have, room + GFS_SHARDS_AHEAD - lane->have);
  for (unsigned t = 0; t < most; t++) {
    b[t] = read_slot(lane, header, bytes, t * pitch);
    lane->stripe++;
  }
  find_end(lane, header, bytes);
  lane->carry = lane->have > room ? lane->have - room : 0;
}
