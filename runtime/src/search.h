/* search.h: of all ways to rebuild the same shards, one that reads the fewest others.
 *
 * A way is a row of coefficients for each target. Adding multiples of spare equations
 * (checks.h) to the rows gives the same shards in another way. Let R be a smallest set to read. Its
 * shards are independent, else one could be left out; so R is part of a basis B of what is present,
 * and the way is the only one that uses B alone: it comes from the one at hand by clearing, in
 * turn, the columns outside B with one spare equation each. The search goes through the columns
 * from the last to the first; each is cleared, or read. It gives up a branch that reads more than
 * the best known, so it is short where little is read or little is spare. */
#ifndef GFS_SEARCH_H
#define GFS_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "field.h"
#include "gfsmith.h"

/* Products in the field that a search may take: some 0.3 ms. */
#define GFS_SEARCH_PRODUCTS ((size_t)1 << 18)

/* Is one way down to a leaf of the search within that? */
bool gfs_search_possible(unsigned width, unsigned spares, unsigned targets);

/* Replace the way in `rows` by one that reads the fewest shards, of equals one with the fewest
 * non-zero coefficients, of equals the one that the search meets first, which leaves the last
 * shards alone rather than the first. *least: was the search complete? If it would take more than
 * GFS_SEARCH_PRODUCTS, the best that it met remains.
 *
 * spare: `spares` equations; rows: `targets` ways; of `width` coefficients each, row-major.
 * The search must be possible. Errors: GFSMITH_ENOMEM. */
gfsmith_status gfs_search(const gfs_field *field, unsigned width, unsigned spares,
                          const uint8_t *spare, unsigned targets, uint8_t *rows, bool *least);

/* Where a search is not complete: prove for a single target, by Brouwer and Zimmermann's bound,
 * that its row reads as few as any.
 *
 * An equation through the target is a word of the code that the spare equations and the target's
 * own generate, of `spares` + 1 dimensions. In a set of columns that determines a word (one that
 * can hold the identity) a word is a multiple of one row, or has two non-zero elements at least. So
 * if in s disjoint such sets no row through the target has fewer than w elements, no word through
 * it has fewer than the least of w and 2 s. *least: was it proved so? Not, if sets run out or it
 * would take more than 2 GFS_SEARCH_PRODUCTS. Errors: GFSMITH_ENOMEM. */
gfsmith_status gfs_search_bound(const gfs_field *field, unsigned width, unsigned spares,
                                const uint8_t *spare, unsigned target, const uint8_t *row,
                                bool *least);

#endif
