/* libFuzzer on the clients of apps/stripe-store's agent, over sockets of the loopback
 * interface. The first byte selects one of two kinds of input:
 *
 *  - one client sends valid commands in pieces of any size. Its answers must equal those of a
 * model.
 *  - up to three clients send anything, stop, do not read, and leave at any time, and requests to
 * the store fail. When all have left, no memory, lock or client remains.
 *
 * GFSMITH_FUZZ_TEETH plants an error in the model of both. */
#include "agent/client.h"
#include "agent/command.h"
#include "agent/lock.h"
#include "client_model.h"
#include "client_store.h"
#include "common/files.h"

#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CLIENTS = 3, STEPS = 64, COMMANDS = 24, PIECES = 32, MEMORY = 3 * MODEL_VALUE_MAX };

static agent server;
static struct sockaddr_storage where;
static socklen_t where_bytes;

static void start(void) {
  char words[80];
  address at;
  signal(SIGPIPE, SIG_IGN); /* as main.c does */
  server = (agent){.folder = "/nonexistent",
                   .value_max = MODEL_VALUE_MAX,
                   .clients_max = CLIENTS,
                   .group = {.epoch = 1},
                   .events = {.request = command_run}};
  server.base = event_base_new();
  REQUIRE(server.base != NULL && clients_listen(&server, "127.0.0.1", 0, words));
  REQUIRE(address_parse(&at, words) && address_resolve(&at, &where, &where_bytes));
}

/* Handle the events that are there now, and those that follow from them. */
static void handle_events(void) {
  for (unsigned n = 0; n < 4; n++)
    event_base_loop(server.base, EVLOOP_NONBLOCK);
}

/* ---- sockets ---- */

static int open_client(void) {
  const struct linger at_once = {.l_onoff = 1}; /* closed without a trace, so that ports suffice */
  int fd = socket(where.ss_family, SOCK_STREAM, 0);
  REQUIRE(fd >= 0 && connect(fd, (const struct sockaddr *)&where, where_bytes) == 0);
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  return fd;
}

/* Return the bytes that the socket takes now. */
static size_t send_some(int fd, const char *bytes, size_t length) {
  ssize_t sent = length == 0 ? 0 : send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent > 0 ? (size_t)sent : 0;
}

/* Append the bytes that have arrived; return their number. */
static size_t receive(int fd, text *to) {
  ssize_t got = recv(fd, to->bytes + to->length, sizeof to->bytes - to->length, MSG_DONTWAIT);
  to->length += got > 0 ? (size_t)got : 0;
  return got > 0 ? (size_t)got : 0;
}

/* ---- one client with valid commands ---- */

static void converse(input *in) {
  static model m;
  static text got;
  size_t sent = 0;
  m.version = server.number;
  memset(m.items, 0, sizeof m.items);
  m.sent.length = m.expected.length = got.length = 0;
  size_t piece = 1 + take_below(in, 4096);
  unsigned count = 1 + take_below(in, COMMANDS);
  bool late = take_below(in, 2) == 0;
  server.memory_max = UINT64_MAX / 2;
  for (unsigned n = 0; n < count; n++)
    model_command(&m, in);
  if (planted() && m.items[0].version != m.items[1].version)
    m.expected.bytes[0] ^= 1;
  if (piece < m.sent.length / PIECES)
    piece = m.sent.length / PIECES;
  int fd = open_client();
  for (unsigned idle = 0; idle < 8; idle++) {
    size_t rest = m.sent.length - sent;
    size_t now = send_some(fd, m.sent.bytes + sent, rest < piece ? rest : piece);
    sent += now;
    handle_events();
    while (store_waiting() > 0 && !(late && idle < 2 && now > 0))
      store_complete(0, true);
    if (now + receive(fd, &got) > 0)
      idle = 0;
  }
  close(fd);
  REQUIRE(sent == m.sent.length && got.length == m.expected.length);
  REQUIRE(memcmp(got.bytes, m.expected.bytes, got.length) == 0);
}

/* ---- several clients that send anything ---- */

static const char *const pieces[] = {"get a\r\n",
                                     "gets a key a a a\r\n",
                                     "set a 0 0 3\r\nabc\r\n",
                                     "set key 1 0 1500\r\n",
                                     "\r\n",
                                     "set a 0 0 2000 noreply\r\n",
                                     "append a 0 0 2\r\n12\r\n",
                                     "incr a 5\r\n",
                                     "touch a -1\r\n",
                                     "delete a\r\n",
                                     "flush_all\r\n",
                                     "quit\r\n",
                                     "set a 0 0 5000\r\n",
                                     "cas a 0 0 1 4294967297\r\nx\r\n",
                                     "stats\r\n",
                                     "get a"};

static void send_anything(int fd, input *in) {
  static char noise[4096];
  unsigned how = take_below(in, 32);
  size_t length;
  if (how < sizeof pieces / sizeof pieces[0]) {
    send_some(fd, pieces[how], strlen(pieces[how]));
    return;
  }
  length = how == 31 ? sizeof noise : how == 30 ? 1500 : take_below(in, 16);
  memset(noise, '7', sizeof noise);
  take_bytes(in, (uint8_t *)noise, length < 16 ? length : 16);
  send_some(fd, noise, length);
}

static void step(int fds[CLIENTS], input *in) {
  static text ignored;
  unsigned which = take_below(in, CLIENTS), what = take_below(in, 16);
  int *fd = &fds[which];
  ignored.length = 0;
  if (what == 0 && *fd >= 0) {
    close(*fd);
    *fd = -1;
  } else if (what == 1 && *fd >= 0) {
    shutdown(*fd, SHUT_WR);
  } else if (what < 4 && *fd >= 0) {
    receive(*fd, &ignored);
  } else if (what < 8 && store_waiting() > 0) {
    store_complete(take_below(in, store_waiting()), what > 4);
  } else {
    *fd = *fd >= 0 ? *fd : open_client();
    send_anything(*fd, in);
  }
  if (what % 2 == 0)
    handle_events();
}

static void crowd(input *in) {
  int fds[CLIENTS] = {-1, -1, -1};
  server.memory_max = MEMORY;
  for (unsigned n = 0; n < STEPS && in->left > 0; n++) {
    step(fds, in);
    REQUIRE(server.memory <= MEMORY && server.counters.clients <= CLIENTS);
  }
  REQUIRE(!planted() || server.memory < MODEL_VALUE_MAX);
  for (unsigned n = 0; n < CLIENTS; n++)
    if (fds[n] >= 0)
      close(fds[n]);
}

/* Complete all requests, until nothing has happened twice. */
static void finish(void) {
  for (unsigned n = 0, quiet = 0; n < 1000 && quiet < 2; n++) {
    handle_events();
    quiet = server.clients == NULL && store_waiting() == 0 ? quiet + 1 : 0;
    while (store_waiting() > 0)
      store_complete(0, n % 2 == 0);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {data, size};
  if (server.base == NULL)
    start();
  server.number = 0;
  if (take_below(&in, 2) == 0)
    converse(&in);
  else
    crowd(&in);
  finish();
  REQUIRE(server.clients == NULL && server.counters.clients == 0);
  REQUIRE(server.memory == 0 && server.locks == NULL);
  store_clear(&server);
  return 0;
}
