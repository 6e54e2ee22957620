/* The driver of bench.adaptive: executes commands, one per line on stdin, and prints one JSON
 * object per line on stdout. Python decides the order of measurements and evaluates them.
 *
 *   driver POOL_MIB STAGGER huge|small TRACE LIBRARY=FILE...     TRACE: a file, or "-"
 *
 *   cell SLOT LINE                            open the contenders of a cell; LINE: as in plan.c
 *   add SLOT CONTENDER                        add one contender
 *   calibrate SLOT CONTENDER THREADS MICROSECONDS   number of calls per thread in this time
 *   sample SLOT CONTENDER THREADS LEAD COUNT  nanoseconds per stripe, over all threads
 *   policy SLOT CONTENDER                     policy of an adaptive contender
 *   close SLOT
 *
 * A contender starts at the stripe at which the previous contender stopped. A contender is one
 * object that all threads share. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../driver/contenders.h"
#include "../../driver/sample.h"
#include "adaptive.h"

enum { SLOTS = 8 };

typedef struct slot {
  char *line; /* memory of the cell's words; NULL: the slot is free */
  cell cell;
  run run[MAX_THREADS]; /* for 1 thread and more */
  uint32_t *order[MAX_THREADS];
} slot;

static slot slots[SLOTS];
static uint8_t *pool;
static size_t pool_bytes, stagger;

static bool fail(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  fprintf(stderr, "driver: ");
  vfprintf(stderr, format, rest);
  fprintf(stderr, "\n");
  va_end(rest);
  return false;
}

static void close_slot(slot *at) {
  for (unsigned n = 0; n < at->cell.contenders; n++)
    at->cell.contender[n].api->close(at->cell.contender[n].instance[0]);
  for (unsigned t = 0; t < MAX_THREADS; t++)
    free(at->order[t]);
  free(at->line);
  *at = (slot){0};
}

/* NULL, or the reason why the contender cannot take part. */
static const char *open_one(cell *cell, contender *who) {
  bench_spec spec = cell_spec(cell, who);
  const char *why = who->api->open(&who->instance[0], &spec);
  for (unsigned t = 1; t < MAX_THREADS; t++)
    who->instance[t] = who->instance[0];
  return why;
}

/* Stripes for one thread and for more, each over the whole pool. */
static bool prepare(slot *at) {
  size_t pitch = (at->cell.len + 63) / 64 * 64 + stagger;
  for (unsigned t = 0; t < MAX_THREADS; t++) {
    arena arena = {.pool = pool, .bytes = pool_bytes, .threads = t + 1, .stagger = stagger};
    arena.orders = pool_bytes / (pitch * (at->cell.k + at->cell.m)) + MAX_THREADS;
    arena.order = at->order[t] = malloc(arena.orders * sizeof *arena.order);
    if (arena.order == NULL)
      return fail("no memory");
    at->run[t] = (run){.cell = &at->cell, .threads = t + 1, .own_time = true, .random = 1};
    lanes_prepare(&at->run[t], &arena);
  }
  return true;
}

static bool open_cell(slot *at, const char *line) {
  if (at->line != NULL)
    return fail("the slot is taken");
  at->line = strdup(line);
  const char *why = at->line == NULL ? "no memory" : cell_parse(&at->cell, at->line);
  if (why != NULL)
    return fail("%s", why);
  unsigned kept = 0;
  printf("{\"unavailable\":{");
  for (unsigned n = 0; n < at->cell.contenders; n++) {
    contender *who = &at->cell.contender[n];
    why = open_one(&at->cell, who);
    if (why != NULL)
      printf("%s\"%s\":\"%s\"", n > kept ? "," : "", who->name, why);
    else
      at->cell.contender[kept++] = *who;
  }
  at->cell.contenders = kept;
  bool right = kept > 0 && prepare(at) && contenders_agree(&at->run[0], &at->cell);
  printf("},\"stripes\":%zu}\n", at->run[0].lane[0].stripes);
  return right;
}

