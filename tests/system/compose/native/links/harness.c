#include "harness.h"

#include "../clock.h"

const char *harness_provider = "tcp";

#define NOTE(record, statement)                                                                    \
  do {                                                                                             \
    pthread_mutex_lock(&(record)->mutex);                                                          \
    statement;                                                                                     \
    pthread_cond_broadcast(&(record)->changed);                                                    \
    pthread_mutex_unlock(&(record)->mutex);                                                        \
  } while (0)

static void up(void *observer, uint16_t rank) {
  gfc_operations *record = observer;
  CHECK(gfc_in_engine(record->engine) && gfc_connected(record->engine, rank));
  NOTE(record, record->ups++);
}

static void down(void *observer, uint16_t rank, int status, const char *reason) {
  gfc_operations *record = observer;
  CHECK(!gfc_connected(record->engine, rank));
  CHECK(status != GFSMITH_OK && reason[0] != 0);
  NOTE(record, {
    record->downs++;
    record->status = status;
    snprintf(record->reason, sizeof record->reason, "%s", reason);
    record->last = 0;
  });
}

static void number(gfc_operations *record, uint32_t value) {
  record->disorder = record->disorder || value != record->last + 1;
  record->last = value;
}

static void control(void *observer, uint16_t rank, uint8_t type, const void *body, size_t bytes) {
  gfc_operations *record = observer;
  uint32_t value = 0;
  CHECK(type == GFC_CONTROL_FIRST && bytes >= sizeof value);
  memcpy(&value, body, sizeof value);
  if (record->on_control != NULL)
    record->on_control(record, rank, body, bytes);
  NOTE(record, {
    record->controls++;
    number(record, value);
  });
}

static void written(void *observer, uint16_t rank, uint32_t data) {
  gfc_operations *record = observer;
  if (record->on_write != NULL)
    record->on_write(record, rank, data);
  NOTE(record, {
    record->writes++;
    number(record, data);
  });
}

static void sent(void *observer, void *context, int status) {
  gfc_operations *record = observer;
  CHECK(*(unsigned *)context == 0);
  *(unsigned *)context = 1;
  NOTE(record, {
    record->sents++;
    record->failed += status != GFSMITH_OK;
  });
}

static void stop(void *observer) {
  gfc_operations *record = observer;
  NOTE(record, record->stops++);
}

const gfc_link_events gfc_operations_events = {up, down, control, written, sent, stop};

int gfc_operations_create(gfc_operations **out, gfc_engine *engine,
                          const gfsmith_node_options *options) {
  (void)options;
  *out = calloc(1, sizeof **out);
  if (*out == NULL)
    return GFSMITH_ENOMEM;
  pthread_mutex_init(&(*out)->mutex, NULL);
  pthread_cond_init(&(*out)->changed, NULL);
  (*out)->engine = engine;
  return GFSMITH_OK;
}

void gfc_operations_destroy(gfc_operations *operations) {
  if (operations == NULL)
    return;
  pthread_cond_destroy(&operations->changed);
  pthread_mutex_destroy(&operations->mutex);
  free(operations);
}

int harness_seconds(void) {
  const char *said = getenv("HARNESS_SECONDS");
  return said != NULL ? atoi(said) : 120;
}

gfc_operations *harness_record(gfsmith_node *node) { return node->operations; }

gfsmith_node_options harness_options(uint16_t rank) {
  static const uint8_t key[] = "a key for the tests only";
  gfsmith_node_options options;
  gfsmith_node_defaults(&options);
  options.provider = harness_provider;
  options.rank = rank;
  options.key = key;
  options.key_bytes = sizeof key;
  options.connect_ms = 20000;
  return options;
}

gfsmith_node *harness_open(const gfsmith_node_options *options) {
  char reason[GFSMITH_REASON_MAX];
  gfsmith_node *node = NULL;
  int status = gfsmith_node_create(&node, options, reason);
  if (status != GFSMITH_OK) {
    fprintf(stderr, "no node: %s: %s\n", gfsmith_compose_strerror(status), reason);
    exit(1);
  }
  return node;
}

gfsmith_node *harness_node(uint16_t rank) {
  gfsmith_node_options options = harness_options(rank);
  return harness_open(&options);
}

void harness_link(gfsmith_node *high, gfsmith_node *low) {
  uint16_t rank = gfsmith_node_rank(low);
  CHECK(gfsmith_node_peer(high, rank, "127.0.0.1", gfsmith_node_port(low)) == GFSMITH_OK);
  UNTIL(high->operations, gfsmith_node_connected(high, rank));
  UNTIL(low->operations, gfsmith_node_connected(low, gfsmith_node_rank(high)));
}

typedef struct job {
  gfsmith_node *node;
  void (*work)(gfsmith_node *, void *);
  void *context;
  bool done;
} job;

static void run_job(void *observer, void *context) {
  job *run = context;
  gfc_operations *record = observer;
  run->work(run->node, run->context);
  NOTE(record, run->done = true);
}

void harness_run(gfsmith_node *node, void (*work)(gfsmith_node *, void *), void *context) {
  job run = {node, work, context, false};
  CHECK(gfc_run(node->engine, run_job, &run) == GFSMITH_OK);
  UNTIL(node->operations, run.done);
}

static void nothing(gfsmith_node *node, void *context) { (void)node, (void)context; }

void harness_pass(gfsmith_node *node, unsigned ms) {
  clock_pass(ms);
  harness_run(node, nothing, NULL); /* the engine wakes, and looks at its timers before the next */
  harness_run(node, nothing, NULL);
}
