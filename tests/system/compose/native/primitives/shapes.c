/* Reed-Solomon stripes across nodes: encoded by one ec-send, then two lost shards rebuilt by one
 * recv-ec, and compared with the core library's results for the same bytes. shapes PROVIDER K M,
 * then any number of LENGTH SLICE */
#include "network.h"

#include <gfsmith_plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARDS = 16 };

typedef struct stripe {
  network net; /* nodes 0 to k + m - 1 hold the shards, the last node initially has all data */
  unsigned k, m;
  gfsmith_codec *codec;
  uint8_t *matrix; /* k + m rows of k */
  uint8_t *right[SHARDS], *held[SHARDS], *rebuilt[2];
  uint64_t job;
} stripe;

static void wait_all(gfsmith_operation **operation, unsigned count) {
  for (unsigned n = 0; n < count; n++) {
    gfsmith_outcome outcome;
    REQUIRE(gfsmith_operation_wait(operation[n], 60000, &outcome), "it does not end");
    REQUIRE(outcome.status == GFSMITH_OK, "%u: %s", n, outcome.reason);
    gfsmith_operation_release(operation[n]);
  }
}

/* Finds every column of the code, by encoding the unit vectors with the core library. */
static void find_matrix(stripe *all) {
  uint8_t unit[SHARDS], parity[SHARDS], *out[SHARDS];
  const uint8_t *in[SHARDS];
  all->matrix = calloc((size_t)(all->k + all->m) * all->k, 1);
  for (unsigned j = 0; j < all->k; j++) {
    memset(unit, 0, sizeof unit);
    unit[j] = 1;
    for (unsigned n = 0; n < SHARDS; n++) {
      in[n] = &unit[n];
      out[n] = &parity[n];
    }
    REQUIRE(gfsmith_encode(all->codec, 1, in, out) == GFSMITH_OK, "encode");
    all->matrix[j * all->k + j] = 1;
    for (unsigned i = 0; i < all->m; i++)
      all->matrix[(all->k + i) * all->k + j] = parity[i];
  }
}

static void encode(stripe *all, size_t length, size_t slice) {
  unsigned shards = all->k + all->m;
  gfsmith_target target[SHARDS];
  gfsmith_operation *operation[SHARDS + 1];
  gfsmith_job job = {++all->job, 5, 60000};
  gfsmith_calc rows = {GFSMITH_EC, GFSMITH_POLYNOMIAL, shards, all->matrix};
  gfsmith_memory memory = {.length = length,
                           .slice = slice,
                           .locals = all->k,
                           .local = (const uint8_t *const *)all->right};
  for (unsigned n = 0; n < shards; n++) {
    gfsmith_calc keep = {.calculator = GFSMITH_FORWARD, .outputs = 1};
    gfsmith_source source = {(uint16_t)shards, (uint16_t)n};
    gfsmith_memory into = {.length = length, .slice = slice, .output = &all->held[n]};
    target[n] = (gfsmith_target){(uint16_t)n, (uint16_t)n, n};
    int status = gfsmith_recv_ec(all->net.node[n], &job, &(gfsmith_wait){1, &source}, &keep, &into,
                                 &(gfsmith_notice){NULL, NULL, &operation[n]});
    REQUIRE(status == GFSMITH_OK, "receive: %d", status);
  }
  int status = gfsmith_ec_send(all->net.node[shards], &job, &rows, &memory,
                               &(gfsmith_stripe){shards, target},
                               &(gfsmith_notice){NULL, NULL, &operation[shards]});
  REQUIRE(status == GFSMITH_OK, "send: %d", status);
  wait_all(operation, shards + 1);
  for (unsigned n = 0; n < shards; n++)
    REQUIRE(memcmp(all->held[n], all->right[n], length) == 0, "encoded shard %u", n);
}

/* Shards 0 and k are lost, or 0 alone with one parity. */
static gfsmith_plan *plan_of(const stripe *all) {
  bool present[SHARDS];
  gfsmith_plan *plan;
  for (unsigned n = 0; n < all->k + all->m; n++)
    present[n] = n != 0 && (all->m < 2 || n != all->k);
  REQUIRE(gfsmith_plan_create(&plan, all->codec, present, NULL) == GFSMITH_OK, "plan");
  return plan;
}

