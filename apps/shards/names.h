/* The names of shard files. */
#ifndef TOOL_NAMES_H
#define TOOL_NAMES_H

#include <gfsmith_shards.h>
#include <stdbool.h>
#include <stdint.h>

enum { SHARD_NAME = 512 }; /* bytes for a name */
/* "NAME.gG.NNN.gfs" */
void shard_name(char text[SHARD_NAME], const char *name, uint64_t generation, unsigned index);
/* Does the name of a file end with ".gfs", like those of all shards? */
bool shard_name_ends(const char *file);
/* Is `file` such a name of this original? */
bool shard_name_parse(const char *file, const char *name, uint64_t *generation, unsigned *index);

/* The index that the name of a file gives a shard of this set; -1: it is not the name of one. */
int shard_name_index(const char *file, const gfsmith_shards_header *set);

#endif
