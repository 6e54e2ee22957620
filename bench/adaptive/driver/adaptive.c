#include "adaptive.h"

#include <gfsmith_adaptive.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct peer {
  gfsmith_codec *codec;
  gfsmith_adaptive *own; /* of a contender with a policy */
  char code[NAME_SIZE];
  unsigned k, m;
  unsigned users;
} peer;

enum { MAX_PEERS = 32 };

static gfsmith_adaptive *shared;
static const char *trace;
static peer *adapting[MAX_PEERS];

void adaptive_trace(const char *file) { trace = file; }

/* A coordinator that adapts, or with a fixed policy. It ignores the environment. */
static gfsmith_status coordinator(gfsmith_adaptive **out, const char *policy) {
  gfsmith_adaptive_options options;
  gfsmith_adaptive_defaults(&options);
  options.policy = policy;
  options.trace = policy == NULL ? trace : NULL;
  return gfsmith_adaptive_create(out, &options);
}

static void discard(peer *made) {
  gfsmith_codec_destroy(made->codec);
  gfsmith_adaptive_destroy(made->own);
  free(made);
}

/* A codec for shards in memory, with the given coordinator. */
static gfsmith_status codec_make(peer *made, const bench_spec *spec, gfsmith_adaptive *with) {
  gfsmith_status status = gfsmith_codec_create(&made->codec, spec->code, spec->k, spec->m);
  if (status == GFSMITH_OK)
    status = gfsmith_codec_hint(made->codec, GFSMITH_HINT_STREAMING);
  if (status == GFSMITH_OK)
    status = gfsmith_codec_adaptive(made->codec, with);
  return status;
}

static const char *open_policy(void **out, const bench_spec *spec) {
  peer *made = calloc(1, sizeof *made);
  if (made == NULL)
    return "out of memory";
  gfsmith_status status = coordinator(&made->own, spec->variant);
  if (status == GFSMITH_OK)
    status = codec_make(made, spec, made->own);
  if (status != GFSMITH_OK) {
    discard(made);
    return gfsmith_strerror(status);
  }
  *out = made;
  return NULL;
}

/* The codec of this code and shape if there is one, otherwise the place for a new one. */
static peer **find(const bench_spec *spec) {
  peer **room = NULL;
  for (unsigned n = 0; n < MAX_PEERS; n++)
    if (adapting[n] == NULL)
      room = &adapting[n];
  for (unsigned n = 0; n < MAX_PEERS; n++) {
    const peer *one = adapting[n];
    if (one != NULL && strcmp(one->code, spec->code) == 0 && one->k == spec->k && one->m == spec->m)
      room = &adapting[n];
  }
  return room;
}

static const char *open_adaptive(void **out, const bench_spec *spec) {
  gfsmith_status status = gfsmith_set_isa(spec->variant);
  if (status == GFSMITH_OK && shared == NULL)
    status = coordinator(&shared, NULL);
  if (status != GFSMITH_OK)
    return gfsmith_strerror(status);
  peer **place = find(spec);
  if (place == NULL || strlen(spec->code) >= NAME_SIZE)
    return "too many codecs";
  if (*place == NULL) {
    peer *made = calloc(1, sizeof *made);
    if (made == NULL)
      return "out of memory";
    status = codec_make(made, spec, shared);
    if (status != GFSMITH_OK) {
      discard(made);
      return gfsmith_strerror(status);
    }
    snprintf(made->code, sizeof made->code, "%s", spec->code);
    made->k = spec->k, made->m = spec->m;
    *place = made;
  }
  (*place)->users++;
  *out = *place;
  return NULL;
}

static void run(void *opaque, const bench_job *job) {
  const peer *encoder = opaque;
  uint8_t *shard[BENCH_MAX_SHARDS];
  bench_point(job, 0, shard);
  for (size_t n = 0; n < job->count; n++) {
    if (job->order != NULL)
      bench_point(job, n, shard);
    (void)gfsmith_encode(encoder->codec, job->len, (const uint8_t *const *)shard, shard + job->k);
  }
}

static void close_policy(void *opaque) { discard(opaque); }

static void close_adaptive(void *opaque) {
  peer *closed = opaque;
  if (--closed->users > 0)
    return;
  for (unsigned n = 0; n < MAX_PEERS; n++)
    if (adapting[n] == closed)
      adapting[n] = NULL;
  discard(closed);
}

void adaptive_policy(const void *opaque, size_t len, char *text, size_t size) {
  const peer *asked = opaque;
  if (gfsmith_adaptive_policy(shared, asked->codec, len, text, size) == 0)
    snprintf(text, size, "none");
}

const peer_api adaptive_contender = {open_adaptive, run, close_adaptive};
const peer_api policy_contender = {open_policy, run, close_policy};
