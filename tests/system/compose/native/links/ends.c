/* Nodes and links that end and return, and the thread of a node. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* pthread_getattr_np */
#endif
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "../clock.h"
#include "harness.h"
#include "scenarios.h"

/* More writes than credits, so that some are posted and some wait. */
enum { WRITES = 100, SLOT = 1 << 16 };
typedef struct pending {
  gfc_registration slot;
  uint8_t memory[SLOT], source[SLOT];
  unsigned done[WRITES];
} pending;

static void grant(gfsmith_node *node, void *context) {
  pending *shared = context;
  CHECK(gfc_register(node->engine, shared->memory, SLOT, GFC_TARGET, NULL, &shared->slot) ==
        GFSMITH_OK);
}

static void post(gfsmith_node *node, void *context) {
  pending *shared = context;
  for (unsigned i = 0; i < WRITES; i++) {
    gfc_piece piece = {shared->source, SLOT, NULL, shared->slot.base, shared->slot.key};
    gfc_writing writing = {.piece = &piece,
                           .pieces = 1,
                           .data = i + 1,
                           .delivered = true,
                           .context = &shared->done[i]};
    CHECK(gfc_write(node->engine, 0, &writing) == GFSMITH_OK);
  }
}

/* Every write is reported once, whichever side ends first: `sent` itself checks that no write is
 * reported twice. */
static void end_with_writes(bool sender_first) {
  gfsmith_node *low = harness_node(0), *high = harness_node(1);
  pending *shared = calloc(1, sizeof *shared);
  CHECK(shared != NULL);
  harness_link(high, low);
  harness_run(low, grant, shared);
  harness_run(high, post, shared);
  if (sender_first) {
    gfsmith_node_destroy(high);
    UNTIL(low->operations, low->operations->downs == 1);
    gfc_unregister(&shared->slot);
    gfsmith_node_destroy(low);
  } else {
    gfc_unregister(&shared->slot);
    gfsmith_node_destroy(low);
    UNTIL(high->operations, high->operations->downs == 1);
    CHECK(high->operations->sents == WRITES);
    gfsmith_node_destroy(high);
  }
  for (unsigned i = 0; i < WRITES; i++)
    CHECK(shared->done[i] == 1);
  free(shared);
}

void destroyed_under_way(void) {
  end_with_writes(true);
  end_with_writes(false);
}

/* A thread that sends until it is stopped. */
typedef struct caller {
  gfsmith_node *node;
  atomic_bool stop;
} caller;

static void *keep_sending(void *context) {
  caller *calls = context;
  static const uint8_t bytes[100];
  while (!atomic_load(&calls->stop)) {
    int status = gfsmith_node_send(calls->node, 0, bytes, sizeof bytes);
    CHECK(status == GFSMITH_OK || status == GFSMITH_EPEER || status == GFSMITH_ELIMIT);
    gfsmith_node_connected(calls->node, 0);
  }
  return NULL;
}

void destroyed_while_others_call(void) {
  enum { THREADS = 3, ROUNDS = 3 };
  gfsmith_node *high = harness_node(1);
  caller calls = {.node = high};
  pthread_t thread[THREADS];
  for (unsigned i = 0; i < THREADS; i++)
    CHECK(pthread_create(&thread[i], NULL, keep_sending, &calls) == 0);
  for (unsigned round = 0; round < ROUNDS; round++) {
    gfsmith_node *low = harness_node(0);
    harness_link(high, low);
    gfsmith_node_destroy(low);
    UNTIL(high->operations, high->operations->downs == round + 1);
  }
  atomic_store(&calls.stop, true);
  for (unsigned i = 0; i < THREADS; i++)
    CHECK(pthread_join(thread[i], NULL) == 0);
  gfsmith_node_destroy(high);
}

void back_at_the_same_port(void) {
  gfsmith_node *low = harness_node(0), *high = harness_node(1);
  gfsmith_node_options given = harness_options(0);
  given.port = gfsmith_node_port(low);
  harness_link(high, low);
  gfsmith_node_destroy(low);
  UNTIL(high->operations, high->operations->downs == 1);
  CHECK(high->operations->status == GFSMITH_EPEER);
  low = harness_open(&given);
  UNTIL(high->operations, high->operations->ups == 2);
  UNTIL(low->operations, low->operations->ups == 1);
  gfsmith_node_destroy(high);
  UNTIL(low->operations, low->operations->downs == 1);
  gfsmith_node_destroy(low);
}

void moved(void) {
  gfsmith_node *low = harness_node(0), *other = harness_node(0), *high = harness_node(1);
  harness_link(high, low);
  CHECK(gfsmith_node_peer(high, 0, "127.0.0.1", gfsmith_node_port(low)) == GFSMITH_OK);
  CHECK(gfsmith_node_peer(high, 0, "127.0.0.1", gfsmith_node_port(other)) == GFSMITH_OK);
  UNTIL(other->operations, other->operations->ups == 1);
  UNTIL(low->operations, low->operations->downs == 1);
  UNTIL(high->operations, high->operations->ups == 2 && high->operations->downs == 1);
  gfsmith_node_destroy(other);
  gfsmith_node_destroy(low);
  gfsmith_node_destroy(high);
}

