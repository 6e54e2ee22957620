/* Calls that read shards: while one batch is written, the next one is read. */
#include "decode.h"

#include <stdlib.h>

bool gfsmith_shards_intact(const gfsmith_shards_state *state) {
  return state->source >= 0 && !state->header_damaged && !state->trailer_damaged &&
         !state->too_long && !state->unreadable && state->bad_blocks == 0;
}

static bool all_active(const gfs_shards_decode *job) {
  for (unsigned i = 0; i < job->count; i++)
    if (job->lanes[i].from != NULL && !job->lanes[i].active)
      return false;
  return true;
}

static void merge_ends(gfs_shards_decode *job) {
  for (unsigned i = 0; i < job->count; i++) {
    const gfs_shards_lane *lane = &job->lanes[i];
    if (!lane->has_end)
      continue;
    if (job->has_end &&
        (job->end.stripes != lane->end.stripes || job->end.length != lane->end.length ||
         memcmp(job->end.original, lane->end.original, 16) != 0))
      gfs_shards_fail(job, GFSMITH_SHARDS_EDAMAGED);
    job->end = lane->end;
    job->has_end = true;
  }
}

/* Number of stripes of this batch: as long as any stream has bytes, and no more than the trailer
 * states. A false trailer may state 2^62 bytes. */
static unsigned count_stripes(const gfs_shards_decode *job) {
  const gfs_shards_batch_state *b = job->reading;
  uint64_t left = job->end.stripes > b->first ? job->end.stripes - b->first : 0;
  size_t most = 0;
  for (unsigned i = 0; i < job->count; i++) {
    size_t slots = job->lanes[i].active ? (job->lanes[i].have + job->pitch - 1) / job->pitch : 0;
    most = slots > most ? slots : most;
  }
  if (job->has_end && (left < most || !all_active(job)))
    most = left < job->most ? (size_t)left : job->most;
  return most < job->most ? (unsigned)most : job->most;
}

static void measure(gfs_shards_decode *job) {
  gfs_shards_batch_state *b = job->reading;
  merge_ends(job);
  b->stripes = count_stripes(job);
  for (unsigned t = 0; t < b->stripes; t++)
    b->bytes[t] = job->has_end ? gfs_shards_block_bytes(job->header, job->end.length, b->first + t)
                               : job->header->block;
}

/* Do the active streams have all data of this batch, and an end? */
static bool satisfied(const gfs_shards_decode *job) {
  const gfs_shards_batch_state *b = job->reading;
  bool ended = true;
  for (unsigned i = 0; i < job->header->k; i++) {
    ended = ended && job->lanes[i].at_end;
    for (unsigned t = 0; t < b->stripes; t++)
      if (b->good[i][t] != b->bytes[t])
        return false;
  }
  return job->has_end || !ended;
}

static void activate(void *argument, unsigned shard) {
  gfs_shards_decode *job = argument;
  gfs_shards_lane *lane = &job->lanes[shard];
  if (lane->from == NULL || lane->active)
    return;
  lane->active = true;
  gfs_shards_lane_skip(lane, job->header, job->reading->first);
  gfs_shards_lane_read(lane, job->header, gfs_shards_record(job, job->reading, shard, 0),
                       gfs_shards_record(job, job->writing, shard, 0), job->most,
                       job->reading->good[shard]);
}

static void count_damage(gfs_shards_decode *job) {
  const gfs_shards_batch_state *b = job->reading;
  for (unsigned t = 0; t < b->stripes; t++) {
    job->report->lost_stripes += b->lost[t];
    job->report->false_stripes += b->wrong[t];
    for (unsigned i = 0; i < job->count; i++)
      job->report->shard[i].bad_blocks += job->lanes[i].active && b->good[i][t] != b->bytes[t];
  }
  job->report->stripes += b->stripes;
  job->done += (uint64_t)b->stripes * job->header->k * job->header->block;
  if (job->has_end && job->done > job->end.length)
    job->done = job->end.length;
}

static void swap(gfs_shards_decode *job) {
  gfs_shards_batch_state *full = job->reading;
  job->reading = job->writing;
  job->writing = full;
  job->reading->first = full->first + full->stripes;
}

static void run(gfs_shards_decode *job) {
  gfs_shards_run(job->control, job->count, gfs_shards_begin_shard, job);
  do {
    gfs_shards_run(job->control, 1 + job->count, gfs_shards_transfer, job);
    measure(job);
    if (!all_active(job) && !satisfied(job)) {
      gfs_shards_run(job->control, job->count, activate, job);
      measure(job);
    }
    gfs_shards_run(job->control, job->reading->stripes, gfs_shards_rebuild, job);
    count_damage(job);
    swap(job);
    if (!gfs_shards_progress(job->control, job->done))
      gfs_shards_fail(job, GFSMITH_SHARDS_ECANCELED);
  } while (job->writing->stripes > 0 && atomic_load(&job->status) == GFSMITH_OK);
}

