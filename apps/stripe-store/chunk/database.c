#include "database.h"

#include "item.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 16384, LOG_PAGES = 1024, BUSY_MS = 1000, PROGRESS = 1000, STEP = 256 };

typedef enum statement { PUT, GET, FORGET, LIST, NAMES } statement;

static const char *const tables[] = {"node", "chunk", "record"};

static unsigned table(shelf_kind kind) {
  return kind == SHELF_NODE ? 0 : kind == SHELF_CHUNK ? 1 : 2;
}

/* A quota or the limit of the size of files is reached: only ENOSPC is SQLITE_FULL. The write has
 * just failed. */
static bool is_limit(int code) {
  return code == SQLITE_IOERR_WRITE && (errno == EDQUOT || errno == EFBIG);
}

static int system_error(const database *d, int code) {
  int error = d->connection == NULL ? 0 : sqlite3_system_errno(d->connection);
  return error == 0 && (code & 0xff) == SQLITE_IOERR ? errno : error;
}

/* Translate a result code. Errors that do not concern the item count as KEPT_GONE. */
static kept_status judge(database *d, int code) {
  switch (is_limit(code) ? SQLITE_FULL : code & 0xff) {
  case SQLITE_OK:
  case SQLITE_ROW:
  case SQLITE_DONE:
    return KEPT_OK;
  case SQLITE_FULL:
    snprintf(d->reason, sizeof d->reason, "the disk is full");
    return KEPT_FULL;
  case SQLITE_TOOBIG:
    snprintf(d->reason, sizeof d->reason, "larger than the largest item");
    return KEPT_TOO_LARGE;
  case SQLITE_ERROR: /* in the tables' definitions, or a format that no SQLite writes */
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    snprintf(d->reason, sizeof d->reason, "%s", sqlite3_errstr(code));
    return KEPT_DAMAGED;
  default:
    snprintf(d->reason, sizeof d->reason, "%s (SQLite error %d, errno %d)", sqlite3_errstr(code),
             code, system_error(d, code));
    return KEPT_GONE;
  }
}

static kept_status run(database *d, const char *text) {
  return judge(d, sqlite3_exec(d->connection, text, NULL, NULL, NULL));
}

static kept_status prepare(database *d, shelf_kind kind, statement what, sqlite3_stmt **found) {
  static const char *const texts[] = {
      [PUT] = "INSERT OR REPLACE INTO %s VALUES(?1, ?2)",
      [GET] = "SELECT bytes FROM %s WHERE version = ?1",
      [FORGET] = "DELETE FROM %s WHERE version = ?1",
      [LIST] = "SELECT version, bytes FROM %s",
      /* the length is known without reading the bytes */
      [NAMES] =
          "SELECT version, length(bytes) FROM %s WHERE version > ?1 ORDER BY version LIMIT ?2",
  };
  char text[128];
  sqlite3_stmt **at = &d->statement[table(kind)][what];
  snprintf(text, sizeof text, texts[what], tables[table(kind)]);
  int code = *at != NULL ? SQLITE_OK : sqlite3_prepare_v2(d->connection, text, -1, at, NULL);
  *found = *at;
  return judge(d, code);
}

kept_status database_limit(database *d, uint64_t megabytes) {
  char text[64];
  snprintf(text, sizeof text, "PRAGMA max_page_count = %" PRIu64, megabytes * ((1 << 20) / PAGE));
  return run(d, text);
}

static kept_status settings(database *d) {
  char text[1024];
  snprintf(text, sizeof text,
           "PRAGMA page_size = %d; PRAGMA journal_mode = WAL; PRAGMA synchronous = %s;"
           "PRAGMA secure_delete = OFF;" /* a deletion needs a few pages of the log */
           "PRAGMA wal_autocheckpoint = %d;"
           "CREATE TABLE IF NOT EXISTS node(version INTEGER PRIMARY KEY, bytes BLOB);"
           "CREATE TABLE IF NOT EXISTS chunk(version INTEGER PRIMARY KEY, bytes BLOB);"
           "CREATE TABLE IF NOT EXISTS record(version INTEGER PRIMARY KEY, bytes BLOB)",
           PAGE, "FULL", LOG_PAGES);
  return run(d, text);
}

