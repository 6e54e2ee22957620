/* The driver: reads a plan (plan.c) on stdin, measures every cell, prints JSON lines.
 *
 *   driver POOL_MIB THREADS STAGGER huge|small [LIBRARY=FILE]...
 *
 * All libraries live in this one process and work on the same buffers, so that pairs are pairs.
 * With one thread the process keeps to one processor.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cell.h"
#include "contenders.h"

enum { MAX_LIBRARIES = 16, LEAST_STRIPE = 2 * 64 };

static struct library {
  char name[NAME_SIZE];
  peer_api api;
} libraries[MAX_LIBRARIES];
static unsigned library_count;

const peer_api *library_find(const char *name) {
  if (strcmp(name, "gfsmith") == 0)
    return &gfsmith_contender;
  if (strcmp(name, "algebra") == 0)
    return &algebra_contender;
  if (strcmp(name, "limit") == 0)
    return &limit_contender;
  if (strcmp(name, "probe") == 0)
    return &probe_contender;
  for (unsigned n = 0; n < library_count; n++)
    if (strcmp(libraries[n].name, name) == 0)
      return &libraries[n].api;
  return NULL;
}

/* Load "name=file". dlsym gives object pointers; POSIX lets them be copied to function pointers. */
static bool library_load(const char *argument) {
  const char *equals = strchr(argument, '=');
  if (equals == NULL || equals - argument >= NAME_SIZE || library_count == MAX_LIBRARIES)
    return false;
  void *handle = dlopen(equals + 1, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    fprintf(stderr, "driver: %s\n", dlerror());
    return false;
  }
  struct library *library = &libraries[library_count++];
  memcpy(library->name, argument, (size_t)(equals - argument));
  *(void **)&library->api.open = dlsym(handle, "peer_open");
  *(void **)&library->api.run = dlsym(handle, "peer_run");
  *(void **)&library->api.close = dlsym(handle, "peer_close");
  return library->api.open != NULL && library->api.run != NULL && library->api.close != NULL;
}

/* Every page is written, with bytes that are not zero: no page is the shared zero page. */
static bool pool_make(arena *arena, bool huge) {
  void *pool = mmap(NULL, arena->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  arena->order = malloc(arena->orders * sizeof *arena->order);
  if (pool == MAP_FAILED || arena->order == NULL)
    return false;
  madvise(pool, arena->bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  uint64_t state = 88172645463325252u;
  for (size_t n = 0; n < arena->bytes / sizeof state; n++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    ((uint64_t *)pool)[n] = state;
  }
  arena->pool = pool;
  return true;
}

/* Keep this thread, and those it starts, on the last processor that is allowed. */
static void keep_to_one(void) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return;
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_SET(cpu, &one);
      break;
    }
  sched_setaffinity(0, sizeof one, &one);
}

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
  if (arena.threads == 1)
    keep_to_one();
  for (int n = 5; n < argc; n++)
    if (!library_load(argv[n]))
      return 2;
  if (!pool_make(&arena, strcmp(argv[4], "huge") == 0)) {
    fprintf(stderr, "driver: no memory for the pool\n");
    return EXIT_FAILURE;
  }
  return measure_plan(&arena);
}