static void rebuild(stripe *all, const gfsmith_plan *plan, size_t length, size_t slice) {
  unsigned reads, targets, sink = all->k + all->m;
  const uint8_t *read = gfsmith_plan_reads(plan, &reads);
  const uint8_t *lost = gfsmith_plan_targets(plan, &targets);
  gfsmith_source source[SHARDS];
  gfsmith_operation *operation[SHARDS + 1];
  gfsmith_job job = {++all->job, 6, 60000};
  gfsmith_calc rows = {GFSMITH_EC, GFSMITH_POLYNOMIAL, targets, gfsmith_plan_matrix(plan)};
  gfsmith_memory into = {.length = length, .slice = slice, .output = all->rebuilt};
  for (unsigned n = 0; n < reads; n++) {
    gfsmith_calc forward = {.calculator = GFSMITH_FORWARD, .outputs = 1};
    gfsmith_target target = {(uint16_t)sink, (uint16_t)n, 0};
    const uint8_t *local = all->held[read[n]];
    gfsmith_memory from = {.length = length, .slice = slice, .locals = 1, .local = &local};
    source[n] = (gfsmith_source){read[n], (uint16_t)n};
    int status = gfsmith_ec_send(all->net.node[read[n]], &job, &forward, &from,
                                 &(gfsmith_stripe){1, &target},
                                 &(gfsmith_notice){NULL, NULL, &operation[n]});
    REQUIRE(status == GFSMITH_OK, "send: %d", status);
  }
  int status = gfsmith_recv_ec(all->net.node[sink], &job, &(gfsmith_wait){reads, source}, &rows,
                               &into, &(gfsmith_notice){NULL, NULL, &operation[reads]});
  REQUIRE(status == GFSMITH_OK, "receive: %d", status);
  wait_all(operation, reads + 1);
  for (unsigned n = 0; n < targets; n++)
    REQUIRE(memcmp(all->rebuilt[n], all->right[lost[n]], length) == 0, "rebuilt shard %u", lost[n]);
}

static void one(stripe *all, const gfsmith_plan *plan, size_t length, size_t slice) {
  for (unsigned n = 0; n < all->k + all->m; n++) {
    all->right[n] = malloc(length + 1);
    all->held[n] = malloc(length + 1);
    for (size_t byte = 0; byte < length; byte++)
      all->right[n][byte] = (uint8_t)(byte * (2 * n + 1) + byte / 251);
  }
  all->rebuilt[0] = malloc(length + 1);
  all->rebuilt[1] = malloc(length + 1);
  REQUIRE(gfsmith_encode(all->codec, length, (const uint8_t *const *)all->right,
                         all->right + all->k) == GFSMITH_OK,
          "encode");
  encode(all, length, slice);
  rebuild(all, plan, length, slice);
  for (unsigned n = 0; n < all->k + all->m; n++) {
    free(all->right[n]);
    free(all->held[n]);
  }
  free(all->rebuilt[0]);
  free(all->rebuilt[1]);
}

int main(int count, char **words) {
  if (count < 6 || count % 2 != 0)
    return 2;
  stripe all = {.k = (unsigned)strtoul(words[2], NULL, 10),
                .m = (unsigned)strtoul(words[3], NULL, 10)};
  REQUIRE(gfsmith_codec_create(&all.codec, "cauchy", all.k, all.m) == GFSMITH_OK, "codec");
  find_matrix(&all);
  network_create(&all.net, words[1], all.k + all.m + 1, 0);
  gfsmith_plan *plan = plan_of(&all);
  for (int n = 4; n + 1 < count; n += 2)
    one(&all, plan, strtoull(words[n], NULL, 10), strtoull(words[n + 1], NULL, 10));
  network_destroy(&all.net);
  gfsmith_plan_destroy(plan);
  gfsmith_codec_destroy(all.codec);
  free(all.matrix);
  return 0;
}
