#include "stop.h"

#include "report.h"

#include <signal.h>

static void on_signal(evutil_socket_t fd, short what, void *base) {
  (void)fd;
  (void)what;
  event_base_loopbreak(base);
}

static struct event *take(struct event_base *base, int number) {
  struct event *event = evsignal_new(base, number, on_signal, base);
  if (event == NULL || event_add(event, NULL) != 0)
    out_of_memory();
  return event;
}

void stop_begin(stop *s, struct event_base *base) {
  s->term = take(base, SIGTERM);
  s->interrupt = take(base, SIGINT);
}

void stop_end(stop *s) {
  event_free(s->term);
  event_free(s->interrupt);
}
