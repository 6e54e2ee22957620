/* gfsmith as a contender: the public interface, by code name if the library has the code. */
#include <gfsmith.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "contenders.h"

typedef struct contender {
  gfsmith_codec *codec;
  gfsmith_codec *ordinary; /* in packet layout: the same code without it, otherwise NULL */
  size_t region;           /* lengths are multiples of it */
  bool update;             /* one call for each source, adding to the parities */
  bool named;
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
 * "+packet512" or "+update". */
static const char *adapt(contender *peer, const bench_spec *spec, const char *hint) {
  static const char packets[] = "+packet";
  if (*hint == '\0')
    return NULL;
  if (strncmp(hint, packets, sizeof packets - 1) == 0)
    return choose_packets(peer, spec, hint + sizeof packets - 1);
  peer->update = strcmp(hint, "+update") == 0;
  if (peer->update)
    return NULL;
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

static void run(void *opaque, const bench_job *job) {
  const contender *peer = opaque;
  /* The driver computes the matrix from shards of a few bytes, which are shorter than packets. */
  const gfsmith_codec *codec = job->len % peer->region == 0 ? peer->codec : peer->ordinary;
  uint8_t *shard[BENCH_MAX_SHARDS];
  bench_point(job, 0, shard);
  for (size_t n = 0; n < job->count; n++) {
    if (job->order != NULL)
      bench_point(job, n, shard);
    if (peer->update)
      update(peer, job, shard);
    else
      (void)gfsmith_encode(codec, job->len, (const uint8_t *const *)shard, shard + job->k);
  }
}

int gfsmith_contender_named(const void *opaque) { return ((const contender *)opaque)->named; }

const peer_api gfsmith_contender = {open_codec, run, close_codec};