/* Of two nodes with one rank, the last to authenticate has the link. */
void two_of_one_rank(void) {
  gfsmith_node *low = harness_node(0), *first = harness_node(1), *second = harness_node(1);
  harness_link(first, low);
  CHECK(gfsmith_node_peer(second, 0, "127.0.0.1", gfsmith_node_port(low)) == GFSMITH_OK);
  UNTIL(second->operations, second->operations->ups == 1);
  UNTIL(first->operations, first->operations->downs >= 1);
  UNTIL(low->operations, low->operations->downs >= 1 && low->operations->ups >= 2);
  gfsmith_node_destroy(second);
  gfsmith_node_destroy(first);
  gfsmith_node_destroy(low);
}

enum { ASK_MS = 50, SILENT_MS = 400 };

static void measure_silence(gfsmith_node *node, void *context) {
  const gfc_channel *channel = gfc_peer_channel(&node->engine->peers, 0);
  CHECK(channel != NULL);
  *(uint64_t *)context = gfc_now() - channel->heard;
}

/* A link whose clock stands still. */
static void link_without_time(gfsmith_node *high, gfsmith_node *low) {
  CHECK(gfsmith_node_patience(high, ASK_MS, SILENT_MS) == GFSMITH_OK);
  harness_link(high, low);
  clock_stop();
}

/* Time passes; the node sends a keep-alive request and gets an answer. */
static void pass_and_hear(gfsmith_node *high, unsigned ms) {
  uint64_t silence = 1;
  harness_pass(high, ms);
  for (int i = 0; i < harness_seconds() * 1000 && silence != 0; i++) {
    harness_run(high, measure_silence, &silence);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  CHECK(silence == 0);
  UNTIL(high->operations, high->operations->downs == 0);
}

/* Both nodes are silent for long enough by the system's clock, which the library asks, too. */
static void stand_still(void) {
  nanosleep(&(struct timespec){.tv_nsec = 2 * SILENT_MS * 1000000}, NULL);
}

/* A peer whose connection stays up, and that sends nothing any more. */
void silent(void) {
  gfsmith_node *low = harness_node(0), *high = harness_node(1);
  link_without_time(high, low);
  for (unsigned ms = 0; ms < 2 * SILENT_MS; ms += ASK_MS)
    pass_and_hear(high, ASK_MS);
  CHECK(gfsmith_node_fault(low, GFC_FAULT_SILENT, 0) == GFSMITH_OK);
  harness_pass(low, 0);
  for (unsigned ms = ASK_MS; ms < SILENT_MS; ms += ASK_MS)
    harness_pass(high, ASK_MS);
  UNTIL(high->operations, high->operations->downs == 0);
  nanosleep(&(struct timespec){.tv_nsec = 2 * SILENT_MS * 1000000},
            NULL); /* by the system's clock */
  harness_pass(high, ASK_MS);
  UNTIL(high->operations, high->operations->downs == 1);
  CHECK(high->operations->status == GFSMITH_EPEER);
  CHECK(strstr(high->operations->reason, "silent") != NULL);
  gfsmith_node_destroy(low);
  gfsmith_node_destroy(high);
}

/* A node that did not run for longer than it lets a peer be silent: the link stays. */
void continued(void) {
  gfsmith_node *low = harness_node(0), *high = harness_node(1);
  link_without_time(high, low);
  stand_still();
  for (unsigned n = 0; n < 3; n++)
    pass_and_hear(high, 100 * SILENT_MS);
  gfsmith_node_destroy(low);
  gfsmith_node_destroy(high);
}

static void drop(gfsmith_node *node, void *context) {
  (void)context;
  gfc_drop(node->engine, 0, GFSMITH_ECORRUPT, "said so");
  CHECK(node->operations->downs == 0); /* not from within the call */
  CHECK(gfc_control(node->engine, 0, GFC_CONTROL_FIRST, "four", 4) == GFSMITH_EPEER);
}

void dropped(void) {
  gfsmith_node *low = harness_node(0), *high = harness_node(1);
  harness_link(high, low);
  harness_run(high, drop, NULL);
  UNTIL(high->operations, high->operations->downs == 1);
  CHECK(high->operations->status == GFSMITH_ECORRUPT);
  CHECK(strcmp(high->operations->reason, "said so") == 0);
  UNTIL(low->operations, low->operations->downs == 1);
  UNTIL(high->operations, high->operations->ups == 2);
  gfsmith_node_destroy(low);
  gfsmith_node_destroy(high);
}

/* Timers expire in the order of their times, not of their starts; a stopped one does not expire. */
enum { TIMERS = 6 };
typedef struct clocks {
  gfc_operations *record;
  struct timed {
    gfc_timer timer;
    struct clocks *all;
    unsigned index;
  } timed[TIMERS];
  unsigned order[TIMERS + 1], count;
} clocks;

static void over(gfc_timer *timer) {
  struct timed *timed = (struct timed *)timer;
  clocks *all = timed->all;
  CHECK(gfc_now() >= timer->at && all->count < TIMERS);
  pthread_mutex_lock(&all->record->mutex);
  all->order[all->count++] = timed->index;
  pthread_cond_broadcast(&all->record->changed);
  pthread_mutex_unlock(&all->record->mutex);
}

static void start(gfsmith_node *node, void *context) {
  static const unsigned after[TIMERS] = {50, 10, 30, 20, 60, 40};
  clocks *all = context;
  uint64_t now = gfc_now();
  gfc_timers *list = gfc_engine_timers(node->engine);
  for (unsigned i = 0; i < TIMERS; i++) {
    all->timed[i].all = all;
    all->timed[i].index = i;
    gfc_timer_start(list, &all->timed[i].timer, now + after[i], over);
  }
  gfc_timer_stop(list, &all->timed[2].timer);
  gfc_timer_stop(list, &all->timed[2].timer);
  gfc_timer_start(list, &all->timed[1].timer, now + 70, over);
}

void timers(void) {
  static const unsigned right[TIMERS - 1] = {3, 5, 0, 4, 1};
  gfsmith_node *node = harness_node(0);
  clocks all = {.record = node->operations};
  harness_run(node, start, &all);
  UNTIL(node->operations, all.count == TIMERS - 1);
  CHECK(memcmp(all.order, right, sizeof right) == 0);
  gfsmith_node_destroy(node);
}

/* The thread blocks signals of others, but not those of its own accesses, and its stack has room
 * for kernels. */
static void look_at_thread(gfsmith_node *node, void *context) {
  (void)node, (void)context;
  sigset_t mask;
  pthread_attr_t how;
  size_t stack;
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
  CHECK(sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGBUS) == 0);
  CHECK(pthread_getattr_np(pthread_self(), &how) == 0);
  CHECK(pthread_attr_getstacksize(&how, &stack) == 0 && stack >= 1 << 20);
  CHECK(pthread_attr_destroy(&how) == 0);
}

