/* Changes of a chunk server's folder without agent and network: `shelf FOLDER MEGABYTES WORD...`.
 *
 *   cV:LENGTH  store a chunk of version V; rV: its record; nV: an identity with the epoch V
 *   cV:LENGTH!, rV!  the same of a value that exists
 *   fV         delete chunk and record; uV: the record only; w: everything
 *   .          wait for the changes before it
 *   l          print the stored items: "have WORD" for each item, "damaged WORD"
 *   x          open the folder again, at first with an empty one in its place: "without REASON"
 *
 * Prints "open", "done WORD STATUS" for each change, and "gone REASON". native/power.c records the
 * changes that are done, too. */
#include "chunk/disk.h"
#include "chunk/kept.h"
#include "common/report.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Of native/power.c, if it is loaded. */
void power_note(const char *text, size_t length) __attribute__((weak));

enum { WORDS = 256, LENGTH = 128 };

static kept *items;
static unsigned waiting;
static const char *words[WORDS];
static uint8_t *chunks[WORDS];

static void say(const char *line) {
  puts(line);
  fflush(stdout);
}

static void end_gone(void) {
  printf("gone %s\n", kept_reason(items));
  exit(3);
}

static void on_done(void *owner, const kept_ticket *ticket, kept_status status) {
  char line[LENGTH];
  (void)owner;
  waiting--;
  free(chunks[ticket->request]);
  chunks[ticket->request] = NULL;
  int length = snprintf(line, sizeof line, "done %s %d", words[ticket->request], status);
  if (power_note != NULL)
    power_note(line, (size_t)length);
  say(line);
}

static void open_items(void) {
  const struct timespec step = {.tv_nsec = 200000};
  kept_status status = KEPT_GONE;
  for (int n = 0; n < 50000 && status != KEPT_OK; n++) {
    status = kept_connect(items);
    if (status != KEPT_OK && strcmp(kept_reason(items), "the chunks are being checked") != 0)
      end_gone();
    if (status != KEPT_OK)
      nanosleep(&step, NULL);
  }
  if (status != KEPT_OK)
    end_gone();
  say("open");
}

static void settle(void) {
  struct pollfd ready = {.fd = kept_watch(items), .events = POLLIN};
  while (waiting > 0) {
    poll(&ready, 1, -1);
    if (kept_turn(items) == KEPT_GONE)
      end_gone();
  }
}

static uint8_t *chunk_of(uint64_t version, size_t length) {
  uint8_t *item = aligned_alloc(64, (ITEM_HEADER + length + 63) / 64 * 64);
  for (size_t i = 0; i < length; i++)
    item[ITEM_HEADER + i] = (uint8_t)((version * 31 + i) * 2654435761U >> 24);
  return item;
}

static void print_chunk(uint64_t version) {
  uint8_t *item = NULL, bytes[RECORD_MAX];
  record r = {0};
  size_t length, found = 0;
  kept_status status = kept_get_record(items, version, bytes, &length);
  if (status == KEPT_OK && record_decode(&r, bytes, length) && r.version == version)
    printf("have r%u\n", (unsigned)version);
  for (size_t size = 1; size < 200000 && item == NULL; size = size * 3 + 1)
    if (kept_get_chunk(items, version, 1, &item, size) == KEPT_OK)
      found = size;
  uint8_t *right = chunk_of(version, found);
  if (item != NULL)
    printf("%s c%u:%zu\n",
           memcmp(item + ITEM_HEADER, right + ITEM_HEADER, found) == 0 ? "have" : "damaged",
           (unsigned)version, found);
  free(right);
  free(item);
}

static void list(void) {
  kept_list all = {0};
  identity who;
  settle();
  while (!all.complete)
    if (kept_list_more(items, &all) != KEPT_OK)
      end_gone();
  printf("listed %zu\n", all.chunks + all.records);
  kept_list_free(&all);
  for (uint64_t version = 1; version < 200; version++)
    print_chunk(version);
  if (kept_get_identity(items, &who) == KEPT_OK)
    printf("have n%u\n", who.epoch);
}

static void change_items(const char *word, kept_ticket ticket) {
  unsigned version = 0, length = 0;
  uint8_t bytes[RECORD_MAX];
  sscanf(word + 1, "%u:%u", &version, &length);
  const record r = {.version = version, .length = length, .key_bytes = 3, .key = "key"};
  const identity who = {.rank = 1, .epoch = version};
  const bool exists = strchr(word, '!') != NULL;
  waiting++;
  if (*word == 'c')
    kept_put_chunk(items, version, 1, chunks[ticket.request] = chunk_of(version, length), length,
                   exists, ticket);
  else if (*word == 'r')
    kept_put_record(items, version, bytes, record_encode(&r, bytes), exists, ticket);
  else if (*word == 'n')
    kept_put_identity(items, &who, ticket);
  else if (*word == 'f')
    kept_forget(items, version, ticket);
  else if (*word == 'u')
    kept_forget_record(items, version, ticket);
  else
    kept_wipe(items, &who, ticket);
}

/* The disk is not there for a while: another folder is in its place. */
static void lose(const char *folder) {
  char away[4096];
  snprintf(away, sizeof away, "%s.away", folder);
  settle();
  kept_disconnect(items);
  if (rename(folder, away) != 0 || mkdir(folder, 0700) != 0 || kept_connect(items) == KEPT_OK)
    exit(4);
  printf("without %s\n", kept_reason(items));
  if (rmdir(folder) != 0 || rename(away, folder) != 0)
    exit(5);
  open_items();
}

int main(int argc, char **argv) {
  report_name("shelf");
  items = disk_create(argv[1], strtoull(argv[2], NULL, 10), getenv("SHELF_USED") != NULL, NULL);
  open_items();
  for (int i = 3; i < argc && i < WORDS; i++) {
    words[i] = argv[i];
    if (*argv[i] == '.')
      settle();
    else if (*argv[i] == 'l')
      list();
    else if (*argv[i] == 'x')
      lose(argv[1]);
    else
      change_items(argv[i], (kept_ticket){on_done, (uint64_t)i, NULL});
  }
  settle();
  kept_destroy(items);
  return 0;
}
