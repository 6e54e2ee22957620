/* Messages and writes between nodes of one process. */
#include "harness.h"
#include "scenarios.h"

/* Fills a numbered message; its length and bytes follow from the number. */
static size_t fill(uint8_t *bytes, uint32_t value) {
  size_t length = 4 + (value * 2654435761u) % (GFSMITH_MESSAGE_MAX - 3);
  memcpy(bytes, &value, sizeof value);
  for (size_t i = sizeof value; i < length; i++)
    bytes[i] = (uint8_t)(i * 31 + value);
  return length;
}

static void take(void *context, uint16_t rank, const void *bytes, size_t length) {
  gfsmith_node *node = *(gfsmith_node **)context;
  gfc_operations *record = node->operations;
  uint8_t right[GFSMITH_MESSAGE_MAX];
  CHECK(rank != node->rank && length >= 4);
  pthread_mutex_lock(&record->mutex);
  record->messages++;
  size_t expected = fill(right, record->messages);
  CHECK(length == expected && memcmp(bytes, right, length) == 0);
  pthread_cond_broadcast(&record->changed);
  pthread_mutex_unlock(&record->mutex);
}

static gfsmith_node *with_messages(uint16_t rank, gfsmith_node **out) {
  gfsmith_node_options given = harness_options(rank);
  given.message = take;
  given.context = out;
  char reason[GFSMITH_REASON_MAX];
  CHECK(gfsmith_node_create(out, &given, reason) == GFSMITH_OK && reason[0] == 0);
  return *out;
}

static void send_numbered(gfsmith_node *node, uint16_t rank, uint32_t count) {
  uint8_t bytes[GFSMITH_MESSAGE_MAX];
  for (uint32_t value = 1; value <= count; value++) {
    int status;
    do
      status = gfsmith_node_send(node, rank, bytes, fill(bytes, value));
    while (status == GFSMITH_ELIMIT);
    CHECK(status == GFSMITH_OK);
  }
}

void messages_in_order(void) {
  enum { COUNT = 3000 };
  gfsmith_node *low, *high;
  with_messages(0, &low);
  with_messages(1, &high);
  harness_link(high, low);
  send_numbered(low, 1, COUNT);
  send_numbered(high, 0, COUNT);
  UNTIL(low->operations, low->operations->messages == COUNT);
  UNTIL(high->operations, high->operations->messages == COUNT);
  gfsmith_node_destroy(high);
  gfsmith_node_destroy(low);
}

/* A slot of the lower node, which the higher one writes. */
enum { WRITES = 400, PAYLOAD = 20000, TRAILER = 32, SLOT = PAYLOAD + TRAILER };
typedef struct exchange {
  gfc_registration slot;
  uint8_t memory[SLOT];
  uint8_t source[WRITES + SLOT];
  unsigned done[WRITES];
  bool delivered;
} exchange;

static void grant(gfsmith_node *node, void *context) {
  exchange *shared = context;
  CHECK(gfc_register(node->engine, shared->memory, SLOT, GFC_TARGET, NULL, &shared->slot) ==
        GFSMITH_OK);
}

/* Posts messages and writes alternately, numbered together. */
static void post(gfsmith_node *node, void *context) {
  exchange *shared = context;
  for (uint32_t i = 0; i < WRITES; i++) {
    uint32_t value = 2 * i + 1;
    gfc_piece piece[] = {
        {shared->source + i, PAYLOAD, NULL, shared->slot.base, shared->slot.key},
        {NULL, 0, NULL, 0, 0},
        {shared->source, TRAILER, NULL, shared->slot.base + PAYLOAD, shared->slot.key}};
    gfc_writing writing = {.piece = piece,
                           .pieces = 3,
                           .data = value + 1,
                           .delivered = shared->delivered,
                           .context = &shared->done[i]};
    CHECK(gfc_control(node->engine, 0, GFC_CONTROL_FIRST, &value, sizeof value) == GFSMITH_OK);
    CHECK(gfc_write(node->engine, 0, &writing) == GFSMITH_OK);
  }
  gfc_writing empty = {.piece = &(gfc_piece){0}, .pieces = 1};
  CHECK(gfc_write(node->engine, 0, &empty) == GFSMITH_EINVAL);
  CHECK(gfc_write(node->engine, 7, &empty) == GFSMITH_EPEER);
}

