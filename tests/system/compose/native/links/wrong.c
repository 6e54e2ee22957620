/* Peers that violate the protocol, and invalid options. */
#include "harness.h"
#include "scenarios.h"

static void refused(const gfsmith_node_options *given, int expected, const char *word) {
  char reason[GFSMITH_REASON_MAX] = "";
  gfsmith_node *node = (gfsmith_node *)&reason;
  int status = gfsmith_node_create(&node, given, reason);
  if (status != expected || strstr(reason, word) == NULL)
    fprintf(stderr, "%d %s\n", status, reason);
  CHECK(status == expected && node == NULL && strstr(reason, word) != NULL);
  CHECK(gfsmith_node_create(&node, given, NULL) == expected && node == NULL);
}

#define REFUSED(expected, word, change)                                                            \
  do {                                                                                             \
    gfsmith_node_options given = harness_options(3);                                               \
    change;                                                                                        \
    refused(&given, expected, word);                                                               \
  } while (0)

static void addresses(void) {
  gfsmith_node *node = harness_node(3);
  CHECK(gfsmith_node_rank(node) == 3 && gfsmith_node_port(node) != 0);
  CHECK(!gfsmith_node_connected(node, 4) && !gfsmith_node_connected(node, GFSMITH_RANKS_MAX));
  CHECK(gfsmith_node_peer(node, 3, "127.0.0.1", 1) == GFSMITH_EINVAL);
  CHECK(gfsmith_node_peer(node, GFSMITH_RANKS_MAX, "127.0.0.1", 1) == GFSMITH_EINVAL);
  CHECK(gfsmith_node_peer(node, 4, "127.0.0.1", 0) == GFSMITH_EINVAL);
  CHECK(gfsmith_node_peer(node, 4, "127.0.0", 1) == GFSMITH_EINVAL);
  CHECK(gfsmith_node_peer(node, 4, "somewhere", 1) == GFSMITH_EINVAL);
  CHECK(gfsmith_node_peer(node, 4, NULL, 1) == GFSMITH_EINVAL);
  CHECK(gfsmith_node_peer(node, 4, "::1", 1) == GFSMITH_OK);
  REFUSED(GFSMITH_EFABRIC, "port", given.port = gfsmith_node_port(node));
  gfsmith_node_destroy(node);
  gfsmith_node_destroy(NULL);
}

void options(void) {
  REFUSED(GFSMITH_EINVAL, "size = 7; allowed: ", given.size = 7);
  REFUSED(GFSMITH_EINVAL, "provider", given.provider = NULL);
  REFUSED(GFSMITH_EUNSUPPORTED, "provider: nothing", given.provider = "nothing");
  REFUSED(GFSMITH_EINVAL, "host", given.host = NULL);
  REFUSED(GFSMITH_EINVAL, "host: localhost", given.host = "localhost");
  REFUSED(GFSMITH_EFABRIC, "203.0.113.9", given.host = "203.0.113.9");
  REFUSED(GFSMITH_EINVAL, "rank = 1024; allowed: 0 to 1023", given.rank = 1024);
  REFUSED(GFSMITH_EINVAL, "key: 0 bytes", given.key = NULL);
  REFUSED(GFSMITH_EINVAL, "key: 15 bytes; allowed: 16 to 64", given.key_bytes = 15);
  REFUSED(GFSMITH_EINVAL, "key: 65 bytes", given.key_bytes = 65);
  REFUSED(GFSMITH_EINVAL, "deadline_ms = 0", given.deadline_ms = 0);
  REFUSED(GFSMITH_EINVAL, "connect_ms = 86400001", given.connect_ms = 86400001);
  refused(NULL, GFSMITH_EINVAL, "options");
  addresses();
  CHECK(strcmp(gfsmith_compose_strerror(GFSMITH_EAUTH), gfsmith_compose_strerror(-1)) != 0);
}

