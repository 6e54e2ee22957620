/* The headers of the sources: one set, no index twice. */
#include "decode.h"

#include <stdlib.h>

typedef struct found {
  uint8_t raw[GFSMITH_SHARDS_HEADER];
  gfsmith_shards_header header;
  bool valid;
} found;

static int mixed(gfs_shards_decode *job, int a, int b) {
  job->report->mixed[0] = a;
  job->report->mixed[1] = b;
  return GFSMITH_SHARDS_EMIXED;
}

static gfs_shards_lane read_header(const gfsmith_shards_source *source, found *to) {
  gfs_shards_lane lane = {.from = source};
  size_t size = gfs_shards_lane_fill(&lane, to->raw, sizeof to->raw);
  to->valid = gfsmith_shards_header_read(&to->header, to->raw, size, NULL) == GFSMITH_OK;
  return lane;
}

/* Give a lane to the source at a position. */
static void place(gfs_shards_decode *job, unsigned index, gfs_shards_lane lane, unsigned position) {
  gfsmith_shards_header header = *job->header;
  uint8_t raw[GFSMITH_SHARDS_HEADER];
  header.index = index;
  gfsmith_shards_header_write(&header, raw);
  lane.tag = gfs_shards_tag(raw);
  job->lanes[index] = lane;
  job->report->shard[index].source = (int)position;
}

static int place_valid(gfs_shards_decode *job, const found *all, const gfs_shards_lane *lanes,
                       unsigned count) {
  int first = -1;
  for (unsigned p = 0; p < count; p++) {
    if (!all[p].valid)
      continue;
    if (first < 0) {
      first = (int)p;
      job->report->header = all[p].header;
      job->report->header.index = 0;
    }
    if (!gfsmith_shards_same_set(&all[p].header, job->header))
      return mixed(job, first, (int)p);
    unsigned index = all[p].header.index;
    if (job->lanes[index].from != NULL)
      return mixed(job, job->report->shard[index].source, (int)p);
    place(job, index, lanes[p], p);
  }
  return first < 0 ? GFSMITH_SHARDS_EFORMAT : GFSMITH_OK;
}

static void place_damaged(gfs_shards_decode *job, const found *all, const gfs_shards_lane *lanes,
                          const gfsmith_shards_source *sources, unsigned count) {
  for (unsigned p = 0; p < count; p++) {
    int index = sources[p].index;
    if (all[p].valid)
      continue;
    job->report->foreign[p] = index < 0 || index >= (int)(job->header->k + job->header->m) ||
                              job->lanes[index].from != NULL;
    if (job->report->foreign[p])
      continue;
    place(job, (unsigned)index, lanes[p], p);
    job->report->shard[index].header_damaged = true;
  }
}

int gfs_shards_headers(gfs_shards_decode *job, const gfsmith_shards_source *sources,
                       unsigned count) {
  found *all = calloc(count, sizeof *all);
  gfs_shards_lane *lanes = calloc(count, sizeof *lanes);
  int status = all == NULL || lanes == NULL ? GFSMITH_ENOMEM : GFSMITH_OK;
  for (unsigned p = 0; p < count && status == GFSMITH_OK; p++)
    lanes[p] = read_header(&sources[p], &all[p]);
  if (status == GFSMITH_OK)
    status = place_valid(job, all, lanes, count);
  if (status == GFSMITH_OK)
    place_damaged(job, all, lanes, sources, count);
  /* The tags of shards without a source are needed to write them. */
  for (unsigned i = 0; status == GFSMITH_OK && i < job->header->k + job->header->m; i++)
    if (job->lanes[i].from == NULL) {
      place(job, i, (gfs_shards_lane){.at_end = true}, 0);
      job->report->shard[i].source = -1;
    }
  free(all);
  free(lanes);
  return status;
}