static void write_all(int fault, bool delivered) {
  gfsmith_node *low = harness_node(0), *high = harness_node(1);
  exchange *shared = calloc(1, sizeof *shared);
  CHECK(shared != NULL);
  shared->delivered = delivered;
  for (size_t i = 0; i < sizeof shared->source; i++)
    shared->source[i] = (uint8_t)(i * 7 + (i >> 8));
  harness_link(high, low);
  CHECK(gfsmith_node_fault(high, fault, 0) == GFSMITH_OK);
  harness_run(low, grant, shared);
  harness_run(high, post, shared);
  gfc_operations *got = low->operations, *sent = high->operations;
  UNTIL(got, got->writes == WRITES && got->controls == WRITES);
  UNTIL(sent, sent->sents == WRITES);
  CHECK(!got->disorder && sent->failed == 0 && got->downs == 0);
  CHECK(memcmp(shared->memory, shared->source + WRITES - 1, PAYLOAD) == 0);
  CHECK(memcmp(shared->memory + PAYLOAD, shared->source, TRAILER) == 0);
  gfc_unregister(&shared->slot);
  gfsmith_node_destroy(low);
  gfsmith_node_destroy(high);
  free(shared);
}

void controls_and_writes_in_order(void) {
  write_all(GFC_FAULT_NONE, false);
  write_all(GFC_FAULT_NONE, true);
}

void writes_piece_by_piece(void) { write_all(GFC_FAULT_PIECEWISE, true); }

static void nothing(gfsmith_node *node, void *context) { (void)node, (void)context; }

/* The number of bytes that wait for a peer without credits is bounded. */
void too_many_messages(void) {
  static const uint8_t bytes[GFSMITH_MESSAGE_MAX];
  gfsmith_node *low = harness_node(0), *high = harness_node(1);
  harness_link(high, low);
  CHECK(gfsmith_node_send(high, 0, bytes, 0) == GFSMITH_EINVAL);
  CHECK(gfsmith_node_send(high, 0, bytes, sizeof bytes + 1) == GFSMITH_EINVAL);
  CHECK(gfsmith_node_send(high, 0, NULL, 1) == GFSMITH_EINVAL);
  CHECK(gfsmith_node_send(high, 1, bytes, 1) == GFSMITH_EPEER);
  CHECK(gfsmith_node_send(high, GFSMITH_RANKS_MAX, bytes, 1) == GFSMITH_EPEER);
  CHECK(gfsmith_node_fault(low, GFC_FAULT_SILENT, 0) == GFSMITH_OK);
  harness_run(low, nothing, NULL); /* the engine has executed the fault, so it returns no credits */
  int status = GFSMITH_OK;
  unsigned count = 0;
  while (status == GFSMITH_OK && count < 10000) {
    status = gfsmith_node_send(high, 0, bytes, sizeof bytes);
    count++;
  }
  CHECK(status == GFSMITH_ELIMIT && count > 4096 && count < 4096 + 64);
  gfsmith_node_destroy(high);
  gfsmith_node_destroy(low);
}

void a_mesh(void) {
  enum { NODES = 8, COUNT = 20 };
  gfsmith_node *node[NODES];
  const uint32_t first = 1;
  for (uint16_t i = 0; i < NODES; i++)
    node[i] = harness_node(i);
  for (uint16_t i = 0; i < NODES; i++)
    for (uint16_t j = 0; j < NODES; j++)
      if (i != j)
        CHECK(gfsmith_node_peer(node[i], j, "127.0.0.1", gfsmith_node_port(node[j])) == GFSMITH_OK);
  for (unsigned i = 0; i < NODES; i++)
    UNTIL(node[i]->operations, node[i]->operations->ups == NODES - 1);
  for (unsigned i = 0; i < NODES; i++)
    for (uint16_t j = 0; j < NODES; j++)
      CHECK((gfsmith_node_send(node[i], j, &first, sizeof first) == GFSMITH_OK) == (i != j));
  for (unsigned i = 0; i < NODES; i++) {
    gfsmith_node_destroy(node[i]);
    for (unsigned j = i + 1; j < NODES; j++)
      UNTIL(node[j]->operations, node[j]->operations->downs == i + 1);
  }
}
