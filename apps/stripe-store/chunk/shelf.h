/* A place of items: a memcached, or a folder. An item has a kind, of the letters below, and a
 * version. */
#ifndef STORE_SHELF_H
#define STORE_SHELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum kept_status {
  KEPT_OK = 0,
  KEPT_MISSING,   /* not stored */
  KEPT_DAMAGED,   /* stored with a wrong checksum */
  KEPT_FULL,      /* there is no room left */
  KEPT_TOO_LARGE, /* larger than the largest item */
  KEPT_GONE       /* the place does not answer */
} kept_status;

/* Called when a change is done, with the owner of the shelf. */
typedef struct kept_ticket {
  void (*done)(void *owner, const struct kept_ticket *ticket, kept_status status);
  uint64_t request;  /* of the agent */
  const char *point; /* after the change (fault.h); NULL: none */
} kept_ticket;

typedef enum shelf_kind { SHELF_NODE = 'n', SHELF_CHUNK = 'c', SHELF_RECORD = 'r' } shelf_kind;

typedef enum change_type {
  CHANGE_NONE, /* only call back */
  CHANGE_PUT,
  CHANGE_FORGET,
  CHANGE_WIPE /* delete all items, then put */
} change_type;

typedef struct change {
  change_type type;
  shelf_kind kind; /* SHELF_CHUNK to forget: the record, then the chunk */
  uint64_t version;
  const uint8_t *bytes; /* of a chunk: must remain until the call back */
  size_t length;
  bool exists; /* of a value that exists: beyond the limit, too, since without it no value can be
                  deleted, and a lost memory had room for it in another order */
  kept_ticket ticket;
} change;

/* The versions of all stored chunks, of all stored records, and of those that were found damaged
 * and deleted, unordered. It is made in steps, since that may take long. */
typedef struct kept_list {
  uint64_t *chunk, *record, *damage;
  size_t chunks, records, damaged;
  bool incomplete;      /* there was no memory for a version */
  bool begun, complete; /* the first step is done; the last one is */
  shelf_kind kind;      /* in a folder: the kind and version after which the next step begins */
  int64_t last;
} kept_list;

void kept_list_add(kept_list *list, shelf_kind kind, uint64_t version);
void kept_list_add_damaged(kept_list *list, uint64_t version);
void kept_list_free(kept_list *list);

typedef struct shelf shelf;

/* The operations, as those of kept.h. */
typedef struct shelf_type {
  kept_status (*connect)(shelf *s);
  bool (*connected)(const shelf *s);
  void (*disconnect)(shelf *s);
  int (*watch)(const shelf *s);
  kept_status (*turn)(shelf *s);
  void (*apply)(shelf *s, const change *c);
  /* The caller frees *bytes. */
  kept_status (*get)(shelf *s, shelf_kind kind, uint64_t version, uint8_t **bytes, size_t *length);
  /* Make a step: add some of the items that are not in the list yet. */
  kept_status (*list)(shelf *s, kept_list *list);
  void (*destroy)(shelf *s);
} shelf_type;

struct shelf {
  const shelf_type *type;
  void *owner;
  bool own; /* no other program has written its items */
  char reason[512];
};

#endif