static bool add(slot *at, const char *name) {
  static cell parsed;
  char line[2 * NAME_SIZE];
  snprintf(line, sizeof line, "x x 1 1 1 dram 1 1 - %s", name);
  const char *why = cell_parse(&parsed, line);
  if (why != NULL || at->cell.contenders == MAX_CONTENDERS)
    return fail("%s: %s", name, why != NULL ? why : "too many contenders");
  contender *who = &at->cell.contender[at->cell.contenders];
  *who = parsed.contender[0];
  why = open_one(&at->cell, who);
  if (why != NULL)
    return fail("%s: %s", name, why);
  at->cell.contenders++;
  puts("{}");
  return contenders_agree(&at->run[0], &at->cell);
}

static contender *find(slot *at, const char *name) {
  for (unsigned n = 0; n < at->cell.contenders; n++)
    if (strcmp(at->cell.contender[n].name, name) == 0)
      return &at->cell.contender[n];
  return NULL;
}

/* Commands for a contender of an open cell; number: the numbers after its name. */
static bool ask(slot *at, const char *command, const char *name, const unsigned long number[3]) {
  contender *who = find(at, name);
  if (who == NULL)
    return fail("no contender %s", name);
  if (strcmp(command, "policy") == 0) {
    char text[NAME_SIZE];
    adaptive_policy(who->instance[0], at->cell.len, text, sizeof text);
    printf("{\"policy\":\"%s\"}\n", text);
    return who->api->open == adaptive_contender.open || fail("%s does not adapt", name);
  }
  if (number[0] < 1 || number[0] > MAX_THREADS)
    return fail("1 to %d threads", MAX_THREADS);
  run *on = &at->run[number[0] - 1];
  if (strcmp(command, "calibrate") == 0) {
    at->cell.microseconds = (unsigned)number[1];
    calibrate(on, who);
    printf("{\"count\":%zu}\n", who->count);
    return true;
  }
  if (strcmp(command, "sample") != 0 || number[2] < 1)
    return fail("%s: no such command, or COUNT is 0", command);
  printf("{\"ns\":%.4f}\n", sample(on, who, number[1], number[2]));
  return true;
}

static bool obey(char *line) {
  char command[16], name[NAME_SIZE];
  unsigned place;
  unsigned long number[3] = {0, 0, 0};
  int used = 0;
  line[strcspn(line, "\n")] = '\0';
  if (sscanf(line, "%15s %u %n", command, &place, &used) != 2 || place >= SLOTS)
    return fail("'%s' is not a command with a slot", line);
  slot *at = &slots[place];
  if (strcmp(command, "cell") == 0)
    return open_cell(at, line + used);
  if (at->line == NULL)
    return fail("slot %u is empty", place);
  if (strcmp(command, "close") == 0) {
    close_slot(at);
    puts("{}");
    return true;
  }
  if (sscanf(line + used, "%63s %lu %lu %lu", name, &number[0], &number[1], &number[2]) < 1)
    return fail("%s lacks a contender", command);
  return strcmp(command, "add") == 0 ? add(at, name) : ask(at, command, name, number);
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: driver POOL_MIB STAGGER huge|small TRACE [LIBRARY=FILE]...\n");
    return 2;
  }
  pool_bytes = strtoul(argv[1], NULL, 10) << 20;
  stagger = strtoul(argv[2], NULL, 10);
  adaptive_trace(strcmp(argv[4], "-") == 0 ? NULL : argv[4]);
  bool known = library_add("gfsmith", &gfsmith_contender) &&
               library_add("adaptive", &adaptive_contender) &&
               library_add("policy", &policy_contender);
  for (int n = 5; n < argc && known; n++)
    known = library_load(argv[n]);
  if (!known)
    return 2;
  team_start(MAX_THREADS);
  pool = pool_bytes > 0 ? pool_make(pool_bytes, strcmp(argv[3], "huge") == 0) : NULL;
  if (pool == NULL) {
    fprintf(stderr, "driver: no memory for the pool\n");
    return EXIT_FAILURE;
  }
  char *line = NULL;
  size_t size = 0;
  bool fine = true;
  while (fine && getline(&line, &size, stdin) > 0) {
    fine = obey(line);
    fflush(stdout);
  }
  free(line);
  for (unsigned n = 0; n < SLOTS; n++)
    close_slot(&slots[n]);
  return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
