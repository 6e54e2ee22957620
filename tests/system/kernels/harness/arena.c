/* arena.c: regions of memory between inaccessible guards. */
#define _GNU_SOURCE
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { STRIDE = GUARD_BYTES + REGION_BYTES };

static uint8_t *arena;               /* guard, region 0, guard, region 1, ..., guard */
static uint8_t canary[REGION_BYTES]; /* contents of an untouched region */
static bool touched[REGION_COUNT];

bool arena_create(void) {
  if (arena != NULL) {
    return true;
  }
  void *memory = mmap(NULL, (size_t)STRIDE * REGION_COUNT + GUARD_BYTES, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return false;
  }
  arena = memory;
  uint64_t state = 0x63616e617279;
  for (size_t i = 0; i < REGION_BYTES; i++) {
    canary[i] = (uint8_t)(next_random(&state) >> 24);
  }
  for (unsigned region = 0; region < REGION_COUNT; region++) {
    if (mprotect(arena_base(region), REGION_BYTES, PROT_READ | PROT_WRITE) != 0) {
      return false;
    }
  }
  return true;
}

uint8_t *arena_base(unsigned region) { return arena + GUARD_BYTES + (size_t)STRIDE * region; }

const uint8_t *arena_guard(unsigned region) { return arena_base(region) - GUARD_BYTES / 2; }

static unsigned region_of(const uint8_t *address) { return (unsigned)((address - arena) / STRIDE); }

void arena_reset(void) {
  for (unsigned region = 0; region < REGION_COUNT; region++) {
    if (touched[region]) {
      memcpy(arena_base(region), canary, REGION_BYTES);
    }
  }
}

uint8_t *arena_place(unsigned region, size_t size, size_t alignment, struct placement placement) {
  uint8_t *base = arena_base(region);
  if (!touched[region]) {
    memcpy(base, canary, REGION_BYTES);
    touched[region] = true;
  }
  switch (placement.kind) {
  case PLACE_START:
    return base;
  case PLACE_END:
    return base + REGION_BYTES - size;
  case PLACE_SPREAD: /* 29 is odd: 64 neighbouring regions get 64 different misalignments */
    return base + CANARY_BYTES + (placement.shift + 29 * region) % 64 / alignment * alignment;
  case PLACE_SAME:
    return base + CANARY_BYTES + placement.shift % 64 / alignment * alignment;
  }
  return NULL;
}

void arena_restore(const uint8_t *buffer, size_t size) {
  /* A buffer of size 0 at the end of a region begins outside of it; there is nothing to restore. */
  if (size > 0) {
    uint8_t *base = arena_base(region_of(buffer));
    memcpy(base + (buffer - base), canary + (buffer - base), size);
  }
}

const uint8_t *arena_canary_broken(const uint8_t *buffer, size_t size) {
  /* An empty buffer may begin at the end of its region; the byte before it belongs to the region.
   */
  const uint8_t *base = arena_base(region_of(buffer - (size == 0 ? 1 : 0)));
  size_t begin = (size_t)(buffer - base);
  size_t end = begin + size;
  size_t from = begin < CANARY_BYTES ? 0 : begin - CANARY_BYTES;
  size_t to = REGION_BYTES - end < CANARY_BYTES ? REGION_BYTES : end + CANARY_BYTES;
  if (memcmp(base + from, canary + from, begin - from) == 0 &&
      memcmp(base + end, canary + end, to - end) == 0) {
    return NULL;
  }
  for (size_t at = from; at < to; at++) {
    if ((at < begin || at >= end) && base[at] != canary[at]) {
      return base + at;
    }
  }
  return NULL;
}

static void region_name(unsigned region, char *text, size_t size) {
  static const char *const names[] = {"the stack", "coeffs", "the src array", "the dst array"};
  if (region >= REGION_DESTINATIONS) {
    snprintf(text, size, "dst[%u]", region - REGION_DESTINATIONS);
  } else if (region >= REGION_SOURCES) {
    snprintf(text, size, "src[%u]", region - REGION_SOURCES);
  } else {
    snprintf(text, size, "%s", names[region]);
  }
}

void arena_describe(const void *pointer, char *text, size_t size) {
  const uint8_t *address = pointer;
  if (address < arena || address >= arena + (size_t)STRIDE * REGION_COUNT + GUARD_BYTES) {
    snprintf(text, size, "address %p, outside all buffers", pointer);
    return;
  }
  unsigned region = region_of(address);
  size_t offset = (size_t)(address - arena) % STRIDE;
  char name[32];
  if (offset >= GUARD_BYTES) {
    region_name(region, name, sizeof name);
    snprintf(text, size, "byte %zu of the region of %s", offset - GUARD_BYTES, name);
  } else if (region == REGION_COUNT || (offset < GUARD_BYTES / 2 && region > 0)) {
    region_name(region - 1, name, sizeof name);
    snprintf(text, size, "the guard after %s, %zu bytes past its region", name, offset);
  } else {
    region_name(region, name, sizeof name);
    snprintf(text, size, "the guard before %s, %zu bytes before its region", name,
             GUARD_BYTES - offset);
  }
}
