/* What the agent must not forget: FOLDER/group. Which memories (incarnations) together have
 * everything that was acknowledged, and how often an agent has been started. */
#ifndef STORE_GROUP_H
#define STORE_GROUP_H

#include "common/layout.h"

enum { GROUP_ID = 16 };

typedef struct group {
  bool formed; /* there is one */
  uint8_t id[GROUP_ID];
  uint32_t epoch;                                       /* of this start of the agent, from 1 */
  char code[LAYOUT_TEXT];                               /* layout_code */
  uint8_t incarnation[LAYOUT_SHARDS_MAX + 1][GROUP_ID]; /* by rank, 1 to k + m */
} group;

/* False, with a message: it cannot be read, or is not of these shards. No file: not formed. */
bool group_load(group *g, const char *folder, unsigned shards);
/* False: errno; the old file is still there. */
bool group_save(const group *g, const char *folder, unsigned shards);

#endif
