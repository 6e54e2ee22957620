/* Jerasure with gf-complete as a peer, over GF(2^8), 0x11d: jerasure_matrix_encode, or with the
 * variant "packet512" and similar ones the smart schedule of the bit matrix, in packets of this
 * number of bytes. */
#include <jerasure.h>
#include <stdlib.h>
#include <string.h>

#include "../driver/peer.h"

typedef struct codec {
  int *matrix;
  int **schedule; /* NULL: encode with the matrix */
  int packet;
} codec;

static const char *make_schedule(codec *out, const bench_spec *spec, const char *bytes) {
  char *end;
  long packet = strtol(bytes, &end, 10);
  if (packet <= 0 || packet > 1 << 20 || *end != '\0' || packet % (long)sizeof(long) != 0)
    return "packets are multiples of 8 bytes";
  if (spec->len % (8 * (size_t)packet) != 0)
    return "lengths are multiples of 8 packets";
  out->packet = (int)packet;
  int *bits = jerasure_matrix_to_bitmatrix((int)spec->k, (int)spec->m, 8, out->matrix);
  if (bits == NULL)
    return "out of memory";
  out->schedule = jerasure_smart_bitmatrix_to_schedule((int)spec->k, (int)spec->m, 8, bits);
  free(bits);
  return out->schedule != NULL ? NULL : "out of memory";
}

void peer_close(void *opaque);

const char *peer_open(void **out, const bench_spec *spec) {
  static const char packets[] = "packet";
  if (spec->len % sizeof(long) != 0)
    return "lengths are multiples of 8 bytes";
  size_t count = (size_t)spec->k * spec->m;
  codec *made = calloc(1, sizeof *made);
  int *matrix = malloc(count * sizeof *matrix);
  if (made == NULL || matrix == NULL) {
    free(made);
    free(matrix);
    return "out of memory";
  }
  for (size_t n = 0; n < count; n++)
    matrix[n] = spec->matrix[n];
  made->matrix = matrix;
  const char *why = NULL;
  if (strncmp(spec->variant, packets, sizeof packets - 1) == 0)
    why = make_schedule(made, spec, spec->variant + sizeof packets - 1);
  if (why != NULL)
    peer_close(made);
  else
    *out = made;
  return why;
}

void peer_run(void *opaque, const bench_job *job) {
  codec *made = opaque;
  uint8_t *shard[BENCH_MAX_SHARDS];
  bench_point(job, 0, shard);
  char **data = (char **)shard, **coding = data + job->k;
  int k = (int)job->k, m = (int)job->m, len = (int)job->len;
  for (size_t n = 0; n < job->count; n++) {
    if (job->order != NULL)
      bench_point(job, n, shard);
    if (made->schedule != NULL)
      jerasure_schedule_encode(k, m, 8, made->schedule, data, coding, len, made->packet);
    else
      jerasure_matrix_encode(k, m, 8, made->matrix, data, coding, len);
  }
}

void peer_close(void *opaque) {
  codec *made = opaque;
  if (made->schedule != NULL)
    jerasure_free_schedule(made->schedule);
  free(made->matrix);
  free(made);
}
