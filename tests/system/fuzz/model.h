/* model.h: the expected results of the library, computed slowly: products bit by bit, matrices row
 * by row. */
#ifndef FUZZ_MODEL_H
#define FUZZ_MODEL_H

#include "input.h"

/* The maximum numbers of shards of a codec, and of elements of its matrix. */
enum { MODEL_SHARDS = 255, MODEL_ELEMENTS = 128 * 128 };

/* Returns true if the polynomial has degree 8 and is irreducible, by trying all divisors. */
bool model_irreducible(unsigned polynomial);

/* Returns the products of all elements with x, modulo an irreducible polynomial. */
const uint8_t *model_products(unsigned polynomial, uint8_t x);

uint8_t model_inverse(unsigned polynomial, uint8_t x);

/* out += c * in, in ordinary layout (packet = 0), or in packets. */
void model_add(unsigned polynomial, size_t packet, uint8_t c, size_t len, const uint8_t *in,
               uint8_t *out);

/* Sets determined[i] if shard i of k + m is a combination of the present ones. matrix: m rows of k.
 */
void model_determined(unsigned polynomial, unsigned k, unsigned m, const uint8_t *matrix,
                      const bool *present, bool *determined);

/* Returns true if gfsmith_locate can distinguish all shards: no column of the parity check matrix
 * is 0 or a multiple of another. */
bool model_distinct(unsigned polynomial, unsigned k, unsigned m, const uint8_t *matrix);

#endif
