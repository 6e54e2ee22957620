/* XXH3-128 by xxHash itself, for the checksums of shard files. JavaScript may call every function;
 * pointers are addresses in the module's memory. */
#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include XXHASH_HEADER

#include <stdint.h>
#include <string.h>

XXH3_state_t *checksum_create(void);
void checksum_begin(XXH3_state_t *state, uint32_t seed_low, uint32_t seed_high);
void checksum_update(XXH3_state_t *state, const uint8_t *bytes, size_t size);
void checksum_finish(XXH3_state_t *state, uint8_t sum[16]);

/* A state for the calls below; NULL: out of memory. */
XXH3_state_t *checksum_create(void) { return XXH3_createState(); }

void checksum_begin(XXH3_state_t *state, uint32_t seed_low, uint32_t seed_high) {
  XXH3_128bits_reset_withSeed(state, (uint64_t)seed_high << 32 | seed_low);
}

void checksum_update(XXH3_state_t *state, const uint8_t *bytes, size_t size) {
  XXH3_128bits_update(state, bytes, size);
}

/* Write the 16 bytes in the order in which xxhsum prints them. */
void checksum_finish(XXH3_state_t *state, uint8_t sum[16]) {
  XXH128_canonical_t form;
  XXH128_canonicalFromHash(&form, XXH3_128bits_digest(state));
  memcpy(sum, form.digest, sizeof form.digest);
}
