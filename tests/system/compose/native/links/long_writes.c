/* A write that takes much longer than a peer may be silent. */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "scenarios.h"

enum { ASK_MS = 25, SILENT_MS = 1500, PART = 65536, PARTS = 100, PAYLOAD = PARTS * PART };
enum { PAIRS = 64, NODES = 2 };

/* A relay between the nodes. When it is slow, it passes a part of the write on whenever the
 * receiver has sent something, which it does each ASK_MS. */
typedef struct relay {
  int listener, ends[PAIRS][NODES]; /* the node that has connected, then the other one */
  unsigned pairs;
  uint16_t towards;
  atomic_bool slow, over;
  unsigned parts;
} relay;

static int tcp_socket(uint16_t port, int (*use)(int, const struct sockaddr *, socklen_t)) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(fd >= 0 && use(fd, (struct sockaddr *)&address, sizeof address) == 0);
  return fd;
}

static void accept_pair(relay *r) {
  CHECK(r->pairs < PAIRS);
  int *ends = r->ends[r->pairs++];
  ends[0] = accept(r->listener, NULL, NULL);
  ends[1] = tcp_socket(r->towards, connect);
}

/* Pass the bytes on that have arrived. False: this end is closed. */
static bool pass(int from, int to) {
  static uint8_t bytes[PART];
  ssize_t count = recv(from, bytes, sizeof bytes, 0);
  if (count <= 0)
    return false;
  for (ssize_t sent = 0, more; sent < count; sent += more)
    if ((more = send(to, bytes + sent, (size_t)(count - sent), MSG_NOSIGNAL)) <= 0)
      return false;
  return true;
}

/* Serve one direction of a pair, if it may move now. */
static void serve(relay *r, int *ends, unsigned from) {
  struct pollfd ready = {.fd = ends[from], .events = POLLIN};
  bool held = from == 0 && atomic_load(&r->slow) && r->parts == 0;
  if (ends[from] < 0 || held || poll(&ready, 1, 0) != 1)
    return;
  if (!pass(ends[from], ends[1 - from])) {
    close(ends[0]), close(ends[1]);
    ends[0] = ends[1] = -1;
  } else if (atomic_load(&r->slow)) {
    r->parts = from == 1;
  }
}

static void *run_relay(void *context) {
  relay *r = context;
  while (!atomic_load(&r->over)) {
    struct pollfd ready = {.fd = r->listener, .events = POLLIN};
    if (poll(&ready, 1, 1) == 1)
      accept_pair(r);
    for (unsigned n = 0; n < NODES * r->pairs; n++)
      serve(r, r->ends[n / NODES], n % NODES);
  }
  for (unsigned n = 0; n < r->pairs; n++)
    if (r->ends[n][0] >= 0)
      close(r->ends[n][0]), close(r->ends[n][1]);
  close(r->listener);
  return NULL;
}

static pthread_t start_relay(relay *r, gfsmith_node *low, gfsmith_node *high) {
  struct sockaddr_in address;
  socklen_t bytes = sizeof address;
  pthread_t thread;
  r->towards = gfsmith_node_port(low);
  r->listener = tcp_socket(0, bind);
  CHECK(listen(r->listener, 8) == 0);
  CHECK(getsockname(r->listener, (struct sockaddr *)&address, &bytes) == 0);
  CHECK(pthread_create(&thread, NULL, run_relay, r) == 0);
  CHECK(gfsmith_node_peer(high, 0, "127.0.0.1", ntohs(address.sin_port)) == GFSMITH_OK);
  return thread;
}

typedef struct transfer {
  gfc_registration slot;
  uint8_t *from, *to;
  unsigned done;
} transfer;

static void grant_slot(gfsmith_node *node, void *context) {
  transfer *t = context;
  CHECK(gfc_register(node->engine, t->to, PAYLOAD, GFC_TARGET, NULL, &t->slot) == GFSMITH_OK);
}

static void post_write(gfsmith_node *node, void *context) {
  transfer *t = context;
  gfc_piece piece = {t->from, PAYLOAD, NULL, t->slot.base, t->slot.key};
  gfc_writing writing = {.piece = &piece, .pieces = 1, .data = 1, .context = &t->done};
  CHECK(gfc_write(node->engine, 0, &writing) == GFSMITH_OK);
}

void a_write_that_takes_long(void) {
  gfsmith_node *low = harness_node(0), *high = harness_node(1);
  transfer t = {.from = calloc(1, PAYLOAD), .to = calloc(1, PAYLOAD)};
  relay r = {.parts = 0};
  CHECK(t.from != NULL && t.to != NULL);
  memset(t.from, 7, PAYLOAD);
  CHECK(gfsmith_node_patience(low, ASK_MS, SILENT_MS) == GFSMITH_OK);
  CHECK(gfsmith_node_patience(high, ASK_MS, SILENT_MS) == GFSMITH_OK);
  pthread_t thread = start_relay(&r, low, high);
  UNTIL(low->operations, low->operations->ups == 1);
  UNTIL(high->operations, high->operations->ups == 1);
  harness_run(low, grant_slot, &t);
  atomic_store(&r.slow, true);
  harness_run(high, post_write, &t);
  UNTIL(low->operations, low->operations->writes == 1 || low->operations->downs > 0);
  UNTIL(low->operations, low->operations->downs == 0);
  UNTIL(high->operations, high->operations->downs == 0);
  CHECK(memcmp(t.from, t.to, PAYLOAD) == 0);
  gfc_unregister(&t.slot);
  gfsmith_node_destroy(high);
  gfsmith_node_destroy(low);
  atomic_store(&r.over, true);
  CHECK(pthread_join(thread, NULL) == 0);
  free(t.from), free(t.to);
}
