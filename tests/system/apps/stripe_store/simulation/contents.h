/* The contents of values: tokens, joined in the order of the appends and prepends. */
#ifndef SIMULATION_CONTENTS_H
#define SIMULATION_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of a content; 0: no value. */
typedef uint64_t content;

/* A token is the text of a write: a number that no other write has, and letters; or, for the
 * counters, only a number. */
content content_text(uint64_t number);
content content_counter(uint64_t number);
content content_join(content first, content second);
/* Is it a counter, alone? Then its number. */
bool content_counts(content of, uint64_t *number);
/* Write it into a text, and return the number of bytes; 0: there is not enough room. */
size_t content_write(content of, char *text, size_t room);
/* The content of a text. 0: no client has written such bytes. */
content content_read(const char *text, size_t bytes);

#endif
