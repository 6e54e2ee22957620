/* stripe repair: rebuilds every missing or damaged shard from k intact ones. */
#include "commands.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "shardset.h"

#include <stdlib.h>
#include <string.h>

typedef struct repair {
  shard_set *set;
  bool use[SHARD_MAX_SHARDS];
  bool wanted[SHARD_MAX_SHARDS];
  unsigned rebuilt[SHARD_MAX_SHARDS]; /* shard index of each output */
  unsigned count;
  XXH3_state_t *sums[SHARD_MAX_SHARDS];
  output outs[SHARD_MAX_SHARDS];
} repair;

/* Refuse to replace a shard that exists at the target but was not named. */
static int check_targets(const shard_set *set, bool force) {
  for (unsigned i = 0; i < set->shards; i++)
    if (!set->slots[i].given && !force && path_exists(set->slots[i].path))
      return refuse("%s exists but was not named (name it too, or --force replaces it)",
                    set->slots[i].path);
  return STRIPE_OK;
}

static int open_targets(repair *job) {
  const shard_set *set = job->set;
  shard_set_sources(set, job->use);
  for (unsigned i = 0; i < set->shards; i++) {
    job->wanted[i] = !set->slots[i].intact;
    if (!job->wanted[i])
      continue;
    output_plan(&job->outs[job->count], set->slots[i].path);
    job->sums[job->count] = hash_create();
    job->rebuilt[job->count++] = i;
  }
  return output_open(job->outs, job->count, set->mode);
}

static int rebuild_stripe(repair *job, uint64_t stripe) {
  const shard_set *set = job->set;
  size_t bytes = shard_stripe_bytes(&set->header, stripe);
  uint8_t *blocks[SHARD_MAX_SHARDS];
  shard_set_blocks(set, bytes, blocks);
  int status = shard_set_read(set, job->use, stripe, blocks);
  if (status != STRIPE_OK)
    return status;
  gfsmith_status coded = gfsmith_reconstruct(set->codec, bytes, blocks, job->use, job->wanted);
  if (coded != GFSMITH_OK)
    return refuse("%s: cannot reconstruct: %s", set->header.name, gfsmith_strerror(coded));
  for (unsigned n = 0; n < job->count && status == STRIPE_OK; n++) {
    const uint8_t *block = blocks[job->rebuilt[n]];
    XXH3_128bits_update(job->sums[n], block, bytes);
    status = output_write(&job->outs[n], block, bytes, shard_stripe_offset(&set->header, stripe));
  }
  return status;
}

static int rebuild_payload(repair *job, bool quiet) {
  const shard_header *h = &job->set->header;
  uint64_t stripes = shard_stripes(h);
  int status = STRIPE_OK;
  progress bar;
  progress_begin(&bar, "repair", job->count * shard_payload_bytes(h), quiet);
  for (uint64_t s = 0; s < stripes && status == STRIPE_OK; s++) {
    status = report_interrupted() ? STRIPE_REFUSED : rebuild_stripe(job, s);
    progress_add(&bar, job->count * shard_stripe_bytes(h, s));
  }
  progress_end(&bar);
  return status;
}

/* A rebuilt shard must have the checksum that the intact ones store for it. */
static int finish_target(repair *job, unsigned n) {
  uint8_t raw[SHARD_HEADER_BYTES];
  shard_header header = job->set->header;
  shard_sum sum = shard_sum_digest(job->sums[n]);
  header.index = job->rebuilt[n];
  if (!shard_sum_equal(&sum, &header.payload[header.index]))
    return refuse("%s: the rebuilt shard does not have the checksum stored in %s",
                  job->outs[n].final_path, job->set->first_path);
  shard_header_write(&header, raw);
  return output_write(&job->outs[n], raw, sizeof raw, 0);
}

static int repair_run(repair *job, const options *opt) {
  bool parity_ok = true;
  shard_set *set = job->set;
  int status = shard_set_open(set, opt->paths, opt->count);
  if (status == STRIPE_OK)
    status = check_targets(set, opt->force);
  if (status == STRIPE_OK)
    status = shard_set_scan(set, opt->quiet, &parity_ok);
  if (status == STRIPE_OK)
    status = shard_set_require(set);
  if (status != STRIPE_OK)
    return status;
  if (!parity_ok) /* all checksums are right: the shards were written with wrong parities */
    return refuse("%s: the parities do not match the data; no shard is damaged", set->header.name);
  shard_set_say_bad(set);
  status = open_targets(job);
  if (status == STRIPE_OK && job->count > 0)
    status = rebuild_payload(job, opt->quiet);
  for (unsigned n = 0; n < job->count && status == STRIPE_OK; n++)
    status = finish_target(job, n);
  if (status == STRIPE_OK)
    status = output_commit(job->outs, job->count, true);
  if (status == STRIPE_OK && job->count == 0)
    say("%s: all %u shards are intact, nothing to repair", set->header.name, set->shards);
  for (unsigned n = 0; n < job->count && status == STRIPE_OK; n++)
    say("%s: rebuilt", set->slots[job->rebuilt[n]].path);
  return status;
}

int command_repair(const options *opt) {
  repair *job = must_alloc(1, sizeof *job);
  job->set = must_alloc(1, sizeof *job->set);
  int status = repair_run(job, opt);
  output_discard(job->outs, SHARD_MAX_SHARDS);
  for (unsigned n = 0; n < job->count; n++)
    XXH3_freeState(job->sums[n]);
  shard_set_close(job->set);
  free(job->set);
  free(job);
  return status;
}
