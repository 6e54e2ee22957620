/* ISA-L 2.32 as a peer: the high-level function of one instruction set, called like its dispatcher.
 * With BENCH_DROPIN gfsmith's replacement for it, whose only set is "auto": that of this CPU.
 * Variants: the set; with "+update" one call for each source, which adds to the parities; with
 * "+mul" the product by one constant, which has no AVX2 kernel but one for AVX; with "+split12" a
 * stripe decomposed into narrower ones of at most 12 sources: each is encoded separately, all but
 * the first into a buffer that is then added to the parities.
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

typedef void update_fn(int len, int k, int rows, int j, byte *tables, byte *data, byte **coding);
typedef int mul_fn(int len, byte *tables, byte *data, byte *coding);

#ifdef BENCH_DROPIN
encode_fn ec_encode_data;
update_fn ec_encode_data_update;
tables_fn ec_init_tables;
#else
encode_fn ec_encode_data_avx2, ec_encode_data_avx512;
encode_fn ec_encode_data_avx2_gfni, ec_encode_data_avx512_gfni;
update_fn ec_encode_data_update_avx2, ec_encode_data_update_avx512;
update_fn ec_encode_data_update_avx2_gfni, ec_encode_data_update_avx512_gfni;
mul_fn gf_vect_mul_avx, gf_vect_mul_avx2_gfni;
tables_fn ec_init_tables_base, ec_init_tables_gfni;
#endif

typedef struct set {
  const char *variant;
  encode_fn *encode;
  update_fn *update;
  mul_fn *mul;
  tables_fn *tables;
} set;

static const set SETS[] = {
#ifdef BENCH_DROPIN
    {"auto", ec_encode_data, ec_encode_data_update, NULL, ec_init_tables},
#else
    {"avx", NULL, NULL, gf_vect_mul_avx, ec_init_tables_base},
    {"avx2", ec_encode_data_avx2, ec_encode_data_update_avx2, NULL, ec_init_tables_base},
    {"avx512", ec_encode_data_avx512, ec_encode_data_update_avx512, NULL, ec_init_tables_base},
    {"avx2_gfni", ec_encode_data_avx2_gfni, ec_encode_data_update_avx2_gfni, gf_vect_mul_avx2_gfni,
     ec_init_tables_gfni},
    {"avx512_gfni", ec_encode_data_avx512_gfni, ec_encode_data_update_avx512_gfni, NULL,
     ec_init_tables_gfni},
#endif
};

/* One of the three function pointers is not NULL. */
typedef struct peer {
  encode_fn *encode;
  update_fn *update;
  mul_fn *mul;
  unsigned split; /* sources of a narrower stripe, with encode; 0: all */
  byte *sums;     /* m blocks, if split: the parities of a narrower stripe */
  byte tables[];
} peer;

/* Select the function for the suffix of the variant; false if there is none. */
static bool choose(peer *made, const set *from, const bench_spec *spec, const char *end) {
  static const char split[] = "+split";
  *made = (peer){NULL, NULL, NULL, 0, NULL};
  if (strncmp(end, split, sizeof split - 1) == 0)
    made->split = (unsigned)atoi(end + sizeof split - 1);
  if (*end == '\0' || made->split > 0)
    made->encode = from->encode;
  else if (strcmp(end, "+update") == 0)
    made->update = from->update;
  else if (strcmp(end, "+mul") == 0 && spec->k == 1 && spec->m == 1 && spec->len % 32 == 0)
    made->mul = from->mul;
  return made->encode != NULL || made->update != NULL || made->mul != NULL;
}

