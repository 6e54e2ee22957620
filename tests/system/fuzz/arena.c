#include "arena.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

enum { PAGE = ARENA_BYTES, PATTERN = 0xa5 };

static uint8_t *pages; /* an inaccessible page, then each place followed by another one */
static uint8_t *at[ARENA_PLACES];
static size_t length[ARENA_PLACES];
static uint8_t saved[ARENA_PLACES][ARENA_BYTES];

static uint8_t *page_of(unsigned n) { return pages + (size_t)(2 * n + 1) * PAGE; }

static void map(void) {
  pages = mmap(NULL, (size_t)(2 * ARENA_PLACES + 1) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
               -1, 0);
  REQUIRE(pages != MAP_FAILED);
  for (unsigned n = 0; n < ARENA_PLACES; n++)
    REQUIRE(mprotect(page_of(n), PAGE, PROT_READ | PROT_WRITE) == 0);
}

uint8_t *arena_place(unsigned n, size_t len, bool at_end, uint64_t seed) {
  REQUIRE(n < ARENA_PLACES && len <= ARENA_BYTES);
  if (pages == NULL)
    map();
  uint8_t *page = page_of(n);
  ASAN_UNPOISON_MEMORY_REGION(page, PAGE);
  memset(page, PATTERN, PAGE);
  at[n] = at_end ? page + PAGE - len : page;
  length[n] = len;
  arena_fill(n, seed);
  ASAN_POISON_MEMORY_REGION(page, (size_t)(at[n] - page));
  ASAN_POISON_MEMORY_REGION(at[n] + len, (size_t)(page + PAGE - at[n] - len));
  return at[n];
}

/* Contents: xorshift64 (Marsaglia, 2003), eight bytes per step. */
void arena_fill(unsigned n, uint64_t seed) {
  uint64_t state = (seed + n) * UINT64_C(0x9e3779b97f4a7c15) | 1;
  for (size_t b = 0; b < length[n]; b += sizeof state) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    memcpy(at[n] + b, &state, length[n] - b < sizeof state ? length[n] - b : sizeof state);
  }
}

void arena_save(unsigned count) {
  for (unsigned n = 0; n < count; n++)
    memcpy(saved[n], at[n], length[n]);
}

uint8_t *arena_at(unsigned n) { return at[n]; }

const uint8_t *arena_saved(unsigned n) { return saved[n]; }

/* Returns true if [from, to) holds the pattern. The function also reads poisoned bytes. */
__attribute__((no_sanitize("address"))) static bool untouched(const uint8_t *from,
                                                              const uint8_t *to) {
  uint64_t word, differs = 0;
  for (; to - from >= (ptrdiff_t)sizeof word; from += sizeof word) {
    __builtin_memcpy(&word, from, sizeof word);
    differs |= word ^ PATTERN * UINT64_C(0x0101010101010101);
  }
  for (; from < to; from++)
    differs |= *from ^ PATTERN;
  return differs == 0;
}

void arena_require(unsigned n, const uint8_t *expected) {
  REQUIRE(memcmp(at[n], expected, length[n]) == 0);
  REQUIRE(untouched(page_of(n), at[n]));
  REQUIRE(untouched(at[n] + length[n], page_of(n) + PAGE));
}

void arena_require_same(unsigned first, unsigned end) {
  for (unsigned n = first; n < end; n++)
    arena_require(n, saved[n]);
}