void thread_in_a_program_with_small_stacks(void) {
  pthread_attr_t small;
  CHECK(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 64 << 10) == 0);
  CHECK(pthread_setattr_default_np(&small) == 0 && pthread_attr_destroy(&small) == 0);
  gfsmith_node *node = harness_node(0);
  harness_run(node, look_at_thread, NULL);
  gfsmith_node_destroy(node);
}

/* ---- sockets ---- */

static struct sockaddr_in at(const char *host, uint16_t port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  CHECK(inet_pton(AF_INET, host, &address.sin_addr) == 1);
  return address;
}

static int call(const char *host, uint16_t port) {
  struct sockaddr_in address = at(host, port);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
  return fd;
}

/* The program itself listens on the port of the node at another address. When the node has shut
 * down a silent connection, an older one of the program is still open. */
void sockets_of_the_program_at_the_same_port(void) {
  struct sockaddr_in address = at("127.0.0.2", 0);
  socklen_t bytes = sizeof address;
  int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), listens = 0;
  CHECK(bind(server, (struct sockaddr *)&address, bytes) == 0 && listen(server, 8) == 0);
  CHECK(getsockname(server, (struct sockaddr *)&address, &bytes) == 0);
  gfsmith_node_options options = harness_options(0);
  options.port = ntohs(address.sin_port);
  options.connect_ms = 100;
  int client = call("127.0.0.2", options.port), accepted = accept(server, NULL, NULL);
  gfsmith_node *node = harness_open(&options);
  int silent = call("127.0.0.1", options.port);
  char byte = 0;
  CHECK(read(silent, &byte, 1) <= 0);
  CHECK(send(client, "?", 1, MSG_NOSIGNAL) == 1 && read(accepted, &byte, 1) == 1 && byte == '?');
  gfsmith_node_destroy(node);
  bytes = sizeof listens;
  CHECK(getsockopt(server, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 && listens == 1);
  close(silent), close(client), close(accepted), close(server);
}

/* Does the socket listen, or is it connected? */
static bool in_use(int fd) {
  struct tcp_info info;
  socklen_t bytes = sizeof info;
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0 &&
         (info.tcpi_state == TCP_LISTEN || info.tcpi_state == TCP_ESTABLISHED);
}

void sockets_that_no_program_inherits(void) {
  enum { LISTENERS = 2, ENDS = 2 };
  gfsmith_node *low = harness_node(0), *high = harness_node(1);
  unsigned found = 0;
  harness_link(high, low);
  for (int fd = 0; fd < 256; fd++)
    if (in_use(fd)) {
      CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
      found++;
    }
  CHECK(found >= LISTENERS + ENDS);
  gfsmith_node_destroy(high);
  gfsmith_node_destroy(low);
}
