/* Invalid arguments of the primitives and of regions: each is refused when it is posted, and
 * nothing is posted. */
#include "cases.h"
#include "transfer.h"

#include <stdint.h>
#include <string.h>

enum { LENGTH = 100, OWN = 0, PEER = 1 };

/* A valid operation of rank OWN with two inputs, one local, and one output, which is sent. */
typedef struct operation {
  uint8_t shard[LENGTH], row[2];
  const uint8_t *local[GFSMITH_MAX_SHARDS];
  gfsmith_source source[GFSMITH_MAX_SHARDS];
  gfsmith_target target;
  gfsmith_job job;
  gfsmith_wait wait;
  gfsmith_calc calc;
  gfsmith_memory memory;
  gfsmith_stripe stripe;
} operation;

static void make(operation *of) {
  *of = (operation){.row = {1, 2}, .target = {PEER, 1, 0}, .job = {1, 7, 0}};
  for (unsigned n = 0; n < GFSMITH_MAX_SHARDS; n++) {
    of->local[n] = of->shard;
    of->source[n] = (gfsmith_source){PEER, (uint16_t)n};
  }
  of->wait = (gfsmith_wait){1, of->source};
  of->calc = (gfsmith_calc){GFSMITH_EC, 0x11d, 1, of->row};
  of->memory = (gfsmith_memory){.length = LENGTH, .locals = 1, .local = of->local};
  of->stripe = (gfsmith_stripe){1, &of->target};
}

static int post(gfsmith_node *node, const operation *of, gfsmith_operation **handle) {
  return gfsmith_recv_ec_send(node, &of->job, &of->wait, &of->calc, &of->memory, &of->stripe,
                              &(gfsmith_notice){NULL, NULL, handle});
}

static void accepted(gfsmith_node *node, const operation *of) {
  gfsmith_operation *handle;
  REQUIRE(post(node, of, &handle) == GFSMITH_OK, "a valid operation");
  gfsmith_operation_cancel(handle);
  REQUIRE(gfsmith_operation_wait(handle, 60000, NULL), "it does not end");
  gfsmith_operation_release(handle);
}

