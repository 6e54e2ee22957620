/* Reading the payloads of a stripe set: checksums, the shards to read, blocks of a stripe. */
#include "output.h"
#include "progress.h"
#include "report.h"
#include "shardset.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int shard_codec(gfsmith_codec **codec, const char *prefix, const char *code, unsigned k,
                unsigned m) {
  gfsmith_status status = gfsmith_codec_create(codec, code, k, m);
  if (status == GFSMITH_OK)
    return STRIPE_OK;
  if (status == GFSMITH_EINVAL) /* k and m have been checked: the name is unknown */
    return refuse("%s: unknown code \"%s\" (vandermonde, cauchy)", prefix, code);
  return refuse("%s: code %s with k = %u, m = %u: %s%s", prefix, code, k, m,
                gfsmith_strerror(status),
                status == GFSMITH_ENOTMDS ? " (cauchy can at every shape)" : "");
}

unsigned shard_set_intact(const shard_set *set) {
  unsigned intact = 0;
  for (unsigned i = 0; i < set->shards; i++)
    intact += set->slots[i].intact;
  return intact;
}

static void append(char *text, size_t size, const char *more) {
  size_t length = strlen(text);
  snprintf(text + length, size - length, "%s", more);
}

static void append_indices(const shard_set *set, bool given, const char *label, char *text,
                           size_t size) {
  const char *before = label;
  for (unsigned i = 0; i < set->shards; i++) {
    char number[16];
    if (set->slots[i].intact || set->slots[i].given != given)
      continue;
    append(text, size, before);
    snprintf(number, sizeof number, " %03u", i);
    append(text, size, number);
    before = "";
  }
}

int shard_set_require(const shard_set *set) {
  char text[4096] = "";
  if (shard_set_intact(set) >= set->header.k)
    return STRIPE_OK;
  append_indices(set, false, "; missing:", text, sizeof text);
  append_indices(set, true, "; damaged:", text, sizeof text);
  return refuse("%s: too few shards: %u intact, %" PRIu32 " needed%s", set->header.name,
                shard_set_intact(set), set->header.k, text);
}

void shard_set_say_bad(const shard_set *set) {
  for (unsigned i = 0; i < set->shards; i++)
    if (!set->slots[i].intact)
      say("%s: %s", set->slots[i].path, set->slots[i].why);
  for (size_t i = 0; i < set->stray_count; i++)
    say("%s: %s", set->strays[i].path, set->strays[i].why);
}

void shard_set_blocks(const shard_set *set, size_t bytes, uint8_t *blocks[SHARD_MAX_SHARDS]) {
  for (unsigned i = 0; i < set->shards; i++)
    blocks[i] = set->memory + (size_t)i * bytes;
}

void shard_set_sources(const shard_set *set, bool use[SHARD_MAX_SHARDS]) {
  unsigned chosen = 0;
  for (unsigned i = 0; i < set->shards; i++) {
    use[i] = set->slots[i].intact && chosen < set->header.k;
    chosen += use[i];
  }
}

/* Read the block of one shard. False: errno. */
static bool read_block(const shard_set *set, unsigned shard, uint64_t stripe, uint8_t *block) {
  size_t bytes = shard_stripe_bytes(&set->header, stripe);
  ssize_t n =
      read_at(set->slots[shard].fd, block, bytes, shard_stripe_offset(&set->header, stripe));
  if (n >= 0 && (size_t)n < bytes)
    errno = ENODATA; /* the file has become shorter since it was opened */
  return n >= 0 && (size_t)n == bytes;
}

int shard_set_read(const shard_set *set, const bool *use, uint64_t stripe, uint8_t *const *blocks) {
  for (unsigned i = 0; i < set->shards; i++)
    if (use[i] && !read_block(set, i, stripe, blocks[i]))
      return refuse("cannot read %s: %s", set->slots[i].path, strerror(errno));
  return STRIPE_OK;
}

/* Read and hash one stripe of every shard that is intact so far. Do all k + m blocks match? */
static void scan_stripe(shard_set *set, XXH3_state_t **states, uint64_t stripe, bool *parity_ok,
                        progress *bar) {
  size_t bytes = shard_stripe_bytes(&set->header, stripe);
  uint8_t *blocks[SHARD_MAX_SHARDS];
  bool same = true;
  shard_set_blocks(set, bytes, blocks);
  for (unsigned i = 0; i < set->shards && !report_interrupted(); i++) {
    shard_slot *slot = &set->slots[i];
    if (!slot->intact)
      continue;
    if (read_block(set, i, stripe, blocks[i])) {
      XXH3_128bits_update(states[i], blocks[i], bytes);
    } else {
      slot->intact = false;
      snprintf(slot->why, sizeof slot->why, "cannot read it: %s", strerror(errno));
    }
    progress_add(bar, bytes);
  }
  if (*parity_ok && shard_set_intact(set) == set->shards && !report_interrupted())
    *parity_ok =
        gfsmith_check(set->codec, bytes, (const uint8_t *const *)blocks, &same) == GFSMITH_OK &&
        same;
}

static void compare_sum(shard_slot *slot, const XXH3_state_t *state, const shard_sum *wanted) {
  shard_sum sum = shard_sum_digest(state);
  slot->intact = shard_sum_equal(&sum, wanted);
  if (!slot->intact)
    snprintf(slot->why, sizeof slot->why, "checksum mismatch in the payload");
}

int shard_set_scan(shard_set *set, bool quiet, bool *parity_ok) {
  XXH3_state_t *states[SHARD_MAX_SHARDS];
  uint64_t stripes = shard_stripes(&set->header);
  progress bar;
  for (unsigned i = 0; i < set->shards; i++)
    states[i] = hash_create();
  *parity_ok = true;
  /* Without an intact shard there is no loop: the length in the header is invalid then. */
  progress_begin(&bar, "verify", shard_set_intact(set) * shard_payload_bytes(&set->header), quiet);
  for (uint64_t s = 0; s < stripes && shard_set_intact(set) > 0 && !report_interrupted(); s++)
    scan_stripe(set, states, s, parity_ok, &bar);
  progress_end(&bar);
  for (unsigned i = 0; i < set->shards; i++) {
    if (set->slots[i].intact && !report_interrupted())
      compare_sum(&set->slots[i], states[i], &set->header.payload[i]);
    XXH3_freeState(states[i]);
  }
  if (shard_set_intact(set) < set->shards)
    *parity_ok = true; /* a damaged shard explains any mismatch */
  return report_interrupted() ? STRIPE_REFUSED : STRIPE_OK;
}
