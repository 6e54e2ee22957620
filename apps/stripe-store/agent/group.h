/* The persistent state of the agent, FOLDER/group: the memories (incarnations) that together hold
 * all acknowledged values, and the epochs of the agent. */
#ifndef STORE_GROUP_H
#define STORE_GROUP_H

#include "common/files.h"
#include "common/layout.h"

enum { GROUP_ID = 16 };

typedef struct group {
  bool formed; /* does a group exist? */
  uint8_t id[GROUP_ID];
  uint32_t epoch;         /* of requests and versions, from 1: higher than all earlier ones */
  char code[LAYOUT_TEXT]; /* layout_code */
  uint8_t incarnation[LAYOUT_SHARDS_MAX + 1][GROUP_ID]; /* by rank, 1 to k + m */
  uint64_t behind; /* ranks that may lack chunks of values that a recovery has chosen */
  bool flushing; /* flush_all has begun, and some of the incarnations may have no values any more */
} group;

/* False: the file cannot be read or belongs to another number of shards; a message is printed.
 * Without a file: not formed. */
bool group_load(group *g, const char *folder, unsigned shards);
files_written group_save(const group *g, const char *folder, unsigned shards);

#endif
