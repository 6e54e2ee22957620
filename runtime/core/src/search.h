/* search.h: among all repairs of the same shards, one that reads the fewest others.
 *
 * A repair is a row of coefficients for each target. Adding multiples of spare equations (checks.h)
 * to the rows gives another repair of the same shards. Let R be a smallest set of shards to read.
 * Its shards are independent, because otherwise one could be omitted; so R is part of a basis B of
 * the present shards, and the repair is the only one that uses B alone. It results from the given
 * repair by clearing the columns outside B, one after the other, each with one spare equation. The
 * search goes through the columns from the last to the first; each column is either cleared or
 * read. It abandons a branch that reads more than the best known repair, so it is short if few
 * shards are read or few equations are spare. */
#ifndef GFS_SEARCH_H
#define GFS_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "field.h"
#include "gfsmith.h"

/* The most products in the field that a search computes: some 0.3 ms. */
#define GFS_SEARCH_PRODUCTS ((size_t)1 << 18)

/* Does a single descent to a leaf of the search stay within that limit? */
bool gfs_search_possible(unsigned width, unsigned spares, unsigned targets);

/* Replace the repair in `rows` by one that reads the fewest shards; among those, one with the
 * fewest non-zero coefficients; among those, the first one found, which avoids the last shards
 * rather than the first. *least: was the search complete? If it would take more than
 * GFS_SEARCH_PRODUCTS, the result is the best repair found.
 *
 * spare: `spares` equations; rows: `targets` repairs; both of `width` coefficients each, row-major.
 * The search must be possible. Errors: GFSMITH_ENOMEM. */
gfsmith_status gfs_search(const gfs_field *field, unsigned width, unsigned spares,
                          const uint8_t *spare, unsigned targets, uint8_t *rows, bool *least);

/* For incomplete searches: try to prove for a single target, by Brouwer and Zimmermann's bound,
 * that its row reads the fewest shards.
 *
 * The equations that contain the target are words of the code of dimension `spares` + 1 that the
 * spare equations and the target's own equation generate. In an information set (a set of columns
 * that can hold the identity) a word is a multiple of one row, or has at least two non-zero
 * elements. So if in s disjoint information sets no row that contains the target has fewer than w
 * elements, no word that contains it has fewer than the minimum of w and 2 s. *least: was it
 * proved? It is not if the sets are used up, or if the proof would take more than 2
 * GFS_SEARCH_PRODUCTS. Errors: GFSMITH_ENOMEM. */
gfsmith_status gfs_search_bound(const gfs_field *field, unsigned width, unsigned spares,
                                const uint8_t *spare, unsigned target, const uint8_t *row,
                                bool *least);

#endif
