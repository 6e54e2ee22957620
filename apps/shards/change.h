/* The change record of a folder: a new set of shards becomes visible in one step.
 *
 * The record is a file in the folder. The run that changes the folder locks it. Before the first
 * shard of a new set gets its name, the record receives the header of that set; as long as it is
 * there, the set does not count, unless all its shards have their names. Removing the record is the
 * step that completes the set. A record that no run locks is the rest of an interrupted run, or a
 * copy. The next change removes it, and its set if the last shards of that are temporary files
 * still, unless the file system may have locks that other machines do not see. It speaks of shards
 * of its own owner only, since in a folder such as /tmp anyone can create it. */
#ifndef TOOL_CHANGE_H
#define TOOL_CHANGE_H

#include <gfsmith_shards.h>
#include <stdbool.h>
#include <sys/types.h>

#define CHANGE_RECORD ".gfsmith-shards.change" /* its name */

typedef struct change {
  const char *path; /* of the folder, not owned */
  int folder;       /* -1: not begun */
  int record;       /* locked; -1: not open */
  bool announced;   /* the record has the header `set` */
  bool named;       /* all shards of `set` have their names */
  bool complete;    /* the set counts */
  bool left;        /* `set` is that of an interrupted run */
  gfsmith_shards_header set;
  uid_t owner; /* of its shards */
} change;

#define CHANGE_NONE ((change){.folder = -1, .record = -1})

/* Functions that return int: TOOL_OK, or TOOL_REFUSED after a message. After change_begin and apart
 * from change_incomplete, they allocate no memory. */

/* Lock the folder, and remove the set of an interrupted run. Refused if another run has the lock.
 */
int change_begin(change *c, const char *folder);
/* Write the header of the new set to the record. Until change_commit its shards count only if all
 * have their names. */
int change_announce(change *c, const gfsmith_shards_header *set);
/* All new shards have their names: make these permanent, and complete the set. Refused if a run
 * elsewhere has removed the record or shards; with `complete`: a power cut may undo this step, so
 * the old shards must stay. */
int change_commit(change *c);
/* Remove the shards of an announced set that was not committed, then the record, and unlock. If a
 * shard cannot be removed, the record stays; if none of all can, the set is `complete`. Needed once
 * after change_begin, also if that failed. */
void change_end(change *c);

/* The set that does not count in this folder, and the owner of its shards; `found` is false if all
 * count. */
int change_incomplete(const char *folder, gfsmith_shards_header *set, uid_t *owner, bool *found);

#endif
