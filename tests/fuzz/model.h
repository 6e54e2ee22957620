/* model.h: what the library must compute, slowly: products bit by bit, matrices row by row. */
#ifndef FUZZ_MODEL_H
#define FUZZ_MODEL_H

#include "input.h"

/* The most shards of a codec, and of the elements of its matrix. */
enum { MODEL_SHARDS = 255, MODEL_ELEMENTS = 128 * 128 };

/* Is it of degree 8 and irreducible? By all divisors. */
bool model_irreducible(unsigned polynomial);

/* A row of the products of all elements with x, over an irreducible polynomial. */
const uint8_t *model_products(unsigned polynomial, uint8_t x);

uint8_t model_inverse(unsigned polynomial, uint8_t x);

/* out += c * in, in ordinary layout (packet = 0), or in packets. */
void model_add(unsigned polynomial, size_t packet, uint8_t c, size_t len, const uint8_t *in,
               uint8_t *out);

/* determined[i]: is shard i of k + m a combination of those present? matrix: m rows of k. */
void model_determined(unsigned polynomial, unsigned k, unsigned m, const uint8_t *matrix,
                      const bool *present, bool *determined);

/* Can gfsmith_locate tell all shards apart: is no column of the parity check matrix 0 or a multiple
 * of another? */
bool model_distinct(unsigned polynomial, unsigned k, unsigned m, const uint8_t *matrix);

#endif
