/* The items of a chunk server in an SQLite database. A connection is used by one thread at a time.
 * The changes of a transaction are on disk when its commit returns KEPT_OK: the database has a
 * write-ahead log, which SQLite flushes at each commit (synchronous = FULL). */
#ifndef STORE_DATABASE_H
#define STORE_DATABASE_H

#include "room.h"

#include <stdatomic.h>

enum { DATABASE_REASON = 256 };

typedef struct database {
  struct sqlite3 *connection;
  struct sqlite3_stmt *statement[3][5]; /* of database.c, prepared when they are needed */
  room room;
  bool used;                    /* changed since the log was begun again */
  char reason[DATABASE_REASON]; /* of the last error */
} database;

/* Open the file, which is created if it is missing, with at most `megabytes`. KEPT_DAMAGED, here
 * and below: it is not a database, or its structure is damaged. */
kept_status database_open(database *d, const char *path, uint64_t megabytes);
void database_close(database *d);
/* Have both, of this process, opened the same file? */
bool database_is_same(database *d, database *other);
/* Move the log into the database; reserve room (room.h); check the structure of the database and
 * the checksums of all items, and delete the bytes of the damaged ones. KEPT_GONE if `stop` becomes
 * true. */
kept_status database_check(database *d, atomic_bool *stop, uint64_t *deleted);

kept_status database_begin(database *d);
kept_status database_change(database *d, const change *c);
/* Let the commit write a page to the log, without a change of the content. */
kept_status database_touch(database *d);
kept_status database_commit(database *d);
void database_rollback(database *d);
/* Change the limit of database_open. */
kept_status database_limit(database *d, uint64_t megabytes);
/* After KEPT_FULL: move the log into the database, so that it has room again. False: no gain. */
bool database_begin_log(database *d);

/* The caller frees *bytes. */
kept_status database_get(database *d, shelf_kind kind, uint64_t version, uint8_t **bytes,
                         size_t *length);
/* A step of the list. */
kept_status database_list(database *d, kept_list *list);

#endif
