#include "client.h"

#include "common/files.h"
#include "common/report.h"
#include "tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/listener.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

enum {
  COMPLAIN_MS = 60000,    /* between two reports that clients cannot be accepted */
  LOGIN_MAX = 1024,       /* bytes of a value before the client has authenticated itself */
  OUTPUT_MAX = 256 << 10, /* output bytes of a client above which nothing more is done for it */
  PACE = 256 << 10        /* bytes that a client moves in each --stall seconds if memory is short */
};

static void client_go_on(client *c);

/* The memory of a long line counts like that of a value. False: there is none. */
static bool charge_line(client *c, size_t bytes) {
  agent *a = c->agent;
  a->memory -= c->charged;
  c->charged = 0;
  if (bytes <= PARSE_LINE_MAX)
    return true;
  if (!stripe_fits(a, bytes))
    return false;
  a->memory += c->charged = bytes;
  return true;
}

static void forget_line(client *c) {
  free(c->line);
  c->line = NULL;
  charge_line(c, 0);
}

static void dispose(client *c) {
  DL_DELETE(c->agent->clients, c);
  c->agent->counters.clients--;
  if (c->stream != NULL)
    bufferevent_free(c->stream);
  stripe_free(c->value);
  forget_line(c);
  free(c);
}

/* Continue a command that waited until answers were sent. */
static void stop_waiting(client *c) {
  void (*go_on)(client *) = c->waits;
  c->waits = NULL;
  go_on(c);
}

/* Close the connection. A running command continues; the client is freed when it is over. */
static void hang_up(client *c) {
  if (c->encrypted)
    tls_end(c->stream);
  bufferevent_free(c->stream);
  c->stream = NULL;
  if (c->state != CLIENT_BUSY)
    dispose(c);
  else if (c->waits != NULL)
    stop_waiting(c);
}

static size_t unsent(const client *c) {
  return evbuffer_get_length(bufferevent_get_output(c->stream));
}

bool client_is_gone(const client *c) { return c->stream == NULL || c->quits; }

/* Answers are sent. libevent does not report that it had no memory for this when they were added:
 * false. */
static bool sends(client *c) {
  return unsent(c) == 0 || bufferevent_enable(c->stream, EV_WRITE) == 0;
}

/* Measure the pace from now on. */
static void set_out(pace *p, uint64_t moved) { *p = (pace){agent_now_ms(), moved}; }

/* An answer has been added to so many bytes that wait to be sent. */
static void note_answer(client *c, size_t before) {
  if (before == 0)
    set_out(&c->departure, c->answered);
  c->answered += unsent(c) - before;
}

void client_when_sent(client *c, void (*go_on)(client *c)) {
  c->waits = go_on;
  if (!client_is_gone(c) && unsent(c) >= OUTPUT_MAX && sends(c))
    return;
  stop_waiting(c);
}

void client_answer(client *c, const char *format, ...) {
  va_list arguments;
  if (client_is_gone(c) || c->request.noreply)
    return;
  struct evbuffer *out = bufferevent_get_output(c->stream);
  const size_t before = unsent(c);
  va_start(arguments, format);
  bool added = evbuffer_add_vprintf(out, format, arguments) >= 0;
  va_end(arguments);
  added = added && evbuffer_add(out, "\r\n", 2) == 0;
  c->quits = !added; /* without memory for an answer, the following ones would be misunderstood */
  note_answer(c, before);
}

static void free_value(const void *bytes, size_t length, void *value) {
  (void)bytes;
  (void)length;
  stripe_free(value);
}

void client_send_value(client *c, const record *r, stripe *value) {
  char unique[24] = "";
  if (c->request.verb == VERB_GETS)
    snprintf(unique, sizeof unique, " %" PRIu64, r->version);
  client_answer(c, "VALUE %.*s %u %" PRIu64 "%s", r->key_bytes, r->key, r->flags, r->length,
                unique);
  if (client_is_gone(c)) {
    stripe_free(value);
    return;
  }
  struct evbuffer *out = bufferevent_get_output(c->stream);
  const size_t before = unsent(c);
  if (value->length == 0) {
    stripe_free(value);
  } else if (evbuffer_add_reference(out, value->bytes, value->length, free_value, value) != 0) {
    stripe_free(value);
    c->quits = true;
    return;
  }
  note_answer(c, before);
  client_answer(c, "%s", "");
}

void client_over(client *c) {
  stripe_free(c->value);
  c->value = NULL;
  forget_line(c);
  c->state = CLIENT_LINE;
  if (c->going_on)
    return;
  if (c->stream == NULL)
    dispose(c);
  else
    client_go_on(c);
}

static const char no_room[] =
    "SERVER_ERROR out of memory storing object: too many values are in transit";

