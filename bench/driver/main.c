/* The driver: reads a plan (plan.c) on stdin, measures every cell, prints JSON lines.
 *
 *   driver POOL_MIB THREADS STAGGER huge|small [LIBRARY=FILE]...
 *
 * All libraries run in this one process and work on the same buffers, so that samples can be
 * paired. Each thread stays on one processor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cell.h"
#include "contenders.h"
#include "sample.h"

enum { LEAST_STRIPE = 2 * 64 };

static int measure_plan(const arena *arena) {
  static cell cell;
  char *line = NULL;
  size_t size = 0;
  int status = EXIT_SUCCESS;
  while (status == EXIT_SUCCESS && getline(&line, &size, stdin) > 0) {
    const char *why = cell_parse(&cell, line);
    if (why != NULL) {
      fprintf(stderr, "driver: %s: %s\n", cell.id != NULL ? cell.id : "plan", why);
      status = 2;
    } else if (!cell_measure(&cell, arena)) {
      status = EXIT_FAILURE;
    }
    fflush(stdout);
  }
  free(line);
  return status;
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: driver POOL_MIB THREADS STAGGER huge|small [LIBRARY=FILE]...\n");
    return 2;
  }
  arena arena = {.bytes = strtoul(argv[1], NULL, 10) << 20,
                 .threads = (unsigned)strtoul(argv[2], NULL, 10),
                 .stagger = strtoul(argv[3], NULL, 10)};
  arena.orders = arena.bytes / LEAST_STRIPE;
  if (arena.bytes == 0 || arena.threads < 1 || arena.threads > MAX_THREADS)
    return 2;
  bool known = library_add("gfsmith", &gfsmith_contender) &&
               library_add("algebra", &algebra_contender) &&
               library_add("legacy", &legacy_contender) && library_add("limit", &limit_contender) &&
               library_add("probe", &probe_contender);
  for (int n = 5; n < argc && known; n++)
    known = library_load(argv[n]);
  if (!known)
    return 2;
  team_start(arena.threads);
  arena.order = malloc(arena.orders * sizeof *arena.order);
  arena.pool = pool_make(arena.bytes, strcmp(argv[4], "huge") == 0);
  if (arena.order == NULL || arena.pool == NULL) {
    fprintf(stderr, "driver: no memory for the pool\n");
    return EXIT_FAILURE;
  }
  return measure_plan(&arena);
}
