#include "shardfile.h"

#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  AT_MAGIC = 0,
  AT_VERSION = 8,
  AT_HEADER_BYTES = 12,
  AT_SET_ID = 16,
  AT_INDEX = 32,
  AT_POLYNOMIAL = 64,
  AT_K = 68,
  AT_M = 72,
  AT_BLOCK = 76,
  AT_LENGTH = 80,
  AT_ORIGINAL = 88,
  AT_CODE = 104,
  AT_NAME = 136,
  AT_PAYLOADS = 4096,
  AT_HEADER_SUM = 8176,
  VERSION = 1
};

static const uint8_t magic[8] = {0x89, 'G', 'F', 'S', '\r', '\n', 0x1a, '\n'};

static void put_u32(uint8_t *to, uint32_t value) {
  for (int i = 0; i < 4; i++)
    to[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t get_u32(const uint8_t *from) {
  uint32_t value = 0;
  for (int i = 0; i < 4; i++)
    value |= (uint32_t)from[i] << (8 * i);
  return value;
}

static void put_u64(uint8_t *to, uint64_t value) {
  put_u32(to, (uint32_t)value);
  put_u32(to + 4, (uint32_t)(value >> 32));
}

static uint64_t get_u64(const uint8_t *from) {
  return (uint64_t)get_u32(from) | (uint64_t)get_u32(from + 4) << 32;
}

static shard_sum canonical(XXH128_hash_t hash) {
  XXH128_canonical_t form;
  shard_sum sum;
  XXH128_canonicalFromHash(&form, hash);
  memcpy(sum.bytes, form.digest, sizeof sum.bytes);
  return sum;
}

XXH3_state_t *hash_create(void) {
  XXH3_state_t *state = XXH3_createState();
  if (state == NULL || XXH3_128bits_reset(state) != XXH_OK)
    exit(refuse("out of memory"));
  return state;
}

shard_sum shard_sum_of(const void *bytes, size_t size) {
  return canonical(XXH3_128bits(bytes, size));
}

shard_sum shard_sum_digest(const XXH3_state_t *state) {
  return canonical(XXH3_128bits_digest(state));
}

bool shard_sum_equal(const shard_sum *a, const shard_sum *b) {
  return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

void shard_sum_text(const shard_sum *sum, char text[33]) {
  for (size_t i = 0; i < sizeof sum->bytes; i++)
    snprintf(text + 2 * i, 3, "%02x", sum->bytes[i]);
}

static void put_sum(uint8_t *to, shard_sum sum) { memcpy(to, sum.bytes, sizeof sum.bytes); }

void shard_header_write(shard_header *header, uint8_t raw[SHARD_HEADER_BYTES]) {
  memset(raw, 0, SHARD_HEADER_BYTES);
  memcpy(raw + AT_MAGIC, magic, sizeof magic);
  put_u32(raw + AT_VERSION, VERSION);
  put_u32(raw + AT_HEADER_BYTES, SHARD_HEADER_BYTES);
  put_u32(raw + AT_INDEX, header->index);
  put_u32(raw + AT_POLYNOMIAL, header->polynomial);
  put_u32(raw + AT_K, header->k);
  put_u32(raw + AT_M, header->m);
  put_u32(raw + AT_BLOCK, header->block);
  put_u64(raw + AT_LENGTH, header->length);
  put_sum(raw + AT_ORIGINAL, header->original);
  memcpy(raw + AT_CODE, header->code, strlen(header->code));
  memcpy(raw + AT_NAME, header->name, strlen(header->name));
  for (uint32_t i = 0; i < header->k + header->m; i++)
    put_sum(raw + AT_PAYLOADS + 16 * i, header->payload[i]);
  header->set_id = shard_sum_of(raw + SHARD_SHARED_BEGIN, SHARD_SHARED_END - SHARD_SHARED_BEGIN);
  put_sum(raw + AT_SET_ID, header->set_id);
  put_sum(raw + AT_HEADER_SUM, shard_sum_of(raw, AT_HEADER_SUM));
}

static bool name_valid(const char *name) {
  size_t length = strnlen(name, SHARD_NAME_BYTES);
  return length >= 1 && length <= SHARD_NAME_MAX && strchr(name, '/') == NULL &&
         strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static bool code_valid(const char *code) {
  size_t length = strnlen(code, SHARD_CODE_BYTES);
  return length >= 1 && length < SHARD_CODE_BYTES;
}

bool shard_header_valid(const shard_header *h, char why[SHARD_WHY_BYTES]) {
  size_t size = SHARD_WHY_BYTES;
  if (h->k < 1 || h->k >= SHARD_MAX_SHARDS || h->m < 1 || h->m >= SHARD_MAX_SHARDS ||
      h->k + h->m > SHARD_MAX_SHARDS)
    snprintf(why, size,
             "k = %" PRIu32 " and m = %" PRIu32 ": each must be at least 1, together at most %d",
             h->k, h->m, SHARD_MAX_SHARDS);
  else if (h->index >= h->k + h->m)
    snprintf(why, size, "index %" PRIu32 " in a set of %" PRIu32 " shards", h->index, h->k + h->m);
  else if (h->polynomial != SHARD_POLYNOMIAL)
    snprintf(why, size, "polynomial 0x%" PRIx32 ", must be 0x%x", h->polynomial, SHARD_POLYNOMIAL);
  else if (h->block < SHARD_BLOCK_UNIT || h->block > SHARD_MAX_BLOCK || h->block % SHARD_BLOCK_UNIT)
    snprintf(why, size, "block size %" PRIu32 ": must be a multiple of %d, at most %d", h->block,
             SHARD_BLOCK_UNIT, SHARD_MAX_BLOCK);
  else if (h->length > SHARD_MAX_LENGTH)
    snprintf(why, size, "length %" PRIu64 " of the original is out of range", h->length);
  else if (!code_valid(h->code))
    snprintf(why, size, "the name of a code has 1 to %d bytes", SHARD_CODE_BYTES - 1);
  else if (!name_valid(h->name))
    snprintf(why, size, "the name of the original must be a file name of 1 to %d bytes",
             SHARD_NAME_MAX);
  else
    return true;
  return false;
}

static void parse(shard_header *header, const uint8_t *raw) {
  memset(header, 0, sizeof *header);
  header->index = get_u32(raw + AT_INDEX);
  header->polynomial = get_u32(raw + AT_POLYNOMIAL);
  header->k = get_u32(raw + AT_K);
  header->m = get_u32(raw + AT_M);
  header->block = get_u32(raw + AT_BLOCK);
  header->length = get_u64(raw + AT_LENGTH);
  memcpy(header->original.bytes, raw + AT_ORIGINAL, 16);
  memcpy(header->code, raw + AT_CODE, SHARD_CODE_BYTES - 1);
  memcpy(header->name, raw + AT_NAME, SHARD_NAME_BYTES - 1);
  for (size_t i = 0; i < SHARD_MAX_SHARDS; i++)
    memcpy(header->payload[i].bytes, raw + AT_PAYLOADS + 16 * i, 16);
}

shard_verdict shard_header_read(shard_header *header, const uint8_t *raw, size_t size,
                                char why[SHARD_WHY_BYTES]) {
  uint8_t again[SHARD_HEADER_BYTES];
  if (size < sizeof magic || memcmp(raw + AT_MAGIC, magic, sizeof magic) != 0)
    return SHARD_FOREIGN;
  if (size < SHARD_HEADER_BYTES) {
    snprintf(why, SHARD_WHY_BYTES, "truncated: %zu bytes, less than a header", size);
    return SHARD_BAD;
  }
  shard_sum sum = shard_sum_of(raw, AT_HEADER_SUM);
  if (memcmp(raw + AT_HEADER_SUM, sum.bytes, sizeof sum.bytes) != 0) {
    snprintf(why, SHARD_WHY_BYTES, "checksum mismatch in the header");
    return SHARD_BAD;
  }
  if (get_u32(raw + AT_VERSION) != VERSION) {
    snprintf(why, SHARD_WHY_BYTES, "format version %" PRIu32 ", this program reads version %d",
             get_u32(raw + AT_VERSION), VERSION);
    return SHARD_BAD;
  }
  parse(header, raw);
  if (!shard_header_valid(header, why))
    return SHARD_BAD;
  /* Each header has a unique encoding: bytes outside of the fields must be zero, and the set id
   * must be the hash. */
  shard_header_write(header, again);
  if (memcmp(again, raw, SHARD_HEADER_BYTES) != 0) {
    snprintf(why, SHARD_WHY_BYTES, "header with junk between its fields or a false set id");
    return SHARD_BAD;
  }
  return SHARD_GOOD;
}

static uint64_t stripe_span(const shard_header *header) {
  return (uint64_t)header->k * header->block;
}

uint64_t shard_stripes(const shard_header *header) {
  uint64_t span = stripe_span(header);
  return header->length / span + (header->length % span != 0);
}

size_t shard_stripe_bytes(const shard_header *header, uint64_t stripe) {
  uint64_t rest = header->length - stripe * stripe_span(header);
  return rest >= stripe_span(header) ? header->block : (size_t)((rest + header->k - 1) / header->k);
}

uint64_t shard_payload_bytes(const shard_header *header) {
  uint64_t stripes = shard_stripes(header);
  return stripes == 0 ? 0 : (stripes - 1) * header->block + shard_stripe_bytes(header, stripes - 1);
}

uint64_t shard_stripe_offset(const shard_header *header, uint64_t stripe) {
  return SHARD_HEADER_BYTES + stripe * header->block;
}
