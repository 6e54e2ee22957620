/* SIGTERM and SIGINT end a loop: from the start on, even if the parent process ignored them. */
#ifndef STORE_STOP_H
#define STORE_STOP_H

#include <event2/event.h>

typedef struct stop {
  struct event *term, *interrupt;
} stop;

void stop_begin(stop *s, struct event_base *base);
void stop_end(stop *s);

#endif
