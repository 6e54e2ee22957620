#include "kept.h"

#include "common/report.h"
#include "wire.h"

#include <inttypes.h>
#include <libmemcached/memcached.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { KEY = 1 + 16 };

static const char magic[8] = "gfs-chnk";

struct kept {
  char *socket;
  unsigned timeout_ms;
  memcached_st *client; /* NULL: not connected */
  int watch;
  char reason[256];
};

kept *kept_create(const char *socket, unsigned timeout_ms) {
  kept *k = calloc(1, sizeof *k);
  if (k == NULL || (k->socket = strdup(socket)) == NULL)
    out_of_memory();
  k->timeout_ms = timeout_ms;
  k->watch = -1;
  return k;
}

void kept_disconnect(kept *k) {
  memcached_free(k->client);
  k->client = NULL;
  if (k->watch >= 0)
    close(k->watch);
  k->watch = -1;
}

void kept_destroy(kept *k) {
  if (k == NULL)
    return;
  kept_disconnect(k);
  free(k->socket);
  free(k);
}

bool kept_connected(const kept *k) { return k->client != NULL; }

int kept_watch(const kept *k) { return k->watch; }

const char *kept_reason(const kept *k) { return k->reason; }

/* Translate a return code of libmemcached. Any code that does not prove that memcached is running
 * and has understood counts as KEPT_GONE. */
static kept_status judge(kept *k, memcached_return_t code) {
  switch (code) {
  case MEMCACHED_SUCCESS:
    return KEPT_OK;
  case MEMCACHED_NOTFOUND:
    snprintf(k->reason, sizeof k->reason, "not in memcached");
    return KEPT_MISSING;
  case MEMCACHED_E2BIG:
    snprintf(k->reason, sizeof k->reason, "larger than memcached's largest item");
    return KEPT_TOO_LARGE;
  case MEMCACHED_SERVER_MEMORY_ALLOCATION_FAILURE:
    snprintf(k->reason, sizeof k->reason, "memcached is full");
    return KEPT_FULL;
  default:
    snprintf(k->reason, sizeof k->reason, "memcached does not answer: %s",
             memcached_strerror(k->client, code));
    kept_disconnect(k);
    return KEPT_GONE;
  }
}

static kept_status gone(kept *k, const char *why) {
  snprintf(k->reason, sizeof k->reason, "memcached does not answer: %s", why);
  kept_disconnect(k);
  return KEPT_GONE;
}

kept_status kept_connect(kept *k) {
  if (k->client != NULL)
    return KEPT_OK;
  k->watch = wire_connect(k->socket, k->timeout_ms);
  if (k->watch < 0)
    return gone(k, "no connection");
  bool evicts;
  if (!wire_evicts(k->watch, &evicts))
    return gone(k, "no settings");
  if (evicts) {
    kept_disconnect(k);
    snprintf(k->reason, sizeof k->reason, "%s: memcached may evict chunks; start it with -M",
             k->socket);
    return KEPT_DAMAGED;
  }
  k->client = memcached_create(NULL);
  if (k->client == NULL ||
      memcached_server_add_unix_socket(k->client, k->socket) != MEMCACHED_SUCCESS)
    return gone(k, "out of memory");
  memcached_behavior_set(k->client, MEMCACHED_BEHAVIOR_POLL_TIMEOUT, k->timeout_ms);
  memcached_behavior_set(k->client, MEMCACHED_BEHAVIOR_CONNECT_TIMEOUT, k->timeout_ms);
  return KEPT_OK;
}

static kept_status put(kept *k, const char *key, const void *bytes, size_t length) {
  if (k->client == NULL)
    return gone(k, "no connection");
  return judge(k, memcached_set(k->client, key, strlen(key), bytes, length, 0, 0));
}

static kept_status get(kept *k, const char *key, uint8_t **bytes, size_t *length) {
  uint32_t flags;
  memcached_return_t code;
  if (k->client == NULL)
    return gone(k, "no connection");
  *bytes = (uint8_t *)memcached_get(k->client, key, strlen(key), length, &flags, &code);
  return judge(k, code);
}

static kept_status forget(kept *k, const char *key) {
  if (k->client == NULL)
    return gone(k, "no connection");
  kept_status status = judge(k, memcached_delete(k->client, key, strlen(key), 0));
  return status == KEPT_MISSING ? KEPT_OK : status;
}

static const char *name(char key[KEY + 1], char kind, uint64_t version) {
  snprintf(key, KEY + 1, "%c%016" PRIx64, kind, version);
  return key;
}

kept_status kept_get_identity(kept *k, identity *who) {
  uint8_t *bytes = NULL;
  size_t length;
  char text[128], group[2 * KEPT_ID + 1], incarnation[2 * KEPT_ID + 1];
  kept_status status = get(k, "node", &bytes, &length);
  if (status != KEPT_OK)
    return status;
  snprintf(text, sizeof text, "%.*s", (int)(length < 127 ? length : 127), (const char *)bytes);
  free(bytes);
  if (sscanf(text, "%32s %32s %u %" SCNu32 " %" SCNx64, group, incarnation, &who->rank, &who->epoch,
             &who->start) != 5 ||
      sodium_hex2bin(who->group, KEPT_ID, group, 2 * KEPT_ID, NULL, NULL, NULL) != 0 ||
      sodium_hex2bin(who->incarnation, KEPT_ID, incarnation, 2 * KEPT_ID, NULL, NULL, NULL) != 0) {
    snprintf(k->reason, sizeof k->reason, "%s: the item \"node\" is not a chunk server's",
             k->socket);
    return KEPT_DAMAGED;
  }
  return KEPT_OK;
}

