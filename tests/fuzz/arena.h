/* arena.h: memory for shards in which every byte beyond a shard is noticed.
 *
 * A place is one page between two pages that cannot be accessed. A shard begins where its page
 * begins or ends where it ends; the rest of the page is poisoned for instrumented code, and filled
 * with a pattern that is looked at afterwards, for machine code. */
#ifndef FUZZ_ARENA_H
#define FUZZ_ARENA_H

#include "input.h"

enum { ARENA_PLACES = 280, ARENA_BYTES = 4096 };

/* Give place n to a shard of len <= ARENA_BYTES bytes, filled with what `seed` makes. */
uint8_t *arena_place(unsigned n, size_t len, bool at_end, uint64_t seed);

/* Other contents. */
void arena_fill(unsigned n, uint64_t seed);

/* Remember the contents of places 0 .. count - 1. */
void arena_save(unsigned count);
uint8_t *arena_at(unsigned n);
const uint8_t *arena_saved(unsigned n);

/* Places first .. end - 1 are as they were when they were saved, and nothing around them was
 * touched. */
void arena_require_same(unsigned first, unsigned end);
/* Place n has these contents, and nothing around it was touched. */
void arena_require(unsigned n, const uint8_t *expected);

#endif
