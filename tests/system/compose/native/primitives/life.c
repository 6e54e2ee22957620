#include "life.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "network.h"

/* JOB_MS: the deadline of a job that may fail; LAST_MS: that of the LAST_JOBS of which one must
 * succeed. */
enum {
  LENGTH = 3000,
  SLICE = 1000,
  LINK_MS = 10000,
  JOB_MS = 300,
  LAST_MS = 60000,
  LAST_JOBS = 100
};

static atomic_int until_failure = -1; /* negative: it has happened, or none fails */

bool fails(void) { return atomic_fetch_sub(&until_failure, 1) == 0; }

static const uint8_t key[2][GFSMITH_KEY_MIN] = {{1}, {2}};
static atomic_uint messages;

static void on_message(void *context, uint16_t rank, const void *bytes, size_t length) {
  (void)context, (void)rank, (void)bytes, (void)length;
  atomic_fetch_add(&messages, 1);
}

static gfsmith_node *make_node(uint16_t rank) {
  gfsmith_node_options options;
  gfsmith_node *node;
  char reason[GFSMITH_REASON_MAX];
  gfsmith_node_defaults(&options);
  options.rank = rank;
  options.key = key[0];
  options.key_bytes = sizeof key[0];
  options.message = on_message;
  int status = gfsmith_node_create(&node, &options, reason);
  REQUIRE(status == GFSMITH_OK ||
              (node == NULL && (status == GFSMITH_ENOMEM || status == GFSMITH_EFABRIC)),
          "node %u: %d %s", rank, status, reason);
  return node;
}

/* Wait for a link: both sides repeat failed attempts. */
static bool linked(gfsmith_node *const *node) {
  for (unsigned ms = 0; ms < LINK_MS; ms++) {
    if (gfsmith_node_connected(node[0], 1) && gfsmith_node_connected(node[1], 0))
      return true;
    network_nap();
  }
  return false;
}

/* The outcome of an operation that may not have been posted. */
static int finish(int posted, gfsmith_operation *operation) {
  gfsmith_outcome outcome;
  if (posted != GFSMITH_OK)
    return posted;
  REQUIRE(gfsmith_operation_wait(operation, LINK_MS + LAST_MS, &outcome), "no end");
  gfsmith_operation_release(operation);
  return outcome.status;
}

/* Rank 1 sends two shards, of which rank 0 computes the sum, by the matrix and by XOR. */
static int compute(gfsmith_node *const *node, uint64_t job_id, gfsmith_calculator calculator,
                   unsigned deadline_ms) {
  uint8_t data[2][LENGTH], sum[LENGTH];
  static const uint8_t matrix[] = {1, 1};
  gfsmith_operation *operation[2];
  for (unsigned n = 0; n < LENGTH; n++) {
    data[0][n] = (uint8_t)(n * 7);
    data[1][n] = (uint8_t)(n * n);
  }
  const gfsmith_job job = {job_id, 7, deadline_ms};
  const gfsmith_calc forward = {.calculator = GFSMITH_FORWARD, .outputs = 2};
  const gfsmith_calc add = {calculator, 0x11d, 1, matrix};
  const uint8_t *const local[] = {data[0], data[1]};
  uint8_t *const output[] = {sum};
  const gfsmith_memory from = {.length = LENGTH, .slice = SLICE, .locals = 2, .local = local};
  const gfsmith_memory to = {.length = LENGTH, .slice = SLICE, .output = output};
  const gfsmith_target target[] = {{0, 0, 0}, {0, 1, 1}};
  const gfsmith_source source[] = {{1, 0}, {1, 1}};
  const gfsmith_stripe stripe = {2, target};
  const gfsmith_wait wait = {2, source};
  const gfsmith_notice notice[] = {{.operation = &operation[0]}, {.operation = &operation[1]}};
  int received = gfsmith_recv_ec(node[0], &job, &wait, &add, &to, &notice[0]);
  int sent = gfsmith_ec_send(node[1], &job, &forward, &from, &stripe, &notice[1]);
  received = finish(received, operation[0]);
  sent = finish(sent, operation[1]);
  for (unsigned n = 0; received == GFSMITH_OK && n < LENGTH; n++)
    REQUIRE(sum[n] == (data[0][n] ^ data[1][n]), "byte %u is wrong", n);
  return received != GFSMITH_OK ? received : sent;
}

/* Allow the statuses that a failed call may have, here or at the peer. */
static void check(int status, const char *what) {
  REQUIRE(status == GFSMITH_OK || status == GFSMITH_ENOMEM || status == GFSMITH_EPEER ||
              status == GFSMITH_ETIMEDOUT || status == GFSMITH_EFABRIC,
          "%s: %s", what, gfsmith_compose_strerror(status));
}

static void use(gfsmith_node *const *node) {
  gfsmith_region *region;
  uint8_t memory[64];
  check(gfsmith_node_send(node[1], 0, "hello", 5), "message");
  check(compute(node, 1, GFSMITH_EC, JOB_MS), "matrix");
  check(compute(node, 2, GFSMITH_XOR, JOB_MS), "xor");
  check(gfsmith_region_create(&region, node[0], memory, sizeof memory), "region");
  gfsmith_region_destroy(region);
  for (unsigned n = 0; n < 2; n++)
    check(gfsmith_node_rekey(node[n], key[1], sizeof key[1], key[0], sizeof key[0]), "rekey");
}

/* Links are made and a job succeeds. Jobs end with GFSMITH_EPEER while one node still has a link
 * that the other has replaced. */
static void recover(gfsmith_node *const *node, int nth) {
  int status = GFSMITH_EPEER;
  for (uint64_t job_id = 3; status == GFSMITH_EPEER && job_id < 3 + LAST_JOBS; job_id++) {
    REQUIRE(linked(node), "failure %d: no link", nth);
    status = compute(node, job_id, GFSMITH_EC, LAST_MS);
    network_nap();
  }
  REQUIRE(status == GFSMITH_OK, "failure %d: %s", nth, gfsmith_compose_strerror(status));
}

/* One life. False: it has fewer calls that may fail. */
static bool live(int nth) {
  gfsmith_node *node[2] = {NULL, NULL};
  atomic_store(&until_failure, nth);
  node[0] = make_node(0);
  node[1] = make_node(1);
  bool both = node[0] != NULL && node[1] != NULL;
  uint16_t port = both ? gfsmith_node_port(node[0]) : 0;
  if (both && gfsmith_node_peer(node[1], 0, "127.0.0.1", port) != GFSMITH_OK)
    REQUIRE(gfsmith_node_peer(node[1], 0, "127.0.0.1", port) == GFSMITH_OK, "peer");
  if (both && linked(node))
    use(node);
  bool happened = atomic_exchange(&until_failure, -1) < 0;
  if (both)
    recover(node, nth);
  gfsmith_node_destroy(node[1]);
  gfsmith_node_destroy(node[0]);
  return happened;
}

void lives_print(const char *what) {
  int nth = 0;
  while (live(nth))
    nth++;
  printf("%d %s\n", nth, what);
}