kept_status kept_put_identity(kept *k, const identity *who) {
  char text[128], group[2 * KEPT_ID + 1], incarnation[2 * KEPT_ID + 1];
  sodium_bin2hex(group, sizeof group, who->group, KEPT_ID);
  sodium_bin2hex(incarnation, sizeof incarnation, who->incarnation, KEPT_ID);
  snprintf(text, sizeof text, "%s %s %u %" PRIu32 " %" PRIx64, group, incarnation, who->rank,
           who->epoch, who->start);
  return put(k, "node", text, strlen(text));
}

/* The header of a chunk: magic, version, length, shard, 8 bytes each; XXH3-64 of the chunk, seeded
 * with the checksum of these. */
static void head(uint8_t *header, uint64_t version, unsigned shard, const uint8_t *chunk,
                 size_t length) {
  memset(header, 0, KEPT_HEADER);
  memcpy(header, magic, sizeof magic);
  put_le(header + 8, version, 8);
  put_le(header + 16, length, 8);
  put_le(header + 24, shard, 8);
  put_le(header + 32, XXH3_64bits_withSeed(chunk, length, XXH3_64bits(header, 32)), 8);
}

kept_status kept_put_chunk(kept *k, uint64_t version, unsigned shard, uint8_t *item,
                           size_t length) {
  char key[KEY + 1];
  head(item, version, shard, item + KEPT_HEADER, length);
  return put(k, name(key, 'c', version), item, KEPT_HEADER + length);
}

kept_status kept_get_chunk(kept *k, uint64_t version, unsigned shard, uint8_t **item,
                           size_t length) {
  char key[KEY + 1];
  size_t bytes;
  uint8_t header[KEPT_HEADER];
  kept_status status = get(k, name(key, 'c', version), item, &bytes);
  if (status != KEPT_OK)
    return status;
  if (bytes == KEPT_HEADER + length) {
    head(header, version, shard, *item + KEPT_HEADER, length);
    if (memcmp(header, *item, KEPT_HEADER) == 0)
      return KEPT_OK;
  }
  free(*item);
  *item = NULL;
  snprintf(k->reason, sizeof k->reason, "the chunk in memcached is damaged");
  return KEPT_DAMAGED;
}

kept_status kept_put_record(kept *k, uint64_t version, const uint8_t *bytes, size_t length) {
  char key[KEY + 1];
  return put(k, name(key, 'r', version), bytes, length);
}

kept_status kept_get_record(kept *k, uint64_t version, uint8_t *bytes, size_t *length) {
  char key[KEY + 1];
  uint8_t *item = NULL;
  kept_status status = get(k, name(key, 'r', version), &item, length);
  if (status != KEPT_OK)
    return status;
  if (*length <= RECORD_MAX)
    memcpy(bytes, item, *length);
  free(item);
  return *length <= RECORD_MAX ? KEPT_OK : KEPT_DAMAGED;
}

kept_status kept_forget_record(kept *k, uint64_t version) {
  char key[KEY + 1];
  return forget(k, name(key, 'r', version));
}

kept_status kept_forget_chunk(kept *k, uint64_t version) {
  char key[KEY + 1];
  return forget(k, name(key, 'c', version));
}

kept_status kept_wipe(kept *k) {
  if (k->client == NULL)
    return gone(k, "no connection");
  return judge(k, memcached_flush(k->client, 0));
}

void kept_list_free(kept_list *list) {
  free(list->chunk);
  free(list->record);
  *list = (kept_list){0};
}

/* False: no memory. */
static bool add(uint64_t **versions, size_t *count, uint64_t version) {
  if ((*count & (*count - 1)) == 0) { /* grow to the next power of two */
    size_t room = *count == 0 ? 1 : 2 * *count;
    uint64_t *more = reallocarray(*versions, room, sizeof *more);
    if (more == NULL)
      return false;
    *versions = more;
  }
  (*versions)[(*count)++] = version;
  return true;
}

static void note(void *owner, const char *key, size_t length) {
  kept_list *list = owner;
  char text[KEY + 1], *end;
  if (length != KEY || (key[0] != 'c' && key[0] != 'r'))
    return;
  memcpy(text, key, KEY);
  text[KEY] = '\0';
  uint64_t version = strtoull(text + 1, &end, 16);
  if (*end != '\0')
    return;
  bool added = key[0] == 'c' ? add(&list->chunk, &list->chunks, version)
                             : add(&list->record, &list->records, version);
  list->incomplete = list->incomplete || !added;
}

kept_status kept_list_all(kept *k, kept_list *list) {
  *list = (kept_list){0};
  if (k->client == NULL)
    return gone(k, "no connection");
  int fd = wire_connect(k->socket, k->timeout_ms);
  bool done = fd >= 0 && wire_keys(fd, note, list) && !list->incomplete;
  if (fd >= 0)
    close(fd);
  if (done)
    return KEPT_OK;
  kept_list_free(list);
  return gone(k, "its keys cannot be listed");
}
