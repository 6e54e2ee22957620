/* Search for blocks at any position of a file, by a rolling CRC-32. */
#ifndef TOOL_PAR2_SEARCH_H
#define TOOL_PAR2_SEARCH_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "par2_set.h"

typedef struct par2_search par2_search;

par2_search *par2_search_create(const par2_set *set);
void par2_search_free(par2_search *search);

/* Called for each block that is at the position, and once only for each block. */
typedef void par2_match(void *context, size_t block, uint64_t start);

/* The errno of a search that found too many positions with the CRC of a block but not its MD5: a
 * hostile set. */
enum { PAR2_VAIN = EDOM };

/* Find the blocks that begin in the range from `start` to `end` of a file of `size` bytes, behind
 * which there are zeros. False and errno if the file cannot be read (EINTR: a signal came). */
bool par2_search_range(par2_search *search, int fd, uint64_t size, uint64_t start, uint64_t end,
                       par2_match *match, void *context);

#endif
