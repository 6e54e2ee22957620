/* The folder of a chunk server on disk: one process uses it, in the place in which it was made. */
#ifndef STORE_PLACE_H
#define STORE_PLACE_H

#include "common/files.h"
#include "shelf.h"

#define PLACE_DATABASE "chunks"
#define PLACE_DAMAGED PLACE_DATABASE ".damaged"

/* Lock the folder until *lock is closed. `used`: there has been a database, and it must be there
 * again; otherwise the folder is created if it is missing. KEPT_DAMAGED: another
 * process uses it, or its database is a copy. */
kept_status place_take(const char *folder, bool used, int *lock, char *reason, size_t room);
/* Write down where the database is. False: errno. */
bool place_note(const char *folder);
/* Put a damaged database aside, as PLACE_DAMAGED. False: errno. */
bool place_clear(const char *folder);

#endif