/* The operation with this change is refused by both ways of posting. */
#define REFUSED(change)                                                                            \
  do {                                                                                             \
    operation of;                                                                                  \
    gfsmith_operation *handle = NULL;                                                              \
    make(&of);                                                                                     \
    change;                                                                                        \
    REQUIRE(post(node, &of, &handle) == GFSMITH_EINVAL && handle == NULL, #change);                \
    REQUIRE(gfsmith_incoherent(node, &of.job, &of.wait, &of.calc, &of.memory, &of.stripe, NULL) == \
                GFSMITH_EINVAL,                                                                    \
            "incoherent: " #change);                                                               \
  } while (0)

static void refused_counts(gfsmith_node *node) {
  REFUSED(of.memory.locals = GFSMITH_MAX_SHARDS + 1);
  REFUSED(of.memory.locals = UINT32_MAX);
  REFUSED(of.memory.locals = GFSMITH_MAX_SHARDS);
  REFUSED(of.wait.count = GFSMITH_MAX_SHARDS + 1);
  REFUSED(of.wait.count = UINT32_MAX);
  REFUSED(of.wait.count = of.memory.locals = 0);
  REFUSED(of.stripe.count = GFSMITH_EDGES_MAX + 1);
  REFUSED(of.job.deadline_ms = 86400001);
  REFUSED(of.memory.length = (size_t)PTRDIFF_MAX + 1);
  REFUSED(of.calc.outputs = 0);
  REFUSED(of.calc.outputs = GFSMITH_MAX_SHARDS + 1);
  REFUSED(of.calc.outputs = GFSMITH_MAX_SHARDS); /* and two inputs */
  REFUSED((of.calc.calculator = GFSMITH_FORWARD, of.calc.outputs = 1));
  REFUSED((of.calc.calculator = GFSMITH_XOR, of.calc.outputs = 2));
  REFUSED(of.calc.calculator = (gfsmith_calculator)3);
  REFUSED(of.calc.polynomial = 0);
  REFUSED(of.calc.polynomial = 0x11c);
  REFUSED(of.calc.polynomial = 0x200);
}

static void refused_places(gfsmith_node *node) {
  REFUSED(of.source[0].rank = OWN);
  REFUSED(of.source[0].rank = GFSMITH_RANKS_MAX);
  REFUSED(of.source[0].edge = GFSMITH_EDGES_MAX);
  REFUSED(of.target.rank = OWN);
  REFUSED(of.target.rank = GFSMITH_RANKS_MAX);
  REFUSED(of.target.edge = GFSMITH_EDGES_MAX);
  REFUSED(of.target.output = 1);
  REFUSED(of.wait.source = NULL);
  REFUSED(of.stripe.target = NULL);
  REFUSED(of.memory.local = NULL);
  REFUSED(of.local[0] = NULL);
  REFUSED(of.calc.matrix = NULL);
}

/* NULL instead of a descriptor, and descriptors without the part that gives a primitive its name.
 */
static void refused_descriptors(gfsmith_node *node) {
  operation of;
  make(&of);
#define EINVAL_OF(call) REQUIRE((call) == GFSMITH_EINVAL, #call)
  const gfsmith_wait none = {0, NULL};
  const gfsmith_stripe nowhere = {0, NULL};
  EINVAL_OF(gfsmith_ec_send(NULL, &of.job, &of.calc, &of.memory, &of.stripe, NULL));
  EINVAL_OF(gfsmith_ec_send(node, NULL, &of.calc, &of.memory, &of.stripe, NULL));
  EINVAL_OF(gfsmith_ec_send(node, &of.job, NULL, &of.memory, &of.stripe, NULL));
  EINVAL_OF(gfsmith_ec_send(node, &of.job, &of.calc, NULL, &of.stripe, NULL));
  EINVAL_OF(gfsmith_ec_send(node, &of.job, &of.calc, &of.memory, NULL, NULL));
  EINVAL_OF(gfsmith_ec_send(node, &of.job, &of.calc, &of.memory, &nowhere, NULL));
  EINVAL_OF(gfsmith_recv_ec_send(node, &of.job, NULL, &of.calc, &of.memory, &of.stripe, NULL));
  EINVAL_OF(gfsmith_recv_ec_send(node, &of.job, &none, &of.calc, &of.memory, &of.stripe, NULL));
  EINVAL_OF(gfsmith_recv_ec_send(node, &of.job, &of.wait, &of.calc, &of.memory, &nowhere, NULL));
  EINVAL_OF(gfsmith_recv_ec(NULL, &of.job, &of.wait, &of.calc, &of.memory, NULL));
  EINVAL_OF(gfsmith_recv_ec(node, &of.job, NULL, &of.calc, NULL, NULL));
  EINVAL_OF(gfsmith_incoherent(NULL, &of.job, NULL, &of.calc, &of.memory, NULL, NULL));
}

static void refused_regions(gfsmith_node *node) {
  uint8_t bytes[1];
  gfsmith_region *region;
  EINVAL_OF(gfsmith_region_create(NULL, node, bytes, 1));
  EINVAL_OF(gfsmith_region_create(&region, NULL, bytes, 1));
  EINVAL_OF(gfsmith_region_create(&region, node, NULL, 1));
  EINVAL_OF(gfsmith_region_create(&region, node, bytes, 0));
  REQUIRE(region == NULL, "a refused region is NULL");
}

static gfsmith_graph *some_graph(void) {
  const uint16_t holder[] = {0, 1, 2};
  gfsmith_codec *codec;
  gfsmith_graph *graph;
  REQUIRE(gfsmith_codec_create(&codec, "cauchy", 2, 1) == GFSMITH_OK, "codec");
  gfsmith_graph_request request = {
      .scheme = "rs", .codec = codec, .k = 2, .m = 1, .holder = holder};
  REQUIRE(gfsmith_graph_create(&graph, &request, NULL) == GFSMITH_OK, "graph");
  gfsmith_codec_destroy(codec);
  return graph;
}

static void refused_graphs(gfsmith_node *node) {
  uint8_t bytes[3][LENGTH];
  uint8_t *const shards[] = {bytes[0], bytes[1], bytes[2]};
  gfsmith_graph *graph = some_graph();
  gfsmith_choices *choices;
  gfsmith_outcome out;
  EINVAL_OF(gfsmith_choices_read(NULL, "choices", NULL));
  EINVAL_OF(gfsmith_choices_read(&choices, NULL, NULL));
  REQUIRE(choices == NULL, "refused choices are NULL");
  EINVAL_OF(gfsmith_graph_run(NULL, graph, NULL, 1, 0, LENGTH, 0, shards, &out));
  EINVAL_OF(gfsmith_graph_run(node, NULL, NULL, 1, 0, LENGTH, 0, shards, &out));
  EINVAL_OF(gfsmith_graph_run(node, graph, NULL, 1, 0, LENGTH, 0, shards, NULL));
  EINVAL_OF(gfsmith_graph_run(node, graph, NULL, 1, 86400001, LENGTH, 0, shards, &out));
  EINVAL_OF(gfsmith_graph_incoherent(NULL, graph, 1, 0, LENGTH, 0, shards, &out));
  EINVAL_OF(gfsmith_graph_incoherent(node, NULL, 1, 0, LENGTH, 0, shards, &out));
  EINVAL_OF(gfsmith_graph_incoherent(node, graph, 1, 0, LENGTH, 0, shards, NULL));
  EINVAL_OF(gfsmith_graph_check(NULL, NULL));
  gfsmith_graph_destroy(graph);
}

/* Inputs in memory only: the outcome is optional. */
static void without_outcome(gfsmith_node *node) {
  operation of;
  uint8_t sum[LENGTH];
  uint8_t *const output[] = {sum};
  make(&of);
  memset(of.shard, 3, LENGTH);
  of.memory.locals = 2;
  of.memory.output = output;
  REQUIRE(gfsmith_incoherent(node, &of.job, NULL, &of.calc, &of.memory, NULL, NULL) == GFSMITH_OK,
          "no outcome");
  REQUIRE(sum[0] == 5 && sum[LENGTH - 1] == 5, "1 * 3 + 2 * 3 is 5");
  of.job.id = 2;
  REQUIRE(gfsmith_recv_ec(node, &of.job, NULL, &of.calc, &of.memory, NULL) == GFSMITH_OK,
          "no notice");
}

/* Every status has words of its own. */
static void words_of_statuses(void) {
  const char *known[GFSMITH_ETIMEDOUT - GFSMITH_ELIMIT + 2] = {gfsmith_compose_strerror(-1000)};
  unsigned count = 1;
  for (int status = GFSMITH_ELIMIT; status <= GFSMITH_ETIMEDOUT; status++) {
    const char *words = gfsmith_compose_strerror(status);
    for (unsigned n = 0; n < count; n++)
      REQUIRE(strcmp(words, known[n]) != 0, "%d: %s", status, words);
    known[count++] = words;
  }
}

void invalid(const char *provider) {
  gfsmith_node *node;
  operation of;
  network_node(&node, provider, OWN, 0);
  make(&of);
  accepted(node, &of);
  refused_counts(node);
  refused_places(node);
  refused_descriptors(node);
  refused_regions(node);
  refused_graphs(node);
  without_outcome(node);
  words_of_statuses();
  gfsmith_node_destroy(node);
}
