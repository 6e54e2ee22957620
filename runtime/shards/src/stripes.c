/* Stripes of a batch: repair, and output. */
#include "decode.h"

void gfs_shards_fail(gfs_shards_decode *job, int status) {
  int none = GFSMITH_OK;
  atomic_compare_exchange_strong(&job->status, &none, status);
}

uint8_t *gfs_shards_record(const gfs_shards_decode *job, const gfs_shards_batch_state *batch,
                           unsigned shard, unsigned stripe) {
  return batch->memory + shard * job->area + stripe * job->pitch;
}

bool gfs_shards_wanted(const gfs_shards_decode *job, unsigned shard) {
  return job->sinks != NULL && job->sinks[shard].write != NULL;
}

/* Sets the flags of present and needed shards. Are all needed ones present? */
static bool uses(const gfs_shards_decode *job, unsigned stripe, bool *present, bool *needed,
                 bool *whole) {
  const gfs_shards_batch_state *b = job->reading;
  bool enough = true;
  *whole = true;
  for (unsigned i = 0; i < job->count; i++) {
    present[i] = b->good[i][stripe] == b->bytes[stripe];
    needed[i] = i < job->header->k || gfs_shards_wanted(job, i);
    enough = enough && (present[i] || !needed[i]);
    *whole = *whole && present[i];
  }
  return enough;
}

/* Write the prefixes of rebuilt records. */
static void seal(const gfs_shards_decode *job, unsigned stripe, const bool *present) {
  const gfs_shards_batch_state *b = job->reading;
  for (unsigned i = 0; i < job->count; i++)
    if (gfs_shards_wanted(job, i) && !present[i])
      gfs_shards_seal(gfs_shards_record(job, b, i, stripe), job->lanes[i].tag, b->first + stripe,
                      b->bytes[stripe], GFS_SHARDS_BLOCK_RECORD);
}

void gfs_shards_rebuild(void *argument, unsigned stripe) {
  gfs_shards_decode *job = argument;
  gfs_shards_batch_state *b = job->reading;
  bool present[GFSMITH_MAX_SHARDS], needed[GFSMITH_MAX_SHARDS], whole, same = true;
  bool output = job->original != NULL || job->sinks != NULL;
  uint8_t *blocks[GFSMITH_MAX_SHARDS];
  gfsmith_status status = GFSMITH_OK;
  for (unsigned i = 0; i < job->count; i++)
    blocks[i] = gfs_shards_record(job, b, i, stripe) + GFS_SHARDS_PREFIX;
  bool enough = uses(job, stripe, present, needed, &whole);
  b->no_data[stripe] = !enough && !output;
  if (whole && !output)
    status = gfsmith_check(job->codec, b->bytes[stripe], (const uint8_t *const *)blocks, &same);
  else if (!enough || !output) /* without an output only whether a repair exists */
    status = gfsmith_reconstruct(job->codec, output ? b->bytes[stripe] : 0, blocks, present,
                                 output ? needed : NULL);
  b->wrong[stripe] = !same;
  b->lost[stripe] = status != GFSMITH_OK;
  if (status != GFSMITH_OK &&
      (output || (status != GFSMITH_ETOOMANY && status != GFSMITH_ESINGULAR)))
    gfs_shards_fail(job, status);
  if (status == GFSMITH_OK && output)
    seal(job, stripe, present);
}

static void write_bytes(gfs_shards_decode *job, const gfsmith_shards_sink *sink,
                        const uint8_t *bytes, size_t size) {
  if (atomic_load(&job->status) == GFSMITH_OK && !sink->write(sink->context, bytes, size))
    gfs_shards_fail(job, GFSMITH_SHARDS_EWRITE);
}

static void write_original(gfs_shards_decode *job) {
  const gfs_shards_batch_state *b = job->writing;
  for (unsigned t = 0; t < b->stripes; t++) {
    uint64_t span = (uint64_t)job->header->k * job->header->block, at = (b->first + t) * span;
    uint64_t left = !job->has_end ? span : job->end.length > at ? job->end.length - at : 0;
    job->complete = job->complete && !b->lost[t] && !b->no_data[t];
    for (unsigned j = 0; j < job->header->k && left > 0 && job->complete; j++) {
      const uint8_t *block = gfs_shards_record(job, b, j, t) + GFS_SHARDS_PREFIX;
      size_t size = left < b->bytes[t] ? (size_t)left : b->bytes[t];
      XXH3_128bits_update(job->checksum, block, size);
      if (job->original != NULL)
        write_bytes(job, job->original, block, size);
      left -= size;
    }
  }
}

static void write_records(gfs_shards_decode *job, unsigned shard) {
  const gfs_shards_batch_state *b = job->writing;
  if (b->stripes == 0 || !gfs_shards_wanted(job, shard))
    return;
  size_t last = GFS_SHARDS_PREFIX + b->bytes[b->stripes - 1];
  write_bytes(job, &job->sinks[shard], gfs_shards_record(job, b, shard, 0),
              (b->stripes - 1) * job->pitch + last);
}

void gfs_shards_transfer(void *argument, unsigned task) {
  gfs_shards_decode *job = argument;
  if (task == 0) {
    write_original(job);
    return;
  }
  unsigned shard = task - 1;
  gfs_shards_lane *lane = &job->lanes[shard];
  write_records(job, shard);
  memset(job->reading->good[shard], 0, sizeof job->reading->good[shard]);
  if (lane->active)
    gfs_shards_lane_read(lane, job->header, gfs_shards_record(job, job->reading, shard, 0),
                         gfs_shards_record(job, job->writing, shard, 0), job->most,
                         job->reading->good[shard]);
}

void gfs_shards_begin_shard(void *argument, unsigned shard) {
  gfs_shards_decode *job = argument;
  gfsmith_shards_header header = *job->header;
  uint8_t raw[GFSMITH_SHARDS_HEADER];
  if (!gfs_shards_wanted(job, shard))
    return;
  header.index = shard;
  gfsmith_shards_header_write(&header, raw);
  write_bytes(job, &job->sinks[shard], raw, sizeof raw);
}

void gfs_shards_end_shard(void *argument, unsigned shard) {
  gfs_shards_decode *job = argument;
  uint8_t raw[GFS_SHARDS_PREFIX + GFS_SHARDS_TRAILER];
  if (!gfs_shards_wanted(job, shard))
    return;
  gfs_shards_write_end(raw, job->lanes[shard].tag, &job->end);
  write_bytes(job, &job->sinks[shard], raw, sizeof raw);
}
