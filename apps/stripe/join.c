/* stripe join: the original file from any k intact shards. */
#include "commands.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "shardset.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct join {
  shard_set *set;
  bool use[SHARD_MAX_SHARDS];
  bool wanted[SHARD_MAX_SHARDS];
  bool rebuild; /* is any data shard lost? */
  XXH3_state_t *sum;
  output out;
} join;

static int check_target(const shard_set *set, const options *opt) {
  struct stat info, other;
  if (stat(opt->output, &info) != 0)
    return STRIPE_OK; /* any error is reported when the temporary file is created */
  if (!S_ISREG(info.st_mode))
    return refuse("%s is not a regular file", opt->output);
  if (!opt->force)
    return refuse("%s already exists (--force replaces it)", opt->output);
  for (unsigned i = 0; i < set->shards; i++)
    if (stat(set->slots[i].path, &other) == 0 && other.st_dev == info.st_dev &&
        other.st_ino == info.st_ino)
      return refuse("%s is one of the shards", opt->output);
  return STRIPE_OK;
}

static int join_stripe(join *job, uint64_t stripe) {
  const shard_set *set = job->set;
  const shard_header *h = &set->header;
  size_t bytes = shard_stripe_bytes(h, stripe);
  uint64_t at = stripe * h->k * h->block;
  uint64_t rest = h->length - at;
  size_t size = rest < bytes * h->k ? (size_t)rest : bytes * h->k;
  uint8_t *blocks[SHARD_MAX_SHARDS];
  shard_set_blocks(set, bytes, blocks);
  int status = shard_set_read(set, job->use, stripe, blocks);
  if (status == STRIPE_OK && job->rebuild) {
    gfsmith_status coded = gfsmith_reconstruct(set->codec, bytes, blocks, job->use, job->wanted);
    if (coded != GFSMITH_OK)
      status = refuse("%s: cannot reconstruct: %s", h->name, gfsmith_strerror(coded));
  }
  if (status != STRIPE_OK)
    return status;
  XXH3_128bits_update(job->sum, set->memory, size);
  return output_write(&job->out, set->memory, size, at);
}

static int join_payload(join *job, bool quiet) {
  const shard_header *h = &job->set->header;
  uint64_t stripes = shard_stripes(h);
  uint64_t span = (uint64_t)h->k * h->block;
  int status = STRIPE_OK;
  progress bar;
  progress_begin(&bar, "join", h->length, quiet);
  for (uint64_t s = 0; s < stripes && status == STRIPE_OK; s++) {
    status = report_interrupted() ? STRIPE_REFUSED : join_stripe(job, s);
    progress_add(&bar, s + 1 < stripes ? span : h->length - s * span);
  }
  progress_end(&bar);
  return status;
}

static int join_run(join *job, const options *opt) {
  bool parity_ok = true;
  shard_set *set = job->set;
  int status = shard_set_open(set, opt->paths, opt->count);
  if (status == STRIPE_OK)
    status = check_target(set, opt);
  if (status == STRIPE_OK)
    status = shard_set_scan(set, opt->quiet, &parity_ok);
  if (status == STRIPE_OK)
    status = shard_set_require(set);
  if (status != STRIPE_OK)
    return status;
  shard_set_sources(set, job->use);
  for (unsigned i = 0; i < set->header.k; i++)
    job->rebuild |= job->wanted[i] = !job->use[i];
  job->sum = hash_create();
  output_plan(&job->out, opt->output);
  status = output_open(&job->out, 1, set->mode);
  if (status == STRIPE_OK)
    status = join_payload(job, opt->quiet);
  if (status != STRIPE_OK)
    return status;
  shard_sum sum = shard_sum_digest(job->sum);
  if (!shard_sum_equal(&sum, &set->header.original))
    return refuse("%s: the joined file does not have the checksum of the original", opt->output);
  status = output_commit(&job->out, 1, opt->force);
  if (status == STRIPE_OK)
    say("%s: %" PRIu64 " bytes, checksum as recorded", opt->output, set->header.length);
  return status;
}

int command_join(const options *opt) {
  join *job = must_alloc(1, sizeof *job);
  job->set = must_alloc(1, sizeof *job->set);
  int status = join_run(job, opt);
  output_discard(&job->out, 1);
  XXH3_freeState(job->sum);
  shard_set_close(job->set);
  free(job->set);
  free(job);
  return status;
}
