/* stripe split: splits a file into k + m shards. */
#include "commands.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "shardset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct split {
  shard_header header;
  unsigned shards;
  const char *input_path;
  const char *folder;
  char *parent;     /* of the folder */
  bool made_folder; /* by this run */
  int input;
  struct stat input_info;
  gfsmith_codec *codec;
  uint8_t *memory; /* k + m blocks */
  XXH3_state_t *original;
  XXH3_state_t *sums[SHARD_MAX_SHARDS];
  output outs[SHARD_MAX_SHARDS];
} split;

static int open_input(split *job) {
  job->input = open(job->input_path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (job->input < 0)
    return refuse("cannot open %s: %s", job->input_path, strerror(errno));
  if (fstat(job->input, &job->input_info) != 0 || !S_ISREG(job->input_info.st_mode))
    return refuse("%s is not a regular file", job->input_path);
  return STRIPE_OK;
}

static int fill_header(split *job, const options *opt) {
  char why[SHARD_WHY_BYTES];
  shard_header *h = &job->header;
  const char *slash = strrchr(job->input_path, '/');
  const char *name = slash == NULL ? job->input_path : slash + 1;
  h->polynomial = SHARD_POLYNOMIAL;
  h->k = opt->k;
  h->m = opt->m;
  h->block = opt->block;
  h->length = (uint64_t)job->input_info.st_size;
  /* A name that is too long fills its field without a terminating NUL, which makes it invalid. */
  snprintf(h->code, sizeof h->code, "%s", opt->code);
  snprintf(h->name, sizeof h->name, "%s", name);
  if (strlen(opt->code) >= sizeof h->code)
    return refuse("unknown code \"%s\"", opt->code);
  if (!shard_header_valid(h, why))
    return refuse("cannot split %s: %s", job->input_path, why);
  job->shards = h->k + h->m;
  return shard_codec(&job->codec, job->input_path, h->code, h->k, h->m);
}

static char *shard_path(const split *job, unsigned index) {
  char name[SHARD_NAME_BYTES + 16];
  snprintf(name, sizeof name, "%s.%03u.gfs", job->header.name, index);
  return path_join(job->folder, name);
}

/* No shard with these names may exist, except those that --force will replace. */
static int look_at_folder(const split *job, bool force) {
  int status = STRIPE_OK;
  for (unsigned i = 0; i < SHARD_MAX_SHARDS && status == STRIPE_OK; i++) {
    char *path = shard_path(job, i);
    if (path_exists(path) && !force)
      status = refuse("%s already exists (--force replaces it)", path);
    else if (path_exists(path) && i >= job->shards)
      status = refuse("%s already exists, of a set with more shards: remove it first", path);
    free(path);
  }
  return status;
}

/* Creates the folder if it is missing; its parent must exist. */
static int make_folder(split *job) {
  struct stat info;
  if (stat(job->folder, &info) == 0)
    return S_ISDIR(info.st_mode) ? STRIPE_OK
                                 : refuse("cannot write to %s: it is not a folder", job->folder);
  if (errno != ENOENT)
    return refuse("cannot write to %s: %s", job->folder, strerror(errno));
  if (mkdir(job->folder, 0777) != 0)
    return refuse("cannot create the folder %s: %s", job->folder, strerror(errno));
  job->made_folder = true;
  return STRIPE_OK;
}

static int open_outputs(split *job, const options *opt) {
  int status = look_at_folder(job, opt->force);
  for (unsigned i = 0; i < job->shards && status == STRIPE_OK; i++) {
    char *path = shard_path(job, i);
    output_plan(&job->outs[i], path);
    free(path);
  }
  if (status == STRIPE_OK)
    status = make_folder(job);
  return status == STRIPE_OK ? output_open(job->outs, job->shards, job->input_info.st_mode)
                             : status;
}

static int split_stripe(split *job, uint64_t stripe) {
  const shard_header *h = &job->header;
  uint64_t at = stripe * h->k * h->block;
  size_t bytes = shard_stripe_bytes(h, stripe);
  size_t room = bytes * h->k;
  size_t wanted = h->length - at < room ? (size_t)(h->length - at) : room;
  uint8_t *blocks[SHARD_MAX_SHARDS];
  int status = STRIPE_OK;
  ssize_t n = read_at(job->input, job->memory, wanted, at);
  if (n < 0)
    return refuse("cannot read %s: %s", job->input_path, strerror(errno));
  if ((size_t)n < wanted)
    return refuse("%s became shorter while it was read", job->input_path);
  memset(job->memory + wanted, 0, room - wanted);
  XXH3_128bits_update(job->original, job->memory, wanted);
  for (unsigned i = 0; i < job->shards; i++)
    blocks[i] = job->memory + i * bytes;
  gfsmith_status coded =
      gfsmith_encode(job->codec, bytes, (const uint8_t *const *)blocks, blocks + h->k);
  if (coded != GFSMITH_OK)
    return refuse("cannot encode: %s", gfsmith_strerror(coded));
  for (unsigned i = 0; i < job->shards && status == STRIPE_OK; i++) {
    XXH3_128bits_update(job->sums[i], blocks[i], bytes);
    status = output_write(&job->outs[i], blocks[i], bytes, shard_stripe_offset(h, stripe));
  }
  return status;
}

static int split_payload(split *job, bool quiet) {
  uint64_t stripes = shard_stripes(&job->header);
  uint64_t span = (uint64_t)job->header.k * job->header.block;
  int status = STRIPE_OK;
  progress bar;
  progress_begin(&bar, "split", job->header.length, quiet);
  for (uint64_t s = 0; s < stripes && status == STRIPE_OK; s++) {
    status = report_interrupted() ? STRIPE_REFUSED : split_stripe(job, s);
    progress_add(&bar, s + 1 < stripes ? span : job->header.length - s * span);
  }
  progress_end(&bar);
  return status;
}

static int check_unchanged(const split *job) {
  struct stat info;
  if (fstat(job->input, &info) == 0 && info.st_size == job->input_info.st_size &&
      info.st_mtim.tv_sec == job->input_info.st_mtim.tv_sec &&
      info.st_mtim.tv_nsec == job->input_info.st_mtim.tv_nsec)
    return STRIPE_OK;
  return refuse("%s changed while it was read", job->input_path);
}

/* The checksums are known only at the end, so the headers are written last. */
static int write_headers(split *job) {
  uint8_t raw[SHARD_HEADER_BYTES];
  int status = STRIPE_OK;
  job->header.original = shard_sum_digest(job->original);
  for (unsigned i = 0; i < job->shards; i++)
    job->header.payload[i] = shard_sum_digest(job->sums[i]);
  for (unsigned i = 0; i < job->shards && status == STRIPE_OK; i++) {
    job->header.index = i;
    shard_header_write(&job->header, raw);
    status = output_write(&job->outs[i], raw, sizeof raw, 0);
  }
  return status;
}

static int split_run(split *job, const options *opt) {
  int status = open_input(job);
  if (status == STRIPE_OK)
    status = fill_header(job, opt);
  if (status != STRIPE_OK)
    return status;
  job->memory = must_aligned((size_t)job->shards * job->header.block);
  job->original = hash_create();
  for (unsigned i = 0; i < job->shards; i++)
    job->sums[i] = hash_create();
  status = open_outputs(job, opt);
  if (status == STRIPE_OK)
    status = split_payload(job, opt->quiet);
  if (status == STRIPE_OK)
    status = check_unchanged(job);
  if (status == STRIPE_OK)
    status = write_headers(job);
  if (status == STRIPE_OK)
    status = output_commit(job->outs, job->shards, opt->force);
  if (status == STRIPE_OK && job->made_folder)
    status = output_flush_folder(job->parent);
  if (status == STRIPE_OK)
    say("%s: %u shards in %s", job->header.name, job->shards, job->folder);
  return status;
}

int command_split(const options *opt) {
  split *job = must_alloc(1, sizeof *job);
  job->input_path = opt->paths[0];
  job->folder = opt->paths[1];
  job->parent = path_join(job->folder, "..");
  job->input = -1;
  int status = split_run(job, opt);
  output_discard(job->outs, SHARD_MAX_SHARDS);
  if (status != STRIPE_OK && job->made_folder)
    rmdir(job->folder); /* refused by the system if shards are in it */
  if (job->input >= 0)
    close(job->input);
  for (unsigned i = 0; i < job->shards; i++)
    XXH3_freeState(job->sums[i]);
  XXH3_freeState(job->original);
  gfsmith_codec_destroy(job->codec);
  free(job->parent);
  free(job->memory);
  free(job);
  return status;
}