/* Read and discard the rest of a value that is too large or for which there is no memory. */
static void swallow(client *c, const char *answer) {
  client_answer(c, "%s", answer);
  stripe_free(c->value);
  c->value = NULL;
  c->state = CLIENT_SWALLOW;
  c->filled = (size_t)c->request.bytes - c->filled + 2;
}

static void expect_value(client *c) {
  c->filled = 0;
  set_out(&c->arrival, 0);
  if (c->request.bytes > (c->known ? c->agent->value_max : LOGIN_MAX)) {
    swallow(c, "SERVER_ERROR object too large for cache");
    return;
  }
  c->value = stripe_expect(c->agent, c->request.bytes);
  if (c->value == NULL)
    swallow(c, no_room);
  else
    c->state = CLIENT_VALUE;
}

/* Answer, and close: the beginning of the next line is unknown. */
static void give_up(client *c, struct evbuffer *in, const char *answer) {
  c->request.noreply = false;
  client_answer(c, "%s", answer);
  evbuffer_drain(in, evbuffer_get_length(in));
  c->request.verb = VERB_QUIT;
  c->state = CLIENT_BUSY;
  c->agent->events.request(c);
}

/* Does the input have the end of a line? Bytes that were searched are not searched again. */
static bool line_ends(client *c, struct evbuffer *in) {
  struct evbuffer_ptr at;
  if (c->searched == 0)
    set_out(&c->arrival, 0);
  bool ends = evbuffer_ptr_set(in, &at, c->searched, EVBUFFER_PTR_SET) == 0 &&
              evbuffer_search_eol(in, &at, NULL, EVBUFFER_EOL_CRLF).pos >= 0;
  c->searched = ends ? 0 : evbuffer_get_length(in);
  return ends;
}

/* Keep the beginning of a line until the rest is there. */
static void keep_line(client *c, struct evbuffer *in) {
  char start[8];
  size_t bytes = evbuffer_get_length(in);
  ev_ssize_t n = evbuffer_copyout(in, start, sizeof start);
  if (n > 0 && parse_is_binary(start, (size_t)n))
    give_up(c, in, "ERROR"); /* no line ends there */
  else if (bytes > (c->known ? parse_line_most(start, n > 0 ? (size_t)n : 0) : PARSE_LINE_MAX))
    give_up(c, in, "CLIENT_ERROR line too long");
  else if (!charge_line(c, bytes))
    give_up(c, in, "SERVER_ERROR out of memory");
}

/* False: there is no complete line yet, or no memory for it. */
static bool take_line(client *c, struct evbuffer *in) {
  size_t length;
  const char *wrong;
  forget_line(c);
  if (!line_ends(c, in)) {
    keep_line(c, in);
    return false;
  }
  c->line = evbuffer_readln(in, &length, EVBUFFER_EOL_CRLF);
  if (c->line == NULL || !charge_line(c, length)) {
    give_up(c, in, "SERVER_ERROR out of memory"); /* a value may follow */
    return false;
  }
  wrong = parse_line(&c->request, c->line, length);
  if (wrong != NULL && parse_ends_connection(&c->request, c->line, length)) {
    give_up(c, in, wrong);
    return false;
  }
  if (wrong != NULL) {
    c->request.noreply = false;
    client_answer(c, "%s", wrong);
  } else if (parse_has_value(c->request.verb)) {
    expect_value(c);
  } else {
    c->state = CLIENT_BUSY;
    c->agent->events.request(c);
  }
  return true;
}

static bool take_value(client *c, struct evbuffer *in) {
  size_t left = c->value->length - c->filled;
  char end[2];
  if (left > 0) {
    int n = evbuffer_remove(in, c->value->bytes + c->filled, left);
    c->filled += n > 0 ? (size_t)n : 0;
  }
  if (!stripe_charge(c->value, c->filled)) {
    swallow(c, no_room);
    return true;
  }
  if (c->filled < c->value->length || evbuffer_get_length(in) < 2)
    return false;
  evbuffer_remove(in, end, 2);
  c->state = CLIENT_BUSY;
  if (memcmp(end, "\r\n", 2) != 0) {
    /* the beginning of the next line is unknown */
    c->request.noreply = false;
    client_answer(c, "CLIENT_ERROR bad data chunk");
    c->request.verb = VERB_QUIT;
  }
  c->agent->events.request(c);
  return true;
}

static bool swallow_more(client *c, struct evbuffer *in) {
  size_t there = evbuffer_get_length(in);
  size_t now = there < c->filled ? there : c->filled;
  evbuffer_drain(in, now);
  c->filled -= now;
  if (c->filled == 0)
    c->state = CLIENT_LINE;
  return c->filled == 0;
}

