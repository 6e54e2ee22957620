/* The items of a chunk server in a folder. */
#ifndef STORE_DISK_H
#define STORE_DISK_H

#include "shelf.h"

enum { DISK_MOST = 1 << 24 /* MB */ };

/* A folder on disk, with at most `megabytes`. `used`: it has had a database, for which it waits.
 * Its changes are done when they are on disk, and those that arrive during a flush share the next
 * one. At the start it is read and checked: until then, connecting returns KEPT_GONE. */
shelf *disk_create(const char *folder, uint64_t megabytes, bool used, void *owner);

#endif
