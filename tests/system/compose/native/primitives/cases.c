/* cases PROVIDER NAME, or child ... of killed.c */
#include "cases.h"

#include <stdio.h>
#include <string.h>

#define NAMED(name) {#name, name}

static const struct {
  const char *name;
  void (*run)(const char *provider);
} cases[] = {
    NAMED(mismatches),       NAMED(posted_twice),    NAMED(memory_limit),
    NAMED(canceled),         NAMED(waiter_canceled), NAMED(deadlines),
    NAMED(from_callbacks),   NAMED(destroyed),       NAMED(damaged_payload),
    NAMED(damaged_messages), NAMED(triggered),       NAMED(triggered_in_vain),
    NAMED(invalid),
};

static const struct {
  const char *name;
  void (*run)(const char *provider, const char *self);
} with_processes[] = {NAMED(killed), NAMED(stopped)};

int main(int count, char **words) {
  if (count == 6 && strcmp(words[2], "child") == 0)
    child_main(words[1], words + 3);
  if (count != 3)
    return 2;
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    if (strcmp(words[2], cases[n].name) == 0)
      return cases[n].run(words[1]), 0;
  }
  for (size_t n = 0; n < sizeof with_processes / sizeof *with_processes; n++) {
    if (strcmp(words[2], with_processes[n].name) == 0)
      return with_processes[n].run(words[1], words[0]), 0;
  }
  return 2;
}