static bool take(client *c) {
  struct evbuffer *in = bufferevent_get_input(c->stream);
  switch (c->state) {
  case CLIENT_LINE:
    return unsent(c) < OUTPUT_MAX && take_line(c, in);
  case CLIENT_VALUE:
    return take_value(c, in);
  case CLIENT_SWALLOW:
    return swallow_more(c, in);
  default:
    return false;
  }
}

/* A client may pause before a line, but not within a line or a value. */
static void set_timeouts(client *c) {
  bool within =
      c->state != CLIENT_LINE || evbuffer_get_length(bufferevent_get_input(c->stream)) > 0;
  const struct timeval reading = {.tv_sec = within ? c->agent->stall_s : c->agent->idle_s};
  const struct timeval writing = {.tv_sec = c->agent->stall_s};
  bufferevent_set_timeouts(c->stream, reading.tv_sec > 0 ? &reading : NULL, &writing);
}

static void client_go_on(client *c) {
  c->going_on = true;
  while (!c->quits && take(c))
    ;
  c->going_on = false;
  /* now the input has no complete command, unless it waits for answers to be sent */
  if (c->ended && c->state != CLIENT_BUSY && unsent(c) < OUTPUT_MAX)
    c->quits = true;
  if (!sends(c) || (c->quits && unsent(c) == 0)) {
    hang_up(c);
    return;
  }
  /* no further input is read during a command and while answers wait to be sent, so that a client
   * cannot fill the memory: libevent reads a few KiB at once, and a line is bounded */
  if (c->state == CLIENT_BUSY || c->quits || unsent(c) >= OUTPUT_MAX) {
    bufferevent_disable(c->stream, EV_READ);
  } else {
    set_timeouts(c);
    if (bufferevent_enable(c->stream, EV_READ) != 0)
      hang_up(c);
  }
}

static void on_read(struct bufferevent *stream, void *owner) {
  (void)stream;
  client *c = owner;
  if (c->state != CLIENT_BUSY)
    client_go_on(c);
}

void client_quit(client *c) {
  c->quits = true;
  client_over(c);
}

static void on_written(struct bufferevent *stream, void *owner) {
  client *c = owner;
  if (c->quits && unsent(c) == 0)
    hang_up(c);
  else if (c->waits != NULL)
    stop_waiting(c);
  else if (!c->quits)
    on_read(stream, owner);
}

/* The client sends nothing more, but may still read: it gets the answers to its commands, also
 * to those that have arrived and wait. */
static void end_input(client *c) {
  c->ended = true;
  client_go_on(c);
}

static void on_event(struct bufferevent *stream, short what, void *owner) {
  (void)stream;
  client *c = owner;
  if (what & (BEV_EVENT_ERROR | BEV_EVENT_TIMEOUT)) {
    hang_up(c);
  } else if (what & BEV_EVENT_EOF) {
    end_input(c);
  } else if (what & BEV_EVENT_CONNECTED) {
    c->shakes = false;
  }
}

/* Answer, as far as the socket takes it and can be read, and close. */
static void turn_away(evutil_socket_t fd, bool encrypted, const char *answer) {
  ssize_t sent = encrypted ? 0 : send(fd, answer, strlen(answer), MSG_NOSIGNAL);
  (void)sent;
  evutil_closesocket(fd);
}

static void begin(client *c, evutil_socket_t fd) {
  agent *a = c->agent;
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  DL_APPEND(a->clients, c);
  a->counters.clients++;
  bufferevent_setcb(c->stream, on_read, on_written, on_event, c);
  bufferevent_setwatermark(c->stream, EV_WRITE, OUTPUT_MAX / 2, 0);
  set_timeouts(c);
  if (bufferevent_enable(c->stream, EV_READ | EV_WRITE) != 0)
    hang_up(c);
}

/* A local client needs neither TLS nor a login, nor is it one too many: it can find out why others
 * are. */
static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *from,
                      int length, void *owner) {
  (void)from;
  (void)length;
  agent *a = owner;
  const bool local = listener == a->local, encrypted = a->tls != NULL && !local;
  if (a->counters.clients >= a->clients_max && !local) {
    turn_away(fd, encrypted, "SERVER_ERROR too many clients\r\n");
    return;
  }
  client *c = calloc(1, sizeof *c);
  struct bufferevent *stream = c == NULL ? NULL
                               : encrypted
                                   ? tls_stream(a, fd)
                                   : bufferevent_socket_new(a->base, fd, BEV_OPT_CLOSE_ON_FREE);
  if (stream == NULL) {
    free(c);
    turn_away(fd, encrypted, "SERVER_ERROR out of memory\r\n");
    return;
  }
  *c = (client){.agent = a,
                .stream = stream,
                .since_ms = agent_now_ms(),
                .encrypted = encrypted,
                .shakes = encrypted,
                .known = local || !a->auth};
  begin(c, fd);
}

