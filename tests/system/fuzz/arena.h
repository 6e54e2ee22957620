/* arena.h: memory for shards in which every access beyond a shard is detected.
 *
 * A place is one page between two inaccessible pages. A shard begins at the start of its page or
 * ends at its end. The rest of the page is poisoned for instrumented code, and filled with a
 * pattern that is checked afterwards, for machine code. */
#ifndef FUZZ_ARENA_H
#define FUZZ_ARENA_H

#include "input.h"

enum { ARENA_PLACES = 280, ARENA_BYTES = 4096 };

/* Puts a shard of len <= ARENA_BYTES bytes into place n, with contents derived from `seed`. */
uint8_t *arena_place(unsigned n, size_t len, bool at_end, uint64_t seed);

/* Fills the shard with other contents. */
void arena_fill(unsigned n, uint64_t seed);

/* Saves the contents of places 0 .. count - 1. */
void arena_save(unsigned count);
uint8_t *arena_at(unsigned n);
const uint8_t *arena_saved(unsigned n);

/* Checks that places first .. end - 1 have their saved contents, and that nothing around them was
 * written. */
void arena_require_same(unsigned first, unsigned end);
/* Checks that place n has these contents, and that nothing around it was written. */
void arena_require(unsigned n, const uint8_t *expected);

#endif
