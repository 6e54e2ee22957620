/* Room on the disk for a database, reserved before it is needed: for the pages that are in the log
 * only, so that the log can always be moved into the database, and for the beginning of the log, so
 * that a small change is possible on a full disk. */
#ifndef STORE_ROOM_H
#define STORE_ROOM_H

#include "shelf.h"

typedef struct room {
  bool open;
  int file, log;  /* descriptors, if it is open */
  uint64_t bytes; /* of the database, which have room */
} room;

/* Open the files, which exist. False: errno. */
bool room_open(room *r, const char *path);
/* After SQLite has closed its own descriptors, whose locks would be lost with these. */
void room_close(room *r);
/* Reserve room for so many bytes of the database. KEPT_FULL: there is none. KEPT_GONE: errno. */
kept_status room_grow(room *r, uint64_t bytes);
/* Reserve room for the beginning of the log, if there is any. */
void room_keep_log(room *r);

#endif