/* Compare the numbers and the checksum of the trailer; then write the trailers. */
static void finish(gfs_shards_decode *job) {
  uint8_t sum[16];
  gfsmith_shards_report *report = job->report;
  gfs_shards_canonical(sum, XXH3_128bits_digest(job->checksum));
  if (job->has_end && report->stripes < job->end.stripes &&
      atomic_load(&job->status) == GFSMITH_OK) { /* no stream has the rest */
    report->lost_stripes += job->end.stripes - report->stripes;
    report->stripes = job->end.stripes;
    job->complete = false;
    if (job->original != NULL || job->sinks != NULL)
      gfs_shards_fail(job, GFSMITH_ETOOMANY);
  }
  if (!job->has_end || report->stripes != job->end.stripes)
    gfs_shards_fail(job, GFSMITH_SHARDS_EDAMAGED);
  if (job->complete && job->has_end && memcmp(sum, job->end.original, sizeof sum) != 0)
    gfs_shards_fail(job, GFSMITH_SHARDS_EDAMAGED);
  if (atomic_load(&job->status) == GFSMITH_OK)
    gfs_shards_run(job->control, job->count, gfs_shards_end_shard, job);
  report->length = job->end.length;
  memcpy(report->original, job->end.original, sizeof report->original);
}

static void fill_report(gfs_shards_decode *job) {
  for (unsigned i = 0; i < job->count; i++) {
    gfsmith_shards_state *state = &job->report->shard[i];
    const gfs_shards_lane *lane = &job->lanes[i];
    state->read = lane->active;
    state->unreadable = lane->unreadable;
    state->too_long = lane->too_long;
    state->trailer_damaged = lane->active && !lane->has_end;
  }
}

static int prepare(gfs_shards_decode *job) {
  unsigned ready = 0;
  job->count = job->header->k + job->header->m;
  job->most = gfs_shards_batch(job->control, job->header);
  job->pitch = GFS_SHARDS_PREFIX + job->header->block;
  job->area = job->most * job->pitch + GFS_SHARDS_AHEAD;
  job->reading = &job->batches[0];
  job->writing = &job->batches[1];
  job->complete = true;
  for (unsigned i = 0; i < job->count; i++) {
    /* An original is joined from the data shards as long as they are intact. */
    job->lanes[i].active =
        job->lanes[i].from != NULL && (job->original == NULL || i < job->header->k);
    ready += job->lanes[i].active;
  }
  for (unsigned i = 0; i < job->count && ready < job->header->k; i++)
    job->lanes[i].active = job->lanes[i].from != NULL;
  int status = gfs_shards_codec(job->header, &job->codec);
  if (status != GFSMITH_OK)
    return status;
  job->checksum = XXH3_createState();
  for (int i = 0; i < 2; i++)
    job->batches[i].memory = gfs_shards_memory(job->count, job->area);
  if (job->checksum == NULL || job->batches[0].memory == NULL || job->batches[1].memory == NULL)
    return GFSMITH_ENOMEM;
  XXH3_128bits_reset(job->checksum);
  return GFSMITH_OK;
}

static void release(gfs_shards_decode *job) {
  XXH3_freeState(job->checksum);
  free(job->batches[0].memory);
  free(job->batches[1].memory);
  gfsmith_codec_destroy(job->codec);
  free(job);
}

/* Return false if a shard is wanted that the set does not have. */
static bool has_wanted(const gfs_shards_decode *job) {
  if (job->sinks != NULL)
    for (unsigned i = job->header->k + job->header->m; i < GFSMITH_MAX_SHARDS; i++)
      if (job->sinks[i].write != NULL)
        return false;
  return true;
}

static int decode(const gfsmith_shards_source *sources, unsigned count,
                  const gfsmith_shards_sink *original, const gfsmith_shards_sink *sinks,
                  const gfsmith_shards_control *control, gfsmith_shards_report *report) {
  static const gfsmith_shards_control plain;
  if (sources == NULL || report == NULL || count < 1 || count > GFSMITH_MAX_SHARDS)
    return GFSMITH_EINVAL;
  for (unsigned p = 0; p < count; p++)
    if (sources[p].read == NULL)
      return GFSMITH_EINVAL;
  memset(report, 0, sizeof *report);
  gfs_shards_decode *job = calloc(1, sizeof *job);
  if (job == NULL)
    return GFSMITH_ENOMEM;
  job->header = &report->header;
  job->control = control != NULL ? control : &plain;
  job->report = report;
  job->original = original;
  job->sinks = sinks;
  int status = gfs_shards_headers(job, sources, count);
  if (status == GFSMITH_OK && !has_wanted(job))
    status = GFSMITH_EINVAL;
  if (status == GFSMITH_OK)
    status = prepare(job);
  if (status == GFSMITH_OK) {
    run(job);
    finish(job);
    fill_report(job);
    status = atomic_load(&job->status);
  }
  release(job);
  return status;
}

int gfsmith_shards_verify(const gfsmith_shards_source *sources, unsigned count,
                          const gfsmith_shards_control *control, gfsmith_shards_report *report) {
  return decode(sources, count, NULL, NULL, control, report);
}

int gfsmith_shards_join(const gfsmith_shards_source *sources, unsigned count,
                        const gfsmith_shards_sink *original, const gfsmith_shards_control *control,
                        gfsmith_shards_report *report) {
  if (original == NULL || original->write == NULL)
    return GFSMITH_EINVAL;
  return decode(sources, count, original, NULL, control, report);
}

int gfsmith_shards_repair(const gfsmith_shards_source *sources, unsigned count,
                          const gfsmith_shards_sink *sinks, const gfsmith_shards_control *control,
                          gfsmith_shards_report *report) {
  if (sinks == NULL)
    return GFSMITH_EINVAL;
  return decode(sources, count, NULL, sinks, control, report);
}
