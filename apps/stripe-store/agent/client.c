#include "client.h"

#include "common/files.h"
#include "common/report.h"

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
#include <utlist.h>

enum {
  OUTPUT_MAX = 4 << 20
}; /* output bytes of a client above which its next command is not read */

static void client_go_on(client *c);

static void dispose(client *c) {
  DL_DELETE(c->agent->clients, c);
  c->agent->counters.clients--;
  if (c->stream != NULL)
    bufferevent_free(c->stream);
  stripe_free(c->value);
  free(c->line);
  free(c);
}

/* Close the connection. A running command continues; the client is freed when it is over. */
static void hang_up(client *c) {
  bufferevent_free(c->stream);
  c->stream = NULL;
  if (c->state != CLIENT_BUSY)
    dispose(c);
}

void client_answer(client *c, const char *format, ...) {
  va_list arguments;
  if (c->stream == NULL || c->request.noreply)
    return;
  struct evbuffer *out = bufferevent_get_output(c->stream);
  va_start(arguments, format);
  evbuffer_add_vprintf(out, format, arguments);
  va_end(arguments);
  evbuffer_add(out, "\r\n", 2);
}

static void free_value(const void *bytes, size_t length, void *value) {
  (void)bytes;
  (void)length;
  stripe_free(value);
}

void client_send_value(client *c, const record *r, stripe *value) {
  if (c->stream == NULL) {
    stripe_free(value);
    return;
  }
  struct evbuffer *out = bufferevent_get_output(c->stream);
  evbuffer_add_printf(out, "VALUE %.*s %u %" PRIu64, r->key_bytes, r->key, r->flags, r->length);
  if (c->request.verb == VERB_GETS)
    evbuffer_add_printf(out, " %" PRIu64, r->version);
  evbuffer_add(out, "\r\n", 2);
  if (value->length == 0)
    stripe_free(value);
  else
    evbuffer_add_reference(out, value->bytes, value->length, free_value, value);
  evbuffer_add(out, "\r\n", 2);
}

void client_over(client *c) {
  stripe_free(c->value);
  c->value = NULL;
  c->state = CLIENT_LINE;
  if (c->going_on)
    return;
  if (c->stream == NULL)
    dispose(c);
  else
    client_go_on(c);
}

/* Read and discard a value that is too large or for which there is no memory. */
static void swallow(client *c, const char *answer) {
  client_answer(c, "%s", answer);
  c->state = CLIENT_SWALLOW;
  c->filled = (size_t)c->request.bytes + 2;
}

static void expect_value(client *c) {
  if (c->request.bytes > c->agent->value_max) {
    swallow(c, "SERVER_ERROR object too large for cache");
    return;
  }
  c->value = stripe_new(c->agent, c->request.bytes);
  if (c->value == NULL) {
    swallow(c, "SERVER_ERROR out of memory storing object: too many values are in transit");
    return;
  }
  c->state = CLIENT_VALUE;
  c->filled = 0;
}

/* False: there is no complete line yet. */
static bool take_line(client *c, struct evbuffer *in) {
  size_t length;
  const char *wrong;
  free(c->line);
  c->line = evbuffer_readln(in, &length, EVBUFFER_EOL_CRLF);
  if (c->line == NULL && evbuffer_get_length(in) > PARSE_LINE_MAX) {
    c->request.noreply = false;
    client_answer(c, "CLIENT_ERROR line too long");
    evbuffer_drain(in, evbuffer_get_length(in));
    c->request.verb = VERB_QUIT;
    c->state = CLIENT_BUSY;
    c->agent->events.request(c);
  }
  if (c->line == NULL)
    return false;
  wrong = parse_line(&c->request, c->line, length);
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
    return evbuffer_get_length(bufferevent_get_output(c->stream)) < OUTPUT_MAX && take_line(c, in);
  case CLIENT_VALUE:
    return take_value(c, in);
  case CLIENT_SWALLOW:
    return swallow_more(c, in);
  default:
    return false;
  }
}

static void client_go_on(client *c) {
  c->going_on = true;
  while (!c->quits && take(c))
    ;
  c->going_on = false;
  if (c->quits && evbuffer_get_length(bufferevent_get_output(c->stream)) == 0) {
    hang_up(c);
    return;
  }
  /* no further input is read during a command, so that a client cannot fill the memory */
  if (c->state == CLIENT_BUSY)
    bufferevent_disable(c->stream, EV_READ);
  else
    bufferevent_enable(c->stream, EV_READ);
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
  if (c->quits)
    hang_up(c);
  else
    on_read(stream, owner);
}

static void on_event(struct bufferevent *stream, short what, void *owner) {
  (void)stream;
  if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
    hang_up(owner);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *from,
                      int length, void *owner) {
  (void)listener;
  (void)from;
  (void)length;
  agent *a = owner;
  const int one = 1;
  client *c = calloc(1, sizeof *c);
  if (c == NULL)
    abort();
  c->agent = a;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  c->stream = bufferevent_socket_new(a->base, fd, BEV_OPT_CLOSE_ON_FREE);
  if (c->stream == NULL)
    abort();
  DL_APPEND(a->clients, c);
  a->counters.clients++;
  bufferevent_setcb(c->stream, on_read, on_written, on_event, c);
  bufferevent_enable(c->stream, EV_READ | EV_WRITE);
}

/* For example without free descriptors: waiting clients are accepted later. */
static void on_accept_error(struct evconnlistener *listener, void *owner) {
  (void)listener;
  (void)owner;
  report("a client cannot be accepted: %s", strerror(errno));
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

void clients_close(agent *a) {
  if (a->listener != NULL)
    evconnlistener_free(a->listener);
  while (a->clients != NULL)
    dispose(a->clients);
}
