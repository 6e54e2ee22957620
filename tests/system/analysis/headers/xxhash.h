/* XXH3 by contract: it reads the given bytes, and the result is any number. */
#ifndef ANALYSIS_XXHASH_H
#define ANALYSIS_XXHASH_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t XXH64_hash_t;
typedef enum { XXH_OK, XXH_ERROR } XXH_errorcode;
typedef struct XXH3_state_s {
  uint64_t word[72];
} XXH3_state_t;

/*@ requires read: \valid_read((uint8_t *)bytes + (0 .. count - 1));
  @ requires filled: \initialized((uint8_t *)bytes + (0 .. count - 1));
  @ assigns \result \from ((uint8_t *)bytes)[0 .. count - 1], seed; */
XXH64_hash_t XXH3_64bits_withSeed(const void *bytes, size_t count, XXH64_hash_t seed);

/*@ requires read: \valid_read((uint8_t *)bytes + (0 .. count - 1));
  @ requires filled: \initialized((uint8_t *)bytes + (0 .. count - 1));
  @ assigns \result \from ((uint8_t *)bytes)[0 .. count - 1]; */
XXH64_hash_t XXH3_64bits(const void *bytes, size_t count);

/* compose.c allocates and frees states. */
XXH3_state_t *XXH3_createState(void);

/*@ requires \valid(state);
  @ assigns *state \from seed;
  @ ensures \initialized(state); */
XXH_errorcode XXH3_64bits_reset_withSeed(XXH3_state_t *state, XXH64_hash_t seed);

/*@ requires \valid(state) && \initialized(state);
  @ requires read: \valid_read((uint8_t *)bytes + (0 .. count - 1));
  @ assigns *state \from *state, ((uint8_t *)bytes)[0 .. count - 1]; */
XXH_errorcode XXH3_64bits_update(XXH3_state_t *state, const void *bytes, size_t count);

/* The functions that some builds of the library have in addition, with the same contracts. */
/*@ requires read: \valid_read((uint8_t *)bytes + (0 .. count - 1));
  @ requires filled: \initialized((uint8_t *)bytes + (0 .. count - 1));
  @ assigns \result \from ((uint8_t *)bytes)[0 .. count - 1], seed; */
XXH64_hash_t XXH3_64bits_withSeed_dispatch(const void *bytes, size_t count, XXH64_hash_t seed);

/*@ requires \valid(state) && \initialized(state);
  @ requires read: \valid_read((uint8_t *)bytes + (0 .. count - 1));
  @ assigns *state \from *state, ((uint8_t *)bytes)[0 .. count - 1]; */
XXH_errorcode XXH3_64bits_update_dispatch(XXH3_state_t *state, const void *bytes, size_t count);

/*@ requires \valid_read(state) && \initialized(state);
  @ assigns \result \from *state; */
XXH64_hash_t XXH3_64bits_digest(const XXH3_state_t *state);

XXH_errorcode XXH3_freeState(XXH3_state_t *state);

#endif