/* The reason why there is no link. */
typedef struct trouble {
  uint16_t rank;
  int status;
  char reason[GFSMITH_REASON_MAX];
} trouble;

static void ask(gfsmith_node *node, void *context) {
  trouble *asked = context;
  asked->status = gfc_trouble(node->engine, asked->rank, asked->reason);
}

static void until_trouble(gfsmith_node *node, uint16_t rank, int status, const char *word) {
  trouble asked = {.rank = rank};
  for (int i = 0; i < harness_seconds() * 1000 && asked.status != status; i++) {
    harness_run(node, ask, &asked);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  if (strstr(asked.reason, word) == NULL)
    fprintf(stderr, "%d %s\n", asked.status, asked.reason);
  CHECK(asked.status == status && strstr(asked.reason, word) != NULL);
}

void wrong_key(void) {
  static const uint8_t other[] = "a key for the tests olny";
  gfsmith_node_options given = harness_options(1);
  given.key = other;
  gfsmith_node *low = harness_node(0), *high = harness_open(&given), *good = harness_node(2);
  CHECK(gfsmith_node_peer(high, 0, "127.0.0.1", gfsmith_node_port(low)) == GFSMITH_OK);
  until_trouble(high, 0, GFSMITH_EAUTH, "key");
  until_trouble(low, 1, GFSMITH_EAUTH, "key");
  harness_link(good, low);
  CHECK(!gfsmith_node_connected(low, 1) && !gfsmith_node_connected(high, 0));
  gfsmith_node_destroy(low);
  CHECK(high->operations->ups == 0);
  gfsmith_node_destroy(high);
  gfsmith_node_destroy(good);
}

void wrong_rank(void) {
  gfsmith_node *low = harness_node(1), *high = harness_node(2);
  CHECK(gfsmith_node_peer(high, 0, "127.0.0.1", gfsmith_node_port(low)) == GFSMITH_OK);
  until_trouble(high, 0, GFSMITH_EAUTH, "rank");
  CHECK(!gfsmith_node_connected(low, 2) && low->operations->ups == 0);
  CHECK(gfsmith_node_peer(high, 1, "127.0.0.1", gfsmith_node_port(low)) == GFSMITH_OK);
  UNTIL(high->operations, gfsmith_node_connected(high, 1));
  gfsmith_node_destroy(low);
  gfsmith_node_destroy(high);
}

static void send_some(gfsmith_node *node, void *context) {
  (void)context;
  for (uint32_t value = 1; value <= 10; value++)
    CHECK(gfc_control(node->engine, 0, GFC_CONTROL_FIRST, &value, sizeof value) == GFSMITH_OK);
}

/* The sixth of ten messages is wrong: five arrive, then the link goes down and comes up again. */
static void faulty(int fault, const char *word) {
  gfsmith_node *low = harness_node(0), *high = harness_node(1);
  gfc_operations *record = low->operations;
  harness_link(high, low);
  CHECK(gfsmith_node_fault(high, fault, 5) == GFSMITH_OK);
  harness_run(high, send_some, NULL);
  UNTIL(record, record->downs == 1);
  if (strstr(record->reason, word) == NULL)
    fprintf(stderr, "%d %s\n", record->status, record->reason);
  CHECK(record->controls == 5 && !record->disorder);
  CHECK(record->status == GFSMITH_ECORRUPT && strstr(record->reason, word) != NULL);
  UNTIL(high->operations, high->operations->ups == 2);
  UNTIL(record, record->ups == 2);
  harness_run(high, send_some, NULL);
  UNTIL(record, record->controls == 15);
  CHECK(!record->disorder);
  gfsmith_node_destroy(low);
  gfsmith_node_destroy(high);
}

void a_message_that_is_flipped(void) { faulty(GFC_FAULT_FLIP, "authentication code"); }
void a_message_that_is_cut(void) { faulty(GFC_FAULT_CUT, "length"); }
void a_message_that_is_left_out(void) { faulty(GFC_FAULT_DROP, "some are missing"); }
void a_message_with_an_old_number(void) { faulty(GFC_FAULT_NUMBER, "repeated"); }
void credits_that_nobody_gave(void) { faulty(GFC_FAULT_CREDITS, "credits"); }

enum { QUESTIONS = 400 };

static void ask_often(gfsmith_node *node, void *context) {
  (void)context;
  for (unsigned n = 0; n < QUESTIONS; n++)
    gfc_channel_send(gfc_peer_channel(&node->engine->peers, 0), GFC_PING, NULL, 0, NULL);
}

/* Almost the most answers wait, as after many questions. */
static void answer_much(gfsmith_node *node, void *context) {
  (void)context;
  gfc_peer_channel(&node->engine->peers, 1)->answers = GFC_ANSWERS_MAX - QUESTIONS / 2;
}

/* A peer asks more often than it takes answers, or not. */
static void questions(int fault, unsigned downs) {
  gfsmith_node *low = harness_node(0), *high = harness_node(1);
  gfc_operations *record = low->operations;
  harness_link(high, low);
  harness_run(low, answer_much, NULL);
  CHECK(gfsmith_node_fault(high, fault, 0) == GFSMITH_OK);
  harness_run(high, ask_often, NULL);
  if (downs == 0)
    harness_run(high, send_some, NULL);
  UNTIL(record, record->downs == downs && record->controls == (downs == 0 ? 10 : 0));
  CHECK(downs == 0 || record->status == GFSMITH_ECORRUPT);
  CHECK(downs == 0 || strstr(record->reason, "does not take") != NULL);
  gfsmith_node_destroy(low);
  gfsmith_node_destroy(high);
}

void answers_that_are_not_taken(void) { questions(GFC_FAULT_KEEPS, 1); }
void answers_that_are_taken(void) { questions(GFC_FAULT_NONE, 0); }

/* A write without a grant: the provider refuses it and closes the link. */
typedef struct astray {
  gfc_registration slot;
  uint8_t memory[256];
  uint64_t past, flip;
  unsigned done;
} astray;

static void grant(gfsmith_node *node, void *context) {
  astray *shared = context;
  CHECK(gfc_register(node->engine, shared->memory + 64, 64, GFC_TARGET, NULL, &shared->slot) ==
        GFSMITH_OK);
}

static void write_astray(gfsmith_node *node, void *context) {
  static const uint8_t bytes[64] = {1, 2, 3};
  astray *shared = context;
  gfc_piece piece = {bytes, sizeof bytes, NULL, shared->slot.base + shared->past,
                     shared->slot.key ^ shared->flip};
  gfc_writing writing = {
      .piece = &piece, .pieces = 1, .data = 1, .delivered = true, .context = &shared->done};
  CHECK(gfc_write(node->engine, 0, &writing) == GFSMITH_OK);
}

static void strayed(uint64_t past, uint64_t flip) {
  gfsmith_node *low = harness_node(0), *high = harness_node(1);
  astray shared = {.past = past, .flip = flip};
  harness_link(high, low);
  harness_run(low, grant, &shared);
  harness_run(high, write_astray, &shared);
  UNTIL(high->operations, high->operations->sents == 1);
  UNTIL(high->operations, high->operations->downs == 1);
  UNTIL(low->operations, low->operations->downs == 1);
  CHECK(high->operations->failed == 1 && low->operations->writes == 0);
  for (size_t i = 0; i < sizeof shared.memory; i++)
    CHECK(shared.memory[i] == 0);
  UNTIL(high->operations, high->operations->ups == 2);
  gfc_unregister(&shared.slot);
  gfsmith_node_destroy(low);
  gfsmith_node_destroy(high);
}

void a_write_to_nowhere(void) { strayed(0, 1); }
void a_write_that_is_too_long(void) { strayed(1, 0); }
