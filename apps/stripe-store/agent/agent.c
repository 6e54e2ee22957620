#include "agent.h"

#include "common/fault.h"
#include "common/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LATE = 200 }; /* numbers that are left after the fault number.late */

const char no_memory[] = "out of memory";

unsigned agent_nodes(const agent *a) { return layout_shards(a->layout); }

uint64_t agent_all(const agent *a) { return (UINT64_C(2) << agent_nodes(a)) - 2; }

uint64_t agent_number(agent *a) {
  if ((uint32_t)a->number == UINT32_MAX) {
    report("all versions of this epoch are used; %s", a->trouble);
    exit(EXIT_WRONG);
  }
  return ++a->number;
}

bool agent_begin_epoch(agent *a) {
  group fresh = a->group;
  if (fresh.epoch == UINT32_MAX) {
    report("%s/group: all epochs are used; the highest is %" PRIu32, a->folder, UINT32_MAX);
    return false;
  }
  fresh.epoch++;
  if (fresh.formed && !agent_save_group(a, &fresh))
    return false;
  a->group = fresh;
  a->number = (uint64_t)fresh.epoch << 32;
  return true;
}

bool agent_tick(agent *a) {
  if (fault_point("number.late"))
    a->number |= UINT32_MAX - LATE;
  return (uint32_t)a->number > UINT32_MAX / 2 && a->group.epoch < UINT32_MAX &&
         agent_begin_epoch(a);
}

uint64_t agent_now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

bool agent_save_group(agent *a, const group *fresh) {
  char text[AGENT_REASON] = "";
  const files_written written = group_save(fresh, a->folder, agent_nodes(a));
  const bool done = written == FILES_WRITTEN;
  if (done)
    a->group = *fresh;
  else
    append(text, "cannot write %s/group: %s", a->folder, strerror(errno));
  if (!done && strcmp(text, a->trouble) != 0)
    report("%s", text);
  strcpy(a->trouble, text);
  /* the next agent may begin without values: until the group is written, no write is accepted */
  a->group.flushing |= fresh->flushing && written == FILES_DOUBTFUL;
  return done;
}

void append(char reason[AGENT_REASON], const char *format, ...) {
  va_list arguments;
  size_t at = strlen(reason);
  va_start(arguments, format);
  vsnprintf(reason + at, AGENT_REASON - at, format, arguments);
  va_end(arguments);
}
