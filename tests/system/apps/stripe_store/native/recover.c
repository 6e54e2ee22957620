/* Recovery of many values without chunk servers: `recover FOLDER KEYS VERSIONS SEED`.
 *
 * Each key has that many versions. With the seed 0, one chunk server lacks a chunk of each version,
 * but not of the first of several, and only the first version can be read. With another seed,
 * chunks and versions that can be read are random. It prints the steps of recover.c, which is
 * compiled with -fsanitize-coverage=trace-pc, and the version of each key. */
#include "agent/recover.h"
#include "agent/index.h"
#include "common/report.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAST = 5, FIRST_VERSION = 100 };

static unsigned long steps;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) { steps++; }

typedef struct scene {
  agent agent;
  unsigned keys, versions, seed;
} scene;

static uint64_t version_of(const scene *s, unsigned key, unsigned n) {
  return FIRST_VERSION + (uint64_t)n * s->keys + key;
}

static bool is_first(const scene *s, uint64_t version) { return version < FIRST_VERSION + s->keys; }

static unsigned draw(const scene *s, uint64_t version, unsigned below) {
  uint8_t seed[randombytes_SEEDBYTES] = {(uint8_t)s->seed, (uint8_t)below};
  unsigned drawn;
  put_le(seed + 2, version, 8);
  put_le(seed + 10, s->seed, 4);
  randombytes_buf_deterministic(&drawn, sizeof drawn, seed);
  return drawn % below;
}

static bool readable(const scene *s, uint64_t version) {
  return s->seed == 0 ? is_first(s, version) : draw(s, version, 3) == 0;
}

/* The ranks without a chunk. */
static uint64_t lacking(const scene *s, uint64_t version) {
  if (s->seed == 0)
    return s->versions > 1 && is_first(s, version) ? 0 : 2;
  return draw(s, version, 4) == 0 ? 0 : draw(s, version, 16) << 1;
}

static void add(scene *s, unsigned key, uint64_t version) {
  agent *a = &s->agent;
  uint8_t bytes[RECORD_MAX];
  record r = {.version = version, .length = 5, .key_bytes = 8};
  snprintf(r.key, sizeof r.key, "%08u", key);
  size_t length = record_encode(&r, bytes);
  uint64_t replicas = layout_replicas(a->layout, index_turn(a, r.key, r.key_bytes));
  for (uint16_t rank = 1; rank <= LAST; rank++) {
    if (!(lacking(s, version) >> rank & 1) && !versions_add(&a->nodes[rank].chunks, version))
      abort();
    if (replicas >> rank & 1 && !records_add(&a->nodes[rank].records, bytes, length))
      abort();
  }
}

static void recover(agent *a, const scene *s) {
  const entry *e;
  recover_try(a);
  while ((e = recover_doubt(a)) != NULL)
    if (readable(s, e->record.version))
      recover_readable(a);
    else
      recover_unreadable(a);
  recover_try(a);
}

int main(int argc, char **argv) {
  scene s = {0};
  agent *a = &s.agent;
  char reason[GFSMITH_REASON_MAX];
  report_name("recover");
  if (argc != 5 || sodium_init() < 0 ||
      !layout_create(&a->layout, &(layout_options){.scheme = "rs", .k = 3, .m = 2}, reason))
    return 1;
  a->folder = argv[1];
  a->group.formed = true;
  s.keys = (unsigned)atoi(argv[2]);
  s.versions = (unsigned)atoi(argv[3]);
  s.seed = (unsigned)atoi(argv[4]);
  for (uint16_t rank = 1; rank <= LAST; rank++)
    a->nodes[rank] = (node){.agent = a, .rank = rank, .state = NODE_LISTED};
  for (unsigned n = 0; n < s.versions; n++)
    for (unsigned key = 0; key < s.keys; key++)
      add(&s, key, version_of(&s, key, n));
  recover(a, &s);
  printf("%lu\n", steps);
  for (const entry *e = a->by_key; e != NULL; e = e->by_key.next)
    printf("%.8s %u\n", e->record.key, (unsigned)e->record.version);
  return !a->closed;
}
