/* Tables of uthash that survive a lack of memory: an element for which there is none is not added.
 */
#ifndef STORE_TABLE_H
#define STORE_TABLE_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Has the element been added? `handle` is the name of its UT_hash_handle. */
#define TABLE_HAS(element, handle) ((element)->handle.tbl != NULL)

#endif
