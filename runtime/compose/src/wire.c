#include "wire.h"

#include <string.h>

#include <xxhash.h>

/* XXH3 with the widest vectors of the CPU, if libxxhash was built with these functions (its shared
 * library on x86-64 was); otherwise it uses the vectors that every CPU has. */
extern XXH64_hash_t XXH3_64bits_withSeed_dispatch(const void *bytes, size_t count,
                                                  XXH64_hash_t seed) __attribute__((weak));
extern XXH_errorcode XXH3_64bits_update_dispatch(XXH3_state_t *state, const void *bytes,
                                                 size_t count) __attribute__((weak));

static uint8_t *put(uint8_t *at, uint64_t number, unsigned bytes) {
  for (unsigned n = 0; n < bytes; n++)
    at[n] = (uint8_t)(number >> 8 * n);
  return at + bytes;
}

static uint64_t get(const uint8_t **at, unsigned bytes) {
  uint64_t number = 0;
  for (unsigned n = 0; n < bytes; n++)
    number |= (uint64_t)(*at)[n] << 8 * n;
  *at += bytes;
  return number;
}

size_t gfc_put_grant(uint8_t *body, const gfc_grant *grant) {
  uint8_t *at = put(body, grant->job, 8);
  at = put(at, grant->hash, 8);
  at = put(at, grant->edge, 2);
  at = put(at, grant->slot, 2);
  at = put(at, grant->length, 8);
  at = put(at, grant->slice, 8);
  at = put(at, grant->payload, 8);
  at = put(at, grant->payload_key, 8);
  at = put(at, grant->trailers, 8);
  at = put(at, grant->trailers_key, 8);
  return (size_t)(at - body);
}

bool gfc_get_grant(gfc_grant *grant, const uint8_t *body, size_t bytes) {
  if (bytes != GFC_GRANT_BYTES)
    return false;
  grant->job = get(&body, 8);
  grant->hash = get(&body, 8);
  grant->edge = (uint16_t)get(&body, 2);
  grant->slot = (uint16_t)get(&body, 2);
  grant->length = get(&body, 8);
  grant->slice = get(&body, 8);
  grant->payload = get(&body, 8);
  grant->payload_key = get(&body, 8);
  grant->trailers = get(&body, 8);
  grant->trailers_key = get(&body, 8);
  return grant->edge < GFSMITH_EDGES_MAX;
}

enum { FIXED = GFC_REFUSAL_MAX - GFSMITH_REASON_MAX, FLAG_GRANTED = 1, FLAG_KNOWN = 2 };

size_t gfc_put_refusal(uint8_t *body, const gfc_refusal *refusal) {
  size_t words = strlen(refusal->reason);
  uint8_t *at = put(body, refusal->job, 8);
  at = put(at, refusal->edge, 2);
  at = put(at, refusal->slot, 2);
  at = put(at, refusal->role, 1);
  at = put(at, (refusal->granted ? FLAG_GRANTED : 0u) | (refusal->known ? FLAG_KNOWN : 0u), 1);
  at = put(at, (uint32_t)refusal->code, 4);
  at = put(at, (uint32_t)refusal->blame, 4);
  at = put(at, words, 2);
  memcpy(at, refusal->reason, words);
  return FIXED + words;
}

/* Reasons are displayed to users: only printable ASCII of a peer's text is accepted. */
static void get_reason(char *reason, const uint8_t *from, size_t bytes) {
  for (size_t n = 0; n < bytes; n++)
    reason[n] = from[n] >= 0x20 && from[n] < 0x7f ? (char)from[n] : '?';
  reason[bytes] = 0;
}

bool gfc_get_refusal(gfc_refusal *refusal, const uint8_t *body, size_t bytes) {
  if (bytes < FIXED)
    return false;
  refusal->job = get(&body, 8);
  refusal->edge = (uint16_t)get(&body, 2);
  refusal->slot = (uint16_t)get(&body, 2);
  refusal->role = (uint8_t)get(&body, 1);
  unsigned flags = (unsigned)get(&body, 1);
  refusal->granted = flags & FLAG_GRANTED;
  refusal->known = flags & FLAG_KNOWN;
  refusal->code = (int32_t)(uint32_t)get(&body, 4);
  refusal->blame = (int32_t)(uint32_t)get(&body, 4);
  size_t words = get(&body, 2);
  if (words >= GFSMITH_REASON_MAX || words != bytes - FIXED)
    return false;
  get_reason(refusal->reason, body, words);
  return refusal->edge < GFSMITH_EDGES_MAX && refusal->role <= GFC_SENDER && flags < 4 &&
         refusal->code < 0 && refusal->blame >= -1 && refusal->blame < GFSMITH_RANKS_MAX;
}

size_t gfc_put_receipt(uint8_t *body, const gfc_receipt *receipt) {
  uint8_t *at = put(body, receipt->job, 8);
  at = put(at, receipt->edge, 2);
  at = put(at, receipt->slot, 2);
  return (size_t)(at - body);
}

bool gfc_get_receipt(gfc_receipt *receipt, const uint8_t *body, size_t bytes) {
  if (bytes != GFC_RECEIPT_BYTES)
    return false;
  receipt->job = get(&body, 8);
  receipt->edge = (uint16_t)get(&body, 2);
  receipt->slot = (uint16_t)get(&body, 2);
  return receipt->edge < GFSMITH_EDGES_MAX;
}

/* Bytes of the trailer before the checksum, whose hash is the seed of the payload's hash. */
enum { HEAD = 24 };
static const uint32_t MAGIC = 0x67667331; /* "gfs1" */

void gfc_trailer_head(uint8_t *trailer, uint64_t job, uint32_t slice, size_t bytes) {
  uint8_t *at = put(trailer, job, 8);
  at = put(at, slice, 4);
  at = put(at, MAGIC, 4);
  put(at, bytes, 8);
}

static uint64_t checksum(const uint8_t *head, const uint8_t *payload, size_t bytes) {
  XXH64_hash_t seed = XXH3_64bits(head, HEAD);
  if (XXH3_64bits_withSeed_dispatch != NULL)
    return XXH3_64bits_withSeed_dispatch(payload, bytes, seed);
  return XXH3_64bits_withSeed(payload, bytes, seed);
}

gfc_checksum *gfc_checksum_create(void) { return XXH3_createState(); }
void gfc_checksum_free(gfc_checksum *sum) { XXH3_freeState(sum); }

void gfc_checksum_begin(gfc_checksum *sum, const uint8_t *trailer) {
  XXH3_64bits_reset_withSeed(sum, XXH3_64bits(trailer, HEAD));
}

void gfc_checksum_add(gfc_checksum *sum, const uint8_t *payload, size_t bytes) {
  if (XXH3_64bits_update_dispatch != NULL)
    XXH3_64bits_update_dispatch(sum, payload, bytes);
  else
    XXH3_64bits_update(sum, payload, bytes);
}

void gfc_checksum_end(const gfc_checksum *sum, uint8_t *trailer) {
  put(trailer + HEAD, XXH3_64bits_digest(sum), 8);
}

const char *gfc_trailer_check(const uint8_t *trailer, uint64_t job, uint32_t slice,
                              const uint8_t *payload, size_t bytes) {
  const uint8_t *at = trailer;
  if (get(&at, 8) != job || get(&at, 4) != slice || get(&at, 4) != MAGIC)
    return "its trailer is wrong or missing";
  if (get(&at, 8) != bytes)
    return "it is truncated";
  if (get(&at, 8) != checksum(trailer, payload, bytes))
    return "its checksum is wrong";
  return NULL;
}
