#include "rekey.h"

#include "report.h"

#include <signal.h>

static const struct timeval interval = {.tv_usec = 100000}; /* between two looks at the links */

static void on_hangup(evutil_socket_t fd, short what, void *owner) {
  (void)fd;
  (void)what;
  const rekey *r = owner;
  keys k;
  if (!keys_read(&k, r->folder)) {
    report("the keys stay as they were");
    return;
  }
  bool previous = k.previous_bytes != 0;
  int status = net_rekey(r->net, &k);
  keys_erase(&k);
  if (status != GFSMITH_OK) {
    report("the keys stay as they were: %s", gfsmith_compose_strerror(status));
    return;
  }
  report("has read the key%s", previous ? " and the previous key" : "");
  event_add(r->look, &interval);
}

/* Report once that the previous key is not needed any more. */
static void on_look(evutil_socket_t fd, short what, void *owner) {
  (void)fd;
  (void)what;
  const rekey *r = owner;
  if (gfsmith_node_old_links(net_node(r->net)) > 0) {
    event_add(r->look, &interval);
    return;
  }
  report("uses the key on all links");
}

static void mask(int how) {
  sigset_t hangup;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  pthread_sigmask(how, &hangup, NULL);
}

void rekey_hold(void) { mask(SIG_BLOCK); }

void rekey_begin(rekey *r, struct event_base *base, net *n, const char *folder) {
  *r = (rekey){.net = n, .folder = folder};
  r->event = evsignal_new(base, SIGHUP, on_hangup, r);
  r->look = evtimer_new(base, on_look, r);
  if (r->look == NULL || r->event == NULL || event_add(r->event, NULL) != 0)
    out_of_memory();
  mask(SIG_UNBLOCK);
}

void rekey_end(rekey *r) {
  event_free(r->event);
  event_free(r->look);
}
