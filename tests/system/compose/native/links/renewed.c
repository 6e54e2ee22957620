/* Keys that are replaced while links are up. */
#include "harness.h"
#include "scenarios.h"

static const uint8_t old[] = "a key for the tests only", new[] = "another key for the tests";
static const uint8_t newest[] = "a third key for the tests";

static void rekey(gfsmith_node *node, const uint8_t *key, size_t bytes, const uint8_t *previous,
                  size_t previous_bytes) {
  CHECK(gfsmith_node_rekey(node, key, bytes, previous, previous_bytes) == GFSMITH_OK);
}

static void add_new(gfsmith_node *node) { rekey(node, new, sizeof new, old, sizeof old); }
static void remove_old(gfsmith_node *node) { rekey(node, new, sizeof new, NULL, 0); }

/* A link, and a message that its ends have exchanged on each side of a renewal. */
typedef struct look {
  uint16_t peer;
  bool current; /* does the link's session come from the current key, and is it settled? */
} look;

static void look_at(gfsmith_node *node, void *context) {
  look *found = context;
  const gfc_channel *channel = gfc_peer_channel(&node->engine->peers, found->peer);
  const gfc_handshake *own = &node->engine->peers.handshake;
  found->current = channel != NULL && channel->session.renewal == GFC_SETTLED &&
                   memcmp(channel->session.name, own->current.name, GFC_KEY_NAME_BYTES) == 0;
}

static void until_current(gfsmith_node *node, uint16_t peer) {
  look found = {.peer = peer};
  for (int i = 0; i < harness_seconds() * 1000 && !found.current; i++) {
    harness_run(node, look_at, &found);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  CHECK(found.current);
}

enum { WRITES = 200, SLOT = 4096 };
typedef struct exchange {
  gfc_registration slot;
  uint8_t memory[SLOT], source[SLOT], tag[WRITES][GFC_TAG_BYTES];
  unsigned done[WRITES], from;
} exchange;

/* The tag of a write is valid for its data, its payload and its place among the writes only. */
static void check_tag(gfc_operations *record, uint16_t rank, uint32_t data) {
  exchange *shared = record->context;
  const uint8_t *tag = shared->tag[data / 2 - 1];
  CHECK(gfc_authentic(record->engine, rank, data, shared->memory, SLOT, tag));
  CHECK(!gfc_authentic(record->engine, rank, data + 1, shared->memory, SLOT, tag));
  CHECK(!gfc_authentic(record->engine, rank, data, shared->memory, SLOT - 1, tag));
  CHECK(data == 2 ||
        !gfc_authentic(record->engine, rank, data, shared->memory, SLOT, shared->tag[0]));
}

static void grant(gfsmith_node *node, void *context) {
  exchange *shared = context;
  CHECK(gfc_register(node->engine, shared->memory, SLOT, GFC_TARGET, NULL, &shared->slot) ==
        GFSMITH_OK);
  node->operations->context = shared;
  node->operations->on_write = check_tag;
}

/* Posts messages and writes alternately, numbered together, each write with its tag. */
static void post(gfsmith_node *node, void *context) {
  exchange *shared = context;
  for (uint32_t i = shared->from; i < shared->from + WRITES / 4; i++) {
    uint32_t value = 2 * i + 1;
    gfc_piece piece = {shared->source, SLOT, NULL, shared->slot.base, shared->slot.key};
    gfc_writing writing = {.piece = &piece,
                           .tag = shared->tag[i],
                           .payload = true,
                           .pieces = 1,
                           .data = value + 1,
                           .context = &shared->done[i]};
    CHECK(gfc_control(node->engine, 0, GFC_CONTROL_FIRST, &value, sizeof value) == GFSMITH_OK);
    CHECK(gfc_write(node->engine, 0, &writing) == GFSMITH_OK);
  }
  shared->from += WRITES / 4;
}

void a_new_key(void) {
  gfsmith_node *low = harness_node(0), *high = harness_node(1);
  exchange *shared = calloc(1, sizeof *shared);
  CHECK(shared != NULL && gfsmith_node_patience(high, 20, 60000) == GFSMITH_OK);
  harness_link(high, low);
  harness_run(low, grant, shared);
  harness_run(high, post, shared);
  add_new(high); /* asks at once, and again later, because the other node has no new key yet */
  harness_run(high, post, shared);
  add_new(low);
  harness_run(high, post, shared);
  until_current(high, 0);
  until_current(low, 1);
  remove_old(low);
  remove_old(high);
  harness_run(high, post, shared);
  gfc_operations *got = low->operations, *sent = high->operations;
  UNTIL(got, got->writes == WRITES && got->controls == WRITES);
  UNTIL(sent, sent->sents == WRITES);
  UNTIL(got, !got->disorder && got->downs == 0);
  UNTIL(sent, sent->failed == 0 && sent->downs == 0);
  gfc_unregister(&shared->slot);
  gfsmith_node_destroy(low);
  gfsmith_node_destroy(high);
  free(shared);
}

/* New links: whichever node has the new key first, they agree on one that both have. */
void a_new_key_at_one_node(void) {
  gfsmith_node *low = harness_node(0), *high = harness_node(1), *other = harness_node(2);
  add_new(high);
  harness_link(high, low);
  until_current(low, 1);
  add_new(low);
  harness_link(other, low);
  until_current(other, 0);
  UNTIL(low->operations, low->operations->downs == 0);
  gfsmith_node_destroy(low);
  gfsmith_node_destroy(high);
  gfsmith_node_destroy(other);
}

void a_removed_key(void) {
  gfsmith_node *low = harness_node(0), *high = harness_node(1);
  harness_link(high, low);
  CHECK(gfsmith_node_rekey(low, new, 15, NULL, 0) == GFSMITH_EINVAL);
  CHECK(gfsmith_node_rekey(low, new, sizeof new, old, 65) == GFSMITH_EINVAL);
  CHECK(gfsmith_node_rekey(low, NULL, sizeof new, NULL, 0) == GFSMITH_EINVAL);
  remove_old(low);
  UNTIL(low->operations, low->operations->downs == 1);
  UNTIL(low->operations, low->operations->status == GFSMITH_EAUTH);
  UNTIL(low->operations,
        strcmp(low->operations->reason, "the key of the link has been replaced") == 0);
  rekey(high, newest, sizeof newest, old, sizeof old);
  UNTIL(high->operations, high->operations->downs == 1);
  CHECK(!gfsmith_node_connected(low, 1));
  add_new(high);
  UNTIL(high->operations, gfsmith_node_connected(high, 0));
  gfsmith_node_destroy(low);
  gfsmith_node_destroy(high);
}
