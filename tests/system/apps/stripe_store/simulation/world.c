#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

typedef struct event {
  uint64_t when, number;
  void (*run)(void *what);
  void *what;
} event;

enum { WIDE = 167000 }; /* the first seed with all commands */

counts world_counts;
static uint64_t now, state, number;
static bool prints, wide;
static event *heap; /* the earliest event first */
static size_t filled, room;

void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);

void *world_new(size_t bytes) {
  void *made = __real_calloc(1, bytes);
  if (made == NULL)
    world_fail("the simulation has no memory");
  return made;
}

void world_begin(uint64_t seed, bool verbose) {
  state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  prints = verbose;
  wide = seed >= WIDE;
  now = SECOND;
}

bool world_is_wide(void) { return wide; }

uint64_t world_now(void) { return now; }

/* Sebastiano Vigna's splitmix64. */
static uint64_t bits(void) {
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

uint64_t world_random(uint64_t limit) { return limit == 0 ? 0 : bits() % limit; }

uint64_t world_between(uint64_t least, uint64_t most) {
  return least + world_random(most - least + 1);
}

bool world_chance(unsigned per_thousand) { return world_random(1000) < per_thousand; }

static bool before(const event *a, const event *b) {
  return a->when < b->when || (a->when == b->when && a->number < b->number);
}

static void swap(size_t a, size_t b) {
  event kept = heap[a];
  heap[a] = heap[b];
  heap[b] = kept;
}

void world_after(uint64_t delay, void (*run)(void *what), void *what) {
  if (filled == room) {
    room = room == 0 ? 1024 : 2 * room;
    heap = __real_realloc(heap, room * sizeof *heap);
    if (heap == NULL)
      world_fail("the simulation has no memory");
  }
  size_t at = filled++;
  heap[at] = (event){now + delay, number++, run, what};
  for (; at > 0 && before(&heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2)
    swap(at, (at - 1) / 2);
}

static event take(void) {
  event first = heap[0];
  heap[0] = heap[--filled];
  for (size_t at = 0, child; (child = 2 * at + 1) < filled; at = child) {
    if (child + 1 < filled && before(&heap[child + 1], &heap[child]))
      child++;
    if (!before(&heap[child], &heap[at]))
      break;
    swap(at, child);
  }
  return first;
}

void world_run(bool (*done)(void)) {
  while (!done()) {
    if (filled == 0)
      world_fail("nothing happens any more");
    event next = take();
    now = next.when;
    world_counts.events++;
    next.run(next.what);
  }
}

static void print(const char *format, va_list arguments) {
  char line[1024];
  int at = snprintf(line, sizeof line, "%12.6f ", (double)(now - SECOND) / 1e9);
  vsnprintf(line + at, sizeof line - (size_t)at, format, arguments);
  world_counts.hash = XXH3_64bits_withSeed(line, strlen(line), world_counts.hash);
  if (prints)
    puts(line);
}

void world_trace(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print(format, arguments);
  va_end(arguments);
}

void world_fail(const char *format, ...) {
  va_list arguments;
  if (prints)
    printf("%12.6f failed\n", (double)(now - SECOND) / 1e9);
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
  fflush(stdout);
  _exit(1);
}
