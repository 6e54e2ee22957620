#include "agent.h"

#include "common/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

const char no_memory[] = "out of memory";

unsigned agent_nodes(const agent *a) { return layout_shards(a->layout); }

uint64_t agent_all(const agent *a) { return (UINT64_C(2) << agent_nodes(a)) - 2; }

uint64_t agent_number(agent *a) { return (uint64_t)a->group.epoch << 32 | ++a->counter; }

uint64_t agent_now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

bool agent_save_group(agent *a, const group *fresh) {
  char text[AGENT_REASON] = "";
  bool done = group_save(fresh, a->folder, agent_nodes(a));
  if (done)
    a->group = *fresh;
  else
    append(text, "cannot write %s/group: %s", a->folder, strerror(errno));
  if (!done && strcmp(text, a->trouble) != 0)
    report("%s", text);
  strcpy(a->trouble, text);
  return done;
}

void append(char reason[AGENT_REASON], const char *format, ...) {
  va_list arguments;
  size_t at = strlen(reason);
  va_start(arguments, format);
  vsnprintf(reason + at, AGENT_REASON - at, format, arguments);
  va_end(arguments);
}
