/* gfsmith as a contender: the public interface, by code name if the library has the code. */
#include <gfsmith.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "contenders.h"

/* The stripes of a batch call; the last one of each call is encoded without a following one. */
enum { BATCH = 256, CACHED_BYTES = 256 << 10 };

typedef struct pointers {
  const uint8_t *data[BATCH * BENCH_MAX_SHARDS];
  uint8_t *parity[BATCH * BENCH_MAX_SHARDS];
} pointers;

typedef struct contender {
  gfsmith_codec *codec;
  gfsmith_codec *ordinary; /* in packet layout: the same code without it, otherwise NULL */
  size_t region;           /* lengths are multiples of it */
  bool update;             /* one call for each source, adding to the parities */
  bool named;
  bool prefetch;   /* gfsmith_prefetch of the next stripe before each call */
  pointers *batch; /* batch calls; NULL: a call for each stripe */
} contender;

static const char *create(contender *peer, const bench_spec *spec) {
  peer->region = 1;
  gfsmith_status status = gfsmith_codec_create(&peer->codec, spec->code, spec->k, spec->m);
  peer->named = status == GFSMITH_OK;
  if (peer->named)
    return NULL;
  if (status != GFSMITH_EINVAL && status != GFSMITH_ENOTMDS)
    return gfsmith_strerror(status);
  if (spec->matrix == NULL)
    return "not available in this build";
  status =
      gfsmith_codec_create_matrix(&peer->codec, GFSMITH_POLYNOMIAL, spec->k, spec->m, spec->matrix);
  return status == GFSMITH_OK ? NULL : gfsmith_strerror(status);
}

/* Set up a contender in packet layout, with packets of `bytes` bytes. */
static const char *choose_packets(contender *peer, const bench_spec *spec, const char *bytes) {
  char *end;
  size_t packet = strtoul(bytes, &end, 10);
  if (packet == 0 || packet > 1u << 20 || *end != '\0')
    return "no such packet size";
  peer->ordinary = peer->codec;
  const char *why = create(peer, spec);
  if (why != NULL)
    return why;
  peer->region = 8 * packet;
  gfsmith_status status = gfsmith_codec_packets(peer->codec, packet);
  return status == GFSMITH_OK ? NULL : gfsmith_strerror(status);
}

/* Handle the suffix after the instruction set in the variant: "", "+cached", "+streaming",
 * "+packet512", "+update", "+batch" or "+prefetch". */
static const char *adapt(contender *peer, const bench_spec *spec, const char *hint) {
  static const char packets[] = "+packet";
  if (*hint == '\0')
    return NULL;
  if (strncmp(hint, packets, sizeof packets - 1) == 0)
    return choose_packets(peer, spec, hint + sizeof packets - 1);
  peer->update = strcmp(hint, "+update") == 0;
  peer->prefetch = strcmp(hint, "+prefetch") == 0;
  if (peer->update || peer->prefetch)
    return NULL;
  if (strcmp(hint, "+batch") == 0) {
    peer->batch = malloc(sizeof *peer->batch);
    return peer->batch != NULL ? NULL : "out of memory";
  }
  bool streaming = strcmp(hint, "+streaming") == 0;
  if (!streaming && strcmp(hint, "+cached") != 0)
    return "no such hint";
  gfsmith_status status =
      gfsmith_codec_hint(peer->codec, streaming ? GFSMITH_HINT_STREAMING : GFSMITH_HINT_CACHED);
  return status == GFSMITH_OK ? NULL : gfsmith_strerror(status);
}

static const char *choose_isa(const char *variant, size_t size) {
  char isa[32];
  if (size >= sizeof isa)
    return "no such variant";
  memcpy(isa, variant, size);
  isa[size] = '\0';
  gfsmith_status status = gfsmith_set_isa(isa);
  if (status == GFSMITH_EINVAL)
    return "no such instruction set in this build";
  return status == GFSMITH_OK ? NULL : gfsmith_strerror(status);
}

static void close_codec(void *opaque) {
  contender *peer = opaque;
  gfsmith_codec_destroy(peer->codec);
  gfsmith_codec_destroy(peer->ordinary);
  free(peer->batch);
  free(peer);
}

static const char *open_codec(void **out, const bench_spec *spec) {
  size_t size = strcspn(spec->variant, "+");
  const char *why = choose_isa(spec->variant, size);
  if (why != NULL)
    return why;
  contender *peer = calloc(1, sizeof *peer);
  if (peer == NULL)
    return "out of memory";
  why = create(peer, spec);
  if (why == NULL)
    why = adapt(peer, spec, spec->variant + size);
  if (why != NULL)
    close_codec(peer);
  else
    *out = peer;
  return why;
}

static void update(const contender *peer, const bench_job *job, uint8_t *const *shard) {
  for (unsigned j = 0; j < job->k; j++)
    (void)gfsmith_update(peer->codec, job->len, j, shard[j], shard + job->k);
}

/* Write the pointers of `count` stripes of a job from stripe `first` on. */
static void point_batch(const bench_job *job, size_t first, size_t count, pointers *to) {
  uint8_t *shard[BENCH_MAX_SHARDS];
  for (size_t n = 0; n < count; n++) {
    bench_point(job, first + n, shard);
    memcpy(to->data + n * job->k, shard, job->k * sizeof *shard);
    memcpy(to->parity + n * job->m, shard + job->k, job->m * sizeof *shard);
  }
}

/* If all calls are for the same stripe, its pointers are written once, as for the other contenders,
 * and a call has no more stripes than would fit in a cache if they were different ones. */
static void run_batches(const contender *peer, const bench_job *job) {
  size_t most = BATCH;
  if (job->order == NULL) {
    size_t fit = CACHED_BYTES / ((job->k + job->m) * job->len);
    most = fit < 1 ? 1 : fit < BATCH ? fit : BATCH;
    point_batch(job, 0, most < job->count ? most : job->count, peer->batch);
  }
  for (size_t done = 0, count; done < job->count; done += count) {
    count = job->count - done < most ? job->count - done : most;
    if (job->order != NULL)
      point_batch(job, done, count, peer->batch);
    (void)gfsmith_encode_stripes(peer->codec, job->len, count, peer->batch->data,
                                 peer->batch->parity);
  }
}

static void prefetch(const contender *peer, const bench_job *job, size_t n) {
  uint8_t *shard[BENCH_MAX_SHARDS];
  if (n >= job->count || job->order == NULL)
    return;
  bench_point(job, n, shard);
  (void)gfsmith_prefetch(peer->codec, job->len, (const uint8_t *const *)shard);
}

static void run(void *opaque, const bench_job *job) {
  const contender *peer = opaque;
  if (peer->batch != NULL) {
    run_batches(peer, job);
    return;
  }
  /* The driver computes the matrix from shards of a few bytes, which are shorter than packets. */
  const gfsmith_codec *codec = job->len % peer->region == 0 ? peer->codec : peer->ordinary;
  uint8_t *shard[BENCH_MAX_SHARDS];
  bench_point(job, 0, shard);
  for (size_t n = 0; n < job->count; n++) {
    if (job->order != NULL)
      bench_point(job, n, shard);
    if (peer->prefetch)
      prefetch(peer, job, n + 1);
    if (peer->update)
      update(peer, job, shard);
    else
      (void)gfsmith_encode(codec, job->len, (const uint8_t *const *)shard, shard + job->k);
  }
}

int gfsmith_contender_named(const void *opaque) { return ((const contender *)opaque)->named; }

const peer_api gfsmith_contender = {open_codec, run, close_codec};
