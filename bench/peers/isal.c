/* ISA-L 2.32 as a peer: the high-level function of one instruction set, as its dispatcher calls it.
 *
 * ISA-L's own translation unit defines these functions without declaring them in a public header.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../driver/peer.h"

typedef unsigned char byte;
typedef void encode_fn(int len, int k, int rows, byte *tables, byte **data, byte **coding);
typedef void tables_fn(int k, int rows, byte *matrix, byte *tables);

encode_fn ec_encode_data_avx2, ec_encode_data_avx512;
encode_fn ec_encode_data_avx2_gfni, ec_encode_data_avx512_gfni;
tables_fn ec_init_tables_base, ec_init_tables_gfni;

typedef struct set {
  const char *variant;
  encode_fn *encode;
  tables_fn *tables;
} set;

static const set SETS[] = {
    {"avx2", ec_encode_data_avx2, ec_init_tables_base},
    {"avx512", ec_encode_data_avx512, ec_init_tables_base},
    {"avx2_gfni", ec_encode_data_avx2_gfni, ec_init_tables_gfni},
    {"avx512_gfni", ec_encode_data_avx512_gfni, ec_init_tables_gfni},
};

typedef struct peer {
  encode_fn *encode;
  byte tables[];
} peer;

static bool supported(const char *variant) {
  bool gfni = strstr(variant, "gfni") == NULL || __builtin_cpu_supports("gfni");
  bool wide = strstr(variant, "avx512") == NULL ||
              (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"));
  return gfni && wide && __builtin_cpu_supports("avx2");
}

const char *peer_open(void **out, const bench_spec *spec) {
  const set *found = NULL;
  for (size_t n = 0; n < sizeof SETS / sizeof *SETS; n++)
    if (strcmp(SETS[n].variant, spec->variant) == 0)
      found = &SETS[n];
  if (found == NULL || !supported(spec->variant))
    return found == NULL ? "no such variant" : "not supported by this CPU";
  peer *made = malloc(sizeof *made + 32 * (size_t)spec->k * spec->m);
  if (made == NULL || spec->len > INT_MAX) {
    free(made);
    return "out of memory";
  }
  made->encode = found->encode;
  found->tables((int)spec->k, (int)spec->m, (byte *)spec->matrix, made->tables);
  *out = made;
  return NULL;
}

void peer_run(void *opaque, const bench_job *job) {
  peer *isal = opaque;
  uint8_t *shard[BENCH_MAX_SHARDS];
  bench_point(job, 0, shard);
  for (size_t n = 0; n < job->count; n++) {
    if (job->order != NULL)
      bench_point(job, n, shard);
    isal->encode((int)job->len, (int)job->k, (int)job->m, isal->tables, shard, shard + job->k);
  }
}

void peer_close(void *opaque) { free(opaque); }
