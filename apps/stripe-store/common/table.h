/* Tables of uthash that survive a lack of memory: an element for which there is none is not added.
 * Their hashes depend on a random number of the process, so that no client can choose keys that are
 * all in one place of a table.
 */
#ifndef STORE_TABLE_H
#define STORE_TABLE_H

#include <stddef.h>

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, bytes, hash) ((hash) = table_hash(key, bytes))
#include <uthash.h>

/* Has the element been added? `handle` is the name of its UT_hash_handle. */
#define TABLE_HAS(element, handle) ((element)->handle.tbl != NULL)

/* Of the thread of the loop, as all tables are. */
unsigned table_hash(const void *key, size_t bytes);

#endif
