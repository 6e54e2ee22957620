#include "kept.h"

#include "common/report.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { IDENTITY = 128 };

kept_status kept_connect(kept *k) { return k->type->connect(k); }
bool kept_connected(const kept *k) { return k->type->connected(k); }
void kept_destroy(kept *k) { k->type->destroy(k); }
void kept_disconnect(kept *k) { k->type->disconnect(k); }
int kept_watch(const kept *k) { return k->type->watch(k); }
kept_status kept_turn(kept *k) { return k->type->turn(k); }
const char *kept_reason(const kept *k) { return k->reason; }

static kept_status get(kept *k, shelf_kind kind, uint64_t version, uint8_t **bytes,
                       size_t *length) {
  return k->type->get(k, kind, version, bytes, length);
}

static kept_status damaged(kept *k, const char *what) {
  snprintf(k->reason, sizeof k->reason, "%s", what);
  return KEPT_DAMAGED;
}

/* Is it followed by the checksum of its first bytes? That of an earlier release has none. The sign
 * keeps a checksum from being taken for a number, if a space has become a digit. */
static bool unchanged(const char *text, size_t bytes) {
  uint64_t sum;
  return text[bytes] == '\0' ||
         (sscanf(text + bytes, " #%16" SCNx64, &sum) == 1 && sum == XXH3_64bits(text, bytes));
}

static bool parse_identity(identity *who, const char *text) {
  char group[2 * KEPT_ID + 1], incarnation[2 * KEPT_ID + 1];
  int bytes = 0;
  return sscanf(text, "%32s %32s %u %" SCNu32 " %16" SCNx64 "%n", group, incarnation, &who->rank,
                &who->epoch, &who->start, &bytes) == 5 &&
         unchanged(text, (size_t)bytes) &&
         sodium_hex2bin(who->group, KEPT_ID, group, 2 * KEPT_ID, NULL, NULL, NULL) == 0 &&
         sodium_hex2bin(who->incarnation, KEPT_ID, incarnation, 2 * KEPT_ID, NULL, NULL, NULL) == 0;
}

/* A damaged one in a folder counts as missing: the agent compares its items with the index. */
kept_status kept_get_identity(kept *k, identity *who) {
  uint8_t *bytes = NULL;
  size_t length;
  char text[IDENTITY];
  kept_status status = get(k, SHELF_NODE, 0, &bytes, &length);
  if (status != KEPT_OK)
    return status;
  snprintf(text, sizeof text, "%.*s", (int)(length < 127 ? length : 127), (const char *)bytes);
  free(bytes);
  identity found;
  if (strlen(text) == length && parse_identity(&found, text)) {
    *who = found;
    return KEPT_OK;
  }
  (void)damaged(k, "the item \"node\" is not a chunk server's");
  if (!k->own)
    return KEPT_DAMAGED;
  report("%s: it gets a new one", k->reason);
  return KEPT_MISSING;
}

static size_t identity_text(const identity *who, char text[IDENTITY]) {
  char group[2 * KEPT_ID + 1], incarnation[2 * KEPT_ID + 1];
  sodium_bin2hex(group, sizeof group, who->group, KEPT_ID);
  sodium_bin2hex(incarnation, sizeof incarnation, who->incarnation, KEPT_ID);
  int at = snprintf(text, IDENTITY, "%s %s %u %" PRIu32 " %" PRIx64, group, incarnation, who->rank,
                    who->epoch, who->start);
  uint64_t sum = XXH3_64bits(text, (size_t)at);
  return (size_t)(at + snprintf(text + at, IDENTITY - (size_t)at, " #%016" PRIx64, sum));
}

static void apply(kept *k, const change *c) { k->type->apply(k, c); }

static void put_node(kept *k, change_type type, const identity *who, kept_ticket ticket) {
  char text[IDENTITY];
  change c = {.type = type, .kind = SHELF_NODE, .bytes = (const uint8_t *)text, .ticket = ticket};
  c.length = identity_text(who, text);
  apply(k, &c);
}

void kept_put_identity(kept *k, const identity *who, kept_ticket ticket) {
  put_node(k, CHANGE_PUT, who, ticket);
}

void kept_wipe(kept *k, const identity *who, kept_ticket ticket) {
  put_node(k, CHANGE_WIPE, who, ticket);
}

void kept_put_chunk(kept *k, uint64_t version, unsigned shard, uint8_t *item, size_t length,
                    bool exists, kept_ticket ticket) {
  item_head(item, version, shard, length);
  apply(k, &(change){CHANGE_PUT, SHELF_CHUNK, version, item, ITEM_HEADER + length, exists, ticket});
}

kept_status kept_get_chunk(kept *k, uint64_t version, unsigned shard, uint8_t **item,
                           size_t length) {
  size_t bytes;
  kept_status status = get(k, SHELF_CHUNK, version, item, &bytes);
  if (status != KEPT_OK)
    return status;
  if (bytes == ITEM_HEADER + length && get_le(*item + ITEM_SHARD, 8) == shard &&
      item_chunk(*item, bytes, version))
    return KEPT_OK;
  free(*item);
  *item = NULL;
  return damaged(k, "the chunk is damaged");
}

void kept_put_record(kept *k, uint64_t version, const uint8_t *bytes, size_t length, bool exists,
                     kept_ticket ticket) {
  apply(k, &(change){CHANGE_PUT, SHELF_RECORD, version, bytes, length, exists, ticket});
}

kept_status kept_get_record(kept *k, uint64_t version, uint8_t *bytes, size_t *length) {
  uint8_t *item = NULL;
  kept_status status = get(k, SHELF_RECORD, version, &item, length);
  if (status != KEPT_OK)
    return status;
  bool whole = item_record(item, *length, version);
  if (whole)
    memcpy(bytes, item, *length);
  free(item);
  return whole ? KEPT_OK : damaged(k, "the record is damaged");
}

void kept_forget_record(kept *k, uint64_t version, kept_ticket ticket) {
  apply(k, &(change){CHANGE_FORGET, SHELF_RECORD, version, NULL, 0, false, ticket});
}

void kept_forget(kept *k, uint64_t version, kept_ticket ticket) {
  apply(k, &(change){CHANGE_FORGET, SHELF_CHUNK, version, NULL, 0, false, ticket});
}

void kept_settle(kept *k, kept_ticket ticket) {
  apply(k, &(change){.type = CHANGE_NONE, .ticket = ticket});
}

kept_status kept_list_more(kept *k, kept_list *list) {
  kept_status status = k->type->list(k, list);
  if (status != KEPT_OK)
    kept_list_free(list);
  return status;
}
