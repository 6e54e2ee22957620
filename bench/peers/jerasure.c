/* Jerasure with gf-complete as a peer: jerasure_matrix_encode over GF(2^8), 0x11d. */
#include <jerasure.h>
#include <stdlib.h>

#include "../driver/peer.h"

const char *peer_open(void **out, const bench_spec *spec) {
  if (spec->len % sizeof(long) != 0)
    return "lengths are multiples of 8 bytes";
  size_t count = (size_t)spec->k * spec->m;
  int *matrix = malloc(count * sizeof *matrix);
  if (matrix == NULL)
    return "out of memory";
  for (size_t n = 0; n < count; n++)
    matrix[n] = spec->matrix[n];
  *out = matrix;
  return NULL;
}

void peer_run(void *opaque, const bench_job *job) {
  uint8_t *shard[BENCH_MAX_SHARDS];
  bench_point(job, 0, shard);
  for (size_t n = 0; n < job->count; n++) {
    if (job->order != NULL)
      bench_point(job, n, shard);
    jerasure_matrix_encode((int)job->k, (int)job->m, 8, opaque, (char **)shard,
                           (char **)shard + job->k, (int)job->len);
  }
}

void peer_close(void *opaque) { free(opaque); }