/* For example without free descriptors. The listening socket stays ready, so it is not watched for
 * a while; waiting clients are accepted later. */
static void on_accept_error(struct evconnlistener *listener, void *owner) {
  agent *a = owner;
  uint64_t now = agent_now_ms();
  if (a->complained_ms == 0 || now - a->complained_ms > COMPLAIN_MS) {
    report("clients cannot be accepted at the moment: %s", strerror(errno));
    a->complained_ms = now;
  }
  a->deaf = true;
  evconnlistener_disable(listener);
}

/* Handshake and login must end in time, however often the client sends a byte. */
static void close_strangers(agent *a) {
  uint64_t now = agent_now_ms();
  client *c, *next;
  DL_FOREACH_SAFE(a->clients, c, next) {
    if (c->stream != NULL && (c->shakes || !c->known) && now - c->since_ms > a->stall_s * 1000ull)
      hang_up(c);
  }
}

/* Have fewer than PACE bytes moved in the last --stall seconds, or longer? `holds`: some are left.
 */
static bool dawdles(pace *p, bool holds, uint64_t moved, uint64_t stall_ms) {
  if (!holds || moved - p->moved >= PACE)
    set_out(p, moved);
  return agent_now_ms() - p->since_ms > stall_ms;
}

/* Does it keep memory in transit by a value or line that it sends slowly, or answers that it reads
 * slowly? */
static bool is_slow(client *c) {
  const bool value = c->state == CLIENT_VALUE, line = c->state == CLIENT_LINE && c->charged > 0;
  const uint64_t stall_ms = c->agent->stall_s * 1000ull, left = unsent(c);
  const bool sends_slowly =
      dawdles(&c->arrival, value || line, value ? c->filled : c->searched, stall_ms);
  return dawdles(&c->departure, left > 0, c->answered - left, stall_ms) || sends_slowly;
}

/* Close slow clients, if there is no memory for the values of others. */
static void close_slow(agent *a) {
  client *c, *next;
  DL_FOREACH_SAFE(a->clients, c, next) {
    if (c->stream != NULL && is_slow(c) && a->starved)
      hang_up(c);
  }
  a->starved = false;
}

void clients_tick(agent *a) {
  close_strangers(a);
  close_slow(a);
  if (a->deaf) {
    evconnlistener_enable(a->listener);
    if (a->local != NULL)
      evconnlistener_enable(a->local);
  }
  a->deaf = false;
}

bool clients_listen(agent *a, const char *host, unsigned short port, char where[80]) {
  address at = {.port = port};
  struct sockaddr_storage bound;
  socklen_t length = sizeof bound;
  char text[80];
  snprintf(at.host, sizeof at.host, "%s", host);
  address_text(&at, text);
  if (!address_resolve(&at, &bound, &length)) {
    report("%s: must be a numeric address and a port", text);
    return false;
  }
  a->listener = evconnlistener_new_bind(
      a->base, on_accept, a, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_EXEC, -1,
      (const struct sockaddr *)&bound, (int)length);
  if (a->listener == NULL) {
    report("cannot listen on %s: %s", text, strerror(errno));
    return false;
  }
  evconnlistener_set_error_cb(a->listener, on_accept_error);
  length = sizeof bound;
  getsockname(evconnlistener_get_fd(a->listener), (struct sockaddr *)&bound, &length);
  at.port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                              : ((struct sockaddr_in *)&bound)->sin_port);
  address_text(&at, where);
  return true;
}

/* A socket that only this user may open. It replaces that of an agent that was killed. */
static int bind_local(const char *folder) {
  struct sockaddr_un at;
  int place = files_local(folder, &at), fd = -1;
  if (place < 0)
    return -1;
  unlink(at.sun_path);
  fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && (fchmod(fd, 0600) != 0 || bind(fd, (const struct sockaddr *)&at, sizeof at) != 0 ||
                  listen(fd, SOMAXCONN) != 0)) {
    close(fd);
    fd = -1;
  }
  close(place);
  return fd;
}

bool clients_listen_local(agent *a) {
  int fd = bind_local(a->folder);
  if (fd >= 0)
    a->local = evconnlistener_new(a->base, on_accept, a,
                                  LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
  if (a->local == NULL) {
    report("cannot listen on %s/%s: %s", a->folder, FILES_LOCAL, strerror(errno));
    return false;
  }
  evconnlistener_set_error_cb(a->local, on_accept_error);
  return true;
}

void clients_close(agent *a) {
  if (a->listener != NULL)
    evconnlistener_free(a->listener);
  if (a->local != NULL)
    evconnlistener_free(a->local);
  while (a->clients != NULL)
    dispose(a->clients);
}