kept_status database_open(database *d, const char *path, uint64_t megabytes) {
  /* This VFS has the index of the log in private memory instead of a mapped file. */
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  int keep = 1; /* the log, when the database is closed: its room is reserved */
  *d = (database){0};
  kept_status status = judge(d, sqlite3_open_v2(path, &d->connection, flags, "unix-excl"));
  if (status == KEPT_OK)
    status = judge(d, sqlite3_extended_result_codes(d->connection, 1));
  if (status == KEPT_OK)
    status = judge(d, sqlite3_busy_timeout(d->connection, BUSY_MS));
  if (status == KEPT_OK)
    status = judge(d, sqlite3_file_control(d->connection, "main", SQLITE_FCNTL_PERSIST_WAL, &keep));
  if (status == KEPT_OK)
    status = settings(d);
  return status == KEPT_OK ? database_limit(d, megabytes) : status;
}

/* A transaction of one keeps the other from beginning one only if both have the same file. */
bool database_is_same(database *d, database *other) {
  bool begun = database_begin(d) == KEPT_OK;
  sqlite3_busy_timeout(other->connection, 0);
  int code = sqlite3_exec(other->connection, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  sqlite3_busy_timeout(other->connection, BUSY_MS);
  database_rollback(other);
  database_rollback(d);
  return begun && (code & 0xff) == SQLITE_BUSY;
}

static kept_status empty_log(database *d) { return run(d, "PRAGMA wal_checkpoint(TRUNCATE)"); }

void database_close(database *d) {
  for (unsigned t = 0; t < 3; t++)
    for (unsigned what = PUT; what <= NAMES; what++) {
      sqlite3_finalize(d->statement[t][what]);
      d->statement[t][what] = NULL;
    }
  if (d->room.open && empty_log(d) == KEPT_OK)
    room_keep_log(&d->room);
  sqlite3_close(d->connection);
  d->connection = NULL;
  room_close(&d->room);
}

/* ---- room ------------------------------------------------------------------------------------ */

/* The length of the database, with the pages that are in the log only. */
static kept_status find_length(database *d, uint64_t *bytes) {
  sqlite3_stmt *s = NULL;
  kept_status status =
      judge(d, sqlite3_prepare_v2(d->connection, "PRAGMA page_count", -1, &s, NULL));
  if (status == KEPT_OK)
    status = judge(d, sqlite3_step(s));
  if (status == KEPT_OK)
    *bytes = (uint64_t)sqlite3_column_int64(s, 0) * PAGE;
  sqlite3_finalize(s);
  return status;
}

static kept_status begin_room(database *d) {
  uint64_t bytes = 0;
  const char *path = sqlite3_db_filename(d->connection, "main");
  kept_status status = find_length(d, &bytes);
  if (status == KEPT_OK && !room_open(&d->room, path))
    status = judge(d, SQLITE_CANTOPEN);
  d->room.bytes = bytes;
  if (status == KEPT_OK)
    room_keep_log(&d->room);
  return status;
}

/* ---- the check at the start ------------------------------------------------------------------ */

static int on_progress(void *stop) { return atomic_load((atomic_bool *)stop); }

/* A changed bit in the header may be the number of a format that SQLite only reads. The file itself
 * can be written, since its room has been opened. */
static kept_status check_format(database *d) {
  if (sqlite3_db_readonly(d->connection, "main") != 1)
    return KEPT_OK;
  snprintf(d->reason, sizeof d->reason, "it has a format that no SQLite writes");
  return KEPT_DAMAGED;
}

static kept_status check_structure(database *d) {
  sqlite3_stmt *s = NULL;
  kept_status status =
      judge(d, sqlite3_prepare_v2(d->connection, "PRAGMA quick_check(1)", -1, &s, NULL));
  if (status == KEPT_OK)
    status = judge(d, sqlite3_step(s));
  const char *found = status == KEPT_OK ? (const char *)sqlite3_column_text(s, 0) : NULL;
  if (found != NULL && strcmp(found, "ok") != 0) {
    snprintf(d->reason, sizeof d->reason, "%s", found);
    d->reason[strcspn(d->reason, "\n")] = '\0';
    status = KEPT_DAMAGED;
  }
  sqlite3_finalize(s);
  return status == KEPT_OK ? check_format(d) : status;
}

/* Call back for all rows of a table. */
static kept_status each(database *d, shelf_kind kind, atomic_bool *stop,
                        void (*found)(void *owner, shelf_kind kind, sqlite3_stmt *row),
                        void *owner) {
  sqlite3_stmt *s;
  kept_status status = prepare(d, kind, LIST, &s);
  int code = SQLITE_ROW;
  while (status == KEPT_OK && (code = sqlite3_step(s)) == SQLITE_ROW && !atomic_load(stop))
    found(owner, kind, s);
  if (status == KEPT_OK)
    status = judge(d, code);
  sqlite3_reset(s);
  return status;
}

static void add_damaged(void *owner, shelf_kind kind, sqlite3_stmt *row) {
  uint64_t version = (uint64_t)sqlite3_column_int64(row, 0);
  const uint8_t *bytes = sqlite3_column_blob(row, 1);
  size_t length = (size_t)sqlite3_column_bytes(row, 1);
  if (length > 0 && (kind == SHELF_CHUNK ? !item_chunk(bytes, length, version)
                                         : !item_record(bytes, length, version)))
    kept_list_add(owner, kind, version);
}

static kept_status put(database *d, const change *c) {
  sqlite3_stmt *s;
  kept_status status = prepare(d, c->kind, PUT, &s);
  if (status != KEPT_OK)
    return status;
  sqlite3_bind_int64(s, 1, (sqlite3_int64)c->version);
  sqlite3_bind_blob64(s, 2, c->bytes, c->length, SQLITE_STATIC);
  sqlite3_step(s);
  return judge(d, sqlite3_reset(s));
}

/* An item without bytes was damaged. Without it, the value would count as never acknowledged. */
static kept_status blank(database *d, shelf_kind kind, uint64_t version) {
  return put(d, &(change){.kind = kind, .version = version, .bytes = (const uint8_t *)""});
}

static kept_status forget_one(database *d, shelf_kind kind, uint64_t version) {
  sqlite3_stmt *s;
  kept_status status = prepare(d, kind, FORGET, &s);
  if (status != KEPT_OK)
    return status;
  sqlite3_bind_int64(s, 1, (sqlite3_int64)version);
  sqlite3_step(s);
  return judge(d, sqlite3_reset(s));
}

static kept_status blank_listed(database *d, const kept_list *list) {
  kept_status status = database_begin(d);
  for (size_t i = 0; status == KEPT_OK && i < list->chunks; i++)
    status = blank(d, SHELF_CHUNK, list->chunk[i]);
  for (size_t i = 0; status == KEPT_OK && i < list->records; i++)
    status = blank(d, SHELF_RECORD, list->record[i]);
  if (status == KEPT_OK)
    status = database_commit(d);
  if (status != KEPT_OK)
    database_rollback(d);
  return status;
}

kept_status database_check(database *d, atomic_bool *stop, uint64_t *deleted) {
  kept_list damaged = {0};
  sqlite3_progress_handler(d->connection, PROGRESS, on_progress, stop);
  /* After a failed flush, the system may show a log that is not on disk: it is copied. */
  kept_status status = empty_log(d);
  if (status == KEPT_OK)
    status = begin_room(d);
  if (status == KEPT_OK)
    status = check_structure(d);
  if (status == KEPT_OK)
    status = each(d, SHELF_CHUNK, stop, add_damaged, &damaged);
  if (status == KEPT_OK)
    status = each(d, SHELF_RECORD, stop, add_damaged, &damaged);
  sqlite3_progress_handler(d->connection, 0, NULL, NULL);
  *deleted = damaged.chunks + damaged.records;
  if (status == KEPT_OK && (atomic_load(stop) || damaged.incomplete))
    status = KEPT_GONE;
  else if (status == KEPT_OK && *deleted > 0)
    status = blank_listed(d, &damaged);
  kept_list_free(&damaged);
  return status;
}

/* ---- changes --------------------------------------------------------------------------------- */

kept_status database_begin(database *d) { return run(d, "BEGIN IMMEDIATE"); }

kept_status database_commit(database *d) {
  uint64_t bytes = 0;
  kept_status status = find_length(d, &bytes);
  if (status == KEPT_OK && (status = room_grow(&d->room, bytes)) != KEPT_OK)
    return judge(d, status == KEPT_FULL ? SQLITE_FULL : SQLITE_IOERR);
  if (status == KEPT_OK)
    status = run(d, "COMMIT");
  if (status == KEPT_OK && bytes > d->room.bytes)
    d->room.bytes = bytes;
  d->used = d->used || status == KEPT_OK;
  return status;
}

bool database_begin_log(database *d) {
  bool used = d->used;
  d->used = false;
  return used && run(d, "PRAGMA wal_checkpoint(RESTART)") == KEPT_OK;
}

void database_rollback(database *d) {
  if (d->connection != NULL && !sqlite3_get_autocommit(d->connection))
    sqlite3_exec(d->connection, "ROLLBACK", NULL, NULL, NULL);
}

kept_status database_change(database *d, const change *c) {
  kept_status status = KEPT_OK;
  if (c->type == CHANGE_WIPE)
    status = run(d, "DELETE FROM chunk; DELETE FROM record");
  if (status == KEPT_OK && (c->type == CHANGE_PUT || c->type == CHANGE_WIPE))
    status = put(d, c);
  if (c->type == CHANGE_FORGET)
    status = forget_one(d, SHELF_RECORD, c->version);
  if (status == KEPT_OK && c->type == CHANGE_FORGET && c->kind == SHELF_CHUNK)
    status = forget_one(d, SHELF_CHUNK, c->version);
  return status;
}

/* SQLite writes the first page, even if it does not change. */
kept_status database_touch(database *d) { return run(d, "PRAGMA user_version = 0"); }

/* ---- reading --------------------------------------------------------------------------------- */

/* Copy the item of a row. */
static kept_status copy(database *d, sqlite3_stmt *row, uint8_t **bytes, size_t *length) {
  const uint8_t *item = sqlite3_column_blob(row, 0);
  *length = (size_t)sqlite3_column_bytes(row, 0);
  *bytes = malloc(*length + 1);
  if (*bytes == NULL || (item == NULL && *length > 0)) {
    free(*bytes);
    return judge(d, SQLITE_NOMEM);
  }
  if (*length > 0)
    memcpy(*bytes, item, *length);
  return KEPT_OK;
}

kept_status database_get(database *d, shelf_kind kind, uint64_t version, uint8_t **bytes,
                         size_t *length) {
  sqlite3_stmt *s;
  kept_status status = prepare(d, kind, GET, &s);
  if (status != KEPT_OK)
    return status;
  sqlite3_bind_int64(s, 1, (sqlite3_int64)version);
  int code = sqlite3_step(s);
  if (code == SQLITE_ROW) {
    status = copy(d, s, bytes, length);
  } else if (code == SQLITE_DONE) {
    snprintf(d->reason, sizeof d->reason, "not on disk");
    status = KEPT_MISSING;
  } else {
    status = judge(d, code);
  }
  sqlite3_reset(s); /* which ends the read transaction */
  return status;
}

static void list_table(kept_list *list, shelf_kind kind) {
  list->kind = kind;
  list->last = INT64_MIN; /* no item has this version: those of an epoch begin with 1 */
}

static void add_version(kept_list *list, sqlite3_stmt *row) {
  list->last = sqlite3_column_int64(row, 0);
  if (sqlite3_column_int64(row, 1) > 0)
    kept_list_add(list, list->kind, (uint64_t)list->last);
  else
    kept_list_add_damaged(list, (uint64_t)list->last);
}

/* Add at most *left items of a table. If these are all, the other table follows. */
static kept_status list_rows(database *d, kept_list *list, unsigned *left) {
  sqlite3_stmt *s;
  kept_status status = prepare(d, list->kind, NAMES, &s);
  int code = SQLITE_DONE;
  if (status != KEPT_OK)
    return status;
  sqlite3_bind_int64(s, 1, list->last);
  sqlite3_bind_int64(s, 2, *left);
  for (; (code = sqlite3_step(s)) == SQLITE_ROW; --*left)
    add_version(list, s);
  status = judge(d, code);
  sqlite3_reset(s);
  if (status != KEPT_OK || *left == 0)
    return status;
  list->complete = list->kind == SHELF_RECORD;
  list_table(list, SHELF_RECORD);
  return status;
}

kept_status database_list(database *d, kept_list *list) {
  kept_status status = KEPT_OK;
  unsigned left = STEP;
  if (!list->begun)
    list_table(list, SHELF_CHUNK);
  list->begun = true;
  while (status == KEPT_OK && left > 0 && !list->complete)
    status = list_rows(d, list, &left);
  return status == KEPT_OK && list->incomplete ? judge(d, SQLITE_NOMEM) : status;
}