static bool supported(const char *variant) {
  bool gfni = strstr(variant, "gfni") == NULL || __builtin_cpu_supports("gfni");
  bool wide = strstr(variant, "avx512") == NULL ||
              (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"));
  return gfni && wide && __builtin_cpu_supports("avx2");
}

/* Distance of two sums: a line more than the length, so that they do not share cache sets. */
static size_t split_pitch(size_t len) { return (len + 63) / 64 * 64 + 64; }

/* Prepare the tables of the narrower stripes, one after the other, from their columns of the
 * matrix. */
static bool prepare_split(peer *made, const set *from, const bench_spec *spec) {
  byte *columns = malloc((size_t)made->split * spec->m);
  made->sums = aligned_alloc(64, split_pitch(spec->len) * spec->m);
  if (columns == NULL || made->sums == NULL) {
    free(columns);
    free(made->sums);
    return false;
  }
  for (unsigned first = 0, k; first < spec->k; first += k) {
    k = spec->k - first < made->split ? spec->k - first : made->split;
    for (unsigned i = 0; i < spec->m; i++)
      memcpy(columns + i * k, spec->matrix + i * spec->k + first, k);
    from->tables((int)k, (int)spec->m, columns, made->tables + (size_t)32 * first * spec->m);
  }
  free(columns);
  return true;
}

const char *peer_open(void **out, const bench_spec *spec) {
  const set *found = NULL;
  size_t size = strcspn(spec->variant, "+");
  for (size_t n = 0; n < sizeof SETS / sizeof *SETS; n++)
    if (strlen(SETS[n].variant) == size && strncmp(SETS[n].variant, spec->variant, size) == 0)
      found = &SETS[n];
  if (found == NULL || !supported(spec->variant))
    return found == NULL ? "no such variant" : "not supported by this CPU";
  peer *made = malloc(sizeof *made + 32 * (size_t)spec->k * spec->m);
  if (made == NULL || spec->len > INT_MAX) {
    free(made);
    return "out of memory";
  }
  if (!choose(made, found, spec, spec->variant + size)) {
    free(made);
    return "no such function";
  }
  if (made->split > 0 && !prepare_split(made, found, spec)) {
    free(made);
    return "out of memory";
  }
  if (made->split == 0)
    found->tables((int)spec->k, (int)spec->m, (byte *)spec->matrix, made->tables);
  *out = made;
  return NULL;
}

typedef uint64_t words __attribute__((vector_size(64), aligned(1), may_alias));

/* to += from */
__attribute__((target("avx2"))) static void add(byte *to, const byte *from, size_t len) {
  size_t at = 0;
  for (; at + sizeof(words) <= len; at += sizeof(words))
    *(words *)(to + at) ^= *(const words *)(from + at);
  for (; at < len; at++)
    to[at] ^= from[at];
}

static void encode_split(const peer *isal, const bench_job *job, uint8_t **shard) {
  byte *sums[BENCH_MAX_SHARDS];
  size_t pitch = split_pitch(job->len);
  for (unsigned i = 0; i < job->m; i++)
    sums[i] = isal->sums + i * pitch;
  for (unsigned first = 0, k; first < job->k; first += k) {
    k = job->k - first < isal->split ? job->k - first : isal->split;
    byte *tables = (byte *)isal->tables + (size_t)32 * first * job->m;
    byte **to = first == 0 ? shard + job->k : sums;
    isal->encode((int)job->len, (int)k, (int)job->m, tables, shard + first, to);
    for (unsigned i = 0; i < job->m && first > 0; i++)
      add(shard[job->k + i], sums[i], job->len);
  }
}

static void encode(const peer *isal, const bench_job *job, uint8_t **shard) {
  int len = (int)job->len, k = (int)job->k, m = (int)job->m;
  byte *tables = (byte *)isal->tables;
  if (isal->split > 0)
    encode_split(isal, job, shard);
  else if (isal->encode != NULL)
    isal->encode(len, k, m, tables, shard, shard + k);
  else if (isal->mul != NULL)
    isal->mul(len, tables, shard[0], shard[1]);
  else
    for (int j = 0; j < k; j++)
      isal->update(len, k, m, j, tables, shard[j], shard + k);
}

void peer_run(void *opaque, const bench_job *job) {
  peer *isal = opaque;
  uint8_t *shard[BENCH_MAX_SHARDS];
  bench_point(job, 0, shard);
  for (size_t n = 0; n < job->count; n++) {
    if (job->order != NULL)
      bench_point(job, n, shard);
    encode(isal, job, shard);
  }
}

void peer_close(void *opaque) {
  free(((peer *)opaque)->sums);
  free(opaque);
}
