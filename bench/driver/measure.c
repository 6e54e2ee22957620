/* A cell: contenders are opened, checked against each other, and timed in interleaved rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contenders.h"
#include "sample.h"

static void unavailable(const cell *cell, const char *who, const char *why) {
  printf("{\"cell\":\"%s\",\"unavailable\":\"%s\",\"why\":\"%s\"}\n", cell->id, who, why);
}

/* Open one instance for each thread; false if the contender cannot take part. */
static bool open_contender(const cell *cell, contender *who, unsigned threads) {
  bench_spec spec = cell_spec(cell, who);
  for (unsigned t = 0; t < threads; t++) {
    bool own = who->api == &gfsmith_contender || who->api == &algebra_contender ||
               who->api == &legacy_contender;
    const char *why = own || cell->has_matrix || !who->same_matrix
                          ? who->api->open(&who->instance[t], &spec)
                          : "the matrix is not known";
    if (why != NULL) {
      for (unsigned done = 0; done < t; done++)
        who->api->close(who->instance[done]);
      unavailable(cell, who->name, why);
      return false;
    }
  }
  return true;
}

/* Learn the parity matrix that gfsmith uses: data[j] is the j-th unit vector. */
static bool matrix_learn(cell *cell, contender *who, uint8_t *at) {
  unsigned k = cell->k, m = cell->m;
  bench_job job = {.base = at, .count = 1, .len = k, .pitch = 256, .k = k, .m = m};
  memset(at, 0, (size_t)(k + m) * job.pitch);
  for (unsigned j = 0; j < k; j++)
    at[j * job.pitch + j] = 1;
  who->api->run(who->instance[0], &job);
  bool same = true;
  if (!cell->has_matrix && (size_t)k * m > sizeof cell->matrix)
    return true;
  for (unsigned i = 0; i < m; i++) {
    const uint8_t *row = at + (k + i) * job.pitch;
    same &= !cell->has_matrix || memcmp(&cell->matrix[i * k], row, k) == 0;
    memcpy(&cell->matrix[i * k], row, k);
  }
  cell->has_matrix = true;
  return same;
}

/* Random bytes, which replace those of the matrix's computation and of the previous cell. */
static void refill(run *run, uint8_t *at, size_t bytes) {
  for (size_t n = 0; n + sizeof(uint64_t) <= bytes; n += sizeof(uint64_t)) {
    uint64_t value = random_next(&run->random);
    memcpy(at + n, &value, sizeof value);
  }
}

static bool compares(const contender *who) {
  return who->same_matrix && who->api != &limit_contender && who->api != &probe_contender;
}

/* Compare two stripes of every contender with the first contender's, byte for byte. */
static bool agree(run *run, cell *cell, uint8_t *expected) {
  bench_job job = run->lane[0].job;
  size_t bytes = 0, parity = cell->k * job.pitch, size = cell->m * job.pitch;
  static const uint32_t order[] = {1, 0};
  refill(run, job.base, 2 * (parity + size));
  for (unsigned n = 0; n < cell->contenders; n++) {
    contender *who = &cell->contender[n];
    if (!compares(who))
      continue;
    for (unsigned s = 0; s < 2; s++)
      memset(job.base + s * (parity + size) + parity, 0xa5, size);
    job.order = order, job.count = 2;
    who->api->run(who->instance[0], &job);
    for (unsigned s = 0; s < 2; s++) {
      uint8_t *got = job.base + s * (parity + size) + parity;
      if (bytes > 0 && memcmp(expected + s * size, got, size) != 0) {
        fprintf(stderr, "%s: %s and %s compute different bytes\n", cell->id, who->name,
                cell->contender[0].name);
        return false;
      }
      if (bytes < 2 * size)
        memcpy(expected + s * size, got, size);
    }
    bytes = 2 * size;
  }
  return true;
}

bool contenders_agree(run *run, cell *cell) {
  uint8_t *expected = malloc(2 * run->lane[0].job.pitch * cell->m);
  bool same = expected != NULL && agree(run, cell, expected);
  free(expected);
  return same;
}

static void rounds(run *run, cell *cell) {
  uint32_t order[MAX_CONTENDERS];
  double ns[MAX_CONTENDERS];
  for (unsigned n = 0; n < cell->contenders; n++) {
    calibrate(run, &cell->contender[n]);
    order[n] = n;
  }
  for (unsigned r = 0; r < cell->rounds; r++) {
    shuffle(order, cell->contenders, &run->random);
    for (unsigned n = 0; n < cell->contenders; n++) {
      contender *who = &cell->contender[order[n]];
      ns[order[n]] = sample(run, who, sample_lead(run, who->count), who->count);
    }
    printf("{\"cell\":\"%s\",\"round\":%u,\"ns\":{", cell->id, r);
    for (unsigned n = 0; n < cell->contenders; n++)
      printf("%s\"%s\":%.4f", n > 0 ? "," : "", cell->contender[n].name, ns[n]);
    printf("}}\n");
  }
}

/* Drop the contenders that cannot be opened. The first one is gfsmith, without which the cell is
 * void; a codec must have the matrix of the cell. */
static bool open_all(cell *cell, const arena *arena, bool *right) {
  unsigned kept = 0;
  for (unsigned n = 0; n < cell->contenders; n++) {
    contender *who = &cell->contender[n];
    if (!open_contender(cell, who, arena->threads)) {
      if (n == 0)
        return false;
      continue;
    }
    if (n == 0 && who->api == &gfsmith_contender) {
      printf("{\"cell\":\"%s\",\"named\":%s}\n", cell->id,
             gfsmith_contender_named(who->instance[0]) ? "true" : "false");
      *right = matrix_learn(cell, who, arena->pool);
      if (!*right)
        fprintf(stderr, "%s: gfsmith's matrix differs from the plan's\n", cell->id);
    }
    cell->contender[kept++] = *who;
  }
  cell->contenders = kept;
  return true;
}

bool cell_measure(cell *cell, const arena *arena) {
  run run = {.cell = cell, .threads = arena->threads, .random = 1};
  bool right = true;
  if (!open_all(cell, arena, &right)) {
    printf("{\"cell\":\"%s\",\"done\":true}\n", cell->id);
    return true;
  }
  lanes_prepare(&run, arena);
  right = right && contenders_agree(&run, cell);
  if (right)
    rounds(&run, cell);
  for (unsigned n = 0; n < cell->contenders; n++)
    for (unsigned t = 0; t < arena->threads; t++)
      cell->contender[n].api->close(cell->contender[n].instance[t]);
  printf("{\"cell\":\"%s\",\"done\":true}\n", cell->id);
  return right;
}
